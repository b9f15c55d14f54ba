//! Callers that wait for a job to end.
//!
//! The writer tells them, after the commit, how the job ended. No caller polls, and a job of a queue
//! that keeps no history can still be waited for.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ganger_core::change::{After, Applied, Batch, Change, End};
use ganger_core::{JobId, Wall};
use tokio::sync::oneshot;

/// Callers that may wait at the same time.
pub const WAITERS: usize = 20_000;

/// Who waits for what.
#[derive(Clone, Debug, Default)]
pub struct Waiters(Arc<Mutex<Table>>);

#[derive(Debug, Default)]
struct Table {
    next: u64,
    by_job: HashMap<JobId, HashMap<u64, oneshot::Sender<End>>>,
    count: usize,
}

/// A place among those who wait; given up when dropped.
#[derive(Debug)]
pub struct Waiting {
    waiters: Waiters,
    job: JobId,
    number: u64,
    ended: oneshot::Receiver<End>,
}

/// Callers whose wait is over, and how their job ended.
#[derive(Debug)]
pub struct Told(Vec<(oneshot::Sender<End>, End)>);

impl Waiters {
    /// Waits for the next end of this job; `None` if too many wait already.
    #[must_use]
    pub fn wait_for(&self, job: JobId) -> Option<Waiting> {
        let (tx, ended) = oneshot::channel();
        let mut table = self.table();
        if table.count == WAITERS {
            return None;
        }
        table.count += 1;
        table.next += 1;
        let number = table.next;
        table.by_job.entry(job).or_default().insert(number, tx);
        Some(Waiting { waiters: self.clone(), job, number, ended })
    }

    /// Whoever waits for a job that ends in this batch, which must be durable.
    #[must_use]
    pub fn take(&self, batch: &Batch, applied: &[Applied]) -> Told {
        let mut told = Vec::new();
        let mut table = self.table();
        if table.by_job.is_empty() {
            return Told(told);
        }
        for (job, end) in ends(batch, applied) {
            let waiting = table.by_job.remove(&job).unwrap_or_default();
            table.count -= waiting.len();
            told.extend(waiting.into_values().map(|waiting| (waiting, end.clone().into_owned())));
        }
        Told(told)
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        // A panic while the lock is held could at worst leave the count one too high.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Told {
    /// Tells them.
    pub fn tell(self) {
        for (waiting, end) in self.0 {
            // Whoever stopped waiting at this moment does not hear it.
            let _ = waiting.send(end);
        }
    }
}

impl Waiting {
    /// How the job ended; `None` if the server ends first.
    pub async fn ended(&mut self) -> Option<End> {
        (&mut self.ended).await.ok()
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let mut table = self.waiters.table();
        let Some(list) = table.by_job.get_mut(&self.job) else { return };
        let waited = list.remove(&self.number).is_some();
        if list.is_empty() {
            table.by_job.remove(&self.job);
        }
        table.count -= usize::from(waited);
    }
}

/// The jobs that end in a batch, with what it came to.
pub fn ends<'b>(batch: &'b Batch, applied: &'b [Applied]) -> impl Iterator<Item = (JobId, Cow<'b, End>)> {
    batch.changes.iter().zip(applied).filter_map(|(change, applied)| match change {
        Change::End(attempt) => match (applied, &attempt.after) {
            (Applied::EndedElsewhere { state, kept }, _) => {
                let at = attempt.record.as_ref().map_or_else(Wall::default, |record| record.ended_at);
                let end = End { state: *state, at, result: None, reason: None, keep: *kept };
                Some((attempt.job, Cow::Owned(end)))
            }
            (_, After::Final { end, .. }) => Some((attempt.job, Cow::Borrowed(end))),
            (_, After::Again { .. }) => None,
        },
        Change::Finish(finish) => Some((finish.job, Cow::Borrowed(&finish.end))),
        Change::Submit(_)
        | Change::Assign(_)
        | Change::CancelWanted(_)
        | Change::RunNow(..)
        | Change::Settle(..)
        | Change::Replay(_)
        | Change::OpenSession(_)
        | Change::CloseSession(..)
        | Change::PutQueue(..)
        | Change::PutKind(..)
        | Change::CloseKey(_)
        | Change::Mark(_)
        | Change::Log(_)
        | Change::Failed(_)
        | Change::PutDocument(_)
        | Change::Schedule(_)
        | Change::Delete(_)
        | Change::PurgeDead { .. }
        | Change::Prune { .. } => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ganger_core::change::Finish;
    use ganger_core::job::State;

    fn job(n: u8) -> JobId {
        JobId::new(1, [n; 10])
    }

    fn finished(job: JobId) -> Batch {
        let end = End { state: State::Cancelled, at: Wall(5), result: None, reason: None, keep: true };
        Batch::new(1, vec![Change::Finish(Finish { job, end })])
    }

    #[tokio::test]
    async fn everybody_who_waits_for_a_job_hears_of_its_end_and_nobody_else() {
        let waiters = Waiters::default();
        let mut first = waiters.wait_for(job(1)).unwrap();
        let mut second = waiters.wait_for(job(1)).unwrap();
        let mut other = waiters.wait_for(job(2)).unwrap();
        waiters.take(&finished(job(1)), &[Applied::Done]).tell();
        assert_eq!(first.ended().await.unwrap().state, State::Cancelled);
        assert!(second.ended().await.is_some());
        assert!(other.ended.try_recv().is_err());
    }

    #[test]
    fn a_place_is_given_back_whether_the_job_ended_or_not() {
        let waiters = Waiters::default();
        let told = waiters.wait_for(job(1)).unwrap();
        let untold = waiters.wait_for(job(2)).unwrap();
        waiters.take(&finished(job(1)), &[Applied::Done]).tell();
        drop((told, untold));
        let table = waiters.table();
        assert_eq!((table.count, table.by_job.len()), (0, 0));
    }

    #[test]
    fn one_more_than_may_wait_is_turned_away() {
        let waiters = Waiters::default();
        let all: Vec<Waiting> = (0..WAITERS).map(|_| waiters.wait_for(job(1)).unwrap()).collect();
        assert!(waiters.wait_for(job(1)).is_none());
        assert_eq!(all.len(), WAITERS);
    }
}
