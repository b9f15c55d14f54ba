//! The checker: what clients were told against what is recorded. Pure, so that it can be shown to bite.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::Value;

/// What the checker found.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    /// Jobs that were acknowledged.
    pub(crate) acked: usize,
    /// Acknowledged jobs that are not there, or never ended.
    pub(crate) lost: Vec<String>,
    /// Jobs seen in two different final states, or with an attempt number recorded twice.
    pub(crate) recorded_twice: Vec<String>,
    /// Results that were recorded under an attempt that did not produce them.
    pub(crate) stolen: Vec<String>,
    /// Idempotency keys that were answered with two jobs.
    pub(crate) two_answers: Vec<String>,
    /// Acknowledged jobs of which a server said later that there is no such job.
    pub(crate) denied: Vec<String>,
    /// Jobs that ended as cancelled, which a client had asked for.
    pub(crate) cancelled: usize,
    /// Requests that were sent again.
    pub(crate) resent: usize,
    /// Attempts that ended as lost.
    pub(crate) lost_attempts: usize,
    /// Reports that were refused because their lease was lost.
    pub(crate) refused_reports: u64,
}

impl Verdict {
    /// All of so many jobs were acknowledged, and nothing was violated.
    pub(crate) fn assert_clean(&self, jobs: usize) {
        assert_eq!(self.acked, jobs, "not every job was acknowledged: {self:#?}");
        assert!(self.lost.is_empty(), "acknowledged and lost: {self:#?}");
        assert!(self.recorded_twice.is_empty(), "recorded twice: {self:#?}");
        assert!(self.stolen.is_empty(), "a result under a lost lease was accepted: {self:#?}");
        assert!(self.two_answers.is_empty(), "one idempotency key, two jobs: {self:#?}");
        assert!(self.denied.is_empty(), "acknowledged and denied: {self:#?}");
    }
}

/// What a client was told.
#[derive(Clone, Debug, Default)]
pub(crate) struct Told {
    /// Job by idempotency key.
    pub(crate) acked: BTreeMap<String, String>,
    pub(crate) two_answers: Vec<String>,
    pub(crate) resent: usize,
    /// Final state and attempt as first seen.
    pub(crate) finals: HashMap<String, (String, u64)>,
    pub(crate) recorded_twice: Vec<String>,
    pub(crate) denied: Vec<String>,
    /// Jobs whose cancellation was asked for, whatever the answer.
    pub(crate) cancels: HashSet<String>,
}

impl Told {
    /// A submission under this key was answered with this job.
    pub(crate) fn acknowledged(&mut self, key: &str, id: String) {
        if self.acked.insert(key.to_owned(), id.clone()).is_some_and(|other| other != id) {
            self.two_answers.push(key.to_owned());
        }
    }

    /// A job was seen to have ended: final is final.
    pub(crate) fn saw_final(&mut self, id: &str, job: &Value) {
        let seen = (job["state"].to_string(), job["attempt"].as_u64().unwrap_or(0));
        if self.finals.insert(id.to_owned(), seen.clone()).is_some_and(|before| before != seen) {
            self.recorded_twice.push(id.to_owned());
        }
    }
}

/// What is recorded of a job, as the API shows it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recorded {
    /// Nothing if there is no such job.
    pub(crate) job: Option<Value>,
    pub(crate) attempts: Vec<Value>,
    pub(crate) result: Value,
}

/// A whole campaign, as far as the checker is concerned.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    pub(crate) told: Told,
    /// By job.
    pub(crate) recorded: BTreeMap<String, Recorded>,
}

impl History {
    /// Compares what was told with what is recorded.
    pub(crate) fn verdict(&self) -> Verdict {
        let mut told = self.told.clone();
        let mut verdict = Verdict { acked: told.acked.len(), ..Verdict::default() };
        for id in self.told.acked.values() {
            let Some((record, job)) = self.recorded.get(id).and_then(|r| Some((r, r.job.as_ref()?))) else {
                verdict.lost.push(id.clone());
                continue;
            };
            let cancelled = job["state"] == "cancelled" && told.cancels.contains(id);
            if job["state"] != "succeeded" && !cancelled {
                verdict.lost.push(format!("{id}: {}", job["state"]));
                continue;
            }
            told.saw_final(id, job);
            judge(id, job, record, &mut verdict);
        }
        verdict.recorded_twice.extend(told.recorded_twice);
        verdict.two_answers = told.two_answers;
        verdict.denied = told.denied;
        verdict.resent = told.resent;
        verdict
    }
}

fn judge(id: &str, job: &Value, record: &Recorded, verdict: &mut Verdict) {
    let attempts = &record.attempts;
    let numbers: Vec<u64> = attempts.iter().filter_map(|a| a["attempt"].as_u64()).collect();
    let ok = attempts.iter().filter(|a| a["outcome"] == "ok").count();
    let counted: Vec<u64> = (1..=attempts.len() as u64).collect();
    let cancelled = job["state"] == "cancelled";
    verdict.cancelled += usize::from(cancelled);
    if numbers != counted || ok != usize::from(!cancelled) {
        verdict.recorded_twice.push(format!("{id}: attempts {numbers:?}, {ok} of them ok"));
    }
    verdict.lost_attempts += attempts.iter().filter(|a| a["outcome"] == "lost").count();
    if !cancelled && record.result["attempt"].as_u64() != job["attempt"].as_u64() {
        verdict.stolen.push(format!("{id}: recorded {}, produced by {}", job["attempt"], record.result));
    }
}
