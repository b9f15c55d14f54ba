//! What must hold of memory at any time, and of everything at the end.

use std::collections::{BTreeMap, BTreeSet};

use ganger_core::change::Batch;
use ganger_core::job::State;
use ganger_core::{JobId, SessionId};

use crate::checker::named;
use crate::setup::wall;
use crate::store::short;
use crate::world::World;

impl World {
    /// Memory is never ahead of the store: what the leader calls waiting has no lease there.
    pub(crate) fn check_memory(&mut self, server: usize) {
        if self.leader() != Some(server) {
            return;
        }
        let now = self.servers[server].clock.now(self.now);
        let Some(coordinator) = self.servers[server].coordinator() else { return };
        let leased = self.checker.jobs.values().filter(|record| record.lease.is_some());
        // Of a job that was written with its lease it does not know before the answer.
        let unanswered: Vec<&Batch> = self.servers[server].outstanding().collect();
        let ahead = leased.map(|record| record.new.id).find(|job| {
            match coordinator.explain(*job, now).map(|explanation| explanation.state) {
                Some(state) => state != State::Running,
                None => !unanswered.iter().any(|batch| named(batch).any(|new| new == *job)),
            }
        });
        if let Some(job) = ahead.filter(|_| !self.checker.damaged) {
            let state = coordinator.explain(job, now).map(|explanation| explanation.state);
            self.checker
                .fail(format!("memory is ahead: {} is {state:?}, but leased in the store", short(job)));
        }
    }

    /// Nobody sees a job before it is written: it is not explained, not counted, and in nobody's list.
    pub(crate) fn check_unseen(&mut self, server: usize) {
        let Some(coordinator) = self.servers[server].coordinator() else { return };
        let known = |job: &JobId| self.checker.jobs.contains_key(job);
        let outstanding = self.servers[server].outstanding().flat_map(named);
        let unwritten: Vec<JobId> = outstanding.filter(|job| !known(job)).collect();
        if unwritten.is_empty() {
            return;
        }
        let now = self.servers[server].clock.now(self.now);
        let explained = unwritten.iter().copied().find(|job| coordinator.explain(*job, now).is_some());
        let leases = coordinator.workers(now).into_iter().flat_map(|worker| worker.leases);
        let listed = leases.map(|lease| lease.job).find(|job| !known(job));
        let counted: u64 = coordinator.stats().counts.iter().flat_map(|(.., counts)| counts).sum();
        let written = self.checker.jobs.len() as u64;
        if let Some(job) = explained.or(listed) {
            self.checker.fail(format!("{} is seen before it is written", short(job)));
        }
        self.checker.require(counted <= written, || format!("{counted} jobs are counted of {written}"));
    }

    /// Somebody leads, every job is final, every session without a worker is closed, and no handler is left: one that
    /// ended its job in its own transaction may go on for a while.
    pub(crate) fn is_over(&self) -> bool {
        let open = self.checker.sessions.iter().filter(|(_, open)| **open).map(|(id, _)| *id);
        let led = self.leader().is_some();
        let at_rest = self.workers.iter().all(|worker| worker.session.leases().next().is_none());
        led && at_rest
            && self.schedules_are_over()
            && self.checker.all_final(&self.clients)
            && open.collect::<BTreeSet<_>>() == self.alive()
    }

    fn alive(&self) -> BTreeSet<SessionId> {
        self.workers.iter().filter(|worker| worker.running).map(|worker| worker.session.id()).collect()
    }

    /// Nothing is lost, nothing is left over, and memory counts what the store holds.
    pub(crate) fn check_the_end(&mut self) {
        let ids: Vec<_> = self.checker.jobs.keys().copied().collect();
        let stored = self.store.state.jobs(&ids, wall(self.now));
        let there: BTreeMap<_, _> = stored.iter().map(|job| (job.id, job)).collect();
        let acked: Vec<_> = self.checker.acked_jobs().collect();
        for job in acked {
            let there = there.contains_key(&job) || self.checker.purged.contains(&job);
            self.checker.require(there, || format!("P1: {} is lost", short(job)));
        }
        for (id, record) in self.checker.jobs.iter().filter(|(id, _)| !self.checker.purged.contains(id)) {
            let end = there.get(id).and_then(|job| job.end.as_ref());
            if end != record.end.as_ref() {
                let what = format!("P3: {} ended as {:?}, stored is {end:?}", short(*id), record.end);
                self.checker.fail(what);
                return;
            }
        }
        let Some(leader) = self.leader() else {
            self.checker.fail("nobody leads although nothing is wrong".into());
            return;
        };
        self.check_counts(leader);
        self.check_minutes();
        self.check_ledgers();
        self.check_sessions(leader);
    }

    fn check_counts(&mut self, leader: usize) {
        let Some(coordinator) = self.servers[leader].coordinator() else { return };
        let mut counted = BTreeMap::new();
        for (queue, kind, counts) in coordinator.stats().counts {
            for state in State::ALL {
                let count = counts[state.index()];
                if count > 0 {
                    counted.insert((queue.clone(), kind.clone(), state), count);
                }
            }
        }
        let finals = self.store.state.load().finals.into_iter();
        let stored: BTreeMap<_, _> = finals.map(|t| ((t.queue, t.kind, t.state), t.count)).collect();
        self.checker.require(counted == stored, || format!("counted are {counted:?}, stored {stored:?}"));
    }

    fn check_sessions(&mut self, leader: usize) {
        let alive = self.alive();
        let open: BTreeSet<SessionId> = self.store.state.load().sessions.iter().map(|s| s.id).collect();
        self.checker.require(open == alive, || format!("open sessions are {open:?}, alive {alive:?}"));
        let now = self.servers[leader].clock.now(self.now);
        let Some(coordinator) = self.servers[leader].coordinator() else { return };
        let busy: Vec<_> = coordinator
            .workers(now)
            .into_iter()
            .filter(|w| open.contains(&w.session) && (w.used > 0 || w.stuck > 0 || !w.leases.is_empty()))
            .map(|w| (w.worker.name, w.used, w.stuck, w.leases.len()))
            .collect();
        self.checker.require(busy.is_empty(), || format!("nothing is left, but workers are busy: {busy:?}"));
        let held = self.workers.iter().any(|worker| worker.session.leases().next().is_some());
        self.checker.require(!held, || "a worker still holds a lease".into());
    }

    /// What keeps the run from its end.
    pub(crate) fn describe_what_is_open(&mut self) -> String {
        let mut lines = Vec::new();
        let leader = self.leader();
        for (id, record) in self.checker.open_jobs() {
            let explained = leader.and_then(|s| {
                let now = self.servers[s].clock.now(self.now);
                self.servers[s].coordinator()?.explain(id, now).map(|e| e.summary)
            });
            lines.push(format!("{} lease {:?}: {explained:?}", short(id), record.lease));
        }
        let unanswered = self.clients.iter().filter(|client| !client.is_answered()).count();
        if let Some(leader) = leader {
            let now = self.servers[leader].clock.now(self.now);
            for w in self.servers[leader].coordinator().into_iter().flat_map(|c| c.workers(now)) {
                lines.push(format!("{} {:?} used {} stuck {}", w.worker.name, w.state, w.used, w.stuck));
            }
        }
        let open = self.checker.sessions.values().filter(|open| **open).count();
        format!(
            "leader {leader:?}, {open} sessions, {unanswered} clients without an answer, {}",
            lines.join("; ")
        )
    }
}
