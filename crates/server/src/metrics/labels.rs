//! The labels of metrics. Their values come from clients, so their number is bounded.

use std::collections::HashSet;
use std::sync::{PoisonError, RwLock};

use prometheus_client::encoding::EncodeLabelSet;

/// Distinct values of one label before further ones are [`OTHER`].
pub(super) const LABEL_VALUES: usize = 200;
/// The value that stands for all that have none of their own.
pub(super) const OTHER: &str = "_other";

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct Lane {
    pub(super) queue: String,
    pub(super) kind: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct LaneOutcome {
    pub(super) queue: String,
    pub(super) kind: String,
    pub(super) outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct LaneEnd {
    pub(super) queue: String,
    pub(super) kind: String,
    pub(super) outcome: &'static str,
    pub(super) reason: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct LaneReason {
    pub(super) queue: String,
    pub(super) kind: String,
    pub(super) reason: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct QueueState {
    pub(super) queue: String,
    pub(super) state: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct QueueLabel {
    pub(super) queue: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct StateLabel {
    pub(super) state: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct SeverityLabel {
    pub(super) severity: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct RequestLabel {
    pub(super) route: String,
    pub(super) method: String,
    pub(super) status_class: &'static str,
}

/// The values of one label, up to a number.
#[derive(Default)]
pub(super) struct Names(RwLock<HashSet<String>>);

impl Names {
    /// The name, or [`OTHER`] if it came after too many others.
    pub(super) fn bounded(&self, name: &str) -> String {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if known.contains(name) {
            return name.into();
        }
        let full = known.len() >= LABEL_VALUES;
        drop(known);
        if full {
            return OTHER.into();
        }
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have filled it meanwhile.
        if known.contains(name) || known.len() < LABEL_VALUES {
            known.insert(name.into());
            return name.into();
        }
        OTHER.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_name_within_the_bound_is_told_and_the_next_is_not() {
        let names = Names::default();
        for n in 1..=LABEL_VALUES {
            assert_eq!(names.bounded(&format!("n{n}")), format!("n{n}"));
        }
        assert_eq!(names.bounded("one past"), OTHER);
        assert_eq!(names.bounded("n200"), "n200", "whoever was known stays known");
    }
}
