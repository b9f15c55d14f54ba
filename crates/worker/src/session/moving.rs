//! Moving to the leader that a welcome names, if it can be reached from here.
//!
//! The present connection stays until the other one answers: whoever cannot reach the leader loses nothing by
//! having been told of it.

use tokio_util::task::AbortOnDropHandle;

use super::{Driver, Probe};
use crate::desk::Desk;
use crate::wire::{self, Wire};

impl Driver {
    /// Calls the leader, unless this is its connection.
    pub(super) fn call_leader(&mut self, desk: &Desk, url: &str) {
        if !desk.session.is_open() {
            return;
        }
        self.probe = self.ways.addresses.leader(url).map(|leader| {
            let answers = AbortOnDropHandle::new(tokio::spawn(wire::answers(leader.endpoint.clone())));
            Probe { leader, answers }
        });
    }

    /// Moves there if it answered. Handlers go on, and what is not acknowledged is sent again.
    pub(super) fn on_probed(&mut self, desk: &mut Desk, answers: bool) {
        let Some(probe) = self.probe.take() else { return };
        if !answers {
            tracing::debug!("the leader at {} cannot be reached from here", probe.leader.url);
            return;
        }
        tracing::info!("moves to the leader at {}", probe.leader.url);
        desk.session.disconnected();
        desk.outbox.clear();
        self.wire = Some(Wire::dial(self.ways.addresses.move_to(probe.leader), self.ways.credential.clone()));
        self.stand(desk, None);
    }
}
