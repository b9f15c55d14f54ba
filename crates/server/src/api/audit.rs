//! The audit log on the wire.

use ganger_core::Wall;
use ganger_core::audit::AuditEntry;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Something that somebody did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AuditEntryBody {
    /// Names the entry; ids sort by time.
    pub id: String,
    /// When.
    #[schema(value_type = String, format = DateTime)]
    pub at: Wall,
    /// Who: `user:ada`, `token:4k2m9x7q0b1c`, `certificate:gpu-1`.
    pub who: String,
    /// From which address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// What was asked for: method and path.
    pub operation: String,
    /// What it concerns.
    pub target: String,
    /// The id of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

impl AuditEntryBody {
    /// That entry under its name.
    #[must_use]
    pub fn new(id: String, entry: AuditEntry) -> AuditEntryBody {
        let AuditEntry { at, who, from, operation, target, request_id } = entry;
        AuditEntryBody { id, at, who, from, operation, target, request_id }
    }
}

/// A page of the audit log, the last entry first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AuditBody {
    /// The entries.
    pub items: Vec<AuditEntryBody>,
    /// For the next page, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}
