//! A job: what a client asks for, and where it stands.
//!
//! ```text
//!             run_at in future            due
//!  enqueue ──▶ scheduled ───────────────▶ queued ──dispatch──▶ running ──ok──▶ succeeded
//!     │                                     ▲                    │ │
//!     └─ parents not settled ─▶ blocked ────┘                    │ └─ failed, attempts left ─▶ retrying ─due─▶ queued
//!                                  │                             │
//!                                  └─ a parent died ─▶ cancelled ◀ cancel, or no attempts left ▶ dead
//! ```
//! Dead is the dead-letter queue: durable, listed, replayed or purged by a person, never drained by
//! itself.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::dependency::Dependency;
use crate::ids::ScheduleId;
use crate::limits;
use crate::name::{Kind, Labels, QueueName, ScheduleName};
use crate::retry::RetryPolicy;
use crate::time::Wall;
use crate::trace::TraceContext;

/// Where a job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Its `run_at` lies in the future.
    Scheduled,
    /// It waits for other jobs.
    Blocked,
    /// It could run now.
    Queued,
    /// A worker holds its lease.
    Running,
    /// It failed and waits for its next attempt.
    Retrying,
    /// It returned a result.
    Succeeded,
    /// It has no attempts left, or failed fatally: the dead-letter queue.
    Dead,
    /// A person stopped it.
    Cancelled,
}

impl State {
    /// Every state.
    pub const ALL: [State; 8] = [
        State::Scheduled,
        State::Blocked,
        State::Queued,
        State::Running,
        State::Retrying,
        State::Succeeded,
        State::Dead,
        State::Cancelled,
    ];

    /// Its place in [`State::ALL`].
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The word for it, everywhere.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            State::Scheduled => "scheduled",
            State::Blocked => "blocked",
            State::Queued => "queued",
            State::Running => "running",
            State::Retrying => "retrying",
            State::Succeeded => "succeeded",
            State::Dead => "dead",
            State::Cancelled => "cancelled",
        }
    }

    /// The state of that name.
    #[must_use]
    pub fn parse(text: &str) -> Option<State> {
        State::ALL.into_iter().find(|s| s.as_str() == text)
    }

    /// Final is final, until a person replays it.
    #[must_use]
    pub const fn is_final(self) -> bool {
        match self {
            State::Succeeded | State::Dead | State::Cancelled => true,
            State::Scheduled | State::Blocked | State::Queued | State::Running | State::Retrying => false,
        }
    }
}

/// What to do when no connected worker could ever hold all the threads a job asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fallback {
    /// Run with the largest capacity there is, at least `min_threads`.
    #[default]
    Widest,
    /// Run with one thread.
    Single,
}

/// Everything a client may say about a job besides its kind, queue, priority and payload. The
/// default is what a job has when only its kind is given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct JobOptions {
    /// Threads it wants, all or none.
    pub threads: u16,
    /// The least it accepts when no worker is wide enough.
    pub min_threads: u16,
    /// What to do then.
    pub fallback: Fallback,
    /// Labels its worker must carry.
    pub require: Labels,
    /// Attempts allowed in all, the first included.
    pub max_attempts: u32,
    /// Delays between attempts.
    pub retry: RetryPolicy,
    /// Longest run of one attempt; `None` allows any.
    pub timeout: Option<Duration>,
    /// Workers lost in a row before the job is quarantined.
    pub max_lost: u32,
    /// It dies if it has not started by then.
    pub expires_at: Option<Wall>,
    /// At most one live job of its kind with this key.
    pub unique_key: Option<String>,
    /// How long the unique key is held after success, and after a death of which nobody knows whether it was one;
    /// [`limits::FOREVER`] if without an end.
    pub unique_for: Duration,
    /// Jobs of its queue with the same key share the limits that the queue sets for its keys, and wait while the
    /// key is closed.
    pub concurrency_key: Option<String>,
    /// Whose job it is: within equal priority the owners of a queue's jobs take turns.
    pub fair_key: Option<String>,
    /// The share of its owner, from 1: twice the weight, twice the turns.
    pub fair_weight: u16,
    /// For finding it again.
    pub tags: Vec<String>,
    /// W3C `traceparent` of whoever submitted it.
    pub traceparent: Option<String>,
    /// The `tracestate` that came with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tracestate: Option<String>,
    /// The schedule that made it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule: Option<Box<Origin>>,
}

/// The schedule that made a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// Which.
    pub id: ScheduleId,
    /// Its name at that time.
    pub name: ScheduleName,
    /// The instant for which it made the job.
    pub due_at: Wall,
}

impl Default for JobOptions {
    fn default() -> JobOptions {
        JobOptions {
            threads: 1,
            min_threads: 1,
            fallback: Fallback::Widest,
            require: Labels::new(),
            max_attempts: 5,
            retry: RetryPolicy::default(),
            timeout: Some(Duration::from_secs(3600)),
            max_lost: 3,
            expires_at: None,
            unique_key: None,
            unique_for: Duration::ZERO,
            concurrency_key: None,
            fair_key: None,
            fair_weight: 1,
            tags: Vec::new(),
            traceparent: None,
            tracestate: None,
            schedule: None,
        }
    }
}

