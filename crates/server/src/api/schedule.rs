//! Schedules: what they are, when they fire, and what became of each occurrence.

use ganger_core::coordinator::port::ScheduleView;
use ganger_core::ids::ScheduleId;
use ganger_core::job::{JobOptions, JobSpec};
use ganger_core::name::ScheduleName;
use ganger_core::schedule::ledger::{Fate, Occurrence};
use ganger_core::schedule::timing::Upcoming;
use ganger_core::schedule::{Misfire, Schedule, When};
use ganger_core::{JobId, Wall};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::{HumanDuration, NewJobRequest, RetryRequest, Timeout};
use crate::service::Backfilled;

/// A schedule as a client asks for it: one of `cron`, `every` and `at`, and the job that it submits.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ScheduleRequest {
    /// Its name, if the path does not say it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Five fields (minute, hour, day, month, weekday) or six with seconds first, or `@daily` and its like.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "30 2 * * MON-FRI")]
    pub cron: Option<String>,
    /// How long after each instant the next one comes, from 1 second on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "15m")]
    pub every: Option<HumanDuration>,
    /// The only instant.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub at: Option<Wall>,
    /// IANA name of the zone of a cron expression; `UTC` if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "Europe/Berlin")]
    pub time_zone: Option<String>,
    /// It fires nothing before.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub starts_at: Option<Wall>,
    /// It fires nothing after.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub ends_at: Option<Wall>,
    /// What becomes of instants at which nobody was there: `fire_once` (the last of them; default), `fire_all` or `skip`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub misfire: Option<String>,
    /// With `fire_all`: how far back; 1 hour if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "1h")]
    pub misfire_window: Option<HumanDuration>,
    /// What happens while a job of it is not final: `skip` (default), `allow`, `queue_one` or `cancel_previous`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overlap: Option<String>,
    /// Each job waits a while that is its own, up to this.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "30s")]
    pub jitter: Option<HumanDuration>,
    /// It fires nothing until it is resumed. Left out, a schedule that exists stays as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused: Option<bool>,
    /// What it submits, without `run_at`, `delay`, `expires_at` and `durability`.
    #[schema(required = true)]
    pub job: NewJobRequest,
}

/// A schedule, with every default spelled out.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ScheduleBody {
    /// Its identity: one that was deleted and made again is another. Missing in a preview.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub id: Option<ScheduleId>,
    /// Its name.
    #[schema(value_type = String)]
    pub name: ScheduleName,
    /// Its cron expression, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cron: Option<String>,
    /// Its interval, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<HumanDuration>,
    /// Its only instant, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub at: Option<Wall>,
    /// The zone of its local times.
    pub time_zone: String,
    /// It fires nothing before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub starts_at: Option<Wall>,
    /// It fires nothing after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub ends_at: Option<Wall>,
    /// `fire_once`, `fire_all` or `skip`.
    pub misfire: String,
    /// With `fire_all`: how far back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub misfire_window: Option<HumanDuration>,
    /// `skip`, `allow`, `queue_one` or `cancel_previous`.
    pub overlap: String,
    /// Each job waits a while that is its own, up to this.
    pub jitter: HumanDuration,
    /// Whether it fires nothing at present.
    pub paused: bool,
    /// What it submits; what has its default is left out.
    pub job: NewJobRequest,
    /// How it is doing. Missing in a preview.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<ScheduleStatus>,
}

/// How a schedule is doing.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ScheduleStatus {
    /// When it was made.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Wall,
    /// When it was last changed.
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Wall,
    /// Its next instant, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub next: Option<Wall>,
    /// Jobs of it that are not final.
    #[schema(value_type = Vec<String>)]
    pub live: Vec<JobId>,
    /// An occurrence that waits for the job before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub waiting: Option<Wall>,
    /// How long an instant is due without having been decided, if for more than a minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overdue_ms: Option<u64>,
}

