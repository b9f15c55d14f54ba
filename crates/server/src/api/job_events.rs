//! What happened to a job, in order.

use ganger_core::Wall;
use ganger_core::outcome::Outcome;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::service::{Happened, What};

/// What happened to a job, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct JobEventsBody {
    /// The first comes first.
    pub items: Vec<JobEventBody>,
}

/// Something that happened to a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct JobEventBody {
    /// When.
    #[schema(value_type = String, format = DateTime)]
    pub at: Wall,
    /// What: created, started, ended, asked, succeeded, dead or cancelled.
    pub event: String,
    /// Number of the attempt that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// Name of the worker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    /// How the attempt ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub outcome: Option<Outcome>,
    /// Who asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub who: Option<String>,
    /// In words: an error, a reason, what was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

impl From<Vec<Happened>> for JobEventsBody {
    fn from(events: Vec<Happened>) -> JobEventsBody {
        JobEventsBody { items: events.into_iter().map(JobEventBody::from).collect() }
    }
}

impl From<Happened> for JobEventBody {
    fn from(happened: Happened) -> JobEventBody {
        let plain = |event: &str| JobEventBody {
            at: happened.at,
            event: event.to_owned(),
            attempt: None,
            worker: None,
            outcome: None,
            who: None,
            text: None,
        };
        match happened.what {
            What::Created => plain("created"),
            What::Started { attempt, worker } => {
                JobEventBody { attempt: Some(attempt), worker: Some(worker), ..plain("started") }
            }
            What::Ended { attempt, worker, outcome, error } => JobEventBody {
                attempt: Some(attempt),
                worker: Some(worker),
                outcome: Some(outcome),
                text: error,
                ..plain("ended")
            },
            What::Asked { who, operation } => {
                JobEventBody { who: Some(who), text: Some(operation), ..plain("asked") }
            }
            What::Over { state, reason } => JobEventBody { text: reason, ..plain(state.as_str()) },
        }
    }
}
