//! What was decided while a batch was written is on its way before that batch is announced.

use ganger_core::coordinator::port::{Ask, Input, Options, Output, Ticket};
use ganger_core::queue::QueueSettings;

use crate::leader::{Disk, Leader};

/// What a leader puts out when its first batch is durable and `waiting` settings of queues were decided meanwhile:
/// at once, and with the next call.
fn after_the_first(waiting: usize) -> (Vec<Output>, Vec<Output>) {
    let mut leader = Leader::with(Options { hand_over_early: 3, ..Leader::options() });
    leader.disk = Disk::Holds;
    for queue in 0..=waiting {
        let name = format!("q{queue}").parse().expect("a queue");
        leader.ask(Ask::PutQueue(name, QueueSettings::default()));
    }
    let first = leader.take_held();
    let applied = leader.store.commit(leader.coordinator.term(), &first).expect("it is written");
    let (mut at_once, mut then) = (Vec::new(), Vec::new());
    leader.coordinator.handle(leader.now, Input::Committed { number: 1, applied }, &mut at_once);
    leader.coordinator.handle(leader.now, Input::Tick, &mut then);
    leader.coordinator.settle(leader.now, &mut then);
    (at_once, then)
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