impl JobOptions {
    /// The trace that it carries on, if it carries a valid one.
    #[must_use]
    pub fn trace(&self) -> Option<TraceContext> {
        TraceContext::read(self.traceparent.as_deref(), self.tracestate.as_deref())
    }

    /// Carries on this trace, or none.
    pub fn carry(&mut self, trace: Option<TraceContext>) {
        let (parent, state) = trace.map(|trace| (trace.parent.to_string(), trace.state)).unzip();
        self.traceparent = parent;
        self.tracestate = state.filter(|state| !state.is_empty());
    }
}

/// A job as a client asks for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobSpec {
    /// Picks the handler.
    pub kind: Kind,
    /// The lane it waits in.
    pub queue: QueueName,
    /// Larger runs first.
    pub priority: i8,
    /// Earliest moment to run.
    pub run_at: Option<Wall>,
    /// Its input: JSON text, kept byte for byte.
    pub payload: String,
    /// Jobs that must be final before it may run. For its submission only: a store keeps them beside the job.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<Dependency>,
    /// Everything else.
    pub options: JobOptions,
}

impl JobSpec {
    /// A job of this kind with all defaults and a `null` payload.
    #[must_use]
    pub fn new(kind: Kind) -> JobSpec {
        JobSpec {
            kind,
            queue: QueueName::default(),
            priority: 0,
            run_at: None,
            payload: "null".into(),
            depends_on: Vec::new(),
            options: JobOptions::default(),
        }
    }

    /// Checks every bound; the error names the field and the limit.
    ///
    /// # Errors
    /// The first field that is out of bounds.
    pub fn check(&self) -> Result<(), SpecError> {
        let o = &self.options;
        at_most("payload", self.payload.len(), limits::PAYLOAD_BYTES, "bytes")?;
        within("threads", o.threads.into(), 1, limits::THREADS.into())?;
        within("min_threads", o.min_threads.into(), 1, o.threads.into())?;
        within("max_attempts", o.max_attempts.into(), 1, limits::ATTEMPTS.into())?;
        within("max_lost", o.max_lost.into(), 1, limits::ATTEMPTS.into())?;
        at_most("depends_on", self.depends_on.len(), limits::DEPENDENCIES, "jobs")?;
        at_most("tags", o.tags.len(), limits::TAGS, "tags")?;
        for tag in &o.tags {
            text("tags", tag, limits::TAG_BYTES)?;
        }
        at_most("require", o.require.len(), limits::LABELS, "labels")?;
        for (name, value) in &o.require {
            text("require", name, limits::LABEL_BYTES)?;
            at_most("require", value.len(), limits::LABEL_BYTES, "bytes")?;
        }
        if let Some(key) = &o.unique_key {
            text("unique_key", key, limits::KEY_BYTES)?;
        }
        if let Some(key) = &o.concurrency_key {
            text("concurrency_key", key, limits::KEY_BYTES)?;
        }
        if let Some(key) = &o.fair_key {
            text("fair_key", key, limits::KEY_BYTES)?;
        }
        within("fair_weight", o.fair_weight.into(), 1, limits::FAIR_WEIGHT.into())?;
        if let Some(trace) = &o.traceparent {
            at_most("traceparent", trace.len(), limits::TRACE_BYTES, "bytes")?;
        }
        if let Some(state) = &o.tracestate {
            at_most("tracestate", state.len(), limits::TRACESTATE_BYTES, "bytes")?;
        }
        not_longer("timeout", o.timeout.unwrap_or_default())?;
        if o.timeout == Some(Duration::ZERO) {
            return Err(SpecError::new("timeout", "must be longer than 0; \"none\" means no timeout"));
        }
        if o.unique_for != limits::FOREVER {
            not_longer("unique_for", o.unique_for)?;
        }
        not_longer("retry.base", o.retry.base)?;
        not_longer("retry.max", o.retry.max)?;
        if !(1.0..=100.0).contains(&o.retry.factor) {
            return Err(SpecError::new("retry.factor", "must be from 1 to 100"));
        }
        if !(0.0..=1.0).contains(&o.retry.jitter) {
            return Err(SpecError::new("retry.jitter", "must be from 0 to 1"));
        }
        if let (Some(run_at), Some(expires_at)) = (self.run_at, o.expires_at)
            && expires_at <= run_at
        {
            return Err(SpecError::new("expires_at", "must be later than run_at"));
        }
        Ok(())
    }
}

/// A field of a submission that is out of bounds.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{field}` {problem}")]
pub struct SpecError {
    /// The field, as the client wrote it.
    pub field: &'static str,
    /// What is wrong with it, and the limit.
    pub problem: String,
}

impl SpecError {
    /// That field has this problem.
    #[must_use]
    pub fn new(field: &'static str, problem: impl Into<String>) -> SpecError {
        SpecError { field, problem: problem.into() }
    }
}

pub(crate) fn within(field: &'static str, value: u64, low: u64, high: u64) -> Result<(), SpecError> {
    if (low..=high).contains(&value) {
        Ok(())
    } else {
        Err(SpecError::new(field, format!("is {value}, allowed are {low} to {high}")))
    }
}

