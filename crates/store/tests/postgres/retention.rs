//! Days: made ahead, made when missing, dropped when over.

use std::time::Duration;

use ganger_core::change::{After, Applied, AttemptEnd, Change, LogLines, Tally};
use ganger_core::job::State;
use ganger_core::queue::{Keep, QueueSettings, Retention};
use ganger_core::rules::Standing;
use ganger_core::{JobId, Wall};
use ganger_store::Store;
use tokio_postgres::Client;

use crate::support::{Leader, NOW, connect, fresh};

const DAY: Duration = Duration::from_secs(86_400);
/// More than are removed row by row.
const MANY: usize = 10_050;

async fn days(client: &Client) -> Vec<String> {
    let tables = "SELECT c.relname::text FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
                  WHERE i.inhparent = 'ganger.job_history'::regclass ORDER BY 1";
    client.query(tables, &[]).await.unwrap().iter().map(|row| row.get(0)).collect()
}

async fn count(client: &Client, table: &str) -> i64 {
    client.query_one(&format!("SELECT count(*) FROM ganger.{table}"), &[]).await.unwrap().get(0)
}

async fn prune(leader: &mut Leader, now: Wall, limit: usize) -> Vec<Tally> {
    match leader.commit(vec![Change::Prune { now, limit }]).await.pop() {
        Some(Applied::Removed(tallies)) => tallies,
        other => panic!("{other:?}"),
    }
}

