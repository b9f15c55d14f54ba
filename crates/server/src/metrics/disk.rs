//! The disk that the store is on, where that is one of this machine.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use ganger_core::disk::Disk;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::{Registry, Unit};

/// The room on it, as it was at the last scrape.
#[derive(Clone, Debug, Default)]
pub(super) struct StoreDisk(Arc<Mutex<Option<Disk>>>);

impl StoreDisk {
    pub(super) fn register(&self, registry: &mut Registry) {
        registry.register_collector(Box::new(self.clone()));
    }
}

impl super::Metrics {
    /// How much room there is for the store; nothing where nobody can say.
    pub fn disk(&self, disk: Option<Disk>) {
        *self.0.disk.0.lock().unwrap_or_else(PoisonError::into_inner) = disk;
    }
}

impl Collector for StoreDisk {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let Some(disk) = *self.0.lock().unwrap_or_else(PoisonError::into_inner) else { return Ok(()) };
        let mut gauge = |name, help, value: u64| {
            let gauge = ConstGauge::new(i64::try_from(value).unwrap_or(i64::MAX));
            gauge.encode(encoder.encode_descriptor(name, help, Some(&Unit::Bytes), MetricType::Gauge)?)
        };
        gauge("store_disk_free", "Room that is left on the disk of the store", disk.free_bytes)?;
        gauge("store_disk_total", "Size of the disk of the store", disk.total_bytes)?;
        gauge("store_disk_used", "What the store takes up of it", disk.used_bytes)
    }
}
