//! What goes wrong, and how it all gets well again.

use crate::server::Role;
use crate::setup::{MS, S, Time};
use crate::world::{Event, World};

#[derive(Clone, Copy, Debug)]
enum Fault {
    BreakStream,
    Partition,
    CrashWorker,
    PauseWorker,
    DrainWorker,
    CrashServer,
    PauseServer,
    TakeOver,
    CutFromStore,
    StoreAway,
    StoreFull,
    Bounce,
    Coup,
}

impl World {
    /// One random fault of those that are on, and the next one a little later.
    pub(crate) fn random_fault(&mut self) {
        if self.healed {
            return;
        }
        let rare = if self.setup.faults.rare { 6 } else { 1 };
        let pause = rare * self.rng.range(150 * MS, 1_500 * MS);
        self.after(pause, Event::Fault);
        let on = self.setup.faults;
        let kinds = [
            (on.breaks, Fault::BreakStream),
            (on.partitions, Fault::Partition),
            (on.worker_crashes, Fault::CrashWorker),
            (on.worker_pauses, Fault::PauseWorker),
            (on.worker_drains, Fault::DrainWorker),
            (on.server_crashes, Fault::CrashServer),
            (on.server_pauses, Fault::PauseServer),
            (on.takeovers && !on.rare, Fault::TakeOver),
            (on.store_cuts && !on.rare, Fault::CutFromStore),
            (on.store_outages, Fault::StoreAway),
            (on.store_full, Fault::StoreFull),
            (on.bounces, Fault::Bounce),
            (on.store_cuts && on.takeovers, Fault::Coup),
        ];
        let kinds: Vec<Fault> = kinds.into_iter().filter(|(on, _)| *on).map(|(_, kind)| kind).collect();
        if !kinds.is_empty() {
            let kind = kinds[self.rng.index(kinds.len())];
            self.inflict(kind);
        }
    }

    fn inflict(&mut self, fault: Fault) {
        let worker = self.rng.index(self.workers.len());
        let any = self.rng.index(self.servers.len());
        let leader = self.leader().unwrap_or(any);
        let short = self.rng.range(50 * MS, 1_500 * MS);
        let long = self.rng.range(200 * MS, 9 * S);
        match fault {
            Fault::BreakStream => {
                if let Some(conn) = self.workers[worker].conn {
                    // Where the network parts the two, the worker may not notice before its session lapses.
                    let noticed = !(self.setup.faults.partitions && self.rng.one_in(4));
                    self.break_stream(conn, noticed);
                }
            }
            Fault::Partition => {
                let server = if self.rng.one_in(3) { any } else { leader };
                let all = self.rng.one_in(3);
                self.part(worker, if all { None } else { Some(server) }, long);
            }
            Fault::CrashWorker => self.crash_worker(worker),
            Fault::PauseWorker => self.pause_worker(worker, long),
            Fault::DrainWorker if self.workers[worker].running => {
                if self.workers[worker].paused_until <= self.now {
                    self.drain_worker(worker);
                }
            }
            Fault::DrainWorker => {}
            Fault::CrashServer => {
                if !matches!(self.servers[any].role, Role::Down) {
                    let server = if self.rng.one_in(2) { any } else { leader };
                    self.crash_server(server, short);
                }
            }
            Fault::PauseServer => {
                let server = if self.rng.one_in(3) { any } else { leader };
                self.pause_server(server, long);
            }
            Fault::TakeOver => {
                if matches!(self.servers[any].role, Role::Standby)
                    && self.servers[any].paused_until <= self.now
                {
                    self.take_over(any, 0);
                }
            }
            Fault::CutFromStore => {
                let server = if self.rng.one_in(3) { any } else { leader };
                let long = long * if self.rng.one_in(3) { 2 } else { 1 };
                self.cut_from_store(server, long);
            }
            Fault::StoreAway => {
                self.note(|| format!("the store is away for {} ms", long / MS / 2));
                self.store.away_until = self.now + long / 2;
            }
            Fault::StoreFull => {
                self.note(|| format!("the disk is full for {} ms", short / MS));
                self.store.full_until = self.now + short;
            }
            Fault::Bounce => self.bounce(leader),
            Fault::Coup => {
                // The leader goes deaf just when another takes over: it believes as long as its authority lasts.
                let standby = (leader + 1 + self.rng.index(2)) % self.servers.len();
                if matches!(self.servers[standby].role, Role::Standby) {
                    self.take_over(standby, 0);
                    self.cut_from_store(leader, 2 * long + 2 * S);
                }
            }
        }
    }

    /// The leader is restarted and leads again in well under a TTL.
    fn bounce(&mut self, leader: usize) {
        if !matches!(self.servers[leader].role, Role::Leading(_)) {
            return;
        }
        self.crash_server(leader, 100 * MS);
        self.servers[leader].role = Role::Standby;
        self.take_over(leader, 0);
    }

    /// A worker and a server, or all of them, cannot reach each other.
    pub(crate) fn part(&mut self, worker: usize, server: Option<usize>, long: Time) {
        self.note(|| format!("worker {worker} is parted from server {server:?} for {} ms", long / MS));
        for s in 0..self.servers.len() {
            if server.is_none_or(|only| only == s) {
                self.workers[worker].cut_until[s] = self.now + long;
            }
        }
    }

    pub(crate) fn crash_worker(&mut self, worker: usize) {
        if !self.workers[worker].running {
            return;
        }
        self.note(|| format!("worker {worker} crashes"));
        let session = self.workers[worker].session.id();
        let restart = self.rng.range(200 * MS, 3 * S);
        self.worker_stops(worker, restart);
        if self.rng.one_in(2) {
            let delay = self.rng.range(20 * MS, 500 * MS);
            self.after(delay, Event::Died(session));
        }
    }

    pub(crate) fn pause_worker(&mut self, worker: usize, long: Time) {
        if self.workers[worker].running {
            self.note(|| format!("worker {worker} stands still for {} ms", long / MS));
            self.workers[worker].paused_until = self.now + long;
            for work in self.workers[worker].session.leases() {
                self.checker.excuse(work.fence);
            }
        }
    }

    pub(crate) fn pause_server(&mut self, server: usize, long: Time) {
        self.note(|| format!("server {server} stands still for {} ms", long / MS));
        self.servers[server].paused_until = self.now + long;
    }

    pub(crate) fn cut_from_store(&mut self, server: usize, long: Time) {
        self.note(|| format!("server {server} cannot reach the store for {} ms", long / MS));
        self.servers[server].cut_until = self.now + long;
    }

    /// Everything works again: nothing new goes wrong, and nobody stays down.
    pub(crate) fn heal(&mut self) {
        self.note(|| "all is well again".into());
        self.healed = true;
        self.store.away_until = 0;
        self.store.full_until = 0;
        for server in &mut self.servers {
            server.paused_until = 0;
            server.cut_until = 0;
        }
        for worker in &mut self.workers {
            worker.paused_until = 0;
            worker.cut_until.fill(0);
        }
        self.resume_queues();
    }
}
