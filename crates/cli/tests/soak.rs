//! The long campaigns, for `make soak`. Their figures are kept in docs/soak.md.

mod campaign;

use campaign::{Campaign, Fault, run};

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
