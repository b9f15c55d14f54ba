//! What is told about Redis in `/readyz`: never a reason not to be ready, always a line.

use ganger_store::redis::{Role, RoleState, RoleView};

use super::Accelerator;
use crate::service::Check;

impl Accelerator {
    /// One check for each role.
    #[must_use]
    pub fn checks(&self) -> Vec<Check> {
        let dangers = self.redis().dangers();
        self.redis().roles().into_iter().map(|view| self.check(view, &dangers)).collect()
    }

    fn check(&self, view: RoleView, dangers: &[String]) -> Check {
        let RoleView { role, state, hits, fallbacks } = view;
        let warning = match state {
            RoleState::Up if role == Role::Ingest && self.0.allow_buffered && !dangers.is_empty() => {
                Some(dangers.join("; "))
            }
            RoleState::Up => None,
            RoleState::Away(since, why) => {
                Some(format!("redis is away for {} s ({why}); {}", since.as_secs(), instead(role)))
            }
            RoleState::Refused(why) => Some(format!("{why}; {}", instead(role))),
        };
        let detail = format!("{hits} hits, {fallbacks} fallbacks");
        Check { name: name(role), warning, detail, ..Check::default() }
    }
}

fn name(role: Role) -> &'static str {
    match role {
        Role::Idempotency => "redis-idempotency",
        Role::Finals => "redis-finals",
        Role::Events => "redis-events",
        Role::Ingest => "redis-ingest",
    }
}

/// What happens without it.
fn instead(role: Role) -> &'static str {
    match role {
        Role::Idempotency => "the ledger in the store answers repeated requests",
        Role::Finals => "final jobs are read from the store",
        Role::Events => "standbys pass listeners on to the leader",
        Role::Ingest => "buffered jobs are taken in as durable",
    }
}
