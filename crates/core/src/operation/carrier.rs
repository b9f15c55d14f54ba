//! The machine that carries an operation out: it says what to do next, and is told what came of it.

use super::judge::{Seen, Verdict};
use super::{Cursor, Operation, OperationState, Skip, Target};
use crate::ids::JobId;
use crate::limits::OPERATION_CHUNK;
use crate::sabotage::{self, Bug};
use crate::time::Wall;

/// What is to be done next.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Look for the next jobs of the filter, at most so many, with smaller ids than this one.
    Look {
        /// The last one that was looked at.
        before: Option<JobId>,
        /// How many.
        rows: usize,
    },
    /// Look at these jobs; answer with [`Carrier::looked_at`].
    LookAt(Vec<JobId>),
    /// Look at these jobs: whether something was done to them is not known. Answer with [`Carrier::looked_again`].
    LookAgain(Vec<JobId>),
    /// Make the operation durable as it is now. Answer with [`Carrier::saved`].
    Save,
    /// Act upon these jobs, between [`Carrier::acts`] and [`Carrier::acted`].
    Act(Vec<JobId>),
    /// Nothing is left to do.
    Over,
}

/// What came of acting upon one job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// It was done, durably.
    Done,
    /// It was refused.
    Skipped(Skip),
    /// Nobody knows, or it was not tried.
    Unknown,
}

/// An operation under way.
#[derive(Clone, Debug, PartialEq)]
pub struct Carrier {
    /// As it is known to be in the store.
    durable: Operation,
    /// As it is.
    now: Operation,
    /// Something may have been done to the jobs of the plan.
    doubtful: bool,
    /// The jobs of the plan are to be looked at before anything is done to them.
    look_again: bool,
    /// The jobs of the plan are being acted upon.
    acting: bool,
}

impl Carrier {
    /// Goes on with an operation as it was found in the store.
    #[must_use]
    pub fn new(durable: Operation) -> Carrier {
        let planned = !durable.pending.is_empty();
        Carrier { now: durable.clone(), durable, doubtful: planned, look_again: planned, acting: false }
    }

    /// The operation as it is.
    #[must_use]
    pub fn operation(&self) -> &Operation {
        &self.now
    }

    /// What is to be done next.
    #[must_use]
    pub fn step(&self) -> Step {
        if !self.now.pending.is_empty() && self.look_again {
            return Step::LookAgain(self.now.pending.clone());
        }
        if self.now.is_over() {
            return if self.now == self.durable { Step::Over } else { Step::Save };
        }
        if !self.now.pending.is_empty() {
            // What is not planned durably would be forgotten by whoever comes next.
            let planned = self.durable.pending.len() >= self.now.pending.len()
                && self.now.pending.iter().all(|job| self.durable.pending.contains(job));
            if !planned && !sabotage::active(Bug::OperationUnplanned) {
                return Step::Save;
            }
            return Step::Act(self.now.pending.clone());
        }
        let rows = self.rows();
        match (&self.now.target, self.now.cursor) {
            (Target::Ids(ids), Cursor::Index(from)) => {
                Step::LookAt(ids.iter().skip(from).take(rows).copied().collect())
            }
            (Target::Ids(ids), _) => Step::LookAt(ids.iter().take(rows).copied().collect()),
            (Target::Filter { .. } | Target::All, Cursor::After(job)) => {
                Step::Look { before: Some(job), rows }
            }
            (Target::Filter { .. } | Target::All, _) => Step::Look { before: None, rows },
        }
    }

    /// These jobs were found, in this many rows; the next ones follow after that one, if there are more.
    pub fn looked(&mut self, found: &[Seen], examined: u64, next: Option<JobId>, now: Wall) {
        self.now.examined += examined;
        for seen in found {
            self.plan(seen.id, Some(seen));
        }
        self.now.cursor = next.map_or(Cursor::End, Cursor::After);
        self.finish(now);
    }

    /// The jobs that [`Step::LookAt`] named were looked at; those that are missing do not exist.
    pub fn looked_at(&mut self, found: &[Seen], now: Wall) {
        let Step::LookAt(ids) = self.step() else { return };
        let Target::Ids(all) = &self.now.target else { return };
        let before = if let Cursor::Index(before) = self.now.cursor { before } else { 0 };
        let looked = before + ids.len();
        self.now.cursor = if looked >= all.len() { Cursor::End } else { Cursor::Index(looked) };
        self.now.examined += ids.len() as u64;
        for id in ids {
            self.plan(id, found.iter().find(|seen| seen.id == id));
        }
        self.finish(now);
    }

    /// The jobs of the plan were looked at again; those that are missing do not exist.
    pub fn looked_again(&mut self, found: &[Seen], now: Wall) {
        self.look_again = false;
        for id in std::mem::take(&mut self.now.pending) {
            match self.now.judge(found.iter().find(|seen| seen.id == id), true) {
                Verdict::Done => self.now.done += 1,
                Verdict::Skip(why) => self.now.skip(why),
                // Of an operation that was stopped, what was not done is not done.
                Verdict::Act if self.now.is_over() => {}
                Verdict::Act => self.now.pending.push(id),
            }
        }
        self.finish(now);
    }

    /// The operation is durable as it was then.
    pub fn saved(&mut self, operation: Operation) {
        self.durable = operation;
    }

    /// The jobs of the plan are acted upon from now on, until [`Carrier::acted`].
    pub fn acts(&mut self) {
        self.acting = true;
    }

    /// What came of acting.
    pub fn acted(&mut self, settled: &[(JobId, Settled)], now: Wall) {
        self.acting = false;
        for id in std::mem::take(&mut self.now.pending) {
            let outcome = settled.iter().find(|(job, _)| *job == id).map_or(Settled::Unknown, |(_, s)| *s);
            match outcome {
                Settled::Done => self.now.done += 1,
                Settled::Skipped(why) if !self.doubtful => self.now.skip(why),
                // Refused perhaps because it was done before: a look tells.
                Settled::Skipped(_) | Settled::Unknown => self.now.pending.push(id),
            }
        }
        self.doubtful = !self.now.pending.is_empty();
        self.look_again = self.doubtful;
        self.finish(now);
    }

    /// A person stops it. What is being done at this moment is finished. `false` if it is over.
    pub fn cancel(&mut self, now: Wall) -> bool {
        if self.now.is_over() {
            return false;
        }
        if !self.acting && !self.doubtful {
            self.now.pending.clear();
        }
        self.now.state = OperationState::Cancelled;
        self.now.finished_at = Some(now);
        true
    }

    fn plan(&mut self, id: JobId, seen: Option<&Seen>) {
        match self.now.judge(seen, false) {
            Verdict::Act => self.now.pending.push(id),
            Verdict::Done => self.now.done += 1,
            Verdict::Skip(why) => self.now.skip(why),
        }
    }

    fn finish(&mut self, now: Wall) {
        if self.now.pending.is_empty() {
            self.doubtful = false;
            self.look_again = false;
            if self.now.cursor == Cursor::End && !self.now.is_over() {
                self.now.state = OperationState::Done;
                self.now.finished_at = Some(now);
            }
        }
    }

    /// Jobs of one plan: a tenth of a second's work, so that a slow operation is no burst.
    fn rows(&self) -> usize {
        usize::try_from(self.now.rate / 10).unwrap_or(OPERATION_CHUNK).clamp(1, OPERATION_CHUNK)
    }
}
