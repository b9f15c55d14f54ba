//! Filters, groups of failures, documents, deletion by name.

use std::sync::Arc;
use std::time::Duration;

use ganger_core::JobId;
use ganger_core::change::{Applied, Change, LogLines, Tally};
use ganger_core::document::{Collection, Document};
use ganger_core::filter::Filter;
use ganger_core::fingerprint::trend::{BUCKET, BUCKETS_KEPT, LONGEST_WINDOW, Trend, Window};
use ganger_core::fingerprint::{FORGOTTEN_AFTER, FailureSeen, Fingerprint};
use ganger_core::job::State;
use ganger_core::outcome::Outcome;

use super::leader::{Leader, everything, spec};
use crate::read::ListQuery;
use crate::store::Store;

/// Six jobs, oldest first: dead, succeeded, cancelled, scheduled, queued, running.
async fn six(leader: &mut Leader) -> Vec<JobId> {
    let session = leader.open_session().await;
    let mut ids = Vec::new();
    for number in 0..6 {
        let mut one = spec(if number % 2 == 0 { "mail.send" } else { "sms" });
        one.queue = if number < 3 { "fast" } else { "slow" }.parse().unwrap();
        one.priority = number;
        one.payload =
            format!("{{\"user\":{{\"id\":{number}}},\"note\":\"{}\"}}", "x".repeat(number as usize * 900));
        one.options.tags = if number > 3 { vec!["eu".into()] } else { vec![] };
        one.options.unique_key = (number == 4).then(|| "order-4".into());
        one.run_at = (number == 3).then(|| leader.now + Duration::from_secs(3600));
        ids.push(leader.submit(one).await);
        leader.pass(Duration::from_secs(60));
    }
    leader.run_to(session, ids[0], leader.dead()).await;
    leader.run_to(session, ids[1], leader.succeeded()).await;
    leader.run_to(session, ids[2], leader.cancelled()).await;
    leader.assign(session, &[ids[5]]).await;
    ids
}

fn query(text: &str, leader: &Leader) -> Option<ListQuery> {
    let filter = Filter::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    everything().and(Arc::new(filter), leader.now)
}

pub(super) async fn a_filter_finds_the_same_jobs_in_every_store(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let ids = six(&mut leader).await;
    for (text, found) in [
        ("state:dead", &[0][..]),
        ("-state:succeeded,scheduled", &[0, 2, 4, 5]),
        ("kind:mail.*", &[0, 2, 4]),
        ("kind:\"mail.*\"", &[]),
        ("queue:slow kind:sms", &[3, 5]),
        ("queue:fast queue:slow", &[]),
        ("state:dead or queue:slow", &[0, 3, 4, 5]),
        ("-(queue:fast or state:running)", &[3, 4]),
        ("payload.user.id:2,4", &[2, 4]),
        ("payload.user.id>3", &[4, 5]),
        ("payload.note~xxxx payload.user.id<3", &[1, 2]),
        ("result~\"\"", &[1]),
        ("tag:eu", &[4, 5]),
        ("key:order-4", &[4]),
        ("ORDER-4", &[4]),
        ("priority>=4", &[4, 5]),
        ("attempt:0 -state:running", &[3, 4]),
        ("age<3m", &[4, 5]),
        ("age>=3m state:scheduled,dead", &[0, 3]),
        ("finished>2020-01-01", &[0, 1, 2]),
        ("worker:alice", &[0, 1, 2]),
        ("state:queued state:dead", &[]),
    ] {
        let listed = match query(text, &leader) {
            Some(query) => leader.list(query).await,
            None => Vec::new(),
        };
        let expected: Vec<JobId> = found.iter().rev().map(|place: &usize| ids[*place]).collect();
        assert_eq!(listed, expected, "{text}");
    }
    let by_id = query(&format!("id:{},{}", ids[1], ids[4]), &leader).unwrap();
    assert_eq!(leader.list(by_id).await, [ids[4], ids[1]]);
}

pub(super) async fn a_filter_pages_like_any_list(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let mut ids = Vec::new();
    for number in 0..300 {
        let mut one = spec("a");
        one.payload = format!("{{\"n\":{}}}", number % 3);
        ids.push(leader.new_job(one));
    }
    let wanted: Vec<JobId> =
        ids.iter().rev().filter(|job| job.spec.payload.contains(":1}")).map(|job| job.id).collect();
    leader.submit_all(ids).await;
    let mut query = ListQuery { limit: 40, ..query("payload.n:1", &leader).unwrap() };
    let mut found = Vec::new();
    for rows in [40, 40, 20] {
        let page = leader.store.list(&query, leader.now).await.unwrap();
        assert_eq!((page.jobs.len(), page.complete), (rows, true));
        found.extend(page.jobs.iter().map(|job| job.id));
        query.before = page.next;
    }
    assert_eq!((found, query.before), (wanted, None));
}

