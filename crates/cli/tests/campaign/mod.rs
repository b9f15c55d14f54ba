//! Campaigns against the real binary: processes are killed and stopped under load, and a checker
//! decides from what clients were told and what is recorded at the end.
#![expect(dead_code, reason = "every test file uses its own part of the campaigns")]

pub(crate) mod checker;
pub(crate) mod cluster;
pub(crate) mod drain;
pub(crate) mod failover;
pub(crate) mod faults;
pub(crate) mod history;
pub(crate) mod partition;
pub(crate) mod processes;
pub(crate) mod supervised;
pub(crate) mod upkeep;
pub(crate) mod zombie;

use std::time::{Duration, Instant};

use history::{Client, Verdict};
use processes::{Server, Worker};

/// What is done to the processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// `kill -9` of the server; it is started again at once.
    KillServer,
    /// `kill -9` of a worker; another is started.
    KillWorker,
    /// `SIGSTOP` of a worker past its TTL, then `SIGCONT`.
    StopWorker,
}

impl Fault {
    /// How long jobs run: some must be caught in the middle.
    fn run_ms(self) -> &'static [u64] {
        match self {
            Fault::KillServer => &[0, 5, 50, 250],
            Fault::KillWorker => &[0, 5, 50, 400, 1500],
            Fault::StopWorker => &[300, 800, 1500, 2500],
        }
    }
}

/// One campaign.
pub(crate) struct Campaign {
    /// What is done.
    pub(crate) fault: Fault,
    /// How often.
    pub(crate) times: usize,
    /// Jobs that are submitted while it is done.
    pub(crate) jobs: usize,
    /// Worker processes.
    pub(crate) workers: usize,
}

/// Session TTL of the workers: short, so that a campaign is.
pub(crate) const TTL: Duration = Duration::from_secs(2);
/// After the last fault a job must end at least this often, until all have.
pub(crate) const STANDSTILL: Duration = Duration::from_secs(60);

/// The moment, for bounds of waits only.
#[expect(clippy::disallowed_methods, reason = "tests bound their waits by the real clock")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Runs a campaign and returns what the checker found.
pub(crate) async fn run(campaign: Campaign) -> Verdict {
    let data = tempfile::tempdir().expect("a temporary directory");
    let mut server = Server::start(data.path()).await;
    let mut workers: Vec<Worker> =
        (0..campaign.workers).map(|n| Worker::start(&server.url(), &format!("w{n}"))).collect();

    let client = Client::new(&server.url());
    let submitting = tokio::spawn(client.clone().submit(campaign.jobs, campaign.fault.run_ms()));
    for n in 0..campaign.times {
        client.wait_for_acks((n + 1) * campaign.jobs / (campaign.times + 1)).await;
        match campaign.fault {
            Fault::KillServer => server.kill_and_restart().await,
            Fault::KillWorker => {
                let victim = n % workers.len();
                workers[victim].kill();
                workers[victim] = Worker::start(&server.url(), &format!("w{victim}-{n}"));
            }
            Fault::StopWorker => {
                let victim = &workers[n % workers.len()];
                victim.wait_until_busy(&client).await;
                victim.stop_for(TTL * 3).await;
            }
        }
    }
    submitting.await.expect("the submitting task ends");
    client.wait_until_over(STANDSTILL).await;
    let verdict = client.verdict().await;
    for worker in &mut workers {
        worker.kill();
    }
    server.kill();
    verdict
}
