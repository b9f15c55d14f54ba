//! How long nothing is dispatched when the leader is killed or stands still, with many live jobs to load.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ganger_store::testing::peek;
use serde_json::{Value, json};

use super::cluster::Cluster;

/// Jobs in one submission.
const AT_ONCE: usize = 1_000;

/// How the leader is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loss {
    /// `kill -9`
    Killed,
    /// `SIGSTOP`
    Stopped,
}

/// Submits so many jobs of a second each.
pub(crate) async fn fill(cluster: &Cluster, jobs: usize) {
    let job = json!({"kind": "sleep", "payload": {"seconds": 1}, "max_lost": 50});
    let leader = cluster.leader().await;
    let url = format!("{}/v1/jobs:batch", cluster.urls()[leader]);
    let http = reqwest::Client::new();
    for _ in 0..jobs.div_ceil(AT_ONCE) {
        let body = json!({"jobs": vec![job.clone(); AT_ONCE]});
        let answer = http.post(&url).json(&body).send().await.expect("an answer");
        let status = answer.status();
        assert!(status.is_success(), "{status}: {}", answer.text().await.unwrap_or_default());
    }
}

/// Loses the leader; tells how long it was until the next one dispatched, by the time in the store. The lost one is back
/// when this returns.
pub(crate) async fn lose_leader(cluster: &mut Cluster, loss: Loss) -> Duration {
    cluster.wait_ready().await;
    let leader = cluster.leader().await;
    let old = cluster.leader_row().expect("the database answers").term;
    // Only when it dispatches is there something to miss.
    let dispatched = async |cluster: &Cluster, term: u64| {
        let look = async || peek::first_dispatch(cluster.store(), term);
        Duration::from_micros(cluster.until("a job is dispatched", look).await)
    };
    dispatched(cluster, old).await;
    let lost = wall();
    match loss {
        Loss::Killed => cluster.kill(leader),
        Loss::Stopped => cluster.signal(leader, "STOP"),
    }
    let next = dispatched(cluster, old + 1).await;
    match loss {
        Loss::Killed => cluster.start_again(leader),
        Loss::Stopped => cluster.signal(leader, "CONT"),
    }
    next.saturating_sub(lost)
}

/// Live jobs by the store.
pub(crate) fn live(cluster: &Cluster) -> Value {
    peek::live_jobs(cluster.store()).into()
}

/// The wall clock, which the servers on this machine read too.
#[expect(clippy::disallowed_methods, reason = "compared with the times that the leader recorded")]
fn wall() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("the clock is set")
}