fn failure(leader: &Leader, job: JobId, error: &str) -> Change {
    let kind = "a".parse().unwrap();
    Change::Failed(Box::new(FailureSeen::of(&kind, job, Outcome::Error, Some(error), leader.now).unwrap()))
}

pub(super) async fn failures_are_counted_by_group_and_the_last_is_the_sample(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let jobs: Vec<JobId> = (0..3).map(|_| leader.job_id()).collect();
    let began = leader.now;
    let (first, other) =
        (failure(&leader, jobs[0], "no user 1"), failure(&leader, jobs[1], "\u{0}disk full"));
    leader.commit(vec![first, other]).await;
    leader.pass(Duration::from_secs(1));
    let (second, third) = (failure(&leader, jobs[1], "no user 2"), failure(&leader, jobs[2], "no user 3"));
    leader.commit(vec![second, third]).await;
    let groups = leader.store.failures(began, None, 10).await.unwrap();
    assert_eq!(groups.len(), 2);
    let group = &groups[0];
    assert_eq!((group.count, group.first_at, group.last_at), (3, began, leader.now));
    assert_eq!((group.error.as_str(), group.job), ("no user 3", jobs[2]));
    assert_eq!((groups[1].count, groups[1].error.as_str()), (1, "\u{0}disk full"));
    assert_eq!(leader.store.failures(leader.now, None, 10).await.unwrap(), groups[..1]);
    assert_eq!(leader.store.failures(began, None, 1).await.unwrap(), groups[..1]);
    // Of another kind there may be one behind many, and each is found by its name.
    let kind = "b".parse().unwrap();
    let seen = FailureSeen::of(&kind, jobs[0], Outcome::Error, Some("no user 4"), began).unwrap();
    leader.commit(vec![Change::Failed(Box::new(seen.clone()))]).await;
    let of_kind = leader.store.failures(began, Some(&kind), 1).await.unwrap();
    assert_eq!((of_kind.len(), of_kind[0].fingerprint), (1, seen.fingerprint));
    assert_eq!(leader.store.failure(seen.fingerprint).await.unwrap().as_ref(), of_kind.first());
    assert_eq!(leader.store.failure(groups[0].fingerprint).await.unwrap().as_ref(), groups.first());
    assert_eq!(leader.store.failure(Fingerprint(7)).await.unwrap(), None);
}

pub(super) async fn failures_are_counted_over_time(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let job = leader.job_id();
    let seen = |error: &str, at| {
        let seen = FailureSeen::of(&"a".parse().unwrap(), job, Outcome::Error, Some(error), at);
        Change::Failed(Box::new(seen.unwrap()))
    };
    let group = |error| Fingerprint::of("a", Outcome::Error, Some(error)).unwrap();
    let (often, once, never) = (group("often"), group("once"), group("never"));
    let now = leader.now;
    // Several in one batch, some of one bucket, and the same bucket again in another batch.
    leader.commit(vec![seen("often", now), seen("often", now - BUCKET), seen("often", now)]).await;
    leader.commit(vec![seen("often", now), seen("once", now - BUCKET * 11)]).await;
    leader.commit(vec![seen("often", now - Duration::from_secs(30 * 3600))]).await;
    let hour = Window::of(Duration::from_secs(3600), now).unwrap();
    let trends = leader.store.failure_trends(&[once, never, often], hour).await.unwrap();
    let told = |trends: &[Trend]| -> Vec<_> {
        trends.iter().map(|trend| (trend.fingerprint, trend.total())).collect()
    };
    // In the order in which they were asked for.
    assert_eq!(told(&trends), [(once, 1), (often, 4)]);
    assert_eq!(trends[0].counts[1..3], [1, 0]);
    assert_eq!(trends[1].counts[10..], [0, 1, 3]);
    let week = Window::of(LONGEST_WINDOW, now).unwrap();
    let trends = leader.store.failure_trends(&[often], week).await.unwrap();
    assert_eq!((told(&trends), trends[0].counts.len()), (vec![(often, 5)], hour_steps(&week)));
    let none = Window::of(Duration::from_secs(3600), now + Duration::from_secs(86_400)).unwrap();
    assert_eq!(leader.store.failure_trends(&[often, once], none).await.unwrap(), []);
    assert_eq!(leader.store.failure_trends(&[], hour).await.unwrap(), []);
}

fn hour_steps(window: &Window) -> usize {
    usize::try_from((window.end() - window.first()) / window.buckets_per_step()).unwrap()
}

