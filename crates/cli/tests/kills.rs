//! The server and its workers are killed and stopped under load; nothing is lost, nothing is recorded
//! twice, no zombie is believed. The long form is `make soak`.

mod campaign;

use campaign::supervised::{self, LONG_TTL};
use campaign::{Campaign, Fault, run};

/// The server dies five times while clients submit and workers run.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killing_the_server_loses_nothing() {
    let verdict = run(Campaign { fault: Fault::KillServer, times: 5, jobs: 400, workers: 2 }).await;
    verdict.assert_clean(400);
    assert!(verdict.resent > 0, "no request met a dead server: the kills had no effect\n{verdict:#?}");
}

/// Workers die in the middle of their jobs; the jobs run elsewhere.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killing_workers_loses_nothing() {
    let verdict = run(Campaign { fault: Fault::KillWorker, times: 5, jobs: 200, workers: 2 }).await;
    verdict.assert_clean(200);
    assert!(verdict.lost_attempts > 0, "no job met a dead worker: the kills had no effect\n{verdict:#?}");
}

/// The zombie: a worker stops past its TTL, others take its jobs, then it wakes and reports.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_wakes_late_changes_nothing() {
    let verdict = run(Campaign { fault: Fault::StopWorker, times: 2, jobs: 120, workers: 2 }).await;
    verdict.assert_clean(120);
    assert!(verdict.lost_attempts > 0, "the stopped worker lost no lease: {verdict:#?}");
    assert!(verdict.refused_reports > 0, "the zombie never reported: {verdict:#?}");
}

/// The session would live on for a minute; the supervisor's word ends it. The seconds are for `make soak`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_job_of_a_child_that_died_runs_elsewhere_long_before_its_session_runs_out() {
    let recovery = supervised::kill_children(1).await[0];
    assert!(recovery.noticed <= recovery.started, "{recovery:?}");
    assert!(recovery.started < LONG_TTL / 4, "{recovery:?}");
}
