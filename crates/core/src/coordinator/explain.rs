//! Why a job is not running, and what the leader shows of itself.
//!
//! `explain` asks the same gate function as dispatch ([`crate::coordinator::classes::gates`]), so that
//! what it says is what holds the job back.

use std::time::Duration;

use crate::coordinator::Coordinator;
use crate::coordinator::classes::{Class, ClassId, gates};
use crate::coordinator::table::{Entry, Phase};
use crate::coordinator::view::{Explanation, Gate, GateShown, LeaseShown, QueueView, Stats, WorkerView};
use crate::dependency;
use crate::event::WorkerState;
use crate::ids::{JobId, SessionId};
use crate::job::State;
use crate::name::{Labels, QueueName};
use crate::time::Now;

/// Departed workers are shown this long.
pub(super) const DEPARTED_SHOWN_FOR: Duration = Duration::from_secs(3600);

impl Coordinator {
    /// Why a live job is, or is not, running. `None` if there is no such live job.
    #[must_use]
    pub fn explain(&self, id: JobId, now: Now) -> Option<Explanation> {
        let slot = self.jobs.slot(id)?;
        let entry = self.jobs.get(slot);
        let class = self.classes.get(entry.class);
        let shown = self.gates_shown(slot, now);
        let (state, summary) = self.summary(entry, class, &shown, now);
        let place = (state == State::Queued).then(|| self.place(entry));
        let estimate = place.as_ref().and_then(|place| self.estimate(slot, place, &shown, now));
        let pace = self.paces.get(&class.key.queue).map(|p| p.starts(now.mono)).filter(|pace| *pace > 0.0);
        let next_step = next_step(&shown, class, id);
        // A job that runs is held back by nothing, whatever the gates would say of the next one.
        let mut gates = if state == State::Running { Vec::new() } else { shown };
        gates.extend(self.origin_shown(id));
        let pace = pace.filter(|_| estimate.is_some());
        let position = place.map(|place| place.position);
        Some(Explanation { job: id, state, summary, gates, position, estimate, pace, next_step })
    }

    /// Everything that is checked before a job starts, in the order in which dispatch checks it.
    pub(crate) fn gates_shown(&self, slot: u32, now: Now) -> Vec<GateShown> {
        let entry = self.jobs.get(slot);
        let class = self.classes.get(entry.class);
        let mut shown = vec![self.store_gate()];
        shown.extend(self.parents_gate(entry));
        shown.push(due_gate(entry, now));
        let mut of_class = self.class_gates(class, now);
        shown.push(of_class.remove(0));
        shown.extend(self.limit_gates(slot, entry, now));
        shown.extend(of_class);
        if !shown.iter().any(|g| g.gate == "width") {
            shown.push(self.thread_gate(class));
        }
        shown
    }

    fn summary(&self, entry: &Entry, class: &Class, shown: &[GateShown], now: Now) -> (State, String) {
        match entry.phase {
            Phase::Leased(lease) => {
                let lease = self.leases.get(lease);
                let worker = &self.sessions.get(lease.session).worker.name;
                let since = now.wall.since(lease.leased_at).as_secs();
                let stopping = lease.stopping.map_or("", |_| "; it was told to stop");
                let text =
                    format!("attempt {} runs on worker {worker} for {since} s{stopping}", lease.attempt);
                (State::Running, text)
            }
            Phase::Ending => (State::Running, "its attempt has ended; that is being written".into()),
            Phase::Leaving => (State::Cancelled, "its end is being written".into()),
            Phase::Blocked => {
                let parents = shown.iter().find(|g| g.gate == "parents");
                (State::Blocked, parents.map(|g| g.evidence.clone()).unwrap_or_default())
            }
            Phase::Waiting(_) if entry.retrying => {
                let wait = entry.due_at.since(now.wall);
                let text = format!(
                    "attempt {} failed; attempt {} in {}",
                    entry.standing.attempt,
                    entry.standing.attempt + 1,
                    seconds(wait)
                );
                (State::Retrying, text)
            }
            Phase::Waiting(_) => (State::Scheduled, format!("it is scheduled for {}", entry.due_at)),
            Phase::Ready(_) => {
                let closed = shown.iter().find(|g| g.closed);
                let text = closed.map_or_else(
                    || format!("it is next in queue {}", class.key.queue),
                    |gate| gate.evidence.clone(),
                );
                (State::Queued, text)
            }
        }
    }

