//! What happened to a job, told from what is kept of it: its intake, its attempts, its end, and who asked for what.
//!
//! Nothing is written for it. So it is as old as the job is kept, and says nothing about waits in between: those lie between
//! the moments that it tells.

use ganger_core::audit::AuditEntry;
use ganger_core::change::AttemptRecord;
use ganger_core::job::State;
use ganger_core::outcome::Outcome;
use ganger_core::{JobId, Wall, limits};
use ganger_store::read::StoredJob;

use super::{Answer, JobView, Service};

/// Something that happened to a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Happened {
    /// When.
    pub at: Wall,
    /// What.
    pub what: What,
}

/// What happened to a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// It was taken in.
    Created,
    /// Somebody asked for something to be done with it.
    Asked {
        /// Who.
        who: String,
        /// Method and path.
        operation: String,
    },
    /// An attempt began.
    Started {
        /// Its number.
        attempt: u32,
        /// Name of the worker, or its session.
        worker: String,
    },
    /// An attempt ended.
    Ended {
        /// Its number.
        attempt: u32,
        /// Name of the worker.
        worker: String,
        /// How.
        outcome: Outcome,
        /// Why, where there is a text.
        error: Option<String>,
    },
    /// It is over.
    Over {
        /// How.
        state: State,
        /// Why, where there is a text.
        reason: Option<String>,
    },
}

impl Service {
    /// What happened to a job, in order; with who asked for what, if that may be told.
    ///
    /// # Errors
    /// There is no such job, or the store cannot be read.
    pub async fn job_events(&self, id: JobId, with_audit: bool) -> Answer<Vec<Happened>> {
        let JobView { stored, worker, .. } = self.job(id).await?;
        let attempts = self.0.store.attempts(id).await?;
        let target = id.to_string();
        let asked = match with_audit {
            true => self.audit(None, limits::PAGE_MAX, |entry| entry.target == target).await?.0,
            false => Vec::new(),
        };
        Ok(tell(&stored, worker, attempts, asked.into_iter().map(|(_, entry)| entry)))
    }
}

fn tell(
    job: &StoredJob,
    worker: Option<String>,
    attempts: Vec<AttemptRecord>,
    asked: impl Iterator<Item = AuditEntry>,
) -> Vec<Happened> {
    let mut events = vec![Happened { at: job.created_at, what: What::Created }];
    events.extend(asked.map(|entry| {
        let what = What::Asked { who: entry.who, operation: entry.operation };
        Happened { at: entry.at, what }
    }));
    for record in attempts {
        let (attempt, worker) = (record.number, record.worker.clone());
        events.push(Happened { at: record.started_at, what: What::Started { attempt, worker } });
        let (worker, outcome, error) = (record.worker, record.outcome, record.error);
        events.push(Happened { at: record.ended_at, what: What::Ended { attempt, worker, outcome, error } });
    }
    if let Some(lease) = &job.lease {
        let worker = worker.unwrap_or_else(|| lease.session.to_string());
        events.push(Happened { at: lease.at, what: What::Started { attempt: lease.attempt, worker } });
    }
    if let Some(end) = &job.end {
        events
            .push(Happened { at: end.at, what: What::Over { state: end.state, reason: end.reason.clone() } });
    }
    // Of one moment, what was put in first came first.
    events.sort_by_key(|happened| happened.at);
    events
}
