//! How things are, in one sentence.
//!
//! Whoever looks wants to know whether to look closer. The verdict names the worst thing, and says nothing of what is as it
//! should be: a server at rest is quiet, a queue with much to do that keeps up is well, a moment without a worker is nothing
//! to wake anybody for. It is a pure function of what the leader knows.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use crate::name::QueueName;
use crate::time::Wall;

pub use failing::{Cause, Ended, Failing};

pub mod failing;

/// A job may wait so long for a worker before anybody is told that there is none: workers are restarted.
pub const WORKERLESS: Duration = Duration::from_secs(10);
/// A queue whose first job has waited so long is looked at.
pub const LATE: Duration = Duration::from_secs(60);
/// What has been wrong for so long does not mend by itself.
pub const TOO_LATE: Duration = Duration::from_secs(300);
/// Most findings that are told.
pub const FINDINGS: usize = 10;

/// How bad it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// As it should be.
    #[default]
    Ok,
    /// Worth a look.
    Watch,
    /// Somebody should do something.
    Bad,
}

impl Severity {
    /// The word for it, everywhere.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Severity::Ok => "ok",
            Severity::Watch => "watch",
            Severity::Bad => "bad",
        }
    }
}

/// What the verdict is made of.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// Why nothing can be written, if so.
    pub store_trouble: Option<String>,
    /// Every queue that was ever set or holds a job.
    pub queues: Vec<QueueFacts>,
    /// What failed lately, by queue.
    pub failing: Arc<[Failing]>,
    /// When this is.
    pub now: Wall,
}

/// What is known of a queue.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueFacts {
    /// Its name.
    pub queue: QueueName,
    /// Nothing of it starts.
    pub paused: bool,
    /// Jobs that are due and wait.
    pub waiting: u64,
    /// Jobs that run.
    pub running: u64,
    /// How long the first of those has waited that some worker could run.
    pub oldest: Option<Duration>,
    /// Jobs taken in per second, lately.
    pub comes: f64,
    /// Jobs started per second, lately.
    pub starts: f64,
    /// Kinds of job that nobody can run.
    pub unserved: Vec<Unserved>,
}

/// Jobs that nobody can run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unserved {
    /// Why, such as `no worker handles video.encode`.
    pub why: String,
    /// How many wait.
    pub waiting: u64,
    /// How long the first of them has waited.
    pub oldest: Duration,
}

/// Something that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// What it is, for people.
    pub text: String,
    /// The queue it is about.
    pub queue: Option<QueueName>,
}

/// How things are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// How bad the worst of it is.
    pub severity: Severity,
    /// One sentence.
    pub text: String,
    /// Everything that is not as it should be, the worst first.
    pub findings: Vec<Finding>,
}

impl Verdict {
    /// How things are, given this.
    #[must_use]
    pub fn of(facts: &Facts) -> Verdict {
        let mut found: Vec<(u64, Finding)> = Vec::new();
        if let Some(trouble) = &facts.store_trouble {
            let text = format!("nothing can be written: {trouble}");
            found.push((u64::MAX, Finding { severity: Severity::Bad, text, queue: None }));
        }
        for queue in &facts.queues {
            found.extend(unserved(queue));
            found.extend(falls_behind(queue));
        }
        found.extend(facts.failing.iter().filter_map(|queue| queue.finding(facts.now)));
        found.extend(paused(facts));
        // The worst first; of equals what is worse by its own measure, then by name.
        found.sort_by(|(a, x), (b, y)| {
            (y.severity, b).cmp(&(x.severity, a)).then_with(|| x.queue.cmp(&y.queue))
        });
        let mut findings: Vec<Finding> = found.into_iter().map(|(_, finding)| finding).collect();
        let more = findings.len().saturating_sub(1);
        let Some(worst) = findings.first() else {
            return Verdict { severity: Severity::Ok, text: all_well(facts), findings };
        };
        let mut text = worst.text.clone();
        if more > 0 {
            text.push_str(&format!(" (and {more} more)"));
        }
        let severity = worst.severity;
        findings.truncate(FINDINGS);
        Verdict { severity, text, findings }
    }
}

