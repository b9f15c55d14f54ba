//! Who leads, as a scrape of one server tells it.

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

/// The gauges and the counter of leadership.
#[derive(Default)]
pub(super) struct Leadership {
    leader: Gauge,
    term: Gauge,
    pub(super) renewals: Counter,
    store_up: Gauge,
}

impl Leadership {
    pub(super) fn register(&self, registry: &mut Registry) {
        registry.register("leader", "Whether this server leads", self.leader.clone());
        registry.register("term", "The term in which it leads or follows", self.term.clone());
        registry.register("leader_renewals", "Renewals of the leader's row", self.renewals.clone());
        registry.register("store_up", "Whether the store answers this server", self.store_up.clone());
    }

    pub(super) fn set(&self, leads: bool, term: u64, store_up: bool) {
        self.leader.set(i64::from(leads));
        self.term.set(i64::try_from(term).unwrap_or(i64::MAX));
        self.store_up.set(i64::from(store_up));
    }
}