impl From<ScheduleView> for ScheduleBody {
    fn from(view: ScheduleView) -> ScheduleBody {
        let status = ScheduleStatus {
            created_at: view.record.created_at,
            updated_at: view.record.updated_at,
            next: view.next.filter(|_| !view.record.schedule.paused),
            live: view.live,
            waiting: view.standing.waiting,
            overdue_ms: view.overdue.map(|late| u64::try_from(late.as_millis()).unwrap_or(u64::MAX)),
        };
        let id = Some(view.record.id);
        ScheduleBody { id, status: Some(status), ..ScheduleBody::from(&view.record.schedule) }
    }
}

impl From<&Schedule> for ScheduleBody {
    fn from(schedule: &Schedule) -> ScheduleBody {
        let (mut cron, mut every, mut at) = (None, None, None);
        match &schedule.when {
            When::Cron(text) => cron = Some(text.clone()),
            When::Every(interval) => every = Some(HumanDuration(*interval)),
            When::At(moment) => at = Some(*moment),
        }
        ScheduleBody {
            id: None,
            name: schedule.name.clone(),
            cron,
            every,
            at,
            time_zone: schedule.time_zone.clone(),
            starts_at: schedule.starts_at,
            ends_at: schedule.ends_at,
            misfire: schedule.misfire.as_str().into(),
            misfire_window: match schedule.misfire {
                Misfire::FireAll(within) => Some(HumanDuration(within)),
                Misfire::FireOnce | Misfire::Skip => None,
            },
            overlap: schedule.overlap.as_str().into(),
            jitter: HumanDuration(schedule.jitter),
            paused: schedule.paused,
            job: template(&schedule.job),
            status: None,
        }
    }
}

/// The job of a schedule as a client would ask for it. Every field is named, so that none is forgotten: what is not shown is
/// not compared by `ganger schedule apply`.
fn template(spec: &JobSpec) -> NewJobRequest {
    let JobSpec { kind, queue, priority, run_at, payload, depends_on: _, options } = spec;
    let JobOptions {
        threads,
        min_threads,
        fallback,
        require,
        max_attempts,
        retry,
        timeout,
        max_lost,
        expires_at,
        unique_key,
        unique_for,
        tags,
        traceparent,
        tracestate,
        concurrency_key,
        fair_key,
        fair_weight,
        // A job that a schedule makes says so itself.
        schedule: _,
    } = options;
    let usual = JobOptions::default();
    let policy = RetryRequest {
        base: Some(HumanDuration(retry.base)),
        factor: Some(retry.factor),
        max: Some(HumanDuration(retry.max)),
        jitter: Some(retry.jitter),
    };
    NewJobRequest {
        kind: kind.to_string(),
        queue: Some(queue.to_string()),
        payload: RawValue::from_string(payload.clone()).ok().filter(|raw| raw.get() != "null"),
        priority: Some(*priority).filter(|priority| *priority != 0),
        run_at: *run_at,
        delay: None,
        expires_at: *expires_at,
        threads: Some(*threads).filter(|threads| *threads != usual.threads),
        min_threads: Some(*min_threads).filter(|threads| *threads != usual.min_threads),
        fallback: Some(*fallback).filter(|fallback| *fallback != usual.fallback),
        require: Some(require.clone()).filter(|labels| !labels.is_empty()),
        max_attempts: Some(*max_attempts).filter(|most| *most != usual.max_attempts),
        retry: Some(policy).filter(|_| *retry != usual.retry),
        timeout: Some(Timeout::from(*timeout)).filter(|_| *timeout != usual.timeout),
        unique_key: unique_key.clone(),
        unique_for: Some(HumanDuration(*unique_for)).filter(|time| !time.0.is_zero()),
        concurrency_key: concurrency_key.clone(),
        fair_key: fair_key.clone(),
        fair_weight: Some(*fair_weight).filter(|weight| *weight != usual.fair_weight),
        tags: Some(tags.clone()).filter(|tags| !tags.is_empty()),
        traceparent: traceparent.clone(),
        tracestate: tracestate.clone(),
        max_lost: Some(*max_lost).filter(|most| *most != usual.max_lost),
        durability: None,
        // A schedule makes many jobs, and one cannot wait for them.
        depends_on: None,
    }
}

