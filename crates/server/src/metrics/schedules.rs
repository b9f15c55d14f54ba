//! What is measured of schedules. Not by name: there may be thousands.

use std::time::Duration;

use ganger_core::schedule::ledger::{Cause, Fate};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

/// Upper bounds of how late occurrences are decided, in seconds.
const LATENESS: [f64; 10] = [0.005, 0.025, 0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 600.0, 3600.0];

/// What became of an occurrence that made a job.
const FIRED: &str = "fired";

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Decided {
    cause: &'static str,
    /// `fired`, `waiting`, or the reason to skip it.
    fate: &'static str,
}

/// The metrics of schedules.
pub(super) struct Schedules {
    occurrences: Family<Decided, Counter>,
    lateness: Histogram,
    overdue_told: Counter,
}

impl Default for Schedules {
    fn default() -> Schedules {
        Schedules {
            occurrences: Family::default(),
            lateness: Histogram::new(LATENESS),
            overdue_told: Counter::default(),
        }
    }
}

impl Schedules {
    pub(super) fn register(&self, r: &mut Registry) {
        r.register(
            "occurrences",
            "Occurrences of schedules, by what became of them",
            self.occurrences.clone(),
        );
        r.register(
            "occurrence_lateness_seconds",
            "Time between the instant of an occurrence and the decision about it",
            self.lateness.clone(),
        );
        // A rate sees the first one only if there was a zero before it.
        let _ = self.occurrences.get_or_create(&Decided { cause: Cause::Schedule.as_str(), fate: FIRED });
        let told = "Times that an instant was due for long and could not be decided";
        r.register("schedule_overdue_events", told, self.overdue_told.clone());
    }

    /// An occurrence was decided.
    pub(super) fn decided(&self, fate: &Fate, cause: Cause, late_us: u64) {
        let (fate, count) = match fate {
            Fate::Fired(_) => (FIRED, 1),
            Fate::Waiting => ("waiting", 1),
            Fate::Skipped(skip) => (skip.why.as_str(), skip.count),
        };
        self.occurrences.get_or_create(&Decided { cause: cause.as_str(), fate }).inc_by(count);
        if cause == Cause::Schedule && fate == FIRED {
            self.lateness.observe(Duration::from_micros(late_us).as_secs_f64());
        }
    }

    /// A schedule could not be decided for long.
    pub(super) fn overdue(&self) {
        self.overdue_told.inc();
    }
}
