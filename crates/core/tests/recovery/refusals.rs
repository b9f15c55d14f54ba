//! The store refuses: a full disk.

use std::time::Duration;

use ganger_core::coordinator::port::{Ask, Refusal, Reply};
use ganger_core::job::State;
use ganger_core::outcome::Report;

use crate::leader::{Disk, Leader, TTL};

fn refused(reply: Option<&Reply>) -> bool {
    matches!(reply, Some(Reply::Refused(Refusal::Store(_))))
}

/// I: clients are told, and what they asked for did not happen; what the protocol needs is written later.
#[test]
fn a_refused_batch_undoes_what_clients_asked_and_keeps_what_workers_did() {
    let mut leader = Leader::new();
    leader.join(0, 1, 1);
    let running = leader.submit(|_| {});
    let waiting = leader.submit(|_| {});
    let lease = leader.lease(0);

    leader.disk = Disk::Holds;
    leader.ends(0, 1, running, lease.fence, Report::Ok("1".into()));
    let cancel = leader.ask(Ask::Cancel(waiting));
    assert_eq!(leader.coordinator.stats().backlog, 1, "the cancel waits for the next batch");
    leader.refuse();
    assert!(refused(leader.reply(cancel)));
    assert!(!leader.acked(0, lease.fence), "not recorded, not acknowledged");
    let late = leader.ask(Ask::Cancel(waiting));
    assert!(refused(leader.reply(late)), "refused at once while the store refuses");
    assert!(leader.coordinator.stats().store_trouble.is_some());

    leader.disk = Disk::Writes;
    leader.pass(Duration::from_secs(3));
    assert!(leader.acked(0, lease.fence));
    assert_eq!(leader.stored(running).state, State::Succeeded);
    assert_eq!(leader.lease(0).job, waiting, "the refused cancel left it where it was");
    assert_eq!(leader.coordinator.stats().store_trouble, None);
}

/// The cancel is refused when the job has just expired: it must still end, which was once forgotten.
#[test]
fn a_job_that_expired_while_its_cancel_was_refused_still_dies() {
    let mut leader = Leader::new();
    let expires = leader.now.wall + Duration::from_secs(1);
    let job = leader.submit(|spec| spec.options.expires_at = Some(expires));
    leader.disk = Disk::Holds;
    leader.ask(Ask::Cancel(job));
    leader.pass(Duration::from_secs(2));
    leader.refuse();
    leader.disk = Disk::Writes;
    leader.pass(Duration::from_secs(5));
    assert_eq!(leader.stored(job).state, State::Dead);
    assert_eq!(leader.coordinator.stats().counts[0].2[State::Dead.index()], 1);
}

/// After a store that stood still for longer than the TTL nobody is lost: silence proved nothing.
#[test]
fn after_a_long_refusal_sessions_get_a_fresh_ttl() {
    let mut leader = Leader::new();
    leader.join(0, 1, 1);
    let job = leader.submit(|_| {});
    leader.assigned(0);
    leader.disk = Disk::Refuses;
    leader.submit(|_| {});
    leader.pass(TTL - Duration::from_secs(1));
    leader.disk = Disk::Writes;
    leader.pass(TTL);
    assert_eq!(leader.stored(job).state, State::Running, "it would have expired two seconds after its TTL");
}
