//! Batches on their way from a leader to the store, some behind others.

use std::sync::Arc;

use ganger_core::Term;
use ganger_core::change::{Applied, Batch};
use ganger_core::coordinator::port::Input;
use ganger_core::sending::{Heard, Verdict};
use ganger_store::{CommitError, heard};

use crate::server::{Leading, Role};
use crate::setup::MS;
use crate::store::StoreAsk;
use crate::world::{Event, Outstanding, World};

impl World {
    /// A leader hands a batch over.
    pub(crate) fn write(&mut self, server: usize, batch: Arc<Batch>) {
        let Some(leading) = self.leading(server) else { return };
        let most = leading.outstanding.len() < 2;
        leading.sending.add(batch.number);
        leading.outstanding.push_back(Outstanding { batch, call: 0, applied: None });
        self.checker.require(most, || format!("server {server} handed over three batches at once"));
        self.send_batches(server);
    }

    /// Sends what is to be sent.
    pub(crate) fn send_batches(&mut self, server: usize) {
        while let Some(leading) = self.leading(server)
            && let Some(number) = leading.sending.send()
        {
            let term = leading.coordinator.term();
            let sent = leading.outstanding.iter().find(|outstanding| outstanding.batch.number == number);
            let Some(batch) = sent.map(|outstanding| outstanding.batch.clone()) else { return };
            let call = self.call_store(server, StoreAsk::Commit { term, batch });
            if let Some(outstanding) = self.unsettled(server, number) {
                outstanding.call = call;
            }
        }
    }

    /// The store answered a copy of a batch.
    pub(crate) fn batch_answered(
        &mut self,
        server: usize,
        term: Term,
        number: u64,
        result: Result<Vec<Applied>, CommitError>,
    ) {
        let heard = heard(&result);
        if self.servers[server].term() != Some(term) {
            return;
        }
        let Some(outstanding) = self.unsettled(server, number) else { return };
        outstanding.applied = result.ok().or(outstanding.applied.take());
        self.heard(server, number, heard);
    }

    /// A copy of a batch may have gone astray.
    pub(crate) fn batch_unanswered(&mut self, server: usize, call: u64) {
        let Some(leading) = self.leading(server) else { return };
        let carried = leading.outstanding.iter().find(|outstanding| outstanding.call == call);
        if let Some(number) = carried.map(|outstanding| outstanding.batch.number) {
            self.heard(server, number, Heard::Nothing);
        }
    }

    fn heard(&mut self, server: usize, number: u64, heard: Heard) {
        if let Some(leading) = self.leading(server) {
            leading.sending.hear(number, heard);
        }
        // Bounded: each verdict but the last settles a batch.
        while let Some(leading) = self.leading(server)
            && let Some(verdict) = leading.sending.verdict()
        {
            match verdict {
                Verdict::Written => {
                    let Some(done) = leading.outstanding.pop_front() else { return };
                    let (number, applied) = (done.batch.number, done.applied.unwrap_or_default());
                    self.lead(server, Input::Committed { number, applied });
                    self.send_batches(server);
                }
                Verdict::NotWritten => {
                    let Some(first) = leading.outstanding.pop_front() else { return };
                    leading.outstanding.clear();
                    let reason = "the store said no".to_owned();
                    self.lead(server, Input::Refused { number: first.batch.number, reason });
                }
                Verdict::TermLost | Verdict::BeginAgain => return self.step_down(server),
                Verdict::SendAgain => {
                    let life = self.servers[server].life;
                    let pause = self.rng.range(MS, 100 * MS);
                    self.after(pause, Event::SendAgain { server, life });
                    return;
                }
            }
        }
    }

    fn leading(&mut self, server: usize) -> Option<&mut Leading> {
        match &mut self.servers[server].role {
            Role::Leading(leading) => Some(leading),
            Role::Down | Role::Standby | Role::TakingOver { .. } => None,
        }
    }

    fn unsettled(&mut self, server: usize, number: u64) -> Option<&mut Outstanding> {
        self.leading(server)?.outstanding.iter_mut().find(|outstanding| outstanding.batch.number == number)
    }
}
