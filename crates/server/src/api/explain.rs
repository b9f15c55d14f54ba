//! Why a job is, or is not, running.

use ganger_core::JobId;
use ganger_core::coordinator::view::Explanation;
use ganger_core::job::State;
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
    /// When it should start at the present rate, if that can be said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate_ms: Option<u64>,
    /// That rate: jobs of its queue that were started per second lately.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PositionBody {
    /// Jobs of the same queue that come before it.
    pub ahead: usize,
    /// Whether that is exact, or at least that many.
    pub exact: bool,
}

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
            position: explanation.position.map(|p| PositionBody { ahead: p.ahead, exact: p.exact }),
            estimate_ms: explanation.estimate.map(|d| u64::try_from(d.as_millis()).unwrap_or(u64::MAX)),
            per_second: explanation.pace,
            next_step: explanation.next_step,
        }
    }
}
