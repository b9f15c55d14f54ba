//! The work of a session: what is offered to it, and what its handlers say while they run.

use std::collections::HashMap;

use ganger_core::message::ToLeader;
use ganger_core::session::Act;
use ganger_core::{Fence, Mono};
use ganger_proto::Parcel;

use super::{CHATTER_EVERY, Driver};
use crate::desk::{Desk, Held};

/// Keeps the payloads of what is offered; of a repetition the first one is held already. Offers come in the
/// order of their parcels.
pub(super) fn keep_offered(held: &mut HashMap<Fence, Held>, parcels: Vec<Parcel>, acts: &[Act], since: Mono) {
    let mut offered = acts
        .iter()
        .filter_map(|act| if let Act::Offer(work) = act { Some(work.fence) } else { None })
        .peekable();
    for parcel in parcels {
        if offered.next_if_eq(&parcel.work.fence).is_some() {
            held.insert(parcel.work.fence, Held { parcel, since });
        }
    }
}

impl Driver {
    pub(super) fn send_chatter(&mut self, desk: &mut Desk, now: Mono) {
        if !desk.session.is_open() {
            // The next welcome sends it.
            return;
        }
        for live in desk.running.iter() {
            if !desk.outbox.has_room() {
                self.chatter_at = Some(now + CHATTER_EVERY);
                return;
            }
            let (job, fence, said) = (live.ctx.job_id(), live.ctx.fence(), live.ctx.chatter().take());
            if let Some((fraction, note)) = said.progress {
                desk.outbox.push(now, ToLeader::Progress { job, fence, fraction, note });
            }
            if !said.log.is_empty() {
                desk.outbox.push(now, ToLeader::Log { job, fence, text: said.log });
            }
        }
    }
}
