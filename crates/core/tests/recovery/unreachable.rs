//! Workers that cannot be told to stop, or never heard what they are to stop.

use std::time::Duration;

use ganger_core::coordinator::port::{Ask, Options};
use ganger_core::job::State;
use ganger_core::message::{CancelWhy, ToWorker};
use ganger_core::outcome::{Outcome, Report};

use crate::leader::{Disk, Leader, TTL};

const SECOND: Duration = Duration::from_secs(1);

/// The cancel is decided while the assignment is still being written. It reaches the worker with the lease,
/// and its timer stays with that lease: once it fell on whoever used the slot next.
#[test]
fn a_cancel_that_overtakes_the_assignments_commit_is_told_with_it() {
    let mut leader = Leader::new();
    leader.join(0, 1, 1);
    let job = leader.submit(|_| {});
    let lease = leader.lease(0);
    leader.disk = Disk::Holds;
    leader.ends(0, 1, job, lease.fence, Report::Released { started: true });
    leader.ask(Ask::Cancel(job));
    // The end is written and the job is dispatched again, in the batch that the cancel is already in.
    leader.release();
    let again = leader.lease(0);
    assert!(again.fence > lease.fence);
    assert_eq!(leader.stopped(0), [(job, CancelWhy::Cancelled)]);
    leader.ends(0, 1, job, again.fence, Report::Cancelled);
    assert_eq!(leader.stored(job).state, State::Cancelled);

    let innocent = leader.submit(|_| {});
    leader.lease(0);
    leader.heard.clear();
    leader.pass_with(Options::default().grace + 2 * SECOND, &[(0, 1)]);
    assert_eq!(leader.stopped(0), [], "nobody asked to stop {innocent}");
}

/// The worker is away when the attempt would time out, and again when the grace would end. It may just have
/// begun: it is told when it is back, or it expires.
#[test]
fn no_attempt_is_recorded_as_timed_out_while_its_worker_is_away() {
    let mut leader = Leader::new();
    leader.join(0, 1, 1);
    let job = leader.submit(|spec| spec.options.timeout = Some(SECOND));
    let lease = leader.lease(0);
    leader.take_over();
    leader.pass(Duration::from_secs(16));
    assert_eq!(leader.stored(job).state, State::Running);
    leader.join(0, 2, 1);
    assert_eq!(leader.lease(0).fence, lease.fence);
    assert_eq!(leader.stopped(0), [], "it begins only now, and its own clock stops it");
    leader.ends(0, 2, job, lease.fence, Report::Timeout);
    assert_eq!(leader.store.attempts(job)[0].outcome, Outcome::Timeout);
}

/// The lease and the cancel were lost with the stream. The grace ends, the job is recorded, and its threads are
/// occupied until the worker, back again, says that it runs nothing under that fence.
#[test]
fn threads_of_a_lease_that_never_arrived_are_freed_when_the_worker_is_back() {
    let mut leader = Leader::new();
    leader.join(0, 1, 2);
    let job = leader.submit(|spec| spec.options.threads = 2);
    let lease = leader.lease(0);
    leader.ask(Ask::Cancel(job));
    leader.pass(Options::default().grace + SECOND);
    assert_eq!(leader.stored(job).state, State::Cancelled);
    assert_eq!(leader.used(0), (2, 1));
    leader.heard.clear();
    leader.join(0, 2, 2);
    assert_eq!(leader.stopped(0), [(job, CancelWhy::LeaseLost)]);
    leader.ends(0, 2, job, lease.fence, Report::Released { started: false });
    assert_eq!(leader.used(0), (0, 0));
    assert_eq!(leader.stored(job).state, State::Cancelled);
}

/// The worker reports just when the end under grace is being written. Acknowledged at once, it would forget the
/// lease; a leader that never saw the commit would send it again, and the job would run twice.
#[test]
fn a_report_during_the_commit_of_the_grace_is_acknowledged_with_it() {
    let mut leader = Leader::new();
    leader.join(0, 1, 1);
    let job = leader.submit(|_| {});
    let lease = leader.lease(0);
    leader.ask(Ask::Cancel(job));
    leader.disk = Disk::Holds;
    leader.pass(Options::default().grace + SECOND);
    leader.ends(0, 1, job, lease.fence, Report::Cancelled);
    assert!(!leader.acked(0, lease.fence));
    leader.release();
    assert!(leader.acked(0, lease.fence));
    assert_eq!(leader.used(0), (0, 0));
}

/// A closed session is closed for ever, and hears so on the stream on which it comes back meanwhile.
#[test]
fn a_worker_that_is_back_while_its_session_closes_hears_gone_on_its_new_stream() {
    let mut leader = Leader::new();
    leader.join(0, 1, 1);
    leader.disk = Disk::Holds;
    leader.pass(TTL + 3 * SECOND);
    leader.join(0, 2, 1);
    assert!(leader.heard.iter().all(|(_, m)| !matches!(m, ToWorker::Gone)));
    leader.release();
    let last = leader.heard.last().map(|(_, message)| message.clone());
    assert_eq!((last, leader.last_stream), (Some(ToWorker::Gone), 2));
}
