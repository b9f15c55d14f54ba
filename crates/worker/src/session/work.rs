//! The work of a session: what was offered, what runs, what it says, how it ends.

use std::collections::HashSet;
use std::time::Duration;

use ganger_core::message::ToLeader;
use ganger_core::outcome::Report;
use ganger_core::session::Act;
use ganger_core::{Fence, Mono};
use ganger_proto::Parcel;
use tokio_util::sync::CancellationToken;

use super::{CHATTER_EVERY, Driver};
use crate::attempt::{self, Ended};
use crate::context::Ctx;
use crate::threads::Grant;

/// Log texts of attempts that ended while there was no connection.
const LATE_LOGS: usize = 64;

impl Driver {
    /// Keeps the payloads of what is offered; of a repetition the first one is held already.
    pub(super) fn keep_offered(&mut self, parcels: Vec<Parcel>, acts: &[Act]) {
        let offered: HashSet<Fence> = acts
            .iter()
            .filter_map(|act| if let Act::Offer(work) = act { Some(work.fence) } else { None })
            .collect();
        for parcel in parcels {
            if offered.contains(&parcel.work.fence) {
                self.held.insert(parcel.work.fence, parcel);
            }
        }
    }

    pub(super) fn on_ended(&mut self, Ended { fence, report, ran }: Ended) {
        let now = self.clock.mono();
        let Some(live) = self.running.remove(fence) else { return };
        self.setup.status.ended(fence);
        let (job, text) = (live.ctx.job_id(), live.ctx.chatter().take().log);
        if !text.is_empty() {
            let log = ToLeader::Log { job, fence, text };
            if self.setup.session.is_open() {
                self.outbox.push(now, log);
            } else {
                if self.late_logs.len() == LATE_LOGS {
                    self.late_logs.pop_front();
                }
                self.late_logs.push_back(log);
            }
        }
        self.threads.release(live.grant);
        let mut acts = Vec::new();
        self.setup.session.ended(fence, report, ran, &mut acts);
        self.perform(acts);
    }

    pub(super) fn start_what_fits(&mut self) {
        while let Some((fence, grant)) = self.threads.next() {
            let now = self.clock.mono();
            let parcel = self.held.remove(&fence);
            match parcel {
                Some(parcel) if self.setup.session.try_start(now, fence) => self.start(now, parcel, grant),
                // Withdrawn or lapsed meanwhile: the state machine hands it back.
                Some(_) | None => self.threads.release(grant),
            }
        }
    }

    fn start(&mut self, now: Mono, parcel: Parcel, grant: Grant) {
        let Parcel { work, payload, traceparent } = parcel;
        let Some(handler) = self.setup.registry.get(&work.kind).cloned() else {
            self.threads.release(grant);
            let report = Report::Error(format!("this worker has no handler for kind `{}`", work.kind));
            let mut acts = Vec::new();
            self.setup.session.ended(work.fence, report, Duration::ZERO, &mut acts);
            self.perform(acts);
            return;
        };
        let ctx = Ctx::new(work, traceparent, self.bell.clone());
        let abort = CancellationToken::new();
        self.setup.status.started(&ctx);
        self.running.insert(now, ctx.clone(), grant, abort.clone());
        let ended = self.ended.0.clone();
        attempt::begin(&self.setup.runtime, self.clock, handler, ctx, payload, abort, ended);
    }

    pub(super) fn send_chatter(&mut self, now: Mono) {
        if !self.setup.session.is_open() {
            // The next welcome sends it.
            return;
        }
        for live in self.running.iter() {
            if !self.outbox.has_room() {
                self.chatter_at = Some(now + CHATTER_EVERY);
                return;
            }
            let (job, fence, said) = (live.ctx.job_id(), live.ctx.fence(), live.ctx.chatter().take());
            if let Some((fraction, note)) = said.progress {
                self.outbox.push(now, ToLeader::Progress { job, fence, fraction, note });
            }
            if !said.log.is_empty() {
                self.outbox.push(now, ToLeader::Log { job, fence, text: said.log });
            }
        }
    }
}
