//! Whether a name is the kind of anything here.

use super::Coordinator;
use crate::name::Kind;

impl Coordinator {
    /// Whether a connected worker names this kind among its own, or there is, or was, a job of it.
    #[must_use]
    pub fn knows_kind(&self, kind: &Kind) -> bool {
        // A worker that takes everything says nothing about a name.
        self.fleet.groups().any(|(_, signature)| signature.kinds.contains(kind))
            || self.counters.iter().any(|(_, counted, _)| counted == kind)
    }
}
