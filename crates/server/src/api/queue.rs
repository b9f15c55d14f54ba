//! Queues: their settings and what they hold.

use std::fmt;
use std::str::FromStr;

use ganger_core::coordinator::view::QueueView;
use ganger_core::job::{SpecError, State};
use ganger_core::name::QueueName;
use ganger_core::queue::{Ageing, Keep, Policy, QueueSettings};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use utoipa::ToSchema;

use super::duration::{self, HumanDuration};
use super::limits::{AgeingBody, OrNone, QueueLimitsBody, QueueLimitsPut};

/// A queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct QueueBody {
    /// Its name.
    #[schema(value_type = String)]
    pub queue: QueueName,
    /// Nothing of it starts; submissions are accepted.
    pub paused: bool,
    /// Submissions are refused; what is there runs.
    pub draining: bool,
    /// Which worker gets the next job: least_recently_used, round_robin, best_fit or spread.
    #[schema(value_type = String)]
    pub policy: Policy,
    /// How long final jobs are kept.
    pub retention: RetentionBody,
    /// What its jobs together may do.
    #[serde(default, skip_serializing_if = "QueueLimitsBody::is_empty")]
    pub limits: QueueLimitsBody,
    /// What the jobs of each of its `concurrency_key`s together may do.
    #[serde(default, skip_serializing_if = "QueueLimitsBody::is_empty")]
    pub key_limits: QueueLimitsBody,
    /// How long a submission waits for room if there is none; without, it is refused at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<HumanDuration>,
    /// How waiting makes up for priority.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ageing: Option<AgeingBody>,
    /// Its share of the starts among the queues of the same precedence that a worker serves.
    #[serde(default = "one")]
    pub weight: u16,
    /// A worker starts jobs of queues with a larger precedence first.
    #[serde(default)]
    pub precedence: i8,
    /// Its jobs by state.
    pub jobs: CountsBody,
    /// How long the first job in line has been ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oldest_ready_ms: Option<u64>,
    /// Workers that serve it.
    pub workers: usize,
}

impl From<QueueView> for QueueBody {
    fn from(view: QueueView) -> QueueBody {
        let oldest = view.oldest_ready.map(|d| u64::try_from(d.as_millis()).unwrap_or(u64::MAX));
        QueueBody {
            queue: view.queue,
            paused: view.settings.paused,
            draining: view.settings.draining,
            policy: view.settings.policy,
            retention: RetentionBody {
                finished: view.settings.retention.finished.into(),
                dead: view.settings.retention.dead.into(),
            },
            limits: view.settings.limits.into(),
            key_limits: view.settings.keys.into(),
            block: Some(HumanDuration(view.settings.block)).filter(|block| !block.0.is_zero()),
            ageing: view.settings.ageing.map(AgeingBody::from),
            weight: view.settings.weight,
            precedence: view.settings.precedence,
            jobs: view.counts.into(),
            oldest_ready_ms: oldest,
            workers: view.workers,
        }
    }
}

/// The weight of a queue of which an older server says nothing.
fn one() -> u16 {
    1
}

/// Every queue.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct QueuesBody {
    /// The queues, by name.
    pub items: Vec<QueueBody>,
}

/// Jobs counted by state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct CountsBody {
    /// Waiting for their `run_at`.
    pub scheduled: u64,
    /// Waiting for other jobs.
    pub blocked: u64,
    /// Could run now.
    pub queued: u64,
    /// Held by a worker.
    pub running: u64,
    /// Waiting for their next attempt.
    pub retrying: u64,
    /// Returned a result, and still kept.
    pub succeeded: u64,
    /// In the dead-letter queue.
    pub dead: u64,
    /// Stopped by a person, and still kept.
    pub cancelled: u64,
}

impl CountsBody {
    /// How many are in that state.
    #[must_use]
    pub const fn of(&self, state: State) -> u64 {
        match state {
            State::Scheduled => self.scheduled,
            State::Blocked => self.blocked,
            State::Queued => self.queued,
            State::Running => self.running,
            State::Retrying => self.retrying,
            State::Succeeded => self.succeeded,
            State::Dead => self.dead,
            State::Cancelled => self.cancelled,
        }
    }

    /// Adds others to these.
    pub const fn add(&mut self, other: CountsBody) {
        self.scheduled += other.scheduled;
        self.blocked += other.blocked;
        self.queued += other.queued;
        self.running += other.running;
        self.retrying += other.retrying;
        self.succeeded += other.succeeded;
        self.dead += other.dead;
        self.cancelled += other.cancelled;
    }
}