    /// The schedule that made the job holds nothing back, but explains why it is there.
    fn origin_shown(&self, id: JobId) -> Option<GateShown> {
        let (name, due_at) = self.schedules.made(id)?;
        Some(GateShown {
            gate: "schedule",
            closed: false,
            evidence: format!("schedule {name} made it for {due_at}"),
        })
    }

    fn store_gate(&self) -> GateShown {
        let trouble = self.commits.trouble();
        let evidence =
            trouble.map_or("the store accepts writes".into(), |t| format!("the store refuses: {t}"));
        GateShown { gate: "store", closed: trouble.is_some(), evidence }
    }

    fn class_gates(&self, class: &Class, now: Now) -> Vec<GateShown> {
        let queue = &class.key.queue;
        let closed = gates(&class.key, &class.groups, &self.fleet, self.queues.get(queue), now.mono);
        let mut shown = vec![
            GateShown { gate: "queue", closed: false, evidence: format!("queue {queue} is not paused") },
            GateShown {
                gate: "worker",
                closed: false,
                evidence: format!("{} can run {}", workers(self.fitting(class)), class.key.kind),
            },
        ];
        for gate in closed {
            match gate {
                Gate::QueuePaused(queue) => {
                    shown[0] = GateShown {
                        gate: "queue",
                        closed: true,
                        evidence: format!("queue {queue} is paused"),
                    };
                }
                Gate::NoWorker { queue, kind, require, serving_queue, handling_kind } => {
                    let evidence = if handling_kind > 0 {
                        format!(
                            "{} {} {kind} in queue {queue}, none has the labels {}",
                            workers(handling_kind),
                            if handling_kind == 1 { "handles" } else { "handle" },
                            show_labels(&require)
                        )
                    } else if serving_queue == 0 {
                        format!("no worker serves queue {queue}")
                    } else {
                        format!("queue {queue}: {}, none handles {kind}", workers(serving_queue))
                    };
                    shown[1] = GateShown { gate: "worker", closed: true, evidence };
                }
                // Shown with the other limits.
                Gate::QueueRunning { .. }
                | Gate::QueueRate { .. }
                | Gate::KeyClosed { .. }
                | Gate::KeyRunning { .. }
                | Gate::KeyRate { .. } => {}
                Gate::TooNarrow { min_threads, widest } => {
                    let evidence =
                        format!("it needs at least {min_threads} threads, the widest worker has {widest}");
                    shown.push(GateShown { gate: "width", closed: true, evidence });
                }
            }
        }
        shown
    }

    fn cannot_start(&self) -> u64 {
        let waiting = self.classes.ids().map(|id| (id, self.in_line(id))).filter(|(_, jobs)| *jobs > 0);
        waiting.filter(|(id, _)| self.is_stuck(*id)).map(|(_, jobs)| jobs).sum()
    }

    /// Whether the jobs of a class wait for a person or a worker, and not for time or threads.
    fn is_stuck(&self, id: ClassId) -> bool {
        let class = self.classes.get(id);
        let queue = self.queues.get(&class.key.queue);
        gates(&class.key, &class.groups, &self.fleet, queue, self.awake_at).iter().any(|gate| match gate {
            Gate::QueuePaused(_) | Gate::NoWorker { .. } | Gate::TooNarrow { .. } => true,
            Gate::QueueRunning { .. }
            | Gate::QueueRate { .. }
            | Gate::KeyClosed { .. }
            | Gate::KeyRunning { .. }
            | Gate::KeyRate { .. } => false,
        })
    }

    fn fitting(&self, class: &Class) -> usize {
        class.groups.iter().map(|g| self.fleet.members(*g)).sum()
    }

