//! What can be set for a kind.

use serde::{Deserialize, Serialize};

/// The settings of one kind. A kind that was never set has the default ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct KindSettings {
    /// Its handlers may end their job inside their own database transaction. Their fence is kept where that
    /// transaction can see it, which costs a write per lease. Only some stores can.
    pub transactional: bool,
}
