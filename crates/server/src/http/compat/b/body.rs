//! Jobs as profile B writes them.

use std::collections::BTreeMap;
use std::sync::Arc;

use ganger_core::filter::Filter;
use ganger_core::job::State;
use ganger_core::{JobId, Wall};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::NAME;
use crate::api::{JobBody, NewJobRequest};

/// What the profile can run: each is a kind, and a name in its own spelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JobType {
    AddNumbers,
    ReverseString,
    ResizeImage,
    LargeArraySum,
}

impl JobType {
    const ALL: [JobType; 4] =
        [JobType::AddNumbers, JobType::ReverseString, JobType::ResizeImage, JobType::LargeArraySum];

    pub(super) const fn kind(self) -> &'static str {
        match self {
            JobType::AddNumbers => "add_numbers",
            JobType::ReverseString => "reverse_string",
            JobType::ResizeImage => "resize_image",
            JobType::LargeArraySum => "large_array_sum",
        }
    }

    pub(super) const fn shown(self) -> &'static str {
        match self {
            JobType::AddNumbers => "AddNumbers",
            JobType::ReverseString => "ReverseString",
            JobType::ResizeImage => "ResizeImage",
            JobType::LargeArraySum => "LargeArraySum",
        }
    }

    pub(super) fn of_kind(kind: &str) -> Option<JobType> {
        JobType::ALL.into_iter().find(|of_type| of_type.kind() == kind)
    }

    pub(super) fn parse(text: &str) -> Option<JobType> {
        JobType::ALL.into_iter().find(|of_type| text == of_type.kind() || text == of_type.shown())
    }

    /// Every job of these kinds.
    pub(super) fn filter() -> Arc<Filter> {
        let kinds = JobType::ALL.map(JobType::kind).join(",");
        Arc::new(Filter::parse(&format!("kind:{kinds}")).expect("names of kinds are words of the language"))
    }
}

/// A job as it is asked for. What else is in the body is left aside, as it was there.
#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct NewJob {
    /// A name for people.
    #[serde(default)]
    pub(super) name: Option<String>,
    /// `LargeArraySum` or `large_array_sum`, and so on.
    #[serde(default, rename = "type")]
    pub(super) of_type: String,
    /// Larger runs first.
    #[serde(default)]
    pub(super) priority: i64,
    /// Threads it wants; 0 is one.
    #[serde(default)]
    pub(super) thread_demand: i64,
    /// Its input.
    #[serde(default)]
    #[schema(value_type = Option<serde_json::Value>)]
    pub(super) payload: Option<Box<RawValue>>,
}

/// What is wrong.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ErrorObject {
    /// In a few words.
    pub(super) error: String,
}

/// A job as it is shown.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct JobObject {
    /// A plain UUID.
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(rename = "type")]
    of_type: &'static str,
    priority: i8,
    thread_demand: u16,
    /// Pending, Running, Completed or Failed.
    status: &'static str,
    #[schema(value_type = String, format = DateTime)]
    created_at: Wall,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    started_at: Option<Wall>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    completed_at: Option<Wall>,
    /// Its input.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<serde_json::Value>)]
    payload: Option<Box<RawValue>>,
    /// Its keys in both spellings: `{"Sum":55,"sum":55}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<serde_json::Value>)]
    result: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    times: Option<Times>,
}

/// How long everything took, for final jobs.
#[derive(Debug, Serialize, ToSchema)]
struct Times {
    queue_time_ms: u64,
    execution_time_ms: u64,
    total_time_ms: u64,
    worker_threads: u16,
}

impl JobObject {
    /// As it is now.
    pub(super) fn of(job: JobBody) -> JobObject {
        let failed = matches!(job.state, State::Dead | State::Cancelled);
        let begun = failed || matches!(job.state, State::Running | State::Succeeded);
        JobObject {
            id: job.id.uuid().to_string(),
            name: job.tags.iter().find_map(|tag| tag.strip_prefix(NAME).map(ToOwned::to_owned)),
            of_type: JobType::of_kind(job.kind.as_str()).map_or("", JobType::shown),
            priority: job.priority,
            thread_demand: job.threads,
            status: status(job.state),
            created_at: job.created_at,
            started_at: job.started_at.filter(|_| begun),
            completed_at: job.finished_at,
            payload: job.payload,
            result: job.result.map(in_both_spellings),
            error: job.last_error.or(job.reason).filter(|_| failed),
            times: None,
        }
    }

    /// As it ended, and how long everything took.
    pub(super) fn timed(job: JobBody) -> JobObject {
        let execution_time_ms = job.execution_time_ms.unwrap_or(0).min(job.total_time_ms);
        let times = Times {
            // As there, the two together are the total: attempts before the last, and the waits between them, were time in the queue.
            queue_time_ms: job.total_time_ms - execution_time_ms,
            execution_time_ms,
            total_time_ms: job.total_time_ms,
            worker_threads: job.threads_granted.unwrap_or(0),
        };
        JobObject { times: Some(times), ..JobObject::of(job) }
    }

    /// As it was asked for: nothing else is known of it any more.
    pub(super) fn gone(id: JobId, job: &NewJobRequest, now: Wall) -> JobObject {
        let tags = job.tags.as_deref().unwrap_or_default();
        JobObject {
            id: id.uuid().to_string(),
            name: tags.iter().find_map(|tag| tag.strip_prefix(NAME).map(ToOwned::to_owned)),
            of_type: JobType::of_kind(&job.kind).map_or("", JobType::shown),
            priority: job.priority.unwrap_or(0),
            thread_demand: job.threads.unwrap_or(1),
            status: status(State::Queued),
            created_at: now,
            started_at: None,
            completed_at: None,
            payload: job.payload.clone(),
            result: None,
            error: None,
            times: None,
        }
    }
}

const fn status(state: State) -> &'static str {
    match state {
        State::Scheduled | State::Blocked | State::Queued | State::Retrying => "Pending",
        State::Running => "Running",
        State::Succeeded => "Completed",
        State::Dead | State::Cancelled => "Failed",
    }
}

/// The keys that the original wrote otherwise are there twice; the values stay byte for byte.
fn in_both_spellings(result: Box<RawValue>) -> Box<RawValue> {
    const SPELLINGS: [(&str, &str); 3] =
        [("sum", "Sum"), ("reversed", "Reversed"), ("resized_url", "ResizedURL")];
    let Ok(mut fields) = serde_json::from_str::<BTreeMap<String, &RawValue>>(result.get()) else {
        return result;
    };
    for (ours, theirs) in SPELLINGS {
        if let Some(value) = fields.get(ours).copied() {
            fields.insert(theirs.to_owned(), value);
        }
    }
    serde_json::value::to_raw_value(&fields).unwrap_or_else(|_| result.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_have_their_keys_in_both_spellings_and_keep_every_digit() {
        for (result, shown) in [
            (r#"{"sum":36893488147419103228}"#, r#"{"Sum":36893488147419103228,"sum":36893488147419103228}"#),
            (r#"{"reversed":"äb"}"#, r#"{"Reversed":"äb","reversed":"äb"}"#),
            (r#"{"resized_url":"u"}"#, r#"{"ResizedURL":"u","resized_url":"u"}"#),
            (r#"{"data":"x"}"#, r#"{"data":"x"}"#),
            ("[1]", "[1]"),
        ] {
            let raw = RawValue::from_string(result.into()).unwrap();
            assert_eq!(in_both_spellings(raw).get(), shown);
        }
    }

    #[test]
    fn the_filter_is_of_the_language() {
        JobType::filter();
    }
}