fn tally(state: State, count: u64) -> Tally {
    Tally { queue: "default".parse().unwrap(), kind: "noop".parse().unwrap(), state, count }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_leader_finds_tables_for_today_and_the_days_after_it() {
    let (store, url) = fresh().await;
    let client = connect(&url).await;
    assert_eq!(days(&client).await, [""; 0]);
    Leader::begin(&store).await;
    let ahead = "SELECT 'job_history_' || to_char((now() AT TIME ZONE 'UTC')::date + d, 'YYYYMMDD')
                 FROM generate_series(0, 3) d ORDER BY 1";
    let expected: Vec<String> = client.query(ahead, &[]).await.unwrap().iter().map(|r| r.get(0)).collect();
    assert_eq!(days(&client).await, expected);
}

/// A table is missing that the writer believes to be there, and one that it knows is not.
#[tokio::test(flavor = "multi_thread")]
async fn a_missing_day_is_made_when_a_job_finishes_on_it() {
    let (store, url) = fresh().await;
    let mut leader = Leader::begin(&store).await;
    let client = connect(&url).await;
    let ids = leader.submit(3).await;
    leader.run(&ids[..1], State::Succeeded, NOW).await;
    assert!(days(&client).await.contains(&"job_history_20250615".to_owned()));
    leader.run(&ids[1..2], State::Succeeded, NOW + DAY).await;
    client.batch_execute("DROP TABLE ganger.job_history_20250616").await.unwrap();
    leader.run(&ids[2..], State::Succeeded, NOW + DAY).await;
    assert_eq!(count(&client, "job_history_20250616").await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_day_that_is_over_in_every_queue_is_dropped_whole() {
    let (store, url) = fresh().await;
    let mut leader = Leader::begin(&store).await;
    let client = connect(&url).await;
    let mut kept = leader.new_job("null");
    kept.spec.queue = "ever".parse().unwrap();
    let ever = QueueSettings {
        retention: Retention { finished: Keep::Forever, dead: Keep::Forever },
        ..QueueSettings::default()
    };
    leader.commit(vec![Change::PutQueue(kept.spec.queue.clone(), ever)]).await;
    let ids = leader.submit(MANY).await;
    leave_traces(&mut leader, ids[0]).await;
    leader.run(&ids[1..], State::Succeeded, NOW).await;
    let dead = leader.submit(1).await;
    leader.run(&dead, State::Dead, NOW).await;
    // One job of that day in a queue that keeps everything holds the day.
    let kept = leader.submit_all(vec![kept]).await;
    leader.run(&kept, State::Succeeded, NOW).await;

    let later = NOW + DAY * 9;
    assert_eq!(prune(&mut leader, later, 50).await, [tally(State::Succeeded, 50)]);
    assert!(days(&client).await.contains(&"job_history_20250615".to_owned()));
    leader.commit(vec![Change::PutQueue("ever".parse().unwrap(), QueueSettings::default())]).await;
    let gone = prune(&mut leader, later, 50).await;
    assert_eq!(gone[0], tally(State::Succeeded, MANY as u64 - 50));
    assert_eq!((gone.len(), gone[1].count), (2, 1));
    assert!(!days(&client).await.contains(&"job_history_20250615".to_owned()));
    assert_eq!(store.load().await.unwrap().finals, [tally(State::Dead, 1)]);

    // What was kept beside the jobs is not told any more, and is swept out after a while.
    assert_eq!(store.attempts(ids[0]).await.unwrap(), []);
    assert_eq!(store.log(ids[0], 1).await.unwrap(), "");
    for _ in 0..3 {
        prune(&mut leader, later, 50).await;
    }
    for table in ["attempt", "log", "payload", "sweep"] {
        assert_eq!(count(&client, table).await, 0, "{table}");
    }
}

/// Gives a job an attempt, a log and a large payload beside its row, and lets it end.
async fn leave_traces(leader: &mut Leader, id: JobId) {
    let assignment = leader.assignment(&[id]);
    let mut ends = leader.ends(&assignment, State::Succeeded, NOW);
    let Some(Change::End(AttemptEnd { after, .. })) = ends.first_mut() else { panic!("one ends") };
    let standing = Standing { attempt: 1, burnt: 1, lost: 0 };
    *after = After::Again { due_at: NOW, retrying: true, standing };
    let log = LogLines { job: id, attempt: 1, text: "it broke\n".into() };
    leader.commit(vec![Change::Assign(assignment), Change::Log(log)]).await;
    leader.commit(ends).await;
    leader.run(&[id], State::Succeeded, NOW).await;
    assert_eq!(leader.store.attempts(id).await.unwrap().len(), 2);
    assert_eq!(leader.store.log(id, 1).await.unwrap(), "it broke\n");
}

/// Somebody reads the history while retention wants to drop a part of it.
#[tokio::test(flavor = "multi_thread")]
async fn a_reader_holds_back_the_dropping_of_a_day_but_not_the_batch() {
    let (store, url) = fresh().await;
    let mut leader = Leader::begin(&store).await;
    let client = connect(&url).await;
    let ids = leader.submit(MANY).await;
    leader.run(&ids, State::Succeeded, NOW).await;
    let reader = connect(&url).await;
    reader.batch_execute("BEGIN; SELECT count(*) FROM ganger.job_history").await.unwrap();
    let later = NOW + DAY * 9;
    assert_eq!(prune(&mut leader, later, 50).await, [tally(State::Succeeded, 50)]);
    assert!(days(&client).await.contains(&"job_history_20250615".to_owned()));
    reader.batch_execute("COMMIT").await.unwrap();
    assert_eq!(prune(&mut leader, later, 50).await, [tally(State::Succeeded, MANY as u64 - 50)]);
    assert_eq!(store.load().await.unwrap().finals, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn days_that_have_come_to_nothing_are_dropped() {
    let (store, url) = fresh().await;
    let mut leader = Leader::begin(&store).await;
    let client = connect(&url).await;
    let ids = leader.submit(2).await;
    leader.run(&ids, State::Succeeded, NOW).await;
    let later = NOW + DAY * 9;
    assert_eq!(prune(&mut leader, later, 50).await, [tally(State::Succeeded, 2)]);
    assert!(days(&client).await.contains(&"job_history_20250615".to_owned()));
    assert_eq!(prune(&mut leader, later, 50).await, []);
    assert!(!days(&client).await.contains(&"job_history_20250615".to_owned()));
    assert_eq!(count(&client, "counter").await, 0);
}