/// Schedules, by name.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct SchedulesBody {
    /// Those of this page.
    pub items: Vec<ScheduleBody>,
    /// Where the next page begins; missing on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// Instants to come.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct UpcomingBody {
    /// In their order.
    pub items: Vec<InstantBody>,
}

/// An instant of a schedule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct InstantBody {
    /// When.
    #[schema(value_type = String, format = DateTime)]
    pub at: Wall,
    /// The same in the zone of the schedule.
    pub local: String,
    /// What the clocks do there, if anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl From<Upcoming> for InstantBody {
    fn from(upcoming: Upcoming) -> InstantBody {
        InstantBody { at: upcoming.at, local: upcoming.local, note: upcoming.note.map(Into::into) }
    }
}

/// What a schedule would be, and when it would fire.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct SchedulePreview {
    /// With every default spelled out.
    pub schedule: ScheduleBody,
    /// Its next instants.
    pub next: Vec<InstantBody>,
}

/// A range of the past that is to be made up for.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BackfillRequest {
    /// The first moment.
    #[schema(value_type = String, format = DateTime)]
    pub from: Wall,
    /// The last moment, at most now.
    #[schema(value_type = String, format = DateTime)]
    pub to: Wall,
    /// Only tell which instants there are.
    #[serde(default)]
    pub preview: bool,
}

/// What a run or a backfill came to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FiredBody {
    /// Instants that were looked at.
    pub considered: usize,
    /// What was written about them; those that had fired before are left out. Empty in a preview.
    pub occurrences: Vec<OccurrenceBody>,
    /// In a preview: the instants.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub instants: Vec<InstantBody>,
}

impl From<Backfilled> for FiredBody {
    fn from(backfilled: Backfilled) -> FiredBody {
        let shown = |(at, local)| InstantBody { at, local, note: None };
        FiredBody {
            considered: backfilled.considered,
            occurrences: backfilled.occurrences.into_iter().map(Into::into).collect(),
            instants: backfilled.instants.into_iter().map(shown).collect(),
        }
    }
}

/// One due instant of a schedule, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OccurrenceBody {
    /// When it was due; for a manual one, when it was asked for.
    #[schema(value_type = String, format = DateTime)]
    pub due_at: Wall,
    /// When that was decided.
    #[schema(value_type = String, format = DateTime)]
    pub decided_at: Wall,
    /// `schedule`, `manual` or `backfill`.
    pub cause: String,
    /// `fired`, `waiting` or `skipped`.
    pub state: String,
    /// The job that it made, or that was in its way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub job: Option<JobId>,
    /// Why it was skipped: `missed`, `paused`, `overlap`, `edited`, `queue_draining` or `unique_key`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The row stands for all instants from here on, where they were too many for a row each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub since: Option<Wall>,
    /// How many instants the row stands for.
    pub count: u64,
}

impl From<Occurrence> for OccurrenceBody {
    fn from(row: Occurrence) -> OccurrenceBody {
        let (state, job, skip) = match row.fate {
            Fate::Fired(job) => ("fired", Some(job), None),
            Fate::Waiting => ("waiting", None, None),
            Fate::Skipped(skip) => ("skipped", skip.job, Some(skip)),
        };
        OccurrenceBody {
            due_at: row.due_at,
            decided_at: row.decided_at,
            cause: row.cause.as_str().into(),
            state: state.into(),
            job,
            reason: skip.as_ref().map(|skip| skip.why.as_str().into()),
            since: skip.as_ref().and_then(|skip| skip.since),
            count: skip.map_or(1, |skip| skip.count),
        }
    }
}

/// The ledger of a schedule, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OccurrencesBody {
    /// Those of this page.
    pub items: Vec<OccurrenceBody>,
    /// Where the next page begins; missing on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// The schedule that made a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OriginBody {
    /// Its name.
    #[schema(value_type = String)]
    pub name: ScheduleName,
    /// The instant for which it made the job.
    #[schema(value_type = String, format = DateTime)]
    pub due_at: Wall,
}
