//! Who leads and who is there.

use std::time::Duration;

use ganger_core::Wall;
use ganger_store::shared::LeaderView;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::service::{ClusterSeen, Role};

/// The cluster, as the server that was asked sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ClusterBody {
    /// Name of the server that answers.
    pub server: String,
    /// What that server does: leader, standby, taking_over or stopped.
    #[schema(value_type = String)]
    pub role: RoleName,
    /// One server has its store to itself; no other can join.
    pub embedded: bool,
    /// Who leads, if anyone does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leader: Option<LeaderBody>,
    /// The servers, by name.
    pub items: Vec<ServerBody>,
    /// Why this is only what the server knows by itself, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<String>,
}

/// The leader.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LeaderBody {
    /// Its name.
    pub name: String,
    /// Where it is reached.
    pub address: String,
    /// Its term.
    pub term: u64,
    /// When its term began.
    #[schema(value_type = String, format = DateTime)]
    pub since: Wall,
    /// The last batch of its term.
    pub batch: u64,
    /// How long ago it renewed its row: seconds of silence before others may take over.
    pub lag_ms: u64,
}

/// A server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ServerBody {
    /// Its name: another one at each start.
    pub name: String,
    /// What it does: leader or standby.
    #[schema(value_type = String)]
    pub role: RoleName,
    /// Where it is reached.
    pub address: String,
    /// Version of its software.
    pub version: String,
    /// When it started.
    #[schema(value_type = String, format = DateTime)]
    pub started_at: Wall,
    /// How long ago it said that it lives.
    pub silent_ms: u64,
}

/// What a server does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RoleName {
    /// It schedules.
    Leader,
    /// Another one does.
    Standby,
    /// It takes over, or cannot tell who leads.
    TakingOver,
    /// It has stopped.
    Stopped,
}

impl RoleName {
    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            RoleName::Leader => "leader",
            RoleName::Standby => "standby",
            RoleName::TakingOver => "taking_over",
            RoleName::Stopped => "stopped",
        }
    }
}

impl From<Role> for RoleName {
    fn from(role: Role) -> RoleName {
        match role {
            Role::Leader => RoleName::Leader,
            Role::Standby => RoleName::Standby,
            Role::TakingOver => RoleName::TakingOver,
            Role::Stopped => RoleName::Stopped,
        }
    }
}

impl From<LeaderView> for LeaderBody {
    fn from(leader: LeaderView) -> LeaderBody {
        LeaderBody {
            name: leader.server,
            address: leader.address,
            term: leader.term.number,
            since: leader.since,
            batch: leader.batch,
            lag_ms: millis(leader.renewed_ago),
        }
    }
}

impl From<ClusterSeen> for ClusterBody {
    fn from(seen: ClusterSeen) -> ClusterBody {
        let leader = seen.leader.map(LeaderBody::from);
        let role = |name: &str| match &leader {
            Some(leader) if leader.name == name => RoleName::Leader,
            // Of others only the leader is known; this one knows what it does.
            Some(_) | None if name == seen.server => seen.role.into(),
            Some(_) | None => RoleName::Standby,
        };
        let items = seen.servers.into_iter().map(|view| ServerBody {
            role: role(&view.server.name),
            name: view.server.name,
            address: view.server.address,
            version: view.server.version,
            started_at: view.server.started_at,
            silent_ms: millis(view.seen_ago),
        });
        ClusterBody {
            items: items.collect(),
            role: seen.role.into(),
            server: seen.server,
            embedded: !seen.shared,
            leader,
            incomplete: seen.incomplete,
        }
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
