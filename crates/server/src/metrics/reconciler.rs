//! What is measured of comparing the leader's memory with the store.

use ganger_core::coordinator::port::Reconciled;
use ganger_core::event::Difference;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct What {
    what: &'static str,
}

/// The metrics of the reconciler.
#[derive(Default)]
pub(super) struct Reconciler {
    passes: Counter,
    pages: Counter,
    compared: Counter,
    skipped: Counter,
    differences: Family<What, Counter>,
}

impl Reconciler {
    pub(super) fn register(&self, r: &mut Registry) {
        r.register("reconciler_passes", "Times that all of memory was compared", self.passes.clone());
        r.register("reconciler_pages", "Pages of live jobs that were compared", self.pages.clone());
        let compared = "Jobs in memory that were compared with their rows";
        r.register("reconciler_jobs_compared", compared, self.compared.clone());
        let skipped = "Jobs that were not compared because something was being decided about them";
        r.register("reconciler_jobs_skipped", skipped, self.skipped.clone());
        let differences = "Differences between memory and the store, each of them a bug";
        r.register("reconciler_differences", differences, self.differences.clone());
        // An alert on what never was would never fire the first time.
        for difference in Difference::ALL {
            let _ = self.differences.get_or_create(&What { what: difference.as_str() });
        }
    }

    /// A comparison came to its end.
    pub(super) fn reconciled(&self, came: &Reconciled) {
        self.passes.inc();
        self.pages.inc_by(came.pages);
        self.compared.inc_by(came.compared);
        self.skipped.inc_by(came.skipped);
    }

    /// Memory and the store did not agree.
    pub(super) fn differed(&self, what: Difference) {
        self.differences.get_or_create(&What { what: what.as_str() }).inc();
    }
}

impl super::Metrics {
    /// Memory was compared with the store.
    pub fn reconciled(&self, came: &Reconciled) {
        self.0.reconciler.reconciled(came);
    }
}
