//! A campaign against a cluster: a seeded order of faults under load through every server, then the checker.

use std::time::Duration;

use rand::rngs::StdRng;
use rand::seq::SliceRandom as _;
use rand::{Rng as _, SeedableRng as _};

use super::cluster::{Cluster, SERVERS};
use super::history::{Client, Verdict};
use super::processes::Worker;
use super::{STANDSTILL, TTL, now, zombie};

/// How long jobs run: some must be caught in the middle.
const RUN_MS: &[u64] = &[0, 5, 50, 400];

/// What is done to the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClusterFault {
    /// `kill -9` of the leader; it is started again once another leads.
    KillLeader,
    /// `kill -9` of a server that does not lead.
    KillStandby,
    /// `kill -9` of a worker.
    KillWorker,
    /// `SIGSTOP` of the leader until another leads, then `SIGCONT`.
    StopLeader,
    /// PostgreSQL is stopped in good order and started again.
    RestartPostgres,
    /// PostgreSQL is stopped without a checkpoint and started again.
    AbortPostgres,
    /// `kill -9` of every process of PostgreSQL.
    KillPostgres,
    /// Redis forgets everything.
    FlushRedis,
    /// `kill -9` of Redis; it is started again.
    KillRedis,
}

/// One campaign.
pub(crate) struct ClusterCampaign {
    /// What is done, and how often.
    pub(crate) faults: Vec<(ClusterFault, usize)>,
    /// Jobs that are submitted while it is done.
    pub(crate) jobs: usize,
    /// Decides the order of the faults, their moments and their victims.
    pub(crate) seed: u64,
}

/// What the checker found, and what shows that the faults took effect.
#[derive(Debug)]
pub(crate) struct ClusterVerdict {
    pub(crate) history: Verdict,
    /// Terms that began during the campaign.
    pub(crate) terms: u64,
    /// Leaders that woke up when another led, and how often the database refused one of their transactions.
    pub(crate) zombies: usize,
    pub(crate) refused_transactions: usize,
    /// What a leader that woke up did although its term was over.
    pub(crate) zombie_deeds: Vec<String>,
    /// Longest time from a fault to a leader that says so, in milliseconds.
    pub(crate) longest_without_leader_ms: u128,
}

impl ClusterVerdict {
    /// All of so many jobs were acknowledged, and nothing was violated.
    pub(crate) fn assert_clean(&self, jobs: usize) {
        self.history.assert_clean(jobs);
        assert!(self.zombie_deeds.is_empty(), "a leader wrote after its term: {self:#?}");
    }
}

/// Runs a campaign on a cluster and returns what the checker found.
pub(crate) async fn run(cluster: &mut Cluster, campaign: ClusterCampaign) -> ClusterVerdict {
    let mut random = StdRng::seed_from_u64(campaign.seed);
    let mut plan: Vec<ClusterFault> =
        campaign.faults.iter().flat_map(|(fault, times)| vec![*fault; *times]).collect();
    plan.shuffle(&mut random);
    let mut workers: Vec<Worker> = (0..3).map(|n| cluster.worker(&format!("w{n}"), TTL)).collect();
    let term_before = cluster.leader_row().expect("the database answers").term;
    let mut verdict = ClusterVerdict {
        history: Verdict::default(),
        terms: 0,
        zombies: 0,
        refused_transactions: 0,
        zombie_deeds: Vec::new(),
        longest_without_leader_ms: 0,
    };
    let client = Client::of(&cluster.urls());
    let submitting = tokio::spawn(client.clone().submit(campaign.jobs, RUN_MS));
    for (n, fault) in plan.iter().enumerate() {
        client.wait_for_acks((n + 1) * campaign.jobs / (plan.len() + 1)).await;
        // The moment is a part of the fault: not always right after an answer.
        tokio::time::sleep(Duration::from_millis(random.random_range(0..200))).await;
        let at = now();
        match fault {
            ClusterFault::KillWorker => {
                let victim = random.random_range(0..workers.len());
                workers[victim].kill();
                workers[victim] = cluster.worker(&format!("w{victim}-{n}"), TTL);
            }
            ClusterFault::StopLeader => {
                verdict.zombies += 1;
                verdict.zombie_deeds.extend(zombie::wake(cluster).await);
            }
            ClusterFault::KillLeader
            | ClusterFault::KillStandby
            | ClusterFault::RestartPostgres
            | ClusterFault::AbortPostgres
            | ClusterFault::KillPostgres
            | ClusterFault::FlushRedis
            | ClusterFault::KillRedis => strike(cluster, *fault, &mut random).await,
        }
        cluster.leader().await;
        verdict.longest_without_leader_ms = verdict.longest_without_leader_ms.max(at.elapsed().as_millis());
    }
    submitting.await.expect("the submitting task ends");
    cluster.wait_ready().await;
    client.wait_until_over(STANDSTILL).await;
    verdict.history = client.verdict().await;
    verdict.terms = cluster.leader_row().expect("the database answers").term - term_before;
    verdict.refused_transactions = cluster.postgres.log().matches("the term is over").count();
    verdict
}

/// Does one thing to the cluster, and waits until it is done.
pub(crate) async fn strike(cluster: &mut Cluster, fault: ClusterFault, random: &mut StdRng) {
    match fault {
        ClusterFault::KillLeader => {
            let leader = cluster.leader().await;
            cluster.kill(leader);
            cluster.leader_but(Some(leader)).await;
            cluster.start_again(leader);
        }
        ClusterFault::KillStandby => {
            let victim = (cluster.leader().await + random.random_range(1..SERVERS)) % SERVERS;
            cluster.kill(victim);
            cluster.start_again(victim);
        }
        ClusterFault::RestartPostgres => cluster.postgres.restart(),
        ClusterFault::AbortPostgres => {
            cluster.postgres.abort();
            cluster.postgres.restart();
        }
        ClusterFault::KillPostgres => {
            cluster.postgres.kill();
            cluster.postgres.restart();
        }
        ClusterFault::FlushRedis => {
            let port = cluster.redis.port().to_string();
            let flushed = std::process::Command::new("redis-cli").args(["-p", &port, "FLUSHALL"]).output();
            assert!(flushed.is_ok_and(|said| said.status.success()), "FLUSHALL");
        }
        ClusterFault::KillRedis => {
            cluster.redis.kill();
            tokio::time::sleep(Duration::from_millis(random.random_range(0..1000))).await;
            cluster.redis.restart();
        }
        ClusterFault::KillWorker | ClusterFault::StopLeader => {}
    }
}
