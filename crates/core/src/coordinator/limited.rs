//! What the leader shows of limits: the gates of a job for people, and the keys.

use std::time::Duration;

use crate::coordinator::Coordinator;
use crate::coordinator::classes::Class;
use crate::coordinator::table::Entry;
use crate::coordinator::view::{Gate, GateShown, KeyView};
use crate::name::QueueName;
use crate::queue::{Limits, Rate};
use crate::time::Now;

impl Coordinator {
    /// The limits of the queue and of the job's key, open or closed: those that are set.
    pub(crate) fn limit_gates(&self, slot: u32, entry: &Entry, now: Now) -> Vec<GateShown> {
        let class = self.classes.get(entry.class);
        let Some(queue) = self.queues.get(&class.key.queue) else { return Vec::new() };
        let Some(flow) = &queue.flow else { return Vec::new() };
        let mut shown = open_limits(&queue.settings.limits, "", flow.running);
        let mut closed = flow.gates(&class.key.queue, &queue.settings.limits, now.mono);
        if let Some(key) = self.jobs.keys(slot).and_then(|keys| keys.key) {
            let key = self.keys.get(key);
            let evidence = format!("key {} is not closed", key.name);
            shown.push(GateShown { gate: "key", closed: false, evidence });
            shown.extend(open_limits(&queue.settings.keys, "key_", key.running));
            closed.extend(key.gates(&queue.settings.keys, now.mono));
        }
        for gate in &closed {
            if let Some((name, evidence)) = shut(gate, now) {
                let place = shown.iter().position(|open| open.gate == name);
                let gate = GateShown { gate: name, closed: true, evidence };
                match place {
                    Some(place) => shown[place] = gate,
                    None => shown.push(gate),
                }
            }
        }
        shown
    }

    /// How long until the limits alone would let a job start, if time alone opens them.
    pub(crate) fn limits_open_in(&self, slot: u32, class: &Class, now: Now) -> Option<Duration> {
        let queue = self.queues.get(&class.key.queue)?;
        let mut closed = queue.flow.as_ref()?.gates(&class.key.queue, &queue.settings.limits, now.mono);
        if let Some(key) = self.jobs.keys(slot).and_then(|keys| keys.key) {
            closed.extend(self.keys.get(key).gates(&queue.settings.keys, now.mono));
        }
        let waits = closed.iter().map(|gate| match gate {
            Gate::QueueRate { wait, .. } | Gate::KeyRate { wait, .. } => Some(*wait),
            Gate::KeyClosed { until, .. } => until.map(|until| until.since(now.wall)),
            Gate::QueuePaused(_)
            | Gate::QueueRunning { .. }
            | Gate::KeyRunning { .. }
            | Gate::NoWorker { .. }
            | Gate::TooNarrow { .. } => None,
        });
        let waits: Option<Vec<Duration>> = waits.collect();
        waits?.into_iter().max()
    }

    /// The keys of a queue that have live jobs or are closed, the closed ones first, then by name; of all queues if none is
    /// named. At most so many, and how many there are.
    #[must_use]
    pub fn keys(&self, queue: Option<&QueueName>, limit: usize) -> (Vec<KeyView>, usize) {
        let ids = match queue {
            Some(queue) => self.keys.of_queue(queue),
            None => self.flows.iter().flat_map(|queue| self.keys.of_queue(queue)).collect(),
        };
        let mut views: Vec<KeyView> = ids.into_iter().map(|id| self.key_view(id)).collect();
        let all = views.len();
        views.sort_by(|a, b| {
            let place = |view: &KeyView| (view.closed_until.is_none(), view.queue.clone(), view.key.clone());
            place(a).cmp(&place(b))
        });
        views.truncate(limit);
        (views, all)
    }

    /// One key; one that nobody has is open.
    #[must_use]
    pub fn key(&self, queue: &QueueName, key: &str) -> KeyView {
        self.keys.find(queue, key).map_or_else(
            || KeyView { queue: queue.clone(), key: key.into(), waiting: 0, running: 0, closed_until: None },
            |id| self.key_view(id),
        )
    }

    fn key_view(&self, id: u32) -> KeyView {
        let key = self.keys.get(id);
        KeyView {
            queue: key.queue.clone(),
            key: key.name.to_string(),
            waiting: key.jobs.saturating_sub(key.running),
            running: key.running,
            closed_until: key.closed_until,
        }
    }

    /// Keys that are closed, of all queues.
    #[must_use]
    pub fn closed_keys(&self) -> usize {
        self.keys.closed
    }
}

/// The limits that are set, as if they were open.
fn open_limits(limits: &Limits, prefix: &str, running: u32) -> Vec<GateShown> {
    let mut shown = Vec::new();
    let (limit, rate) = if prefix.is_empty() { ("limit", "rate") } else { ("key_limit", "key_rate") };
    if let Some(max) = limits.max_running {
        let evidence = format!("{running} of at most {max} run");
        shown.push(GateShown { gate: limit, closed: false, evidence });
    }
    if let Some(set) = &limits.rate {
        let evidence = format!("{} allow the next start", show_rate(set));
        shown.push(GateShown { gate: rate, closed: false, evidence });
    }
    shown
}

/// The name and the evidence of a limit that is closed.
fn shut(gate: &Gate, now: Now) -> Option<(&'static str, String)> {
    match gate {
        Gate::QueueRunning { queue, running, max } => {
            Some(("limit", format!("{running} of queue {queue} run, at most {max} may")))
        }
        Gate::QueueRate { queue, rate, wait } => {
            let (rate, wait) = (show_rate(rate), super::explain::seconds(*wait));
            Some(("rate", format!("queue {queue} may start {rate}: the next in {wait}")))
        }
        Gate::KeyClosed { key, until: Some(until) } => {
            let wait = super::explain::seconds(until.since(now.wall));
            Some(("key", format!("key {key} is closed until {until}, for another {wait}")))
        }
        Gate::KeyClosed { key, until: None } => Some(("key", format!("key {key} is being closed"))),
        Gate::KeyRunning { key, running, max } => {
            Some(("key_limit", format!("{running} with key {key} run, at most {max} may")))
        }
        Gate::KeyRate { key, rate, wait } => {
            let (rate, wait) = (show_rate(rate), super::explain::seconds(*wait));
            Some(("key_rate", format!("jobs with key {key} may start {rate}: the next in {wait}")))
        }
        Gate::QueuePaused(_) | Gate::NoWorker { .. } | Gate::TooNarrow { .. } => None,
    }
}

fn show_rate(rate: &Rate) -> String {
    let seconds = rate.per.as_secs_f64();
    format!("{} per {seconds} s, {} at once", rate.n, rate.burst)
}