    fn thread_gate(&self, class: &Class) -> GateShown {
        let free = class.groups.iter().filter_map(|g| self.fleet.max_free(*g)).max();
        let free = free.unwrap_or(0).max(0);
        let needed = i32::from(class.demand);
        let count = self.fitting(class);
        let evidence = match (class.reserved, free >= needed) {
            _ if count == 0 => format!("it needs {}; there is no worker to ask", threads(needed)),
            (Some(worker), _) => {
                let name = &self.sessions.get(worker).worker.name;
                format!("it needs {needed} threads at once; worker {name} is kept free for it")
            }
            (None, true) => format!("a worker has {} free, {needed} needed", threads(free)),
            (None, false) => {
                let able = workers(count);
                let kept = self.kept_for_another(class).unwrap_or_default();
                format!("{able} could run it, all are busy{kept}: {} free, {needed} needed", threads(free))
            }
        };
        GateShown { gate: "threads", closed: count > 0 && free < needed, evidence }
    }

    /// Of a worker that takes nothing else until a wide job fits.
    fn kept_for_another(&self, class: &Class) -> Option<String> {
        let (worker, kept_for) = class.groups.iter().find_map(|g| self.lines.reservation(*g))?;
        let name = &self.sessions.get(worker).worker.name;
        let wide = self.classes.get(kept_for);
        Some(format!(
            " ({name} is kept free for a job of kind {} that needs {})",
            wide.key.kind,
            threads(wide.demand.into())
        ))
    }

    /// How far a job's handler said it is.
    #[must_use]
    pub fn progress(&self, job: JobId) -> Option<(f32, String)> {
        self.progress.get(&job).cloned()
    }

    /// The name of the worker whose session this is, while the session is open.
    #[must_use]
    pub fn worker_name(&self, session: SessionId) -> Option<&str> {
        let slot = self.sessions.slot(session)?;
        Some(&self.sessions.get(slot).worker.name)
    }

    /// Every worker; those that left lately come last.
    #[must_use]
    pub fn workers(&self, now: Now) -> Vec<WorkerView> {
        let present = self.sessions.iter().filter(|(_, s)| !s.worker.claim).map(|(_, s)| WorkerView {
            session: s.id,
            worker: s.worker.clone(),
            state: s.state(),
            used: u16::try_from(s.used.clamp(0, i32::from(s.worker.threads))).unwrap_or(0),
            leases: s.holds.leases().filter_map(|slot| self.lease_shown(slot)).collect(),
            stuck: s.stuck.len(),
            opened_at: s.opened_at,
            silent: now.mono.since(s.heard_at),
            left: None,
        });
        let departed = self.sessions.departed.iter().rev();
        let departed =
            departed.filter(|d| now.mono.since(d.left_at) < DEPARTED_SHOWN_FOR).map(|d| WorkerView {
                session: d.id,
                worker: d.worker.clone(),
                state: if d.lost { WorkerState::Lost } else { WorkerState::Gone },
                used: 0,
                leases: Vec::new(),
                stuck: 0,
                opened_at: d.opened_at,
                silent: now.mono.since(d.heard_at),
                left: Some(d.left.clone()),
            });
        present.chain(departed).collect()
    }

    /// A lease for people; nothing if it is of a job that is not in the store yet.
    fn lease_shown(&self, slot: u32) -> Option<LeaseShown> {
        let lease = self.leases.get(slot);
        let job = self.jobs.get(lease.job);
        (!job.provisional).then_some(LeaseShown {
            job: job.id,
            fence: lease.fence,
            attempt: lease.attempt,
            threads: lease.threads,
            since: lease.leased_at,
        })
    }

    /// Every queue that was ever set or holds a job, by name.
    #[must_use]
    pub fn queues(&self, now: Now) -> Vec<QueueView> {
        let counted = self.counters.iter().map(|(queue, ..)| queue);
        let mut names: Vec<&QueueName> = counted.chain(self.queues.keys()).collect();
        names.sort_unstable();
        names.dedup();
        names.into_iter().map(|name| self.queue(name, now)).collect()
    }

