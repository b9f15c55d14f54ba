//! The checkers of the campaigns bite: each violation, put into a history that a real server made, is reported, and so is what a
//! zombie does to a real database without a guard.

mod campaign;

use std::time::Duration;

use campaign::checker::{History, Recorded, Verdict};
use campaign::cluster::{Leader, server_arguments, until};
use campaign::history::Client;
use campaign::processes::{Server, Worker, free_port};
use campaign::zombie::{self, Sighting};
use ganger_store::testing::{Durability, Postgres, Redis, peek};
use serde_json::{Value, json};

const JOBS: usize = 6;

/// A history without a fault, from a real server and a real worker.
async fn history() -> History {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    let _worker = Worker::start(&server.url(), "honest");
    let client = Client::new(&server.url());
    client.clone().submit(JOBS, &[0]).await;
    client.wait_until_over(campaign::STANDSTILL).await;
    client.history().await
}

/// What a history says about its first job, to be changed.
fn record(history: &mut History) -> (&str, &mut Recorded) {
    let (id, record) = history.recorded.iter_mut().next().expect("a job");
    (id, record)
}

fn job(history: &mut History) -> &mut Value {
    record(history).1.job.as_mut().expect("a job")
}

/// A violation, how it would come into a history, and where the checker must tell of it.
type Violation = (&'static str, fn(&mut History), fn(&Verdict) -> &[String]);

const VIOLATIONS: &[Violation] = &[
    ("an acknowledged job that is not there", |h| record(h).1.job = None, |v| &v.lost),
    ("a job that never ends", |h| job(h)["state"] = json!("running"), |v| &v.lost),
    ("a job that was cancelled although nobody asked", |h| job(h)["state"] = json!("cancelled"), |v| &v.lost),
    ("a job that died of retries", |h| job(h)["state"] = json!("dead"), |v| &v.lost),
    ("two recorded outcomes of one attempt", repeat_attempt, |v| &v.recorded_twice),
    ("two attempts that both succeeded", succeed_twice, |v| &v.recorded_twice),
    ("no attempt that succeeded", |h| record(h).1.attempts.clear(), |v| &v.recorded_twice),
    ("a final state that changed", change_final, |v| &v.recorded_twice),
    (
        "a result of an attempt that had lost its lease",
        |h| record(h).1.result["attempt"] = json!(2),
        |v| &v.stolen,
    ),
    ("a key that was answered with two jobs", answer_twice, |v| &v.two_answers),
    ("a job that a server denied", deny, |v| &v.denied),
];

fn repeat_attempt(history: &mut History) {
    let attempts = &mut record(history).1.attempts;
    let mut again = attempts[0].clone();
    again["outcome"] = json!("error");
    attempts.push(again);
}

fn succeed_twice(history: &mut History) {
    let attempts = &mut record(history).1.attempts;
    let mut second = attempts[0].clone();
    second["attempt"] = json!(2);
    attempts.push(second);
    job(history)["attempt"] = json!(2);
    record(history).1.result["attempt"] = json!(2);
}

fn change_final(history: &mut History) {
    let id = record(history).0.to_owned();
    history.told.finals.insert(id, ("\"dead\"".into(), 1));
}

fn answer_twice(history: &mut History) {
    let ids: Vec<String> = history.told.acked.values().cloned().collect();
    history.told.acknowledged("campaign-0", ids[1].clone());
    history.told.acknowledged("campaign-0", ids[0].clone());
}

fn deny(history: &mut History) {
    let id = record(history).0.to_owned();
    history.told.denied.push(id);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_violation_in_a_history_is_reported_and_a_history_without_one_is_clean() {
    let clean = history().await;
    clean.verdict().assert_clean(JOBS);
    for (what, violate, told) in VIOLATIONS {
        let mut history = clean.clone();
        violate(&mut history);
        let verdict = history.verdict();
        assert!(!told(&verdict).is_empty(), "{what} was not reported: {verdict:#?}");
    }
}

/// A leader of a term that is over writes all the same: each way in which the store would show it.
#[test]
fn each_deed_of_a_zombie_is_reported_and_a_leader_at_work_is_not_one() {
    let at = |term, batch, server: &str, old_leases| Sighting {
        leader: Leader { term, server: server.into(), batch },
        old_leases,
    };
    let before = at(7, 20, "bob", 3);
    for fine in [at(7, 20, "bob", 3), at(7, 25, "bob", 0), at(8, 1, "carol", 3)] {
        assert_eq!(zombie::deeds(&before, &fine), None);
    }
    for deed in [at(6, 20, "alice", 3), at(7, 20, "alice", 3), at(7, 19, "bob", 3), at(7, 21, "bob", 4)] {
        assert!(zombie::deeds(&before, &deed).is_some(), "{deed:?}");
    }
    let standby = json!({"role": "standby", "leader": {"term": 7}});
    let later = json!({"role": "leader", "leader": {"term": 8}});
    for seen in [&standby, &later] {
        assert!(zombie::lies(6, Some(seen), Some("job"), true).is_empty());
    }
    let leads = json!({"role": "leader", "leader": {"term": 6}});
    assert_eq!(zombie::lies(6, Some(&leads), None, false).len(), 1);
    assert_eq!(zombie::lies(6, Some(&standby), Some("job"), false).len(), 1);
}

/// A database whose guard does not hold, and a zombie that takes the number of the leader's next batch: the leader believes
/// that its batch is there. What it acknowledges then is lost, and the checker says so.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_that_a_zombie_wrote_over_is_reported_as_lost() {
    let (postgres, redis) = (Postgres::start_with(Durability::None), Redis::start());
    let store = postgres.database().await;
    let listen = format!("127.0.0.1:{}", free_port());
    let url = format!("http://{listen}");
    let start = async || {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_ganger"));
        server_arguments(&mut command, 0, &store, &redis.url());
        let server = command.args(["--listen", &listen]).spawn().expect("the server starts");
        until("the server leads", async || {
            let answer = reqwest::get(format!("{url}/readyz")).await.ok()?;
            answer.status().is_success().then_some(())
        })
        .await;
        server
    };
    let end = |mut server: std::process::Child| {
        let _ = server.kill();
        let _ = server.wait();
    };
    let server = start().await;
    let client = Client::new(&url);
    client.clone().submit(1, &[0]).await;
    peek::take_the_next_batch(&store);
    let second = Client::new(&url);
    second.clone().submit(2, &[0]).await;
    // The next leader knows only what is there.
    end(server);
    let server = start().await;
    let _worker = Worker::start(&url, "honest");
    client.wait_until_over(campaign::STANDSTILL).await;
    second.wait_until_over(Duration::from_secs(2)).await;
    let (before, verdict) = (client.verdict().await, second.verdict().await);
    end(server);
    before.assert_clean(1);
    let gone = verdict.lost.iter().any(|lost| !lost.contains(':'));
    assert!(gone, "what a zombie did was not reported: {verdict:#?}");
}
