//! Three servers, PostgreSQL, Redis and workers are killed, stopped, restarted and cut off from each other under load;
//! nothing is lost, nothing is recorded twice, no leader writes after its term. The long form is `make soak`.

mod campaign;

use std::time::Duration;

use campaign::cluster::Cluster;
use campaign::drain;
use campaign::failover::{self, Loss};
use campaign::faults::{self, ClusterCampaign, ClusterFault};
use campaign::partition::{Cut, Net};
use campaign::supervised::LONG_TTL;
use campaign::upkeep;

/// Every kind of fault once, the leader twice, in a seeded order.
const FAULTS: &[(ClusterFault, usize)] = &[
    (ClusterFault::KillLeader, 2),
    (ClusterFault::KillStandby, 1),
    (ClusterFault::KillWorker, 1),
    (ClusterFault::StopLeader, 1),
    (ClusterFault::RestartPostgres, 1),
    (ClusterFault::AbortPostgres, 1),
    (ClusterFault::KillPostgres, 1),
    (ClusterFault::FlushRedis, 1),
    (ClusterFault::KillRedis, 1),
];

/// P1, P2, P3, P8, P9, over one cluster, because starting one takes longer than most of this.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_loses_nothing_whatever_is_killed() {
    let mut cluster = Cluster::start().await;
    let wrong = upkeep::unique_keys(&cluster, 50).await;
    assert!(wrong.is_empty(), "{wrong:#?}");

    let jobs = 300;
    let verdict = faults::run(&mut cluster, ClusterCampaign { faults: FAULTS.to_vec(), jobs, seed: 7 }).await;
    println!("{verdict:#?}");
    verdict.assert_clean(jobs);
    assert!(verdict.terms >= 3, "two kills and a stop make three terms at least: {verdict:#?}");
}

/// P1, P2: a batch follows another before that is answered, and both are lost with the leader or the database.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_drain_loses_nothing_and_repeats_nothing_whatever_is_killed() {
    let mut cluster = Cluster::start().await;
    let jobs = 20_000;
    let faults = [ClusterFault::KillLeader, ClusterFault::AbortPostgres, ClusterFault::KillPostgres];
    let recorded = drain::run(&mut cluster, &faults.map(|fault| (fault, 1)), jobs, 7).await;
    assert_eq!(recorded, drain::each_once(jobs));
}

/// P9: what an operator does every week, and what the database does once a year.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rolling_restart_fails_no_call_and_neither_it_nor_an_outage_restarts_a_job() {
    let mut cluster = Cluster::start().await;
    let _workers = [0, 1].map(|n| cluster.worker(&format!("u{n}"), upkeep::SESSION_TTL));
    let outage = upkeep::outage(&mut cluster).await;
    assert_eq!((outage.restarted_jobs, outage.red), (0, 3), "{outage:#?}");
    assert_eq!(outage.sessions.0, outage.sessions.1, "a worker was declared lost");

    let rolled = upkeep::rolling_restart(&mut cluster, 1).await;
    assert!(rolled.failed.is_empty() && rolled.calls > 0, "{rolled:#?}");
    assert_eq!(rolled.restarted_jobs, 0, "{rolled:#?}");
}

/// The seconds are for `make soak`; here only that nobody waits for the workers' sessions to run out.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dispatch_goes_on_when_the_leader_is_killed_and_when_it_stands_still() {
    let mut cluster = Cluster::start().await;
    let rate = upkeep::idle_rate(&cluster, Duration::from_secs(10)).await;
    assert!(rate > 0.0, "nobody renews, stands or looks: nothing was counted");
    let _workers = [cluster.worker("f0", LONG_TTL), cluster.worker("f1", LONG_TTL)];
    failover::fill(&cluster, 1_000).await;
    for loss in [Loss::Killed, Loss::Stopped] {
        let took = failover::lose_leader(&mut cluster, loss).await;
        println!("{loss:?}: dispatched again after {took:?}; idle, {rate:.1} statements a second");
        assert!(took < LONG_TTL / 4, "{loss:?}: {took:?}");
    }
}

/// Where namespaces can be made; elsewhere it says that it did nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_partition_loses_nothing_and_deposes_a_leader_without_its_database() {
    let Some(net) = Net::start().await else { return };
    let before = net.term();
    let verdict =
        net.campaign(&[Cut::LeaderToDatabase, Cut::DatabaseToLeader, Cut::WorkerAndLeader], 90).await;
    println!("{verdict:#?}");
    verdict.assert_clean(90);
    assert!(
        net.term() >= before + 2,
        "twice a leader did not hear its database, and twice another must take over"
    );
}