fn at_most(field: &'static str, size: usize, max: usize, unit: &str) -> Result<(), SpecError> {
    if size <= max {
        Ok(())
    } else {
        Err(SpecError::new(field, format!("has {size} {unit}, the limit is {max}")))
    }
}

fn text(field: &'static str, value: &str, max: usize) -> Result<(), SpecError> {
    if value.is_empty() {
        return Err(SpecError::new(field, "has an empty text"));
    }
    if value.chars().any(char::is_control) {
        return Err(SpecError::new(field, "contains a control character"));
    }
    at_most(field, value.len(), max, "bytes")
}

pub(crate) fn not_longer(field: &'static str, value: Duration) -> Result<(), SpecError> {
    if value <= limits::LONGEST {
        Ok(())
    } else {
        Err(SpecError::new(field, format!("is longer than {} days", limits::LONGEST.as_secs() / 86_400)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec() -> JobSpec {
        JobSpec::new("email.send".parse().unwrap())
    }

    fn refused(change: impl FnOnce(&mut JobSpec)) -> String {
        let mut job = spec();
        change(&mut job);
        job.check().unwrap_err().to_string()
    }

    #[test]
    fn the_index_of_a_state_is_its_place_among_all() {
        assert_eq!(State::ALL.map(|s| State::ALL[s.index()]), State::ALL);
        assert!(State::ALL.into_iter().map(State::index).eq(0..State::ALL.len()));
    }

    #[test]
    fn only_the_kind_is_required() {
        assert_eq!(spec().check(), Ok(()));
    }

    #[test]
    fn every_bound_holds_at_the_bound_and_refuses_one_past_it() {
        let mut job = spec();
        job.payload = "1".repeat(limits::PAYLOAD_BYTES);
        job.options.tags = vec!["t".repeat(limits::TAG_BYTES); limits::TAGS];
        job.options.threads = limits::THREADS;
        job.options.min_threads = limits::THREADS;
        job.options.max_attempts = limits::ATTEMPTS;
        job.options.unique_key = Some("k".repeat(limits::KEY_BYTES));
        job.options.timeout = Some(limits::LONGEST);
        job.options.unique_for = limits::LONGEST;
        job.options.concurrency_key = Some("k".repeat(limits::KEY_BYTES));
        job.options.fair_key = Some("k".repeat(limits::KEY_BYTES));
        job.options.fair_weight = limits::FAIR_WEIGHT;
        assert_eq!(job.check(), Ok(()));

        assert_eq!(
            refused(|j| j.options.concurrency_key = Some("k".repeat(limits::KEY_BYTES + 1))),
            "`concurrency_key` has 257 bytes, the limit is 256"
        );
        assert_eq!(refused(|j| j.options.fair_key = Some(String::new())), "`fair_key` has an empty text");
        assert_eq!(
            refused(|j| j.options.fair_weight = limits::FAIR_WEIGHT + 1),
            "`fair_weight` is 1001, allowed are 1 to 1000"
        );
        assert_eq!(refused(|j| j.options.fair_weight = 0), "`fair_weight` is 0, allowed are 1 to 1000");
        let longer = limits::LONGEST + Duration::from_nanos(1);
        assert_eq!(refused(|j| j.options.unique_for = longer), "`unique_for` is longer than 366 days");
        let longer = limits::FOREVER + Duration::from_nanos(1);
        assert_eq!(refused(|j| j.options.unique_for = longer), "`unique_for` is longer than 366 days");
        job.options.unique_for = limits::FOREVER;
        assert_eq!(job.check(), Ok(()));

        assert_eq!(
            refused(|j| j.payload = "1".repeat(limits::PAYLOAD_BYTES + 1)),
            "`payload` has 1048577 bytes, the limit is 1048576"
        );
        let parent = Dependency { job: crate::ids::JobId::new(1, [1; 10]), on_dead: Default::default() };
        job.depends_on = vec![parent; limits::DEPENDENCIES];
        assert_eq!(job.check(), Ok(()));
        assert_eq!(
            refused(|j| j.depends_on = vec![parent; limits::DEPENDENCIES + 1]),
            "`depends_on` has 1001 jobs, the limit is 1000"
        );
        assert_eq!(
            refused(|j| j.options.tags = vec!["t".into(); limits::TAGS + 1]),
            "`tags` has 33 tags, the limit is 32"
        );
        assert_eq!(refused(|j| j.options.threads = 1025), "`threads` is 1025, allowed are 1 to 1024");
        assert_eq!(refused(|j| j.options.min_threads = 2), "`min_threads` is 2, allowed are 1 to 1");
        assert_eq!(refused(|j| j.options.max_attempts = 0), "`max_attempts` is 0, allowed are 1 to 1000");
        assert_eq!(
            refused(|j| j.options.unique_key = Some("a\0".into())),
            "`unique_key` contains a control character"
        );
        assert!(refused(|j| j.options.timeout = Some(Duration::ZERO)).contains("none"));
        assert!(refused(|j| j.options.retry.jitter = f64::NAN).contains("from 0 to 1"));
    }
}
