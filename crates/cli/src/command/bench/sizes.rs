//! How much is measured: what every workload looks at, and its own default where it has one.

use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};

/// The size of a payload, as JSON.
pub(super) const PAYLOAD_BYTES: usize = 100;

/// How much is measured.
#[derive(Args, Clone, Debug)]
pub(super) struct Sizes {
    /// How many jobs [default: 200000 to drain; each workload has its own]
    #[arg(long, value_parser = clap::value_parser!(u64).range(100..=10_000_000))]
    jobs: Option<u64>,
    /// Threads of the worker
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(super) threads: u16,
    /// How often to enqueue and drain, each time beside the raw ceiling; `depth` and `fleet` three times at the most.
    /// The median is told: neighbours pass
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=100))]
    pub(super) rounds: u16,
    /// Jobs to enqueue one by one; ten, a hundred and a thousand at a time it is 5, 10 and 20 times as many
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(10..=1_000_000))]
    pub(super) single: u64,
    /// Clients that enqueue at a time
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(super) connections: u16,
    /// Jobs whose start is timed while nothing else happens
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(10..=10_000))]
    pub(super) starts: u64,
    /// How long each load of an open loop lasts, in seconds
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=3_600))]
    pub(super) seconds: u64,
    /// Jobs per second of the open loops [default: parts of the rate of a drain right before]
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub(super) rate: Option<u64>,
    /// Whether jobs are kept after the drain
    #[arg(long, value_enum, default_value_t = Kept::Kept)]
    pub(super) retention: Kept,
    /// Jobs that wait behind, in `depth` [default: 10000,100000,1000000]
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u64).range(100..=10_000_000))]
    waiting: Vec<u64>,
    /// Workers that are connected, in `fleet` [default: 10,100,1000,10000]
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u64).range(1..=100_000))]
    workers: Vec<u64>,
    /// Also what takes minutes more: `depth` with five million waiting
    #[arg(long)]
    full: bool,
}

/// Whether jobs are kept after they ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Kept {
    /// As by default, for a week.
    Kept,
    /// Not at all: the queue has no history.
    None,
}

/// Most rounds of a workload that drains at several levels.
const ROUNDS_PER_LEVEL: u16 = 3;

impl Sizes {
    /// How often to drain at each of several levels.
    pub(super) fn rounds_per_level(&self) -> u16 {
        self.rounds.min(ROUNDS_PER_LEVEL)
    }

    /// How many jobs, if the user did not say.
    pub(super) fn jobs(&self, default: u64) -> u64 {
        self.jobs.unwrap_or(default)
    }

    /// How many wait behind, the fewest first.
    pub(super) fn waiting(&self) -> Vec<u64> {
        let mut usual = vec![10_000, 100_000, 1_000_000];
        if self.full {
            usual.push(5_000_000);
        }
        sorted(&self.waiting, usual)
    }

    /// How many workers are connected, the fewest first.
    pub(super) fn workers(&self) -> Vec<u64> {
        sorted(&self.workers, vec![10, 100, 1_000, 10_000])
    }

    /// Whether the user named how many workers there are to be.
    pub(super) fn names_workers(&self) -> bool {
        !self.workers.is_empty()
    }

    /// Whether jobs are kept.
    pub(super) fn keeps(&self) -> bool {
        self.retention == Kept::Kept
    }
}

/// The settings that a workload looked at, by the names of their flags.
#[derive(Clone, Debug)]
pub(super) struct Settings(pub(super) Map<String, Value>);

impl Default for Settings {
    fn default() -> Settings {
        let mut all = Map::new();
        all.insert("payload_bytes".into(), json!(PAYLOAD_BYTES));
        Settings(all)
    }
}

impl Settings {
    /// And this one.
    pub(super) fn with(mut self, name: &str, value: impl Into<Value>) -> Settings {
        self.0.insert(name.into(), value.into());
        self
    }
}

fn sorted(given: &[u64], usual: Vec<u64>) -> Vec<u64> {
    let mut levels = if given.is_empty() { usual } else { given.to_vec() };
    levels.sort_unstable();
    levels.dedup();
    levels
}
