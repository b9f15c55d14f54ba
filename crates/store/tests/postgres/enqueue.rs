//! `ganger.enqueue`: a job is submitted inside the user's own transaction, and the leader takes it in.

use std::collections::HashSet;
use std::time::Duration;

use ganger_core::change::{Applied, Change, InboxOrigin, Intake, NewJob, Submission, Submitted};
use ganger_core::job::State;
use ganger_core::limits;
use ganger_store::shared::InboxRow;
use ganger_store::{PgStore, Store};
use serde_json::Value;
use uuid::Uuid;

use crate::support::{Leader, NOW, connect, fresh};

/// The longest wait for anything.
const PATIENCE: Duration = Duration::from_secs(30);

async fn inbox(store: &PgStore) -> Vec<InboxRow> {
    store.shared().unwrap().inbox(limits::INBOX_ROWS).await.unwrap()
}

/// The submission of a row, with the kind and payload of the test's own.
fn take_in(leader: &mut Leader, row: &InboxRow, refused: Option<&str>) -> Change {
    let mut new: NewJob = leader.new_job("null");
    new.id = row.job;
    let inbox = Some(InboxOrigin { row: row.row, refused: refused.map(Into::into) });
    Change::Submit(Submission { idempotency: None, jobs: vec![new], inbox })
}

