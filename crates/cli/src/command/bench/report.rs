//! What was measured, for programs: `bench/SCHEMA.md` says what each field means. `shown.rs` has it for people.

use std::collections::BTreeMap;
use std::time::Duration;

use ganger_core::Wall;
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::ceiling::Ceiling;
use super::machine::Machine;
use super::meter::Spent;
use super::per_second;
use super::sizes::Settings;
use super::target::Target;
use super::workload::Workload;
use crate::exit::Exit;
use crate::failure::{Failure, Fallible};

/// Counts up with every change that breaks a reader.
const SCHEMA: u32 = 1;
/// The longest time that is told apart, in microseconds.
const LONGEST: u64 = 3_600_000_000;

/// Everything about one workload.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Report {
    schema: u32,
    pub(super) workload: String,
    pub(super) about: String,
    started_at: Wall,
    took_seconds: f64,
    ganger: Build,
    pub(super) machine: Machine,
    pub(super) store: Store,
    settings: Map<String, Value>,
    pub(super) rows: Vec<Row>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) ceiling: Option<Ceiling>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    verified: Option<Verified>,
    pub(super) notes: Vec<String>,
}

/// Which Ganger.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Build {
    version: String,
    commit: String,
    profile: String,
}

/// Where the jobs were kept.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Store {
    pub(super) name: String,
    pub(super) label: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) version: Option<String>,
}

/// How many jobs were looked into at the end, and how.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Verified {
    pub(super) jobs: u64,
    pub(super) how: How,
}

/// How it was made sure that every job ended exactly once.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum How {
    /// Each id once, succeeded, at the attempt that was to be expected.
    #[default]
    LookedUp,
    /// By the counters of the server: the queue keeps none of them.
    Counted,
}

/// What a workload found.
#[derive(Debug, Default)]
pub(super) struct Measured {
    pub(super) settings: Settings,
    pub(super) rows: Vec<Row>,
    pub(super) ceiling: Option<Ceiling>,
    pub(super) verified: Option<Verified>,
    pub(super) notes: Vec<String>,
}

impl Measured {
    /// So many more were looked up.
    pub(super) fn looked_up(&mut self, jobs: u64) {
        self.verified.get_or_insert_default().jobs += jobs;
    }

    /// Something to be said, however often it happened.
    pub(super) fn note_once(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

/// One line of what was measured.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Row {
    pub(super) name: String,
    /// The same for people.
    pub(super) label: String,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(super) params: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) jobs: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) seconds: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) jobs_per_second: Option<f64>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) latency_us: BTreeMap<String, Spread>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) cpu_seconds_per_million: BTreeMap<String, f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) commits_per_job: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) store_bytes_per_job: Option<f64>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(super) values: Map<String, Value>,
}

/// Times, in microseconds.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Spread {
    pub(super) count: u64,
    pub(super) p50: u64,
    pub(super) p90: u64,
    pub(super) p99: u64,
    pub(super) p999: u64,
    pub(super) max: u64,
}

impl Report {
    /// Of what a workload found.
    pub(super) fn new(
        workload: Workload,
        started_at: Wall,
        took: Duration,
        machine: Machine,
        store: Store,
        measured: Measured,
    ) -> Report {
        let commit = option_env!("GANGER_COMMIT").unwrap_or("unknown").to_owned();
        let profile = if cfg!(debug_assertions) { "debug" } else { "release" }.to_owned();
        let mut notes = measured.notes;
        if cfg!(debug_assertions) {
            notes.push("a debug build: do not believe a number".into());
        }
        notes.extend(machine.warning());
        Report {
            schema: SCHEMA,
            workload: workload.name().into(),
            about: workload.about().into(),
            started_at,
            took_seconds: rounded(took.as_secs_f64()),
            ganger: Build { version: env!("CARGO_PKG_VERSION").into(), commit, profile },
            machine: machine.after(),
            store,
            settings: measured.settings.0,
            rows: measured.rows,
            ceiling: measured.ceiling,
            verified: measured.verified,
            notes,
        }
    }