    /// One queue; one that was never used has the default settings.
    #[must_use]
    pub fn queue(&self, name: &QueueName, now: Now) -> QueueView {
        let classes = self.classes.of_queue(name);
        let oldest = classes.iter().filter_map(|class| self.oldest(*class)).min();
        let serving =
            |s: &crate::coordinator::fleet::Signature| s.queues.is_empty() || s.queues.contains(name);
        QueueView {
            queue: name.clone(),
            settings: self.queues.get(name).map(|q| q.settings).unwrap_or_default(),
            counts: self.counters.queue(name),
            oldest_ready: oldest.map(|arrival| now.wall.since(arrival)),
            workers: self
                .fleet
                .groups()
                .filter(|(_, s)| serving(s))
                .map(|(g, _)| self.fleet.members(g))
                .sum(),
        }
    }

    /// The whole, in numbers.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let mut workers = std::collections::BTreeMap::new();
        let (mut threads, mut used) = (0, 0);
        for (_, session) in self.sessions.iter().filter(|(_, s)| !s.worker.claim) {
            *workers.entry(session.state()).or_default() += 1;
            threads += u64::from(session.worker.threads);
            used += u64::try_from(session.used.clamp(0, i32::from(session.worker.threads))).unwrap_or(0);
        }
        Stats {
            term: self.term,
            counts: self.counters.iter().map(|(q, k, n)| (q.clone(), k.clone(), n)).collect(),
            workers: workers.into_iter().collect(),
            threads,
            threads_used: used,
            cannot_start: self.cannot_start(),
            closed_keys: self.closed_keys(),
            backlog: self.commits.waiting(),
            store_trouble: self.commits.trouble().map(str::to_owned),
            schedules: self.schedules.counts(),
        }
    }
}

fn due_gate(entry: &Entry, now: Now) -> GateShown {
    let due_at = dependency::unparked(entry.due_at);
    let later = matches!(entry.phase, Phase::Blocked) && due_at > now.wall;
    let closed = later || matches!(entry.phase, Phase::Waiting(_));
    let evidence = if closed {
        format!("it is due at {due_at}, in {}", seconds(due_at.since(now.wall)))
    } else {
        format!("it is due since {due_at}")
    };
    GateShown { gate: "due", closed, evidence }
}

fn next_step(shown: &[GateShown], class: &Class, job: JobId) -> Option<String> {
    let first = shown.iter().find(|g| g.closed)?;
    let (queue, kind) = (&class.key.queue, &class.key.kind);
    match first.gate {
        "parents" => Some(format!("ganger job related {job}")),
        "queue" => Some(format!("ganger queue resume {queue}")),
        "worker" => {
            let labels = match show_labels(&class.key.require) {
                labels if labels.is_empty() => labels,
                labels => format!(" and has the labels {labels}"),
            };
            Some(format!("start a worker that handles {kind} in queue {queue}{labels}"))
        }
        "width" => Some(format!("start a worker with at least {} threads", class.key.min_threads)),
        "limit" | "rate" | "key_limit" | "key_rate" => {
            Some(format!("wait, or raise the limits: ganger queue set {queue} --help"))
        }
        "key" => Some("wait, or open the key: ganger key open --help".to_owned()),
        "threads" => Some("wait, or start more workers".to_owned()),
        "store" => Some("look at /readyz?verbose and at the disk".to_owned()),
        _ => None,
    }
}

fn workers(count: usize) -> String {
    match count {
        0 => "no worker".to_owned(),
        1 => "1 worker".to_owned(),
        n => format!("{n} workers"),
    }
}

fn threads(count: i32) -> String {
    if count == 1 { "1 thread".to_owned() } else { format!("{count} threads") }
}

/// A short wait to a tenth of a second.
pub(crate) fn seconds(wait: Duration) -> String {
    let seconds = wait.as_secs_f64();
    if seconds < 10.0 { format!("{seconds:.1} s") } else { format!("{seconds:.0} s") }
}

pub(crate) fn show_labels(labels: &Labels) -> String {
    labels.iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>().join(", ")
}
