//! Finds out whether the leader recognises this server, before its clients do.
//!
//! A server with another secret than the leader's follows it like any other: they meet in the store. But whatever it relays is
//! refused. So it knocks at each new leader with a sealed request that asks for nothing, and again when a call was refused. While it is
//! not recognised it is not ready, and goes on knocking: clocks are put right, and clients do not come to a server that is not ready.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use serde::Deserialize;
use tracing::{info, warn};

use super::call::Call;
use super::route::{Again, Place, Reading, Route};
use super::seal::Refused;
use super::upstream::{Carried, Upstream};
use super::{Inner, Standing};

/// Where nothing is asked for.
const LIVEZ: &str = "/livez";
/// The leader answers within this, or is asked again.
const WITHIN: Duration = Duration::from_secs(2);
/// How often a leader is asked that has not recognised this server yet.
const AGAIN: Duration = Duration::from_secs(5);
/// The longest answer that is read.
const LONGEST: usize = 64 << 10;

/// What a leader said.
enum Heard {
    Recognised,
    Refused(String),
    Nothing,
}

/// What of a problem is looked at.
#[derive(Deserialize)]
struct Said {
    detail: String,
}

impl Inner {
    /// Knocks at leaders until the server stops.
    pub(super) async fn knock_at_leaders(self: Arc<Inner>) {
        let mut phase = self.phase.clone();
        // The one that has recognised this server.
        let mut friend = None;
        loop {
            phase.mark_unchanged();
            let leader = match self.standing() {
                Standing::At(leader) => Some(leader),
                Standing::Here | Standing::Nowhere => None,
            };
            if let Some(leader) = leader.as_ref().filter(|leader| friend.as_deref() != Some(leader.server()))
            {
                let heard = tokio::time::timeout(WITHIN, self.knock(leader)).await.unwrap_or(Heard::Nothing);
                friend = self.remember(leader, heard);
            }
            let waits = leader.is_some() && friend.is_none();
            tokio::select! {
                changed = phase.changed() => {
                    if changed.is_err() {
                        return;
                    }
                }
                () = self.doubted.notified(), if friend.is_some() => friend = None,
                () = tokio::time::sleep(AGAIN), if waits => {}
                () = self.stopping.cancelled() => return,
            }
        }
    }

    async fn knock(&self, leader: &Upstream) -> Heard {
        let request = Request::get(LIVEZ).body(Body::empty());
        let Ok(request) = request else { return Heard::Nothing };
        let route = Route { place: Place::Leader, again: Again::Harmless, body: Reading::Kept };
        let mut call = Call::new(request, route);
        if call.read(&self.room).await.is_err() {
            return Heard::Nothing;
        }
        let now = self.service.clock().now().wall;
        match leader.carry(&mut call, &self.seal, now, &self.stopping).await {
            Carried::Answered(_) => Heard::Recognised,
            Carried::Refused(response) => refused(response).await,
            Carried::NotHandled(_) | Carried::Lost(_) | Carried::Full(_) => Heard::Nothing,
        }
    }

    /// Lets readiness know. Answers the leader, if it is a friend.
    fn remember(&self, leader: &Upstream, heard: Heard) -> Option<String> {
        let (name, membership) = (leader.server(), self.service.membership());
        match heard {
            Heard::Recognised => {
                if membership.recognised() {
                    info!("{name} recognises this server again");
                }
                Some(name.to_owned())
            }
            Heard::Refused(why) => {
                let trouble = format!("{}: {why}; {ADVICE}", not_recognised(name));
                if membership.refused_by(name, &trouble) {
                    warn!("cannot relay anything: {trouble}");
                }
                None
            }
            Heard::Nothing => None,
        }
    }
}

/// What an operator can do about it.
pub(super) const ADVICE: &str =
    "set GANGER_CLUSTER_SECRET to the same text on every server, and keep their clocks right";

/// Whose refusal it is.
pub(super) fn not_recognised(leader: &str) -> String {
    format!("{leader} does not recognise this server as one of its cluster (`relay_refused`)")
}

async fn refused(response: Response) -> Heard {
    let body = axum::body::to_bytes(response.into_body(), LONGEST).await.unwrap_or_default();
    let why = serde_json::from_slice::<Said>(&body)
        .map_or_else(|_| "it does not say why".into(), |said| said.detail);
    // Its process was replaced, and the store does not know yet: soon it follows somebody else, or leads.
    if why.ends_with(&Refused::NotForMe.to_string()) { Heard::Nothing } else { Heard::Refused(why) }
}
