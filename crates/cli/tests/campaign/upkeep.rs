//! What operators do to a cluster, and what happens to it by itself: rolling restarts, an outage of the database, one key through
//! every server at once, and an idle hour.

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use ganger_store::testing::peek;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::cluster::{Cluster, LEADER_TTL, SERVERS};
use super::now;

/// Session TTL where nothing may be lost: the default.
pub(crate) const SESSION_TTL: Duration = Duration::from_secs(15);
/// An outage: longer than a leader's, shorter than a worker's life in silence.
const OUTAGE: Duration = Duration::from_secs(5);
const PATIENCE: Duration = Duration::from_secs(90);

/// Jobs that run all the while; each must end in its first attempt.
pub(crate) struct Running {
    urls: Vec<String>,
    ids: Vec<String>,
}

impl Running {
    /// Submits so many and waits until each runs.
    pub(crate) async fn start(cluster: &Cluster, jobs: usize, lasting: Duration) -> Running {
        let urls = cluster.urls();
        let mut ids = Vec::new();
        for n in 0..jobs {
            let body = json!({"kind": "sleep", "payload": {"seconds": lasting.as_secs()}});
            let asked =
                reqwest::Client::new().post(format!("{}/v1/jobs", urls[n % SERVERS])).json(&body).send();
            let job: Value = asked.await.expect("an answer").json().await.expect("a job");
            ids.push(job["id"].as_str().unwrap_or_else(|| panic!("no id in {job}")).to_owned());
        }
        let running = Running { urls, ids };
        for id in &running.ids {
            running.until(id, |job| job["state"] == "running").await;
        }
        running
    }

    /// Waits for the end of each; tells how many needed another attempt.
    pub(crate) async fn restarted(&self) -> usize {
        let mut restarted = 0;
        for id in &self.ids {
            let job = self.until(id, |job| job["finished_at"].is_string()).await;
            restarted += usize::from(job["attempt"] != 1 || job["state"] != "succeeded");
        }
        restarted
    }

    async fn until(&self, id: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        super::cluster::until("a job gets on", async || {
            for url in &self.urls {
                if let Ok(answer) = reqwest::get(format!("{url}/v1/jobs/{id}")).await
                    && let Ok(job) = answer.json::<Value>().await
                    && wanted(&job)
                {
                    return Some(job);
                }
            }
            None
        })
        .await
    }
}

/// What came of a rolling restart.
#[derive(Debug)]
pub(crate) struct Rolled {
    pub(crate) calls: usize,
    pub(crate) failed: Vec<String>,
    pub(crate) restarted_jobs: usize,
}

/// SIGTERM to every server in turn, each started again, while the command line calls and jobs run on workers that
/// stay, for a worker that was killed holds its leases until its session runs out.
pub(crate) async fn rolling_restart(cluster: &mut Cluster, rounds: usize) -> Rolled {
    let lasting = Duration::from_secs(6) * u32::try_from(rounds).expect("a few rounds");
    let running = Running::start(cluster, 4, lasting).await;
    let over = Arc::new(AtomicBool::new(false));
    let calls = Arc::new(AtomicUsize::new(0));
    let mut callers = JoinSet::new();
    for n in 0..2 {
        // Each begins with another server.
        let mut urls = cluster.urls();
        urls.rotate_left(n);
        let (urls, over, calls) = (urls.join(","), over.clone(), calls.clone());
        callers.spawn_blocking(move || call(&urls, &over, &calls));
    }
    for n in (0..rounds).flat_map(|_| 0..SERVERS) {
        cluster.stop(n).await;
        cluster.start_again(n);
        cluster.wait_ready().await;
    }
    over.store(true, Ordering::Relaxed);
    let failed = callers.join_all().await.concat();
    Rolled { calls: calls.load(Ordering::Relaxed), failed, restarted_jobs: running.restarted().await }
}

