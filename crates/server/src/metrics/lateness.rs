//! How much later than due jobs were handed to a worker, by queue.
//!
//! The leader's own histograms are added up as batches become durable, so that a job costs nothing here.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use ganger_core::minutes::{BUCKETS, Spread, bound};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::{Registry, Unit};

use super::labels::QueueLabel;

/// A histogram for each queue.
#[derive(Clone, Debug, Default)]
pub(super) struct Lateness(Arc<Mutex<BTreeMap<String, Late>>>);

#[derive(Clone, Debug, Default)]
struct Late {
    sum_us: u64,
    counts: [u64; BUCKETS],
}

impl Lateness {
    pub(super) fn register(&self, registry: &mut Registry) {
        registry.register_collector(Box::new(self.clone()));
    }

    /// Jobs of a queue were handed over so late.
    pub(super) fn add(&self, queue: String, spread: &Spread) {
        // A panic while the lock is held leaves whole numbers.
        let mut queues = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let late = queues.entry(queue).or_default();
        late.sum_us = late.sum_us.saturating_add(spread.sum_us);
        for (own, count) in late.counts.iter_mut().zip(spread.trimmed()) {
            *own += u64::from(*count);
        }
    }
}

impl Collector for Lateness {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let queues = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut family = encoder.encode_descriptor(
            "job_lateness",
            "From due to the lease",
            Some(&Unit::Seconds),
            MetricType::Histogram,
        )?;
        for (queue, late) in queues {
            let seconds = |place: usize| bound(place).map_or(f64::INFINITY, |micros| micros as f64 / 1e6);
            let buckets: Vec<(f64, u64)> =
                late.counts.iter().enumerate().map(|(place, count)| (seconds(place), *count)).collect();
            let sum = late.sum_us as f64 / 1e6;
            let label = QueueLabel { queue };
            let mut metric = family.encode_family(&label)?;
            metric.encode_histogram::<NoLabelSet>(sum, late.counts.iter().sum(), &buckets, None)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lateness_is_a_histogram_of_each_queue() {
        let (mut registry, lateness) = (Registry::with_prefix("ganger"), Lateness::default());
        lateness.register(&mut registry);
        for micros in [0, 300, 2_000_000, u64::MAX / 4] {
            let mut spread = Spread::default();
            spread.observe(micros);
            lateness.add("mail".into(), &spread);
        }
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &registry).unwrap();
        for expected in [
            "# TYPE ganger_job_lateness_seconds histogram",
            "ganger_job_lateness_seconds_count{queue=\"mail\"} 4",
            "ganger_job_lateness_seconds_bucket{le=\"0.00025\",queue=\"mail\"} 1",
            "ganger_job_lateness_seconds_bucket{le=\"0.0005\",queue=\"mail\"} 2",
            "ganger_job_lateness_seconds_bucket{le=\"2.048\",queue=\"mail\"} 3",
            "ganger_job_lateness_seconds_bucket{le=\"+Inf\",queue=\"mail\"} 4",
        ] {
            assert!(text.contains(expected), "{expected} in\n{text}");
        }
    }
}