fn accepted(row: &InboxRow) -> Applied {
    Applied::Submitted(Submitted::Accepted(vec![Intake::Created(row.job)]))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_is_there_if_and_only_if_its_transaction_commits() {
    let (store, url) = fresh().await;
    let client = connect(&url).await;
    client.batch_execute("BEGIN; SELECT ganger.enqueue('mail'); ROLLBACK").await.unwrap();
    client.batch_execute("BEGIN; SELECT ganger.enqueue('mail')").await.unwrap();
    assert_eq!(inbox(&store).await, []);
    client.batch_execute("COMMIT").await.unwrap();
    assert_eq!(inbox(&store).await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_says_what_was_asked_for_and_the_payload_keeps_its_text() {
    let (store, url) = fresh().await;
    let client = connect(&url).await;
    let call = "SELECT ganger.enqueue('mail.send', '{ \"b\": 1.10,\"a\":1, \"a\": \"é\\u0000\" }', queue => 'q', \
                priority => -3, delay => interval '90 seconds', unique_key => 'k\"k', \
                options => '{\"max_attempts\": 2, \"retry\": {\"base\": \"1s\"}}'), clock_timestamp()";
    let answer = client.query_one(call, &[]).await.unwrap();
    let id: Uuid = answer.get(0);
    assert_eq!((id.get_version_num(), id.get_variant()), (7, uuid::Variant::RFC4122));
    let row = inbox(&store).await.remove(0);
    assert_eq!(row.job.uuid(), id);
    assert!(row.request.contains("{ \"b\": 1.10,\"a\":1, \"a\": \"é\\u0000\" }"), "{}", row.request);
    let request: Value = serde_json::from_str(&row.request).unwrap();
    assert_eq!((&request["kind"], &request["queue"]), (&"mail.send".into(), &"q".into()));
    assert_eq!((&request["priority"], &request["unique_key"]), (&Value::from(-3), &"k\"k".into()));
    assert_eq!((&request["max_attempts"], &request["retry"]["base"]), (&Value::from(2), &"1s".into()));
    let run_at = "SELECT extract(epoch FROM $1::text::timestamptz - clock_timestamp())::float8";
    let wait: f64 = client.query_one(run_at, &[&request["run_at"].as_str()]).await.unwrap().get(0);
    assert!(wait > 30.0 && wait <= 90.0, "{wait}");
    let ids: HashSet<Uuid> = {
        let many = "SELECT ganger.enqueue('a') FROM generate_series(1, 500)";
        client.query(many, &[]).await.unwrap().iter().map(|row| row.get(0)).collect()
    };
    assert_eq!(ids.len(), 500);
}

#[tokio::test(flavor = "multi_thread")]
async fn obvious_mistakes_fail_in_the_users_transaction() {
    let (store, url) = fresh().await;
    let client = connect(&url).await;
    for (arguments, text) in [
        ("NULL", "`kind` has a name"),
        ("''", "`kind` has a name"),
        ("'a b'", "`kind` has a name"),
        ("'a', queue => 'é'", "`queue` has a name"),
        ("'a', priority => 128", "`priority` is 128, allowed are -128 to 127"),
        ("'a', run_at => now(), delay => interval '1 s'", "together"),
        ("'a', run_at => 'infinity'", "between 1970 and 9999"),
        ("'a', to_json(repeat('x', 1048575))", "`payload` has 1048577 bytes, the limit is 1048576"),
        ("'a', unique_key => ''", "`unique_key` has 1 to 256 bytes"),
        ("'a', options => '[]'", "`options` is an object"),
        ("'a', options => '{\"kind\": \"b\"}'", "a parameter of its own"),
    ] {
        let error = client.batch_execute(&format!("SELECT ganger.enqueue({arguments})")).await.unwrap_err();
        let said = error.as_db_error().unwrap().message().to_owned();
        assert!(said.contains(text), "{arguments}: {said}");
    }
    assert_eq!(inbox(&store).await, []);
    client.batch_execute("SELECT ganger.enqueue('a', to_json(repeat('x', 1048574)))").await.unwrap();
    client
        .batch_execute("SELECT ganger.enqueue('a', NULL, NULL, NULL, NULL, NULL, NULL, NULL)")
        .await
        .unwrap();
    assert_eq!(inbox(&store).await.len(), 2);
}

/// The row goes and the job comes in one transaction; a row that is handed over again is not taken in again, even after
/// its job has ended.
#[tokio::test(flavor = "multi_thread")]
async fn a_row_is_taken_in_once() {
    let (store, url) = fresh().await;
    let client = connect(&url).await;
    client.batch_execute("SELECT ganger.enqueue('a') FROM generate_series(1, 3)").await.unwrap();
    let rows = inbox(&store).await;
    let mut leader = Leader::begin(&store).await;
    let first = take_in(&mut leader, &rows[0], None);
    let again = take_in(&mut leader, &rows[0], None);
    assert_eq!(leader.commit(vec![first.clone(), again]).await, [accepted(&rows[0]), Applied::Taken]);
    assert_eq!(inbox(&store).await, rows[1..]);
    leader.run(&[rows[0].job], State::Succeeded, NOW).await;
    let second = take_in(&mut leader, &rows[1], None);
    assert_eq!(leader.commit(vec![first, second]).await, [Applied::Taken, accepted(&rows[1])]);
    // A batch that is refused leaves the row where it is.
    let third = take_in(&mut leader, &rows[2], None);
    let contradiction = Change::Assign(leader.assignment(&[rows[0].job]));
    assert!(leader.try_commit(vec![third.clone(), contradiction]).await.is_err());
    assert_eq!(inbox(&store).await, rows[2..]);
    assert_eq!(leader.commit(vec![third]).await, [accepted(&rows[2])]);
    assert_eq!(inbox(&store).await, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_that_cannot_be_run_is_taken_in_dead() {
    let (store, url) = fresh().await;
    let client = connect(&url).await;
    client.batch_execute("SELECT ganger.enqueue('a') FROM generate_series(1, 3)").await.unwrap();
    let rows = inbox(&store).await;
    let mut leader = Leader::begin(&store).await;
    let reasons = [None, Some("`threads` is 0"), None];
    let changes: Vec<Change> =
        rows.iter().zip(reasons).map(|(row, reason)| take_in(&mut leader, row, reason)).collect();
    let expected: Vec<Applied> = rows.iter().map(accepted).collect();
    assert_eq!(leader.commit(changes).await, expected);
    let ids: Vec<_> = rows.iter().map(|row| row.job).collect();
    let jobs = store.jobs(&ids, NOW).await.unwrap();
    let states: Vec<State> = jobs.iter().map(|job| job.state).collect();
    assert_eq!(states, [State::Queued, State::Dead, State::Queued]);
    let end = jobs[1].end.clone().unwrap();
    assert_eq!(end.reason.as_deref(), Some("`threads` is 0"));
    let tallies = store.load().await.unwrap().finals;
    assert_eq!(tallies.iter().map(|t| (t.state, t.count)).collect::<Vec<_>>(), [(State::Dead, 1)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_look_into_the_inbox_is_bounded_in_rows_and_in_bytes() {
    let (store, url) = fresh().await;
    let client = connect(&url).await;
    client.batch_execute("SELECT ganger.enqueue('a') FROM generate_series(1, 20)").await.unwrap();
    assert_eq!(store.shared().unwrap().inbox(7).await.unwrap().len(), 7);
    let large = "TRUNCATE ganger.inbox; SELECT ganger.enqueue('a', to_json(repeat('x', 1000000))) \
                 FROM generate_series(1, 20)";
    client.batch_execute(large).await.unwrap();
    let seen = inbox(&store).await.len();
    assert!((4..=6).contains(&seen), "{seen} rows of a megabyte each");
}

/// The bell rings when something was submitted, also after its connection was lost.
#[tokio::test(flavor = "multi_thread")]
async fn whoever_waits_is_woken_by_a_commit_and_also_after_a_lost_connection() {
    let (store, url) = fresh().await;
    let shared = store.shared().unwrap();
    let client = connect(&url).await;
    let listening = "SELECT count(*) FROM pg_stat_activity \
                     WHERE query = 'LISTEN ganger_inbox' AND datname = current_database()";
    for round in 0..2 {
        // It rings once when it begins to listen, because nobody knows what was missed.
        tokio::time::timeout(PATIENCE, shared.inbox_woken()).await.expect("it rings when it begins");
        let there: i64 = client.query_one(listening, &[]).await.unwrap().get(0);
        assert_eq!(there, 1, "round {round}");
        client.batch_execute("SELECT ganger.enqueue('a')").await.unwrap();
        tokio::time::timeout(PATIENCE, shared.inbox_woken()).await.expect("it rings");
        let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                   WHERE query = 'LISTEN ganger_inbox' AND datname = current_database()";
        client.batch_execute(cut).await.unwrap();
        tokio::time::timeout(PATIENCE, shared.inbox_woken()).await.expect("it rings when it was lost");
    }
}