/// From counts in the order of [`State::ALL`].
impl From<[u64; State::ALL.len()]> for CountsBody {
    fn from(counts: [u64; State::ALL.len()]) -> CountsBody {
        let [scheduled, blocked, queued, running, retrying, succeeded, dead, cancelled] = counts;
        CountsBody { scheduled, blocked, queued, running, retrying, succeeded, dead, cancelled }
    }
}

/// How long final jobs are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RetentionBody {
    /// Succeeded and cancelled jobs: a duration, `none` or `forever`.
    #[schema(value_type = String, example = "7d")]
    pub finished: KeepBody,
    /// Dead jobs: a duration or `forever`.
    #[schema(value_type = String, example = "90d")]
    pub dead: KeepBody,
}

/// Changes to a queue's settings; what is left out stays as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct QueuePut {
    /// Nothing of it starts; submissions are accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused: Option<bool>,
    /// Submissions are refused; what is there runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draining: Option<bool>,
    /// Which worker gets the next job.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub policy: Option<Policy>,
    /// How long final jobs are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retention: Option<RetentionPut>,
    /// What its jobs together may do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits: Option<QueueLimitsPut>,
    /// What the jobs of each of its `concurrency_key`s together may do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_limits: Option<QueueLimitsPut>,
    /// How long a submission waits for room if there is none, up to 30 s; `0s` refuses it at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "5s")]
    pub block: Option<HumanDuration>,
    /// How waiting makes up for priority, or `none`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<AgeingBody>)]
    pub ageing: Option<OrNone<AgeingBody>>,
    /// Its share of the starts among the queues of the same precedence that a worker serves: 1 to 1000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 1000)]
    pub weight: Option<u16>,
    /// A worker starts jobs of queues with a larger precedence first: -128 to 127.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = -128, maximum = 127)]
    pub precedence: Option<i8>,
}

impl QueuePut {
    /// Makes the changes. Bounds are for the check of the whole settings.
    ///
    /// # Errors
    /// A burst is given where there is no rate.
    pub fn apply(self, settings: &mut QueueSettings) -> Result<(), SpecError> {
        settings.paused = self.paused.unwrap_or(settings.paused);
        settings.draining = self.draining.unwrap_or(settings.draining);
        settings.policy = self.policy.unwrap_or(settings.policy);
        if let Some(retention) = self.retention {
            settings.retention.finished = retention.finished.map_or(settings.retention.finished, |k| k.0);
            settings.retention.dead = retention.dead.map_or(settings.retention.dead, |k| k.0);
        }
        let changes = [
            ("limits.burst", self.limits, &mut settings.limits),
            ("key_limits.burst", self.key_limits, &mut settings.keys),
        ];
        for (field, put, limits) in changes {
            let Some(put) = put else { continue };
            let problem = "is given, but there is no rate that it could be the burst of";
            *limits = put.apply(*limits).ok_or_else(|| SpecError::new(field, problem))?;
        }
        settings.block = self.block.map_or(settings.block, |block| block.0);
        settings.weight = self.weight.unwrap_or(settings.weight);
        settings.precedence = self.precedence.unwrap_or(settings.precedence);
        if let Some(ageing) = self.ageing {
            settings.ageing =
                ageing.into_option().map(|ageing| Ageing { every: ageing.every.0, at_most: ageing.at_most });
        }
        Ok(())
    }
}

/// Changes to a queue's retention.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RetentionPut {
    /// Succeeded and cancelled jobs: a duration, `none` or `forever`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, example = "7d")]
    pub finished: Option<KeepBody>,
    /// Dead jobs: a duration or `forever`; `none` is refused, a dead job is never dropped unseen.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, example = "90d")]
    pub dead: Option<KeepBody>,
}

/// [`Keep`] in JSON: `"none"`, `"forever"` or a duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeepBody(pub Keep);

impl From<Keep> for KeepBody {
    fn from(keep: Keep) -> KeepBody {
        KeepBody(keep)
    }
}

impl fmt::Display for KeepBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Keep::None => f.write_str("none"),
            Keep::For(time) => f.write_str(&duration::format(time)),
            Keep::Forever => f.write_str("forever"),
        }
    }
}

impl FromStr for KeepBody {
    type Err = duration::DurationError;
    fn from_str(text: &str) -> Result<KeepBody, duration::DurationError> {
        match text {
            "none" => Ok(KeepBody(Keep::None)),
            "forever" => Ok(KeepBody(Keep::Forever)),
            time => duration::parse(time).map(|d| KeepBody(Keep::For(d))),
        }
    }
}

impl Serialize for KeepBody {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for KeepBody {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<KeepBody, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(d)?;
        text.parse().map_err(de::Error::custom)
    }
}

/// How many dead jobs were removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PurgeBody {
    /// Dead jobs that are gone now.
    pub purged: u64,
}
