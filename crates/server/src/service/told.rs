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
                // It follows, but could bring nobody to it.
                let refusal = self.0.membership.refusal(&leader.server);
                check(
                    "leader",
                    refusal.as_deref(),
                    format!("follows {} in term {}", leader.server, leader.term),
                )
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
                Ok(Ok(_)) => check("coordinator", None, String::new()),
                Ok(Err(_)) => check("coordinator", Some("takes no questions"), String::new()),
                Err(_) => check("coordinator", Some("does not answer"), String::new()),
            });
            let stats = seen.ok().and_then(Result::ok);
            checks.push(check("store", self.store_trouble(stats.as_ref()).as_deref(), String::new()));
            checks.extend(stats.map(|stats| self.writer_check(stats.backlog)));
        } else {
            checks.push(check("store", self.store_trouble(None).as_deref(), String::new()));
        }
        checks.extend(self.disk_check().await);
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

    /// Whether the thread that decides still does. A store that is away, a takeover that lasts and another server that leads do
    /// not count against it: no restart would mend them.
    pub async fn is_alive(&self) -> bool {
        let phase = self.0.phase.borrow().clone();
        match phase {
            Phase::Leading(_) => {
                let answer = tokio::time::timeout(CHECK_WITHIN, self.0.inbox.look(|_, _| ())).await;
                // One that does not lead any more takes no questions, and that is an answer.
                answer.is_ok()
            }
            Phase::Following(_) | Phase::TakingOver => true,
            Phase::Stopped | Phase::Failed(_) => false,
        }
    }

    /// How much waits to be written. Beyond the bound submissions are refused, so an operator should hear of it before.
    fn writer_check(&self, waiting: usize) -> Check {
        let lasts = self.0.busy.lasts(self.0.clock.now().mono);
        let detail = match lasts.as_millis() {
            0 => format!("{waiting} changes wait"),
            ms => format!("{waiting} changes wait, a batch has been on its way for {ms} ms"),
        };
        let most = self.0.backlog;
        let warning = (waiting > most / 2).then(|| {
            format!("{waiting} changes wait to be written; beyond {most} submissions are refused with 503")
        });
        Check { name: "writer", detail, warning, ..Check::default() }
    }

    /// The room that is left, where the store is on a disk of this machine.
    async fn disk_check(&self) -> Option<Check> {
        let warned = |warning: String| Check { name: "disk", warning: Some(warning), ..Check::default() };
        let disk = match tokio::time::timeout(CHECK_WITHIN, self.0.store.disk()).await {
            Ok(Ok(disk)) => disk?,
            Ok(Err(cause)) => return Some(warned(cause.to_string())),
            Err(_) => return Some(warned("it does not say how much room is left".into())),
        };
        let detail = format!("{} of {} free", size(disk.free_bytes), size(disk.total_bytes));
        let warning = disk.is_low().then(|| {
            format!(
                "{detail}: make room before it is full; nothing is acknowledged then, and nothing is lost"
            )
        });
        Some(Check { name: "disk", detail, warning, ..Check::default() })
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

/// A number of bytes for people.
fn size(bytes: u64) -> String {
    let (mut left, mut unit) = (bytes, 0);
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
    while left >= 10 * 1024 && unit + 1 < units.len() {
        left /= 1024;
        unit += 1;
    }
    format!("{left} {}", units[unit])
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_are_told_in_units_that_people_know() {
        for (bytes, shown) in
            [(512, "512 bytes"), (10 << 10, "10 KiB"), (3 << 30, "3072 MiB"), (20 << 40, "20 TiB")]
        {
            assert_eq!(size(bytes), shown);
        }
    }
}
