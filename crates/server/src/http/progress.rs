//! How bulk operations get on, for those who listen.
//!
//! An operation is news when it begins, when it is over, and whenever it is further than when it was last told; the hub asks
//! twice a second at the most. None of it is kept: whoever comes late, or comes back, reads `GET /v1/operations`.

use std::collections::BTreeMap;
use std::time::Duration;

use ganger_core::operation::{Operation, OperationState};
use ganger_core::{OperationId, Wall};

/// One that was over before it was ever seen is news for so long. Older ones were read from the store.
const FRESH: Duration = Duration::from_secs(5);

/// How far operations were when they were last told.
#[derive(Debug, Default)]
pub(super) struct Progress(BTreeMap<OperationId, Place>);

/// How far an operation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    state: OperationState,
    examined: u64,
    done: u64,
    skipped: u64,
}

impl Progress {
    /// Those of the operations that are further than they were.
    pub(super) fn news(&mut self, operations: Vec<&Operation>, now: Wall) -> Vec<Operation> {
        let mut places = BTreeMap::new();
        let mut news = Vec::new();
        for operation in operations {
            let place = Place {
                state: operation.state,
                examined: operation.examined,
                done: operation.done,
                skipped: operation.skipped_in_all(),
            };
            let further = match self.0.get(&operation.id) {
                Some(before) => *before != place,
                None => operation.finished_at.is_none_or(|at| now.since(at) < FRESH),
            };
            if further {
                news.push(operation.clone());
            }
            places.insert(operation.id, place);
        }
        self.0 = places;
        news
    }
}

#[cfg(test)]
mod tests {
    use ganger_core::operation::{Action, Target};

    use super::*;

    #[test]
    fn an_operation_is_news_when_it_begins_goes_on_and_ends_and_not_in_between() {
        let mut progress = Progress::default();
        let now = Wall(1_000_000_000);
        let mut told = |operation: &Operation| progress.news(vec![operation], now).len();
        let mut operation =
            Operation::new(OperationId::new(1, [1; 10]), Action::Cancel, Target::All, 10, now);
        assert_eq!((told(&operation), told(&operation)), (1, 0));
        operation.done = 7;
        assert_eq!((told(&operation), told(&operation)), (1, 0));
        operation.state = OperationState::Done;
        operation.finished_at = Some(now);
        assert_eq!((told(&operation), told(&operation)), (1, 0));
    }

    #[test]
    fn what_was_over_long_ago_is_no_news_and_what_was_over_at_once_is() {
        let ended = Wall(1_000_000_000);
        let mut operation =
            Operation::new(OperationId::new(1, [1; 10]), Action::Cancel, Target::All, 10, ended);
        operation.state = OperationState::Done;
        operation.finished_at = Some(ended);
        assert_eq!(Progress::default().news(vec![&operation], ended + FRESH / 2).len(), 1);
        assert_eq!(Progress::default().news(vec![&operation], ended + FRESH).len(), 0);
    }
}
