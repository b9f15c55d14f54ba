//! Jobs that ended, and jobs that come back.

use std::sync::Arc;
use std::time::Duration;

use ganger_core::change::{After, Applied, Change, End, Finish, LogLines, Replayed, Tally};
use ganger_core::job::State;
use ganger_core::outcome::Outcome;
use ganger_core::rules::Standing;

use super::leader::{Leader, everything, spec};
use crate::store::Store;

pub(super) async fn a_final_job_keeps_everything(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let session = leader.open_session().await;
    let mut full = spec("mail.send");
    full.payload = "[1,  2]".into();
    full.options.tags = vec!["red".into()];
    let id = leader.submit(full.clone()).await;
    let assignment = leader.assign(session, &[id]).await;
    let again = After::Again {
        due_at: leader.now,
        retrying: true,
        standing: Standing { attempt: 1, burnt: 1, lost: 0 },
    };
    let first = leader.end(&assignment, 0, 1, Outcome::Error, again);
    leader.commit(vec![Change::End(first.clone()), Change::CancelWanted(id)]).await;
    leader.pass(Duration::from_secs(3));
    let second = leader.run_to(session, id, leader.succeeded()).await;
    let job = leader.job(id).await;
    assert_eq!((job.spec, job.state), (full, State::Succeeded));
    assert_eq!(job.end, Some(leader.succeeded()));
    assert_eq!(job.standing, Standing { attempt: 2, burnt: 2, lost: 0 });
    assert_eq!((job.lease, &job.last_attempt, job.cancel_wanted), (None, &second.record, true));
    let records: Vec<_> = [first.record, second.record].into_iter().flatten().collect();
    assert_eq!(leader.store.attempts(id).await.unwrap(), records);
    assert_eq!(leader.store.payloads(&[id]).await.unwrap(), [None]);
    let snapshot = leader.store.load().await.unwrap();
    assert_eq!((snapshot.jobs, snapshot.assignments), (vec![], vec![]));
}

pub(super) async fn a_job_that_is_not_kept_is_forgotten(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let session = leader.open_session().await;
    let mut large = spec("a");
    large.payload = format!("\"{}\"", "x".repeat(5000));
    let id = leader.submit(large).await;
    let log = LogLines { job: id, attempt: 1, text: "hello\n".into() };
    leader.commit(vec![Change::Log(log)]).await;
    leader.run_to(session, id, End { keep: false, ..leader.succeeded() }).await;
    assert_eq!(leader.find(id).await, None);
    assert_eq!(leader.list(everything()).await, []);
    assert_eq!(leader.store.attempts(id).await.unwrap(), []);
    assert_eq!(leader.store.log(id, 1).await.unwrap(), "");
    assert_eq!(leader.store.load().await.unwrap().finals, []);
    let replay = leader.replay(id);
    assert_eq!(leader.commit_one(replay).await, Applied::Replayed(Replayed::NotFound));
}

pub(super) async fn a_waiting_job_ends_without_an_attempt(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let id = leader.submit(spec("a")).await;
    leader.commit(vec![Change::Finish(Finish { job: id, end: leader.cancelled() })]).await;
    let job = leader.job(id).await;
    assert_eq!((job.state, job.end), (State::Cancelled, Some(leader.cancelled())));
    assert_eq!((job.standing, job.last_attempt), (Standing::default(), None));
    assert_eq!(leader.store.attempts(id).await.unwrap(), []);
}

pub(super) async fn a_leased_or_final_job_cannot_be_finished(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let session = leader.open_session().await;
    let id = leader.submit(spec("a")).await;
    let finish = Change::Finish(Finish { job: id, end: leader.cancelled() });
    let assignment = leader.assign(session, &[id]).await;
    assert!(leader.refused(vec![finish.clone()]).await.contains("leased under"));
    leader.run_out(&assignment, id).await;
    assert!(leader.refused(vec![finish]).await.contains("not live"));
    let other = leader.submit(spec("a")).await;
    let nonsense = End { state: State::Queued, ..leader.cancelled() };
    leader.refused(vec![Change::Finish(Finish { job: other, end: nonsense })]).await;
}

