//! Why a job is, or is not, running.

use ganger_core::JobId;
use ganger_core::coordinator::view::{Explanation, QueueAhead};
use ganger_core::job::State;
use ganger_core::name::QueueName;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Why a job is, or is not, running.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ExplainBody {
    /// The job.
    #[schema(value_type = String)]
    pub job: JobId,
    /// Where it is.
    #[schema(value_type = String)]
    pub state: State,
    /// One sentence for people.
    pub summary: String,
    /// Everything that was checked, in the order in which dispatch checks it.
    pub gates: Vec<GateBody>,
    /// Its place in line, if it is ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<PositionBody>,
    /// When it should start, if that can be said: from its place in line, the run times of what comes first, limits and rates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate_ms: Option<u64>,
    /// Jobs of its queue that were started per second lately, if there is an estimate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_second: Option<f64>,
    /// What to do about it, if anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_step: Option<String>,
}

/// One thing that was checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct GateBody {
    /// Its stable name.
    pub gate: String,
    /// Whether it holds the job back.
    pub closed: bool,
    /// The evidence, for people.
    pub evidence: String,
}

/// A place in line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PositionBody {
    /// Jobs of the same queue that come before it.
    pub ahead: usize,
    /// Whether that is exact, or at least that many.
    pub exact: bool,
    /// Jobs of other queues that start before it, as the turns of the queues are now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_queues: Vec<QueueAheadBody>,
}

/// Jobs of another queue that come first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct QueueAheadBody {
    /// The queue; absent for all those together that the caller may not see.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub queue: Option<QueueName>,
    /// How many of its jobs.
    pub jobs: u64,
}

impl From<QueueAhead> for QueueAheadBody {
    fn from(QueueAhead { queue, jobs }: QueueAhead) -> QueueAheadBody {
        QueueAheadBody { queue, jobs }
    }
}

impl PositionBody {
    /// What comes first, for people: "3 ahead of it in its queue, 12 of other queues first (bulk 10, mail 2)".
    #[must_use]
    pub fn words(&self) -> String {
        let least = if self.exact { "" } else { "at least " };
        let own = format!("{least}{} ahead of it in its queue", self.ahead);
        if self.other_queues.is_empty() {
            return own;
        }
        format!("{own}, {}", QueueAheadBody::words(&self.other_queues))
    }
}

impl QueueAheadBody {
    /// "12 of other queues start first (bulk 10, mail 2)".
    #[must_use]
    pub fn words(others: &[QueueAheadBody]) -> String {
        let all: u64 = others.iter().map(|other| other.jobs).sum();
        let named = others.iter().filter_map(|other| Some((other.queue.as_ref()?, other.jobs)));
        let mut names: Vec<String> =
            named.take(QUEUES_NAMED).map(|(queue, jobs)| format!("{queue} {jobs}")).collect();
        if others.len() > names.len() && !names.is_empty() {
            names.push("…".to_owned());
        }
        let (start, names) = (if all == 1 { "starts" } else { "start" }, names.join(", "));
        let names = if names.is_empty() { names } else { format!(" ({names})") };
        format!("{all} of other queues {start} first{names}")
    }
}

/// Queues that are named in a sentence.
const QUEUES_NAMED: usize = 3;

impl From<Explanation> for ExplainBody {
    fn from(explanation: Explanation) -> ExplainBody {
        let gates = explanation.gates.into_iter().map(|gate| GateBody {
            gate: gate.gate.to_string(),
            closed: gate.closed,
            evidence: gate.evidence,
        });
        ExplainBody {
            job: explanation.job,
            state: explanation.state,
            summary: explanation.summary,
            gates: gates.collect(),
            position: explanation.position.map(|p| PositionBody {
                ahead: p.ahead,
                exact: p.exact,
                other_queues: p.others.into_iter().map(QueueAheadBody::from).collect(),
            }),
            estimate_ms: explanation.estimate.map(|d| u64::try_from(d.as_millis()).unwrap_or(u64::MAX)),
            per_second: explanation.pace,
            next_step: explanation.next_step,
        }
    }
}
