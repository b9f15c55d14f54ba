//! A stage for scripted stories: a world in which nothing goes wrong but what the script says.
//!
//! Server 0 is Alice, server 1 Bob, server 2 Carol. A worker connects only to the server it is told.

use ganger_core::job::JobSpec;
use ganger_core::outcome::Report;
use ganger_core::{Fence, JobId};

use crate::client::Client;
use crate::setup::{Faults, MS, S, Time};
use crate::world::{Event, Setup, World};

pub(crate) const ALICE: usize = 0;
pub(crate) const BOB: usize = 1;
pub(crate) const CAROL: usize = 2;

/// Waits of a script end here at the latest.
const PATIENCE: Time = 30 * S;

/// A world with a script.
pub(crate) struct Stage {
    pub(crate) world: World,
}

impl Stage {
    /// Alice leads; each worker knows only its own server. Their handlers take so long and succeed.
    pub(crate) fn new(homes: &[usize], takes: Time) -> Stage {
        let workers = homes.len();
        let faults = Faults { hasty: true, ..Faults::default() };
        let setup = Setup { seed: 1, faults, jobs: 0, workers, traced: true };
        let mut world = World::new(setup);
        world.healed = true;
        for (worker, home) in world.workers.iter_mut().zip(homes) {
            worker.script = Some((takes, Report::Ok(String::new())));
            worker.only = Some(*home);
        }
        world.take_over(ALICE, 0);
        let mut stage = Stage { world };
        stage.wait("Alice leads", |world| world.leader() == Some(ALICE));
        stage
    }

    /// Runs until something is so; it is wrong if that takes too long.
    pub(crate) fn wait(&mut self, what: &str, so: impl Fn(&World) -> bool) {
        let until = self.world.now + PATIENCE;
        while !so(&self.world) && self.world.checker.violation.is_none() {
            if self.world.now >= until {
                self.world.checker.fail(format!("waited in vain: {what}"));
            }
            self.world.run_for(MS);
        }
    }

    pub(crate) fn run_for(&mut self, long: Time) {
        self.world.run_for(long);
    }

    /// It must be so.
    pub(crate) fn expect(&mut self, so: bool, what: &str) {
        self.world.checker.require(so, || format!("expected: {what}"));
    }

    /// A worker connects to that server as soon as it has no stream; the present one breaks.
    pub(crate) fn send_to(&mut self, worker: usize, server: usize) {
        self.world.workers[worker].only = Some(server);
        if let Some(conn) = self.world.workers[worker].conn
            && self.world.conns[conn].server != server
        {
            self.world.break_stream(conn, true);
        }
    }

    pub(crate) fn wait_open(&mut self, worker: usize) {
        self.wait("the worker is welcome", |world| {
            let this = &world.workers[worker];
            let there = |conn: usize| world.conns[conn].open && Some(world.conns[conn].server) == this.only;
            this.session.is_open() && this.conn.is_some_and(there)
        });
        // Its first ping arrives, and with it the session has resumed.
        self.run_for(20 * MS);
    }

    /// A client submits; the job is safe when this returns.
    pub(crate) fn submit(&mut self, spec: JobSpec) -> JobId {
        let client = self.send(spec);
        self.wait_acked(client)
    }

    /// A client begins to submit, and does so until it is answered.
    pub(crate) fn send(&mut self, spec: JobSpec) -> usize {
        let client = self.world.clients.len();
        self.world.clients.push(Client::scripted(&format!("script {client}"), spec));
        self.world.after(0, Event::Submit(client));
        client
    }

    /// Waits until a client is answered; with the job that answers it.
    pub(crate) fn wait_acked(&mut self, client: usize) -> JobId {
        self.wait("the job is acknowledged", |world| world.clients[client].job.is_some());
        self.world.clients[client].job.unwrap_or(JobId::new(0, [0; 10]))
    }

    /// Waits until a handler of the job begins for the n-th time.
    pub(crate) fn wait_started(&mut self, job: JobId, times: usize) {
        self.wait("the job is started", |world| starts(world, job) >= times);
    }

    pub(crate) fn starts(&self, job: JobId) -> usize {
        starts(&self.world, job)
    }

    /// The fence of the job's lease in the store.
    pub(crate) fn fence(&self, job: JobId) -> Option<Fence> {
        self.world.checker.jobs.get(&job).and_then(|record| record.lease).map(|(fence, _)| fence)
    }

    /// Server `by` takes over and leads, whatever the leader thinks of it.
    pub(crate) fn take_over(&mut self, by: usize) {
        self.world.take_over(by, 0);
        self.wait("the new leader leads", |world| world.leader() == Some(by));
    }

    /// Waits for the moment just after the server renewed its row: its authority is as long as it gets.
    pub(crate) fn just_renewed(&mut self) {
        let before = self.world.store.renewed_at;
        self.wait("the row is renewed", |world| world.store.renewed_at > before);
        self.run_for(10 * MS);
    }

    /// Waits for the moment just after a ping of the worker was answered.
    pub(crate) fn just_pinged(&mut self, worker: usize) {
        let pinged = self.world.workers[worker].session.next_tick();
        self.wait("the next ping", |world| world.workers[worker].session.next_tick() > pinged);
        self.run_for(20 * MS);
    }

    /// Everyone may connect to whoever leads; all must come to an end. What went wrong, if anything.
    pub(crate) fn finish(mut self) -> Result<World, String> {
        for worker in &mut self.world.workers {
            worker.only = None;
        }
        self.world.heal();
        self.world.run_to_the_end();
        match self.world.checker.violation.clone() {
            None => Ok(self.world),
            Some(what) => Err(format!("{what}\n{}", self.world.checker.trace(false))),
        }
    }
}

fn starts(world: &World, job: JobId) -> usize {
    world.checker.starts.iter().filter(|started| **started == job).count()
}

/// A job with all defaults but its number of attempts.
pub(crate) fn job(max_attempts: u32) -> JobSpec {
    let mut spec = JobSpec::new("slow".parse().expect("a kind"));
    spec.options.max_attempts = max_attempts;
    spec.options.retry.base = std::time::Duration::from_millis(200);
    spec
}
