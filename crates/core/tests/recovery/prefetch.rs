//! Prefetch: leases beyond the threads of a worker, where attempts are over in milliseconds.

use std::time::Duration;

use ganger_core::coordinator::port::{Ask, Options};
use ganger_core::name::QueueName;
use ganger_core::outcome::Report;
use ganger_core::queue::QueueSettings;

use crate::leader::Leader;

/// One worker of one thread, and a kind of which it is known that it takes a millisecond.
fn short_attempts() -> Leader {
    let mut leader = Leader::with(Options::default());
    leader.join(0, 1, 1);
    let job = leader.submit(|_| {});
    let lease = leader.lease(0);
    leader.ends_after(Duration::from_millis(1), 0, 1, job, lease.fence, Report::Ok("1".into()));
    leader
}

/// E: what is prefetched never makes something better wait behind it.
#[test]
fn prefetch_stops_where_something_better_waits() {
    let mut leader = short_attempts();
    for _ in 0..5 {
        leader.submit(|_| {});
    }
    assert_eq!(leader.assigned(0).len(), 5, "all five, for one thread");

    let mut leader = short_attempts();
    leader.submit(|_| {});
    let running = leader.lease(0);
    let slow = leader.submit(|spec| {
        spec.kind = "slow".parse().expect("a kind");
        spec.priority = 1;
    });
    for _ in 0..5 {
        leader.submit(|_| {});
    }
    assert!(leader.assigned(0).is_empty(), "the thread is owed to the better one");
    leader.ends_after(Duration::from_millis(1), 0, 1, running.job, running.fence, Report::Ok("1".into()));
    assert_eq!(leader.assigned(0).first().map(|work| work.job), Some(slow));
}

/// Its client asked for so many jobs, and has no use for more.
#[test]
fn a_claim_is_given_no_more_than_it_asked_for_however_short_jobs_are() {
    let mut leader = short_attempts();
    let set =
        |paused| Ask::PutQueue(QueueName::default(), QueueSettings { paused, ..QueueSettings::default() });
    leader.ask(set(true));
    leader.join_as(1, 1, 2, true);
    for _ in 0..40 {
        leader.submit(|_| {});
    }
    leader.ask(set(false));
    assert_eq!((leader.assigned(1).len(), leader.assigned(0).len()), (2, 21), "twenty are over in time");
}
