//! Kinds.

use ganger_core::kind::KindSettings;
use ganger_core::name::Kind;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct KindBody {
    /// Its name.
    #[schema(value_type = String)]
    pub kind: Kind,
    /// Its handlers may end their job inside their own database transaction, with `ganger.complete`.
    pub transactional: bool,
}

impl KindBody {
    /// A kind with these settings.
    #[must_use]
    pub fn new(kind: Kind, settings: KindSettings) -> KindBody {
        KindBody { kind, transactional: settings.transactional }
    }
}

/// Every kind that was ever set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct KindsBody {
    /// The kinds, by name.
    pub items: Vec<KindBody>,
}

/// Changes to a kind's settings; what is left out stays as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct KindPut {
    /// Its handlers may end their job inside their own database transaction. Needs jobs to be kept in PostgreSQL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transactional: Option<bool>,
}
