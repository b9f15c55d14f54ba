//! What can be set for a kind.

use serde::{Deserialize, Serialize};

use crate::name::Kind;

/// The kind that runs commands. Whoever has one run, for the first time or again, must prove that he may.
pub const EXEC: &str = "exec";

/// Whether jobs of that kind run commands.
#[must_use]
pub fn runs_commands(kind: &Kind) -> bool {
    kind.as_str() == EXEC
}

/// The settings of one kind. A kind that was never set has the default ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct KindSettings {
    /// Its handlers may end their job inside their own database transaction. Their fence is kept where that
    /// transaction can see it, which costs a write per lease. Only some stores can.
    pub transactional: bool,
}
