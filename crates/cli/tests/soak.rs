//! The long campaigns, for `make soak`. Their figures are kept in docs/soak.md.

mod campaign;

use std::time::Duration;

use campaign::cluster::Cluster;
use campaign::drain;
use campaign::failover::{self, Loss};
use campaign::faults::{self, ClusterCampaign, ClusterFault};
use campaign::partition::{Cut, Net};
use campaign::{Campaign, Fault, run, supervised, upkeep};

/// A job whose worker died under its supervisor's eyes runs elsewhere within this.
const SUPERVISED: Duration = Duration::from_secs(2);
/// The next dispatch comes so soon after the leader was killed; after it stood still, so soon after its row ran out.
const FAILOVER: Duration = Duration::from_secs(2);
/// How long a leader may be silent if nobody says otherwise.
const DEFAULT_LEADER_TTL: Duration = Duration::from_secs(5);
/// Statements per second at the database of an idle cluster, at the most.
const IDLE: f64 = 5.0;

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

/// Faults of these kinds on a cluster, the order and the moments by a seed that is printed.
async fn soak_cluster(faults: Vec<(ClusterFault, usize)>, jobs: usize) {
    let seed = rand::random();
    println!("{faults:?}, {jobs} jobs, seed {seed}");
    let mut cluster = Cluster::start().await;
    let verdict = faults::run(&mut cluster, ClusterCampaign { faults, jobs, seed }).await;
    println!("{verdict:#?}");
    verdict.assert_clean(jobs);
}

#[ignore = "long: make soak"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cluster_thirty_kills_of_the_leader() {
    soak_cluster(vec![(ClusterFault::KillLeader, 30)], 6_000).await;
}

#[ignore = "long: make soak"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cluster_ten_leaders_that_wake_late() {
    soak_cluster(vec![(ClusterFault::StopLeader, 10)], 800).await;
}

#[ignore = "long: make soak"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cluster_standbys_and_workers_killed() {
    soak_cluster(vec![(ClusterFault::KillStandby, 15), (ClusterFault::KillWorker, 15)], 1_500).await;
}

#[ignore = "long: make soak"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cluster_postgres_restarted_and_killed() {
    let faults = [ClusterFault::RestartPostgres, ClusterFault::AbortPostgres, ClusterFault::KillPostgres];
    soak_cluster(faults.map(|fault| (fault, 5)).to_vec(), 1_000).await;
}

#[ignore = "long: make soak"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cluster_redis_emptied_and_killed() {
    soak_cluster(vec![(ClusterFault::FlushRedis, 10), (ClusterFault::KillRedis, 10)], 1_500).await;
}

#[ignore = "long: make soak"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cluster_drained_while_everything_is_killed() {
    let faults = [ClusterFault::KillLeader, ClusterFault::AbortPostgres, ClusterFault::KillPostgres];
    let (jobs, seed) = (600_000, rand::random());
    println!("{faults:?}, ten times each, {jobs} jobs, seed {seed}");
    let mut cluster = Cluster::start().await;
    let recorded = drain::run(&mut cluster, &faults.map(|fault| (fault, 10)), jobs, seed).await;
    println!("{recorded:#?}");
    assert_eq!(recorded, drain::each_once(jobs));
}

#[ignore = "long: make soak"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cluster_upkeep() {
    let mut cluster = Cluster::start().await;
    let wrong = upkeep::unique_keys(&cluster, 1_000).await;
    println!("1000 unique keys through every server at once: {} with more than one job", wrong.len());
    let _workers = [0, 1].map(|n| cluster.worker(&format!("u{n}"), upkeep::SESSION_TTL));
    let outage = upkeep::outage(&mut cluster).await;
    println!("{outage:#?}");
    let rolled = upkeep::rolling_restart(&mut cluster, 3).await;
    println!("{rolled:#?}");
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!((outage.restarted_jobs, outage.red), (0, 3));
    assert_eq!(outage.sessions.0, outage.sessions.1, "a worker was declared lost");
    assert_eq!((rolled.failed.len(), rolled.restarted_jobs), (0, 0));
}

#[ignore = "long: make soak"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cluster_partitions() {
    let Some(net) = Net::start().await else { return };
    let cuts = [
        Cut::LeaderToDatabase,
        Cut::DatabaseToLeader,
        Cut::WorkerAndLeader,
        Cut::WorkerToLeader,
        Cut::LeaderToWorker,
    ];
    let verdict = net.campaign(&[cuts, cuts].concat(), 400).await;
    println!("{cuts:?} twice: {verdict:#?}");
    verdict.assert_clean(400);
}

#[ignore = "long: make soak"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cluster_idle() {
    let cluster = Cluster::start_with(DEFAULT_LEADER_TTL).await;
    let rate = upkeep::idle_rate(&cluster, Duration::from_secs(60)).await;
    println!("idle: {rate:.2} statements a second");
    assert!(rate > 0.0 && rate <= IDLE, "{rate:.2} statements a second, {IDLE} are allowed");
}

#[ignore = "long: make soak"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cluster_failover_with_many_live_jobs() {
    let mut slow = Vec::new();
    for jobs in [100_000, 1_000_000] {
        let mut cluster = Cluster::start_with(DEFAULT_LEADER_TTL).await;
        let _workers = [0, 1].map(|n| cluster.worker(&format!("f{n}"), upkeep::SESSION_TTL));
        failover::fill(&cluster, jobs).await;
        for (loss, aim) in [(Loss::Killed, FAILOVER), (Loss::Stopped, DEFAULT_LEADER_TTL + FAILOVER)] {
            for _ in 0..3 {
                let took = failover::lose_leader(&mut cluster, loss).await;
                println!(
                    "{loss:?} with {} live jobs: dispatched again after {took:?}",
                    failover::live(&cluster)
                );
                if jobs == 100_000 && took > aim {
                    slow.push((loss, took));
                }
            }
        }
    }
    assert!(slow.is_empty(), "{slow:?}");
}
