//! What is counted of relayed calls.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

/// How a call that a standby took in was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// By the leader.
    Answered,
    /// Here: this server led when its turn came.
    Here,
    /// Not at all: there was no leader in time.
    NoLeader,
    /// The leader was asked, and its answer was lost.
    Unknown,
    /// Too much waits.
    Overloaded,
    /// Its body did not come.
    BadBody,
}

impl Ended {
    const ALL: [Ended; 6] =
        [Ended::Answered, Ended::Here, Ended::NoLeader, Ended::Unknown, Ended::Overloaded, Ended::BadBody];

    const fn as_str(self) -> &'static str {
        match self {
            Ended::Answered => "answered",
            Ended::Here => "here",
            Ended::NoLeader => "no_leader",
            Ended::Unknown => "outcome_unknown",
            Ended::Overloaded => "overloaded",
            Ended::BadBody => "bad_body",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OutcomeLabel {
    outcome: &'static str,
}

/// Counts of relayed calls. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct RelayMeasures {
    requests: Family<OutcomeLabel, Counter>,
    refused: Counter,
    held: Gauge,
    streams: Gauge,
}

/// One more, for as long as this is kept.
#[derive(Debug)]
pub(super) struct OneMore(Gauge);

impl RelayMeasures {
    /// Shows them under their names.
    pub(crate) fn register(&self, registry: &mut Registry) {
        registry.register(
            "relay_requests",
            "Calls taken in for the leader, by outcome",
            self.requests.clone(),
        );
        for outcome in Ended::ALL {
            let _ = self.requests.get_or_create(&OutcomeLabel { outcome: outcome.as_str() });
        }
        registry.register(
            "relay_refused",
            "Relayed requests with a seal that is not valid",
            self.refused.clone(),
        );
        registry.register("relay_held", "Calls that wait for a leader", self.held.clone());
        registry.register("relay_streams", "Calls that are with the leader", self.streams.clone());
    }

    pub(super) fn ended(&self, outcome: Ended) {
        self.requests.get_or_create(&OutcomeLabel { outcome: outcome.as_str() }).inc();
    }

    pub(super) fn refused(&self) {
        self.refused.inc();
    }

    pub(super) fn holds(&self) -> OneMore {
        OneMore::of(&self.held)
    }

    pub(super) fn streams(&self) -> OneMore {
        OneMore::of(&self.streams)
    }
}

impl OneMore {
    fn of(gauge: &Gauge) -> OneMore {
        gauge.inc();
        OneMore(gauge.clone())
    }
}

impl Drop for OneMore {
    fn drop(&mut self) {
        self.0.dec();
    }
}
