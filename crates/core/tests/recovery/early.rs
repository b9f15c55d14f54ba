//! What was decided while a batch was written is on its way before that batch is announced, or even durable.

use std::time::Duration;

use ganger_core::coordinator::port::{Ask, Input, Options, Output, Refusal, Reply, Ticket};
use ganger_core::queue::QueueSettings;

use crate::leader::{Disk, Leader};

/// What a leader puts out when its first batch is durable and `waiting` settings of queues were decided meanwhile:
/// at once, and with the next call.
fn after_the_first(waiting: usize) -> (Vec<Output>, Vec<Output>) {
    let mut leader = asked(1, waiting);
    let first = leader.take_held();
    let applied = leader.store.commit(leader.coordinator.term(), &first).expect("it is written");
    let (mut at_once, mut then) = (Vec::new(), Vec::new());
    leader.coordinator.handle(leader.now, Input::Committed { number: 1, applied }, &mut at_once);
    leader.coordinator.handle(leader.now, Input::Tick, &mut then);
    leader.coordinator.settle(leader.now, &mut then);
    (at_once, then)
}

/// A leader that may have so many batches with the store. The first of them has one setting of a queue, and so many more were
/// decided since.
fn asked(in_flight: usize, waiting: usize) -> Leader {
    let mut leader = Leader::with(Options { hand_over_early: 3, in_flight, ..Leader::options() });
    leader.disk = Disk::Holds;
    for queue in 0..=waiting {
        let name = format!("q{queue}").parse().expect("a queue");
        leader.ask(Ask::PutQueue(name, QueueSettings::default()));
    }
    leader
}

/// The numbers of the batches that the store has, and how many changes each holds.
fn with_the_store(leader: &mut Leader) -> Vec<(u64, usize)> {
    leader.take_all_held().iter().map(|batch| (batch.number, batch.changes.len())).collect()
}

fn changes(output: &Output) -> Option<usize> {
    match output {
        Output::Commit(batch) => Some(batch.changes.len()),
        Output::Reply(..)
        | Output::Send { .. }
        | Output::Event(_)
        | Output::ReadLive(_)
        | Output::Reconciled(_)
        | Output::StepDown { .. } => None,
    }
}

fn answered(outputs: &[Output]) -> Vec<u64> {
    let mut tickets = Vec::new();
    for output in outputs {
        if let Output::Reply(Ticket(ticket), _) = output {
            tickets.push(*ticket);
        }
    }
    tickets
}

#[test]
fn the_store_gets_the_next_batch_before_anyone_is_told_of_the_last() {
    let (at_once, then) = after_the_first(3);
    assert_eq!(at_once.iter().map(changes).collect::<Vec<_>>(), [Some(3)]);
    assert_eq!(answered(&then), [1], "only the first is durable");
    assert_eq!(then.iter().find_map(changes), None, "one batch at a time");
}

#[test]
fn a_few_changes_wait_for_what_the_announcement_decides() {
    let (at_once, then) = after_the_first(2);
    assert_eq!(at_once, []);
    assert_eq!(answered(&then), [1]);
    assert_eq!(then.iter().find_map(changes), Some(2));
}

#[test]
fn much_follows_a_batch_that_is_being_written_and_no_third_follows_that() {
    assert_eq!(with_the_store(&mut asked(2, 2)), [(1, 1)], "too few");
    assert_eq!(with_the_store(&mut asked(2, 3)), [(1, 1), (2, 3)]);
    assert_eq!(with_the_store(&mut asked(2, 9)), [(1, 1), (2, 3)], "two are enough");
    assert_eq!(with_the_store(&mut asked(3, 9)), [(1, 1), (2, 3), (3, 3)]);
}

#[test]
fn batches_are_announced_one_by_one_in_their_order() {
    let mut leader = asked(2, 4);
    leader.release();
    let told: Vec<u64> = leader.replies.iter().map(|(Ticket(ticket), _)| *ticket).collect();
    assert_eq!(told, [1, 2, 3, 4, 5]);
    assert!(leader.replies.iter().all(|(_, reply)| matches!(reply, Reply::Queue(_))), "{:?}", leader.replies);
}

/// What was sent behind a refused batch was refused with it, and their numbers are given again.
#[test]
fn a_refusal_concerns_everything_that_is_with_the_store() {
    let mut leader = asked(2, 4);
    leader.refuse();
    let refused = |reply: &Reply| matches!(reply, Reply::Refused(Refusal::Store(_)));
    assert_eq!(leader.replies.len(), 5);
    assert!(leader.replies.iter().all(|(_, reply)| refused(reply)), "{:?}", leader.replies);
    leader.disk = Disk::Holds;
    leader.pass(Duration::from_secs(3));
    assert_eq!(with_the_store(&mut leader), [(1, 0)], "an empty one finds out whether the store is back");
}
