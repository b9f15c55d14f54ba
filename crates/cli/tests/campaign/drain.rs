//! Many short jobs at once, so that one batch follows another before that is answered, while the leader and the database are
//! killed in between.

use std::time::Duration;

use ganger_store::testing::peek::{self, Recorded};
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use rand::seq::SliceRandom as _;
use serde_json::json;

use super::cluster::Cluster;
use super::faults::{ClusterFault, strike};
use super::supervised::LONG_TTL;

/// Jobs in one submission.
const AT_ONCE: usize = 1_000;
/// The queue of the jobs.
const QUEUE: &str = "drained";

/// Lays out so many jobs, lets two workers at them, and strikes whenever another part of them has ended. Tells what is
/// recorded in the end. The workers live: no job may need a second attempt.
pub(crate) async fn run(
    cluster: &mut Cluster,
    faults: &[(ClusterFault, usize)],
    jobs: usize,
    seed: u64,
) -> Recorded {
    let mut random = StdRng::seed_from_u64(seed);
    let mut plan: Vec<ClusterFault> = faults.iter().flat_map(|(fault, times)| vec![*fault; *times]).collect();
    plan.shuffle(&mut random);
    lay_out(cluster, jobs).await;
    let _workers = [cluster.worker("d0", LONG_TTL), cluster.worker("d1", LONG_TTL)];
    post(cluster, &format!("queues/{QUEUE}:resume"), json!({})).await;
    for (n, fault) in plan.iter().enumerate() {
        let most = (jobs - (n + 1) * jobs / (plan.len() + 1)) as u64;
        let few = async || peek::live_jobs(cluster.store()).filter(|live| *live <= most);
        let live = cluster.until("jobs end", few).await;
        println!("{fault:?} with {live} jobs left");
        strike(cluster, *fault, &mut random).await;
    }
    let none = async || peek::live_jobs(cluster.store()).filter(|live| *live == 0);
    cluster.until("every job ends", none).await;
    // The last count is written with the last job, the statistics too.
    peek::recorded(cluster.store()).expect("the database answers")
}

/// Every one of so many jobs ended once, at its first attempt, and is counted once.
pub(crate) fn each_once(jobs: usize) -> Recorded {
    let jobs = jobs as u64;
    Recorded { rows: jobs, jobs, at_once: jobs, counted: jobs, assignments: 0 }
}

async fn lay_out(cluster: &Cluster, jobs: usize) {
    post(cluster, &format!("queues/{QUEUE}:pause"), json!({})).await;
    let job = json!({"kind": "noop", "queue": QUEUE});
    for _ in 0..jobs.div_ceil(AT_ONCE) {
        post(cluster, "jobs:batch", json!({"jobs": vec![job.clone(); AT_ONCE]})).await;
    }
}

async fn post(cluster: &Cluster, path: &str, body: serde_json::Value) {
    let leader = cluster.leader().await;
    let url = format!("{}/v1/{path}", cluster.urls()[leader]);
    let asked = reqwest::Client::new().post(&url).timeout(Duration::from_secs(30)).json(&body).send().await;
    let answer = asked.expect("an answer");
    let status = answer.status();
    assert!(status.is_success(), "{path}: {status}: {}", answer.text().await.unwrap_or_default());
}
