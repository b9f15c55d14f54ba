//! What users' transactions do in the store: handlers end their jobs there, and clients submit them there.
//!
//! The leader has no part in either and learns of both late.

use ganger_core::change::NewJob;
use ganger_core::coordinator::port::{Ask, InboxJob, Input};
use ganger_core::kind::KindSettings;
use ganger_core::message::Work;
use ganger_core::name::Kind;
use ganger_core::outcome::Report;
use ganger_core::{Fence, JobId, Wall};
use ganger_store::memory::Completed;
use ganger_store::shared::InboxRow;

use crate::client::Errand;
use crate::setup::{MS, S, Time, wall};
use crate::store::{StoreAsk, short};
use crate::world::{Event, World};

/// The kind whose handlers may end their jobs themselves.
pub(crate) const TRANSACTIONAL: &str = "slow";
/// Rows of the inbox that are read at a time: few, so that some are left.
pub(crate) const ROWS: usize = 3;

fn transactional() -> Kind {
    TRANSACTIONAL.parse().expect("a kind")
}

impl World {
    /// Marks the kind as transactional, until the store says so. Leases given before stay as they are.
    pub(crate) fn mark_kind(&mut self) {
        let settings = KindSettings { transactional: true };
        if !self.store.state.load().kinds.contains(&(transactional(), settings)) {
            self.send_ask(Errand::Other, Ask::PutKind(transactional(), settings));
            self.after(500 * MS, Event::MarkKind);
        }
    }

    /// Some handlers of the kind will end their job themselves, at some moment of their run, or just after it.
    pub(crate) fn plan_completion(&mut self, worker: usize, work: &Work, takes: Time) {
        if self.setup.faults.transactional && work.kind.as_str() == TRANSACTIONAL && self.rng.percent(60) {
            let delay = self.rng.range(MS, takes + 50 * MS);
            let life = self.workers[worker].life;
            // A commit that was sent lands, whatever becomes of the process.
            let life = (!self.rng.one_in(3)).then_some(life);
            self.after(delay, Event::Complete { worker, life, job: work.job, fence: work.fence });
        }
    }

    /// The transaction of a handler comes to its commit.
    pub(crate) fn complete(&mut self, worker: usize, life: Option<u32>, job: JobId, fence: Fence) {
        let died = life.is_some_and(|life| life != self.workers[worker].life);
        if died || self.store.away_until > self.now {
            return;
        }
        let at = wall(self.now);
        let completed = self.store.state.complete(job, fence, &fence.to_string(), at);
        self.note(|| format!("store: worker {worker} completes {} under {fence}: {completed:?}", short(job)));
        match completed {
            Completed::Ended => {
                let end = self.store.state.jobs(&[job], at).pop().and_then(|job| job.end);
                self.checker.completed(job, fence, end);
                // It may still fail, for all the leader knows, or not live to tell.
                let report = if self.rng.one_in(4) {
                    Report::Error("after its commit".into())
                } else {
                    Report::Ok(fence.to_string())
                };
                self.workers[worker].will_report(fence, report);
                if !self.healed && self.rng.one_in(4) {
                    self.crash_worker(worker);
                }
            }
            Completed::LeaseLost => {
                self.checker.lease_lost(job, fence);
                self.workers[worker].will_report(fence, Report::Error("lease_lost".into()));
            }
        }
    }

    /// A client's transaction submits a job in the store. A transaction that cannot commit is tried again.
    pub(crate) fn enqueue(&mut self, client: usize, id: JobId) {
        if self.store.away_until > self.now {
            let pause = self.rng.range(100 * MS, S);
            self.after(pause, Event::Submit(client));
            return;
        }
        let row = self.store.state.enqueue(id, client.to_string());
        self.note(|| format!("store: {} is in the inbox, row {row}", short(id)));
        self.clients[client].job = Some(id);
        self.checker.enqueued(id);
    }

    /// A leader looks into the inbox now and then, whether or not it has heard of the last look.
    pub(crate) fn look_into_inbox(&mut self, server: usize) {
        if self.setup.faults.transactional && self.servers[server].look_at <= self.now {
            self.servers[server].look_at = self.now + self.rng.range(50 * MS, 400 * MS);
            self.call_store(server, StoreAsk::Inbox);
        }
    }

    pub(crate) fn inbox_seen(&mut self, server: usize, rows: Vec<InboxRow>) {
        if self.servers[server].term().is_none() || rows.is_empty() {
            return;
        }
        let jobs = rows.into_iter().filter_map(|row| self.inbox_job(row)).collect();
        let ticket = self.ticket(Errand::Other);
        self.lead(server, Input::Ask(ticket, Ask::Intake(jobs)));
    }

    /// What the client wrote, as a server reads it.
    fn inbox_job(&self, row: InboxRow) -> Option<InboxJob> {
        let client = &self.clients[row.request.parse::<usize>().ok()?];
        let (created_at, due_at) = (Wall(0), Wall(0));
        let job = NewJob { id: row.job, seq: 0, created_at, due_at, spec: client.spec.clone() };
        let refused = client.invalid.then(|| "it cannot be run".to_owned());
        Some(InboxJob { row: row.row, job, refused })
    }
}
