//! Who leads and who is there, as this server knows it.

use ganger_store::shared::{LeaderView, ServerView};

use super::Service;
use crate::cluster::Membership;
use crate::coordinator_thread::Phase;

/// What a server does at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It schedules.
    Leader,
    /// Another one does.
    Standby,
    /// It takes over, or cannot tell who leads.
    TakingOver,
    /// It has stopped.
    Stopped,
}

/// The cluster as one server sees it.
#[derive(Clone, Debug)]
pub struct ClusterSeen {
    /// Name of the server that tells it.
    pub server: String,
    /// What that server does.
    pub role: Role,
    /// Several servers may share the store.
    pub shared: bool,
    /// Who leads, if anyone does.
    pub leader: Option<LeaderView>,
    /// The servers, by name.
    pub servers: Vec<ServerView>,
    /// Why it is only what this server knows by itself, if it is.
    pub incomplete: Option<String>,
}

impl Service {
    /// Who leads and who is there. Answers also while the store does not.
    pub async fn cluster(&self) -> ClusterSeen {
        let membership = &self.0.membership;
        let phase = self.0.phase.borrow().clone();
        let role = role(&phase);
        let (leader, servers, incomplete) = match membership.cluster().await {
            Ok(Some(view)) => (view.leader, view.servers, None),
            Ok(None) => (self.known(phase), alone(membership), None),
            Err(cause) => (self.known(phase), alone(membership), Some(cause.to_string())),
        };
        let server = membership.server().name.clone();
        ClusterSeen { server, role, shared: membership.is_shared(), leader, servers, incomplete }
    }

    /// Its place among the others.
    #[must_use]
    pub fn membership(&self) -> &Membership {
        &self.0.membership
    }

    /// The leader, as far as it is known without the store.
    fn known(&self, phase: Phase) -> Option<LeaderView> {
        let this = self.0.membership.server();
        match phase {
            Phase::Following(leader) => Some(leader),
            Phase::Leading(term) => Some(LeaderView {
                term,
                server: this.name.clone(),
                address: this.address.clone(),
                since: this.started_at,
                renewed_ago: self.0.membership.health().lasts(self.0.clock.now().mono),
                batch: self.0.busy.last_batch(),
            }),
            Phase::TakingOver | Phase::Stopped | Phase::Failed(_) => None,
        }
    }
}

/// What the thread does, for whoever asks.
#[must_use]
pub fn role(phase: &Phase) -> Role {
    match phase {
        Phase::Leading(_) => Role::Leader,
        Phase::Following(_) => Role::Standby,
        Phase::TakingOver => Role::TakingOver,
        Phase::Stopped | Phase::Failed(_) => Role::Stopped,
    }
}

fn alone(membership: &Membership) -> Vec<ServerView> {
    vec![ServerView { server: membership.server().clone(), seen_ago: std::time::Duration::ZERO }]
}
