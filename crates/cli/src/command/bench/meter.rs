//! What something cost: CPU of our processes, commits of the server, and what the database wrote to its log.

use super::processes::{Cpu, Processes};
use super::target::Target;
use super::wrong;
use crate::client::{Call, Client};
use crate::failure::Fallible;

/// The metric that counts commits, and the one that adds up how long they took.
const COMMITS: &str = "ganger_store_commit_seconds_count ";
const COMMIT_SECONDS: &str = "ganger_store_commit_seconds_sum ";

/// Reads what was spent so far.
#[derive(Debug)]
pub(super) struct Meter<'a> {
    /// The processes that are measured.
    pub(super) processes: &'a Processes,
    /// The store behind them.
    pub(super) target: &'a Target,
    /// A client of the server.
    pub(super) client: &'a Client,
}

/// What was spent, so far or between two looks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spent {
    /// CPU time.
    pub(super) cpu: Cpu,
    /// Commits of the server.
    pub(super) commits: u64,
    /// How long they took together.
    pub(super) commit_seconds: f64,
    /// What the database wrote to its log, where that is known.
    pub(super) wal_bytes: Option<u64>,
}

impl Meter<'_> {
    /// So far. CPU time is read first: what comes after is not for what is measured.
    pub(super) async fn read(&self) -> Fallible<Spent> {
        let cpu = self.processes.cpu();
        let answer = self.client.send(&Call::get("read the metrics", "/metrics")).await?;
        let metric = |name: &str| {
            let found =
                answer.body.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<f64>().ok());
            found.ok_or_else(|| wrong(format!("the metrics do not have {name}")))
        };
        Ok(Spent {
            cpu,
            commits: metric(COMMITS)? as u64,
            commit_seconds: metric(COMMIT_SECONDS)?,
            wal_bytes: self.target.wal_bytes().await?,
        })
    }

    /// Since an earlier look.
    pub(super) async fn since(&self, before: Spent) -> Fallible<Spent> {
        let now = self.read().await?;
        Ok(Spent {
            cpu: now.cpu.since(before.cpu),
            commits: now.commits.saturating_sub(before.commits),
            commit_seconds: now.commit_seconds - before.commit_seconds,
            wal_bytes: now.wal_bytes.zip(before.wal_bytes).map(|(now, then)| now.saturating_sub(then)),
        })
    }
}
