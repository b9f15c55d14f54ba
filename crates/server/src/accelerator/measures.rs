//! What is measured of Redis. Nothing is shown by a server that has none.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use ganger_store::redis::RoleView;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;

use super::Accelerator;

/// The metrics of Redis, as they were at the last scrape.
#[derive(Clone, Debug, Default)]
pub(crate) struct Measures(Arc<Mutex<Option<Seen>>>);

/// What the metrics tell.
#[derive(Clone, Debug)]
pub struct Seen {
    up: bool,
    buffered: Option<u64>,
    roles: Vec<RoleView>,
}

impl Accelerator {
    /// How it is at this moment.
    pub async fn seen(&self) -> Seen {
        let buffered = self.redis().buffered().await;
        Seen { up: self.redis().is_up(), buffered, roles: self.redis().roles() }
    }
}

impl Measures {
    /// Makes them known.
    pub(crate) fn register(&self, registry: &mut Registry) {
        registry.register_collector(Box::new(self.clone()));
    }

    /// Fills them.
    pub(crate) fn fill(&self, seen: Seen) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(seen);
    }
}

impl Collector for Measures {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let seen = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(seen) = seen else { return Ok(()) };
        let mut gauge = |name, help, value: u64| {
            let gauge = ConstGauge::new(i64::try_from(value).unwrap_or(i64::MAX));
            gauge.encode(encoder.encode_descriptor(name, help, None, MetricType::Gauge)?)
        };
        gauge("redis_up", "Whether Redis is there", seen.up.into())?;
        // While Redis is away nobody knows.
        if let Some(buffered) = seen.buffered {
            gauge("ingest_buffered", "Jobs in the buffer, not yet in the store", buffered)?;
        }
        let mut counter = |name, help, value: fn(&RoleView) -> u64| {
            let mut family = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
            for view in &seen.roles {
                let labels = [("role", view.role.as_str())];
                ConstCounter::new(value(view)).encode(family.encode_family(&labels)?)?;
            }
            Ok(())
        };
        counter("redis_hits", "What Redis did in place of the store, by role", |view| view.hits)?;
        counter(
            "redis_fallbacks",
            "What was done without Redis although there should be one, by role",
            |view| view.fallbacks,
        )
    }
}
