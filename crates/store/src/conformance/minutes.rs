//! The buckets of minutes.

use std::sync::Arc;
use std::time::Duration;

use ganger_core::change::{Applied, Batch, Change, Idempotency, Submission};
use ganger_core::limits;
use ganger_core::minutes::{Bucket, Counted, Counts, Maybe, Unsettled, minute_of};
use ganger_core::timeline::{By, Span, Timeline};

use super::leader::{Leader, spec, unique};
use crate::store::Store;

const MINUTE: Duration = Duration::from_secs(60);

fn bucket(queue: &str, kind: &str, counts: Counts) -> Bucket {
    Bucket { queue: queue.parse().unwrap(), kind: kind.parse().unwrap(), counts }
}

fn enqueued(n: u64) -> Counts {
    Counts { enqueued: n, ..Counts::default() }
}

/// Counts of every sort, with times that differ by `seed`.
fn busy(seed: u64) -> Counts {
    let mut counts = Counts {
        enqueued: seed,
        started: 2,
        succeeded: 3 * seed,
        failed: 4,
        dead: 5,
        cancelled: 6,
        ..Counts::default()
    };
    for n in 0..=seed {
        counts.wait.observe(300 << n);
        counts.run.observe(1_000_000 * n);
        counts.total.observe(2_000_000 * n + 1);
    }
    counts
}

impl Leader {
    fn counting(&self, changes: Vec<Change>, buckets: Vec<Bucket>, unsettled: Vec<Unsettled>) -> Batch {
        let counted = Counted { minute: minute_of(self.now), buckets, unsettled };
        Batch { number: self.number + 1, changes, counted }
    }

    async fn count(&mut self, buckets: Vec<Bucket>) {
        let batch = self.counting(vec![], buckets, vec![]);
        self.store.commit(self.term, Arc::new(batch)).await.unwrap();
        self.number += 1;
    }

    /// The last few minutes, by kind.
    async fn timeline(&self, by: By) -> Timeline {
        let mut span = Span::new(self.now - MINUTE * 4, self.now + MINUTE, MINUTE).unwrap();
        span.by = by;
        self.store.timeline(&span).await.unwrap()
    }
}

pub(super) async fn buckets_add_up_over_batches_and_minutes(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    leader.count(vec![bucket("a", "x", busy(3)), bucket("a", "y", busy(1))]).await;
    leader.count(vec![bucket("a", "x", busy(7)), bucket("b", "x", enqueued(1))]).await;
    leader.pass(MINUTE);
    leader.count(vec![bucket("a", "x", busy(2))]).await;
    let timeline = leader.timeline(By::Kind).await;
    let mut first = busy(3);
    first.add(&busy(7));
    first.add(&enqueued(1));
    assert_eq!(timeline.lines["x"].values().cloned().collect::<Vec<_>>(), [first, busy(2)]);
    assert_eq!(timeline.lines["y"].values().cloned().collect::<Vec<_>>(), [busy(1)]);
    assert_eq!((timeline.examined, timeline.complete), (4, true));
    let queues: Vec<String> = leader.timeline(By::Queue).await.lines.into_keys().collect();
    assert_eq!(queues, ["a", "b"]);
}

pub(super) async fn what_was_nothing_new_is_not_counted(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let idempotency =
        Idempotency { scope: "me".into(), key: "k".into(), fingerprint: [3; 32], until: leader.now + MINUTE };
    let (a, b) = (leader.new_job(unique("mail", "u", MINUTE)), leader.new_job(unique("mail", "u", MINUTE)));
    let submission =
        Submission { idempotency: Some(idempotency), jobs: vec![a.clone(), b.clone()], inbox: None };
    for _ in 0..2 {
        let unsettled = [a.id, b.id].map(|job| {
            let what = Maybe::Started { job, wait_us: 9 };
            Unsettled { change: 0, bucket: 0, what }
        });
        let counted = vec![bucket("default", "mail", enqueued(2))];
        let batch = leader.counting(vec![Change::Submit(submission.clone())], counted, unsettled.into());
        leader.store.commit(leader.term, Arc::new(batch)).await.unwrap();
        leader.number += 1;
    }
    let mut one = Counts { started: 1, ..enqueued(1) };
    one.wait.observe(9);
    assert_eq!(leader.timeline(By::Kind).await.lines["mail"].values().collect::<Vec<_>>(), [&one]);
}

pub(super) async fn a_batch_that_is_refused_or_sent_again_counts_once_or_not_at_all(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let job = leader.new_job(spec("mail"));
    let submit = Change::Submit(Submission { idempotency: None, jobs: vec![job.clone()], inbox: None });
    let batch =
        Arc::new(leader.counting(vec![submit.clone()], vec![bucket("default", "mail", enqueued(1))], vec![]));
    for _ in 0..3 {
        let applied = leader.store.commit(leader.term, Arc::clone(&batch)).await.unwrap();
        assert!(matches!(applied[..], [Applied::Submitted(_)]));
    }
    leader.number += 1;
    let contradiction = leader.counting(vec![submit], vec![bucket("default", "mail", enqueued(1))], vec![]);
    assert!(leader.store.commit(leader.term, Arc::new(contradiction)).await.is_err());
    assert_eq!(leader.timeline(By::Kind).await.lines["mail"].values().collect::<Vec<_>>(), [&enqueued(1)]);
}

pub(super) async fn a_timeline_is_narrowed_by_queue_and_kind(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    for (n, (queue, kind)) in [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")].into_iter().enumerate() {
        leader.count(vec![bucket(queue, kind, enqueued(1 << n))]).await;
    }
    let span = Span::new(leader.now, leader.now + MINUTE, Duration::from_secs(3600)).unwrap();
    let total = async |queue: Option<&str>, kind: Option<&str>| {
        let mut span = span.clone();
        (span.queue, span.kind) = (queue.map(|q| q.parse().unwrap()), kind.map(|k| k.parse().unwrap()));
        let timeline = leader.store.timeline(&span).await.unwrap();
        timeline.lines.get("").map_or(0, |points| points.values().map(|counts| counts.enqueued).sum())
    };
    assert_eq!(total(None, None).await, 15u64);
    assert_eq!(total(Some("a"), None).await, 3);
    assert_eq!(total(None, Some("y")).await, 10);
    assert_eq!(total(Some("b"), Some("x")).await, 4);
    assert_eq!(total(Some("c"), None).await, 0);
}

pub(super) async fn old_minutes_are_forgotten_the_oldest_first(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let began = leader.now;
    for _ in 0..3 {
        leader.count(vec![bucket("a", "x", enqueued(1)), bucket("a", "y", enqueued(1))]).await;
        leader.pass(MINUTE);
    }
    let span = Span::new(began, began + MINUTE * 3, MINUTE).unwrap();
    let left = async |leader: &Leader| leader.store.timeline(&span).await.unwrap().examined;
    // The first minute is over by one, the others are still within what is kept.
    let now = began + limits::MINUTES_KEPT + MINUTE;
    leader.commit(vec![Change::Prune { now: now - MINUTE, limit: 100 }]).await;
    assert_eq!(left(&leader).await, 6);
    leader.commit(vec![Change::Prune { now, limit: 1 }]).await;
    assert_eq!(left(&leader).await, 5);
    leader.commit(vec![Change::Prune { now, limit: 100 }]).await;
    assert_eq!(left(&leader).await, 4);
    leader.commit(vec![Change::Prune { now: now + MINUTE * 9, limit: 3 }]).await;
    assert_eq!(left(&leader).await, 1);
}
