//! The long campaigns, for `make soak`. Their figures are kept in docs/soak.md.

mod campaign;

use std::time::Duration;

use campaign::supervised;
use campaign::{Campaign, Fault, run};

/// A job whose worker died under its supervisor's eyes runs elsewhere within this.
const SUPERVISED: Duration = Duration::from_secs(2);

async fn soak(fault: Fault, times: usize, jobs: usize) {
    let verdict = run(Campaign { fault, times, jobs, workers: 3 }).await;
    println!("{fault:?} × {times}, {jobs} jobs: {verdict:#?}");
    verdict.assert_clean(jobs);
}

#[ignore = "long: make soak"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_kills_of_the_server() {
    soak(Fault::KillServer, 60, 12_000).await;
}

#[ignore = "long: make soak"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_kills_of_workers() {
    soak(Fault::KillWorker, 60, 3_000).await;
}

#[ignore = "long: make soak"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_zombies() {
    soak(Fault::StopWorker, 20, 1_500).await;
}

#[ignore = "long: make soak"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_kills_under_a_supervisor() {
    let mut recoveries = supervised::kill_children(20).await;
    recoveries.sort_by_key(|recovery| recovery.started);
    let (median, worst) = (recoveries[recoveries.len() / 2], recoveries[recoveries.len() - 1]);
    for (which, figure) in [("median", median), ("worst", worst)] {
        println!("{which}: noticed after {:?}, started after {:?}", figure.noticed, figure.started);
    }
    assert!(worst.started <= SUPERVISED, "{recoveries:#?}");
}