    /// How many jobs were looked into at the end.
    pub(super) fn verification(&self) -> Option<String> {
        let verified = self.verified.filter(|verified| verified.jobs > 0)?;
        let jobs = crate::humane::grouped(verified.jobs);
        Some(match verified.how {
            How::LookedUp => format!("{jobs} jobs were looked up: each ended once, at the attempt expected"),
            How::Counted => format!("{jobs} jobs were counted: each ended once, and none is kept"),
        })
    }
}

impl Store {
    /// What the target is called.
    pub(super) fn of(target: &Target) -> Store {
        Store { name: target.name().into(), label: target.label().into(), version: None }
    }
}

impl Row {
    /// A row of that name.
    pub(super) fn new(name: &str, label: impl Into<String>) -> Row {
        Row { name: name.into(), label: label.into(), ..Row::default() }
    }

    /// So many in that time.
    pub(super) fn ran(mut self, jobs: u64, took: Duration) -> Row {
        self.jobs = Some(jobs);
        self.seconds = Some(rounded(took.as_secs_f64()));
        self.jobs_per_second = Some(rounded(per_second(jobs, took)));
        self
    }

    /// What was spent on its jobs.
    pub(super) fn spent(mut self, spent: &Spent) -> Row {
        let jobs = self.jobs.unwrap_or(1).max(1) as f64;
        self.cpu_seconds_per_million = spent
            .cpu
            .iter()
            .map(|(process, seconds)| (process.clone(), rounded(seconds * 1e6 / jobs)))
            .collect();
        self.commits_per_job = Some(rounded(spent.commits as f64 / jobs));
        self.store_bytes_per_job = spent.store_bytes.map(|bytes| rounded(bytes as f64 / jobs));
        self
    }

    /// Times of that sort, if there were any.
    pub(super) fn times(mut self, what: &str, times: &Histogram<u64>) -> Row {
        if !times.is_empty() {
            self.latency_us.insert(what.into(), Spread::of(times));
        }
        self
    }

    /// What was varied.
    pub(super) fn param(mut self, name: &str, value: impl Into<Value>) -> Row {
        self.params.insert(name.into(), value.into());
        self
    }

    /// A number that only this row has.
    pub(super) fn value(mut self, name: &str, value: f64) -> Row {
        self.values.insert(name.into(), rounded(value).into());
        self
    }

    /// Jobs per second, if it has any.
    pub(super) fn rate(&self) -> f64 {
        self.jobs_per_second.unwrap_or_default()
    }
}

impl Spread {
    /// Of these times.
    pub(super) fn of(times: &Histogram<u64>) -> Spread {
        let at = |quantile| times.value_at_quantile(quantile);
        Spread {
            count: times.len(),
            p50: at(0.5),
            p90: at(0.9),
            p99: at(0.99),
            p999: at(0.999),
            max: times.max(),
        }
    }
}

/// For times of up to an hour, to a thousandth.
pub(super) fn histogram() -> Fallible<Histogram<u64>> {
    Histogram::new_with_bounds(1, LONGEST, 3)
        .map_err(|error| Failure::new(Exit::Failure, "cannot keep times", error, ""))
}

/// Adds times to others.
pub(super) fn add(sum: &mut Histogram<u64>, other: &Histogram<u64>) -> Fallible<()> {
    sum.add(other).map_err(|error| Failure::new(Exit::Failure, "cannot add up times", error, ""))
}

/// To six digits: more are noise.
pub(super) fn rounded(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    let digits = 5 - value.abs().log10().floor() as i32;
    let scale = 10f64.powi(digits.clamp(0, 12));
    (value * scale).round() / scale
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_digits_are_kept() {
        for (value, kept) in [
            (0.0, 0.0),
            (123_456_789.0, 123_456_789.0),
            (12.345_678_9, 12.345_7),
            (0.001_234_567, 0.001_234_57),
        ] {
            assert!((rounded(value) - kept).abs() < 1e-12, "{value}: {}", rounded(value));
        }
    }
}