pub(super) async fn replay_keeps_the_attempts_and_renews_the_allowance(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let session = leader.open_session().await;
    let id = leader.submit(spec("a")).await;
    leader.commit(vec![Change::CancelWanted(id)]).await;
    let first = leader.run_to(session, id, leader.dead()).await;
    let created_at = leader.job(id).await.created_at;
    leader.pass(Duration::from_secs(60));
    let replay = leader.replay(id);
    let Applied::Replayed(Replayed::Live(live, State::Dead)) = leader.commit_one(replay).await else {
        panic!("not replayed")
    };
    assert_eq!(leader.store.load().await.unwrap().jobs, [(*live).clone()]);
    assert_eq!(live.standing, Standing { attempt: 1, burnt: 0, lost: 0 });
    assert_eq!((live.seq, live.due_at, live.created_at), (2, leader.now, created_at));
    assert_eq!((live.retrying, live.cancel_wanted, live.last_fence), (false, false, Some(first.fence)));
    let job = leader.job(id).await;
    assert_eq!((job.state, job.end, &job.last_attempt), (State::Queued, None, &first.record));
    let second = leader.run_to(session, id, leader.succeeded()).await;
    let records: Vec<_> = [first.record, second.record].into_iter().flatten().collect();
    assert_eq!(leader.store.attempts(id).await.unwrap(), records);
    assert_eq!(leader.job(id).await.state, State::Succeeded);
}

pub(super) async fn replay_of_a_live_or_unknown_job_changes_nothing(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let id = leader.submit(spec("a")).await;
    let before = leader.job(id).await;
    let replay = leader.replay(id);
    assert_eq!(leader.commit_one(replay).await, Applied::Replayed(Replayed::NotFinal));
    let unknown = leader.job_id();
    let replay = leader.replay(unknown);
    assert_eq!(leader.commit_one(replay).await, Applied::Replayed(Replayed::NotFound));
    assert_eq!(leader.job(id).await, before);
}

pub(super) async fn large_payloads_survive_ending_and_replay(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let session = leader.open_session().await;
    for bytes in [2048, 2049, 100_000] {
        let mut large = spec("a");
        large.payload = format!("\"{}\"", "x".repeat(bytes - 2));
        let id = leader.submit(large.clone()).await;
        assert_eq!(leader.store.payloads(&[id]).await.unwrap(), [Some(large.payload.clone())]);
        leader.run_to(session, id, leader.dead()).await;
        assert_eq!(leader.job(id).await.spec, large);
        let replay = leader.replay(id);
        leader.commit(vec![replay]).await;
        assert_eq!(leader.store.payloads(&[id]).await.unwrap(), [Some(large.payload)]);
    }
}

pub(super) async fn counters_equal_the_counted_rows(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let session = leader.open_session().await;
    let mut ids = Vec::new();
    for (kind, end) in [
        ("a", leader.succeeded()),
        ("a", leader.succeeded()),
        ("a", leader.dead()),
        ("b", leader.cancelled()),
        ("b", End { keep: false, ..leader.dead() }),
    ] {
        let id = leader.submit(spec(kind)).await;
        leader.run_to(session, id, end).await;
        ids.push(id);
    }
    let replay = leader.replay(ids[0]);
    leader.commit(vec![replay]).await;
    let tally = |kind: &str, state, count| Tally {
        queue: "default".parse().unwrap(),
        kind: kind.parse().unwrap(),
        state,
        count,
    };
    let mut finals = leader.store.load().await.unwrap().finals;
    finals.sort();
    let expected =
        [tally("a", State::Succeeded, 1), tally("a", State::Dead, 1), tally("b", State::Cancelled, 1)];
    assert_eq!(finals, expected);
}

pub(super) async fn the_largest_sequence_outlives_its_job(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(Arc::clone(&store)).await;
    let session = leader.open_session().await;
    leader.submit(spec("a")).await;
    let last = leader.submit(spec("a")).await;
    leader.run_to(session, last, End { keep: false, ..leader.succeeded() }).await;
    assert_eq!(store.load().await.unwrap().last_seq, 2);
    let next = Leader::begin(Arc::clone(&store)).await;
    assert_eq!(next.store.load().await.unwrap().last_seq, 2);
}