/// Submits, reads, cancels and asks for figures by the command line; tells what failed.
fn call(urls: &str, over: &AtomicBool, calls: &AtomicUsize) -> Vec<String> {
    let mut failed = Vec::new();
    let until = now() + PATIENCE * 4;
    while !over.load(Ordering::Relaxed) && now() < until {
        let mut run = |args: &[&str]| {
            calls.fetch_add(1, Ordering::Relaxed);
            let mut command = Command::new(env!("CARGO_BIN_EXE_ganger"));
            let said = command.args(args).args(["--url", urls]).stdin(Stdio::null()).output();
            let said = said.expect("the command line runs");
            if !said.status.success() {
                failed.push(format!("{args:?}: {}", String::from_utf8_lossy(&said.stderr)));
            }
            String::from_utf8_lossy(&said.stdout).trim().to_owned()
        };
        let id = run(&["enqueue", "kind.of.nobody", "-o", "name"]);
        if !id.is_empty() {
            run(&["job", "get", &id]);
            run(&["job", "cancel", &id]);
        }
        run(&["stats"]);
    }
    failed
}

/// What came of an outage of the database.
#[derive(Debug)]
pub(crate) struct Outage {
    /// Servers that said meanwhile that they are not ready.
    pub(crate) red: usize,
    pub(crate) restarted_jobs: usize,
    /// Sessions before and after.
    pub(crate) sessions: (String, String),
}

/// The database is away for longer than a leader may be silent, but not for as long as a worker may be.
pub(crate) async fn outage(cluster: &mut Cluster) -> Outage {
    let running = Running::start(cluster, 6, OUTAGE + LEADER_TTL + Duration::from_secs(2)).await;
    let before = peek::open_sessions(cluster.store()).unwrap_or_default();
    cluster.postgres.stop();
    let back = now() + OUTAGE;
    let mut red = [false; SERVERS];
    while now() < back {
        for (n, red) in red.iter_mut().enumerate() {
            *red |= !cluster.is_ready(n).await;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    cluster.postgres.restart();
    cluster.wait_ready().await;
    let restarted_jobs = running.restarted().await;
    let after = peek::open_sessions(cluster.store()).unwrap_or_default();
    Outage { red: red.iter().filter(|red| **red).count(), restarted_jobs, sessions: (before, after) }
}

/// Submits each of so many unique keys through every server at once; tells those that have two jobs or no answer.
pub(crate) async fn unique_keys(cluster: &Cluster, keys: usize) -> Vec<String> {
    let http = reqwest::Client::new();
    let mut wrong = Vec::new();
    for n in 0..keys {
        let key = format!("unique-{n}");
        let body = json!({"kind": "noop", "queue": "nobody", "unique_key": key});
        let mut all = JoinSet::new();
        for url in cluster.urls() {
            let request = http.post(format!("{url}/v1/jobs")).json(&body).send();
            all.spawn(async move { request.await.ok()?.json::<Value>().await.ok() });
        }
        let answers: Vec<Option<Value>> = all.join_all().await;
        let ids: Vec<Option<&str>> =
            answers.iter().map(|job| job.as_ref().and_then(|job| job["id"].as_str())).collect();
        let first = answers.iter().flatten().filter(|job| job["deduplicated"] != true).count();
        if ids.iter().any(|id| id.is_none() || *id != ids[0]) || first != 1 {
            wrong.push(format!("{key}: {answers:?}"));
        }
    }
    let made = peek::unique_jobs(cluster.store());
    if made != Some(keys as u64) {
        wrong.push(format!("{made:?} jobs in the store"));
    }
    wrong
}

/// Statements per second at the database while nothing is asked of the cluster, by the database's own log.
pub(crate) async fn idle_rate(cluster: &Cluster, over: Duration) -> f64 {
    cluster.postgres.log_statements();
    let before = cluster.postgres.statements();
    tokio::time::sleep(over).await;
    (cluster.postgres.statements() - before) as f64 / over.as_secs_f64()
}
