//! Whether an operation acts upon a job.

use super::{Action, Operation, Skip};
use crate::ids::JobId;
use crate::job::State;
use crate::sabotage::{self, Bug};
use crate::time::Wall;

/// What an operation must know of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Which.
    pub id: JobId,
    /// Where it is.
    pub state: State,
    /// When it was taken in.
    pub created_at: Wall,
    /// When it became final.
    pub finished_at: Option<Wall>,
    /// A person asked for it to stop.
    pub cancel_wanted: bool,
    /// It runs a command.
    pub runs_command: bool,
}

/// What is to be done about a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Act.
    Act,
    /// It was done.
    Done,
    /// Leave it alone.
    Skip(Skip),
}

impl Operation {
    /// What is to be done about a job that may, if `again`, have been acted upon before.
    pub(super) fn judge(&self, seen: Option<&Seen>, again: bool) -> Verdict {
        let or_done = |skip| if again { Verdict::Done } else { Verdict::Skip(skip) };
        let Some(seen) = seen else {
            return match self.action {
                // A replayed job that is gone ran again, or was removed by somebody else first: nobody knows.
                Action::Replay => Verdict::Skip(Skip::Gone),
                Action::Cancel | Action::Delete => or_done(Skip::Gone),
            };
        };
        if seen.created_at > self.created_at {
            return Verdict::Skip(Skip::Changed);
        }
        let later = seen.finished_at.is_some_and(|at| at > self.created_at)
            && !sabotage::active(Bug::OperationWithoutBoundary);
        match (self.action, seen.state.is_final()) {
            (Action::Replay, false) => or_done(Skip::Live),
            (Action::Replay, true) if later => or_done(Skip::Changed),
            (Action::Replay, true) if seen.runs_command && !self.exec_allowed => {
                Verdict::Skip(Skip::ExecNotAllowed)
            }
            (Action::Delete, false) => Verdict::Skip(Skip::Live),
            (Action::Delete, true) if later => Verdict::Skip(Skip::Changed),
            (Action::Cancel, true) if again && seen.state == State::Cancelled => Verdict::Done,
            (Action::Cancel, true) => Verdict::Skip(Skip::Final),
            (Action::Cancel, false) if again && seen.cancel_wanted => Verdict::Done,
            (Action::Replay | Action::Delete, true) | (Action::Cancel, false) => Verdict::Act,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Target;
    use super::*;
    use crate::ids::OperationId;

    fn seen(state: State, finished_at: Option<i64>) -> Seen {
        let id = JobId::new(1, [0; 10]);
        let finished_at = finished_at.map(Wall);
        Seen { id, state, created_at: Wall(10), finished_at, cancel_wanted: false, runs_command: false }
    }

    #[test]
    fn only_what_was_so_at_the_boundary_is_acted_upon() {
        let of = |action| Operation::new(OperationId::new(1, [0; 10]), action, Target::All, 1, Wall(100));
        let (replay, cancel, delete) = (of(Action::Replay), of(Action::Cancel), of(Action::Delete));
        let dead = seen(State::Dead, Some(100));
        let died_again = seen(State::Dead, Some(101));
        let queued = seen(State::Queued, None);
        let stopped = seen(State::Cancelled, Some(101));
        let asked = Seen { cancel_wanted: true, ..queued };
        let late = Seen { created_at: Wall(101), ..queued };
        let command = Seen { runs_command: true, ..dead };
        let exec = Operation { exec_allowed: true, ..of(Action::Replay) };
        let no_exec = Verdict::Skip(Skip::ExecNotAllowed);
        for (operation, job, first, second) in [
            (&replay, Some(dead), Verdict::Act, Verdict::Act),
            (&replay, Some(died_again), Verdict::Skip(Skip::Changed), Verdict::Done),
            (&replay, Some(queued), Verdict::Skip(Skip::Live), Verdict::Done),
            (&replay, Some(command), no_exec, no_exec),
            (&exec, Some(command), Verdict::Act, Verdict::Act),
            (&delete, Some(command), Verdict::Act, Verdict::Act),
            (&replay, None, Verdict::Skip(Skip::Gone), Verdict::Skip(Skip::Gone)),
            (&cancel, Some(queued), Verdict::Act, Verdict::Act),
            (&cancel, Some(asked), Verdict::Act, Verdict::Done),
            (&cancel, Some(stopped), Verdict::Skip(Skip::Final), Verdict::Done),
            (&cancel, Some(dead), Verdict::Skip(Skip::Final), Verdict::Skip(Skip::Final)),
            (&cancel, Some(late), Verdict::Skip(Skip::Changed), Verdict::Skip(Skip::Changed)),
            (&cancel, None, Verdict::Skip(Skip::Gone), Verdict::Done),
            (&delete, Some(dead), Verdict::Act, Verdict::Act),
            (&delete, Some(died_again), Verdict::Skip(Skip::Changed), Verdict::Skip(Skip::Changed)),
            (&delete, Some(queued), Verdict::Skip(Skip::Live), Verdict::Skip(Skip::Live)),
            (&delete, None, Verdict::Skip(Skip::Gone), Verdict::Done),
        ] {
            let judged = |again| operation.judge(job.as_ref(), again);
            assert_eq!((judged(false), judged(true)), (first, second), "{:?} {job:?}", operation.action);
        }
    }
}
