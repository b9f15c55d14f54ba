//! What is measured of bulk operations, on the server that carries them out.

use ganger_core::operation::Action;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Does {
    action: &'static str,
}

/// The gauges of bulk operations.
#[derive(Default)]
pub(super) struct Operations {
    running: Family<Does, Gauge>,
}

impl Operations {
    pub(super) fn register(&self, registry: &mut Registry) {
        let what = "Bulk operations that are under way, by what they do";
        registry.register("operations_running", what, self.running.clone());
    }

    pub(super) fn set(&self, running: &[(Action, usize)]) {
        for (action, count) in running {
            let gauge = self.running.get_or_create_owned(&Does { action: action.as_str() });
            gauge.set(i64::try_from(*count).unwrap_or(i64::MAX));
        }
    }
}