fn unserved(queue: &QueueFacts) -> impl Iterator<Item = (u64, Finding)> + '_ {
    queue.unserved.iter().filter(|kind| !queue.paused && kind.oldest >= WORKERLESS).map(|kind| {
        let severity = if kind.oldest >= TOO_LATE { Severity::Bad } else { Severity::Watch };
        let text = format!("{} ({})", kind.why, wait(kind.waiting));
        (kind.oldest.as_secs(), Finding { severity, text, queue: Some(queue.queue.clone()) })
    })
}

/// Old jobs alone mean little: a queue may hold a day's work. It falls behind if more comes than starts; and a queue that
/// catches up is told of, while its jobs wait too long, as just that.
fn falls_behind(queue: &QueueFacts) -> Option<(u64, Finding)> {
    let oldest = queue.oldest.filter(|oldest| !queue.paused && *oldest >= LATE)?;
    let name = &queue.queue;
    let gains = queue.starts - queue.comes;
    let (severity, text) = if queue.starts <= 0.0 && queue.running > 0 {
        // Its workers are at work: long jobs may take all of them for hours.
        let running = queue.running;
        (Severity::Watch, format!("{name} waits for free threads: oldest {}, {running} run", long(oldest)))
    } else if queue.starts <= 0.0 {
        let severity = if oldest >= TOO_LATE { Severity::Bad } else { Severity::Watch };
        (severity, format!("{name} stands still: oldest {}, {} wait", long(oldest), queue.waiting))
    } else if gains > 0.0 {
        let left = Duration::from_secs_f64((queue.waiting as f64 / gains).min(1e9));
        (
            Severity::Watch,
            format!("{name} is catching up: oldest {}, about {} left", long(oldest), long(left)),
        )
    } else {
        let severity = if oldest >= TOO_LATE { Severity::Bad } else { Severity::Watch };
        (severity, format!("{name} is falling behind: oldest {}", long(oldest)))
    };
    Some((oldest.as_secs(), Finding { severity, text, queue: Some(name.clone()) }))
}

/// Somebody wanted it; but may have forgotten.
fn paused(facts: &Facts) -> Option<(u64, Finding)> {
    let held: Vec<&QueueFacts> = facts.queues.iter().filter(|q| q.paused && q.waiting > 0).collect();
    let waiting: u64 = held.iter().map(|queue| queue.waiting).sum();
    let (text, queue) = match held[..] {
        [] => return None,
        [one] => (format!("{} is paused, {} there", one.queue, wait(waiting)), Some(one.queue.clone())),
        _ => (format!("{} queues are paused, {} there", held.len(), wait(waiting)), None),
    };
    Some((0, Finding { severity: Severity::Watch, text, queue }))
}

fn all_well(facts: &Facts) -> String {
    let count = facts.queues.len();
    let queues = if count == 1 { "1 queue".to_owned() } else { format!("{count} queues") };
    let waiting: u64 = facts.queues.iter().map(|queue| queue.waiting).sum();
    let starts: f64 = facts.queues.iter().map(|queue| queue.starts).sum();
    let running: u64 = facts.queues.iter().map(|queue| queue.running).sum();
    if waiting == 0 && running == 0 {
        return format!("{queues}, nothing waiting");
    }
    let rate = if starts > 0.0 { format!(", {} jobs/s", Rate(starts)) } else { String::new() };
    format!("{queues}, {waiting} waiting, {running} running{rate}")
}

fn wait(count: u64) -> String {
    if count == 1 { "1 job waits".to_owned() } else { format!("{count} jobs wait") }
}

/// A duration in a sentence, in two units at the most: `4 m 12 s`.
#[must_use]
pub fn long(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..10 => format!("{:.1} s", time.as_secs_f64()),
        10..60 => format!("{seconds} s"),
        60..3_600 => format!("{} m {} s", seconds / 60, seconds % 60),
        3_600..86_400 => format!("{} h {} m", seconds / 3_600, seconds / 60 % 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds / 3_600 % 24),
    }
}

/// So many per second, with as many digits as mean something.
#[derive(Clone, Copy, Debug)]
pub struct Rate(pub f64);

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            rate if rate >= 10.0 => write!(f, "{rate:.0}"),
            rate if rate >= 0.1 => write!(f, "{rate:.1}"),
            rate => write!(f, "{rate:.2}"),
        }
    }
}

#[cfg(test)]
mod tests;
