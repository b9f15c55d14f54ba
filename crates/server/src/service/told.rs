//! What is told about jobs that are over, and about the server's own health.

use std::time::Duration;

use ganger_core::coordinator::view::{Explanation, Stats};
use ganger_core::job::State;
use ganger_store::read::StoredJob;

use super::ask::STUCK;
use super::{Check, Service, StandingNow};
use crate::accelerator::Accelerator;
use crate::coordinator_thread::Phase;

/// A readiness probe must not hang.
const CHECK_WITHIN: Duration = Duration::from_secs(1);

/// Why a final job does not run any more. Also for one that ended, or moved, at this moment.
pub(super) fn how_it_ended(job: StoredJob) -> Explanation {
    let because = job.end.as_ref().and_then(|end| end.reason.as_deref());
    let error = job.last_attempt.as_ref().and_then(|attempt| attempt.error.as_deref());
    let at = job.end.as_ref().map(|end| format!(" at {}", end.at)).unwrap_or_default();
    let mut summary = match job.state {
        State::Succeeded => format!("it succeeded{at}"),
        State::Dead => format!("it died{at}"),
        State::Cancelled => format!("it was cancelled{at}"),
        State::Scheduled | State::Blocked | State::Queued | State::Running | State::Retrying => {
            format!("it is {} and changes at this moment", job.state.as_str())
        }
    };
    if let Some(because) = because {
        summary = format!("{summary}: {because}");
    }
    if let (State::Dead, Some(line)) = (job.state, error.and_then(|e| e.lines().next())) {
        summary = format!("{summary}; the last error was: {line}");
    }
    let next_step = (job.state == State::Dead)
        .then(|| format!("look at its attempts (`ganger job attempts {0}`), mend the cause, and replay it (`ganger job replay {0}`)", job.id));
    Explanation {
        job: job.id,
        state: job.state,
        summary,
        gates: Vec::new(),
        position: None,
        estimate: None,
        pace: None,
        next_step,
    }
}

impl Service {
    pub(super) async fn checks(&self) -> Vec<Check> {
        let stopping = *self.0.stopping.borrow();
        let phase = self.0.phase.borrow().clone();
        let leader = match &phase {
            Phase::Leading(term) => check("leader", None, format!("leads in term {term}")),
            Phase::Following(leader) => {
                check("leader", None, format!("follows {} in term {}", leader.server, leader.term))
            }
            Phase::TakingOver => check("leader", Some("takes over"), String::new()),
            Phase::Stopped => check("leader", Some("has stopped"), String::new()),
            Phase::Failed(cause) => check("leader", Some(cause), String::new()),
        };
        let mut checks =
            vec![check("stopping", stopping.then_some("the server is stopping"), String::new()), leader];
        if let Phase::Leading(_) = phase {
            let seen = tokio::time::timeout(CHECK_WITHIN, self.0.inbox.look(|c, _| c.stats())).await;
            checks.push(match &seen {
                Ok(Ok(stats)) => check("coordinator", None, format!("{} changes wait", stats.backlog)),
                Ok(Err(_)) => check("coordinator", Some("takes no questions"), String::new()),
                Err(_) => check("coordinator", Some("does not answer"), String::new()),
            });
            let stats = seen.ok().and_then(Result::ok);
            checks.push(check("store", self.store_trouble(stats.as_ref()).as_deref(), String::new()));
        } else if let Some(away) = self.store_trouble(None) {
            checks.push(check("store", Some(&away), String::new()));
        }
        if self.0.membership.is_shared() {
            checks.push(match self.0.membership.dangers() {
                Some(dangers) => {
                    let warning = (!dangers.is_empty()).then(|| dangers.join("; "));
                    Check { name: "durability", warning, ..Check::default() }
                }
                None => check("durability", Some("unknown: the database was not asked yet"), String::new()),
            });
        }
        checks.extend(self.0.accelerator.iter().flat_map(Accelerator::checks));
        checks
    }

    /// What is the matter with the store, if anything is: the one answer that readiness and metrics give. The
    /// leader's own statistics, where there are any, tell of refusals.
    fn store_trouble(&self, stats: Option<&Stats>) -> Option<String> {
        let unknown = self.0.busy.trouble().map(|why| format!("whether a commit happened is unknown: {why}"));
        let busy = self.0.busy.lasts(self.0.clock.now().mono);
        let stuck = (busy > STUCK).then(|| format!("a commit has been on its way for {} s", busy.as_secs()));
        let refused = stats.and_then(|stats| stats.store_trouble.clone());
        let away = || self.0.membership.health().trouble().map(|trouble| trouble.cause);
        unknown.or(stuck).or(refused).or_else(away)
    }

    /// Where the server stands, for metrics, with the leader's own statistics where there are any.
    #[must_use]
    pub fn standing(&self, stats: Option<&Stats>) -> StandingNow {
        let store_up = self.store_trouble(stats).is_none();
        let (leads, term) = match &*self.0.phase.borrow() {
            Phase::Leading(term) => (true, term.number),
            Phase::Following(leader) => (false, leader.term.number),
            Phase::TakingOver | Phase::Stopped | Phase::Failed(_) => (false, 0),
        };
        StandingNow { leads, term, store_up }
    }
}

fn check(name: &'static str, trouble: Option<&str>, detail: String) -> Check {
    Check { name, trouble: trouble.map(Into::into), detail, warning: None }
}