pub(super) async fn what_was_counted_over_time_goes_with_its_age_and_its_group(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let (job, began) = (leader.job_id(), leader.now);
    leader.commit(vec![failure(&leader, job, "one"), failure(&leader, job, "another")]).await;
    leader.pass(BUCKET);
    leader.commit(vec![failure(&leader, job, "one")]).await;
    let group = |error| Fingerprint::of("a", Outcome::Error, Some(error)).unwrap();
    let groups = [group("one"), group("another")];
    let then = Window::of(Duration::from_secs(3600), leader.now).unwrap();
    leader.pass(BUCKETS_KEPT - BUCKET);
    leader.commit(vec![Change::Prune { now: leader.now, limit: 100 }]).await;
    let total = async |leader: &Leader, window| {
        let trends = leader.store.failure_trends(&groups, window).await.unwrap();
        trends.iter().map(Trend::total).sum::<u64>()
    };
    assert_eq!((leader.now, total(&leader, then).await), (began + BUCKETS_KEPT, 3));
    // A bucket later the first ones go, one at a time if there is no more room.
    leader.pass(BUCKET);
    for (limit, left) in [(0, 3), (1, 2), (100, 1)] {
        leader.commit(vec![Change::Prune { now: leader.now, limit }]).await;
        assert_eq!(total(&leader, then).await, left, "{limit}");
    }
    // Of a group that is forgotten nothing is left, so that one of its name begins anew.
    let old = failure(&leader, job, "one");
    leader.commit(vec![old]).await;
    let later = Window::of(Duration::from_secs(3600), leader.now).unwrap();
    leader.pass(FORGOTTEN_AFTER);
    leader.commit(vec![Change::Prune { now: leader.now, limit: 100 }]).await;
    assert_eq!(leader.store.failures(began, None, 10).await.unwrap(), []);
    assert_eq!(total(&leader, later).await + total(&leader, then).await, 0);
}

pub(super) async fn groups_that_were_not_seen_for_long_are_forgotten(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let job = leader.job_id();
    leader.commit(vec![failure(&leader, job, "one"), failure(&leader, job, "another")]).await;
    leader.pass(FORGOTTEN_AFTER);
    let seen_again = failure(&leader, job, "one");
    let prune = |limit| Change::Prune { now: leader.now, limit };
    let (none, all) = (prune(0), prune(100));
    leader.commit(vec![seen_again, none]).await;
    assert_eq!(leader.store.failures(super::leader::START, None, 10).await.unwrap().len(), 2);
    leader.commit(vec![all]).await;
    let left = leader.store.failures(super::leader::START, None, 10).await.unwrap();
    assert_eq!(
        left.iter().map(|group| (group.error.as_str(), group.count)).collect::<Vec<_>>(),
        [("one", 2)]
    );
}

pub(super) async fn documents_are_kept_replaced_and_forgotten(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let put = |collection, key: &str, body: Option<&str>| {
        Change::PutDocument(Document { collection, key: key.into(), body: body.map(Into::into) })
    };
    let (view, operation) = (Collection::View, Collection::Operation);
    leader
        .commit(vec![put(view, "b", Some("1")), put(operation, "b", Some("2")), put(view, "a", Some("3"))])
        .await;
    leader.commit(vec![put(view, "b", Some("4")), put(view, "b", Some("5")), put(view, "none", None)]).await;
    let kept = |key: &str, body: &str| (key.to_owned(), body.to_owned());
    assert_eq!(leader.store.documents(view).await.unwrap(), [kept("a", "3"), kept("b", "5")]);
    leader.commit(vec![put(view, "a", None), put(view, "b", None), put(view, "b", Some("6"))]).await;
    assert_eq!(leader.store.documents(view).await.unwrap(), [kept("b", "6")]);
    assert_eq!(leader.store.documents(operation).await.unwrap(), [kept("b", "2")]);
}

pub(super) async fn deletion_removes_final_jobs_and_leaves_live_ones_alone(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let session = leader.open_session().await;
    let mut ids = Vec::new();
    for _ in 0..4 {
        ids.push(leader.submit(spec("a")).await);
    }
    leader.commit(vec![Change::Log(LogLines { job: ids[0], attempt: 1, text: "x\n".into() })]).await;
    leader.run_to(session, ids[0], leader.dead()).await;
    leader.run_to(session, ids[1], leader.succeeded()).await;
    let unknown = leader.job_id();
    let tally =
        |state| Tally { queue: "default".parse().unwrap(), kind: "a".parse().unwrap(), state, count: 1 };
    let deleted = leader.commit_one(Change::Delete(vec![ids[0], ids[1], ids[2], unknown])).await;
    let Applied::Removed(mut gone) = deleted else { panic!("{deleted:?}") };
    gone.sort();
    assert_eq!(gone, [tally(State::Succeeded), tally(State::Dead)]);
    assert_eq!(leader.list(everything()).await, [ids[3], ids[2]]);
    assert_eq!(leader.store.attempts(ids[0]).await.unwrap(), []);
    assert_eq!(leader.store.log(ids[0], 1).await.unwrap(), "");
    assert_eq!(leader.store.load().await.unwrap().finals, []);
    assert_eq!(leader.commit_one(Change::Delete(vec![ids[0]])).await, Applied::Removed(vec![]));
}
