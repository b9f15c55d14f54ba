//! Clients: they submit until they are answered, and meddle.

use std::time::Duration;

use ganger_core::change::{Idempotency, NewJob, Submitted};
use ganger_core::coordinator::port::{Ask, Refusal, Reply, Ticket};
use ganger_core::job::{Fallback, JobSpec};
use ganger_core::name::QueueName;
use ganger_core::retry::RetryPolicy;
use ganger_core::{JobId, Wall};

use crate::audit::audited;
use crate::rng::Rng;
use crate::setup::{MS, S, wall};
use crate::store::short;
use crate::world::{Event, World};

/// Queues of every run.
pub(crate) const QUEUES: [&str; 2] = ["a", "b"];

/// A client with one job to submit.
pub(crate) struct Client {
    pub(crate) key: Option<String>,
    pub(crate) spec: JobSpec,
    /// `run_at` is this long after the first try.
    delay: Option<Duration>,
    /// So is `expires_at`.
    expires: Option<Duration>,
    tried: bool,
    /// The job that answers its request.
    pub(crate) job: Option<JobId>,
    /// It has no key and was not answered: it must not ask again.
    pub(crate) gave_up: bool,
    /// It submits in a transaction of its own.
    enqueues: bool,
    /// Its job waits for so many others, if it knows of any by then.
    parents: usize,
    /// What it submits so cannot be run.
    pub(crate) invalid: bool,
}

/// What a ticket stands for.
#[derive(Clone, Debug)]
pub(crate) enum Errand {
    /// This client's submission, under this id.
    Submit(usize, JobId),
    /// Something else.
    Other,
}

impl Client {
    pub(crate) fn random(index: usize, rng: &mut Rng) -> Client {
        let kind = if rng.one_in(3) { "quick" } else { "slow" };
        let mut spec = JobSpec::new(kind.parse().expect("a kind"));
        spec.queue = QUEUES[rng.index(2)].parse().expect("a queue");
        spec.priority = if rng.one_in(3) { i8::try_from(rng.below(3)).unwrap_or(0) - 1 } else { 0 };
        let options = &mut spec.options;
        options.threads = if rng.one_in(3) { u16::try_from(rng.range(1, 5)).unwrap_or(1) } else { 1 };
        options.fallback = if rng.one_in(4) { Fallback::Single } else { Fallback::Widest };
        options.max_attempts = u32::try_from(rng.range(1, 5)).unwrap_or(1);
        options.max_lost = u32::try_from(rng.range(1, 4)).unwrap_or(1);
        options.retry = RetryPolicy {
            base: Duration::from_millis(200),
            factor: 2.0,
            max: Duration::from_secs(2),
            jitter: 0.2,
        };
        options.timeout = rng.one_in(4).then(|| Duration::from_millis(rng.range(300, 2_000)));
        options.unique_key = rng.one_in(4).then(|| format!("u{}", rng.below(2)));
        let delay = rng.one_in(4).then(|| Duration::from_millis(rng.range(200, 5_000)));
        let expires = rng.one_in(8).then(|| Duration::from_millis(rng.range(6_000, 12_000)));
        let key = (!rng.one_in(4)).then(|| format!("key {index}"));
        let parents = if rng.one_in(3) { 1 + rng.index(3) } else { 0 };
        let (tried, gave_up, enqueues, invalid) = (false, false, false, false);
        Client { key, spec, delay, expires, tried, job: None, gave_up, enqueues, parents, invalid }
    }

    /// A client of a script: asks until it is answered.
    pub(crate) fn scripted(key: &str, spec: JobSpec) -> Client {
        let key = Some(key.to_owned());
        let (tried, gave_up, enqueues, invalid) = (false, false, false, false);
        let (delay, expires, parents) = (None, None, 0);
        Client { key, spec, delay, expires, tried, job: None, gave_up, enqueues, parents, invalid }
    }

    /// Some clients submit in transactions of their own, some of them what cannot be run.
    pub(crate) fn may_enqueue(&mut self, rng: &mut Rng) {
        self.enqueues = rng.one_in(3);
        self.invalid = rng.one_in(6);
    }

    /// Whether there is nothing more to wait for.
    pub(crate) fn is_answered(&self) -> bool {
        self.job.is_some() || self.gave_up
    }
}

impl World {
    /// Sends a submission, and makes sure that it is sent again if nobody answers.
    pub(crate) fn submit(&mut self, client: usize) {
        if self.clients[client].is_answered() {
            return;
        }
        if self.clients[client].key.is_none() && self.clients[client].tried && !self.clients[client].enqueues
        {
            self.clients[client].gave_up = true;
            return;
        }
        let id = JobId::new(1 + self.now / MS, self.rng.bytes());
        let now = wall(self.now);
        if !self.clients[client].tried && !self.clients[client].enqueues {
            let parents = self.choose_parents(self.clients[client].parents);
            self.clients[client].spec.depends_on.extend(parents);
        }
        let this = &mut self.clients[client];
        if !this.tried {
            this.tried = true;
            this.spec.run_at = this.delay.map_or(this.spec.run_at, |d| Some(now + d));
            this.spec.options.expires_at =
                this.expires.map_or(this.spec.options.expires_at, |d| Some(now + d));
        }
        if this.enqueues {
            self.enqueue(client, id);
            return;
        }
        let job = NewJob { id, seq: 0, created_at: Wall(0), due_at: Wall(0), spec: this.spec.clone() };
        let idempotency = this.key.clone().map(|key| Idempotency {
            scope: "sim".into(),
            key,
            fingerprint: [u8::try_from(client).unwrap_or(0); 32],
            until: now + Duration::from_secs(3600),
        });
        let ask = Ask::Submit { idempotency, jobs: vec![job] };
        self.send_ask(Errand::Submit(client, id), ask.clone());
        let pause = self.rng.range(600 * MS, 1_500 * MS);
        self.after(pause, Event::Submit(client));
        // The same request once more, as a client in a hurry sends it, or a proxy.
        if self.clients[client].key.is_some() && self.setup.faults.repeats && self.rng.one_in(6) {
            self.after(MS, Event::Submit(client));
        }
    }

    /// Sends a request to the server that seems to lead.
    pub(crate) fn send_ask(&mut self, errand: Errand, ask: Ask) {
        let ticket = self.ticket(errand);
        let any = self.rng.index(self.servers.len());
        let sure = self.healed || self.rng.percent(80);
        let server = self.leader().filter(|_| sure).unwrap_or(any);
        let life = self.servers[server].life;
        let delay = self.rng.range(MS, 10 * MS);
        self.after(delay, Event::Asked { server, life, ticket, ask });
    }

    /// A ticket for this errand.
    pub(crate) fn ticket(&mut self, errand: Errand) -> Ticket {
        let ticket = Ticket(self.tickets.len() as u64);
        self.tickets.push(errand);
        ticket
    }

    /// A server answers. What it says must be true at this very moment.
    pub(crate) fn answer_client(&mut self, ticket: Ticket, reply: Reply) {
        let errand = self.errand(ticket);
        if let (Errand::Submit(client, id), reply) = (&errand, &reply) {
            let key = self.clients[*client].key.clone();
            match reply {
                Reply::Submitted(Submitted::Accepted(intakes) | Submitted::Replayed(intakes)) => {
                    for intake in intakes {
                        self.checker.acked(key.as_deref(), *intake);
                    }
                }
                Reply::Submitted(Submitted::KeyReused) => {
                    self.checker.fail(format!("key {key:?} was taken for another request"));
                }
                Reply::Submitted(Submitted::NoParent(parent, _)) => {
                    self.checker.fail(format!("the parent {} is said not to be there", short(*parent)));
                }
                Reply::Refused(Refusal::Store(_) | Refusal::Overloaded | Refusal::QueueDraining(_)) => {
                    self.checker.refused(*id);
                }
                Reply::Refused(Refusal::QueueFull { .. }) => {
                    self.checker.rated.full += 1;
                    self.checker.refused(*id);
                }
                Reply::Cancelled
                | Reply::CancelRequested
                | Reply::Due
                | Reply::Replayed
                | Reply::Queue(_)
                | Reply::Kind(_)
                | Reply::KeySet(_)
                | Reply::TakenIn
                | Reply::Purged(_)
                | Reply::Documented
                | Reply::Schedule(_)
                | Reply::Draining
                | Reply::Refused(_) => {
                    self.checker.fail(format!("a submission was answered with {reply:?}"));
                }
            }
        }
        self.note(|| format!("client of {errand:?} is answered: {reply:?}"));
        if !self.healed && self.setup.faults.store_losses && self.rng.one_in(8) {
            return;
        }
        let delay = self.rng.range(MS, 10 * MS);
        self.after(delay, Event::Replied(ticket, reply));
    }

    pub(crate) fn replied(&mut self, ticket: Ticket, reply: &Reply) {
        match (self.errand(ticket), reply) {
            (
                Errand::Submit(client, _),
                Reply::Submitted(Submitted::Accepted(i) | Submitted::Replayed(i)),
            ) => {
                self.clients[client].job = i.first().map(|intake| intake.job());
            }
            (Errand::Submit(..) | Errand::Other, _) => {}
        }
    }

    fn errand(&self, ticket: Ticket) -> Errand {
        usize::try_from(ticket.0).ok().and_then(|t| self.tickets.get(t)).cloned().unwrap_or(Errand::Other)
    }

    /// A person does something to a job or a queue.
    pub(crate) fn meddle(&mut self) {
        if self.healed {
            return;
        }
        let known: Vec<JobId> = self.clients.iter().filter_map(|client| client.job).collect();
        if !known.is_empty() {
            let job = known[self.rng.index(known.len())];
            let queue: QueueName = QUEUES[self.rng.index(2)].parse().expect("a queue");
            let paused = self.rng.one_in(3);
            let ask = match self.rng.below(8) {
                0..=2 => Ask::Cancel(job),
                3..=4 => Ask::RunNow(job),
                5 => Ask::PutQueue(queue, self.queue_settings(paused)),
                6.. => Ask::Replay(job),
            };
            // Only the dead are replayed: a success is not to be undone by chance.
            if !matches!(ask, Ask::Replay(job) if !self.checker.is_dead(job)) {
                self.note(|| format!("a person asks {ask:?} of {}", short(job)));
                self.send_ask(Errand::Other, audited(ask.clone()));
                if self.rng.one_in(4) {
                    self.send_ask(Errand::Other, audited(ask));
                }
            }
        }
        self.meddle_with_keys();
        let pause = self.rng.range(200 * MS, 2 * S);
        self.after(pause, Event::Meddle);
    }

    /// Resumes every queue until the store says so.
    pub(crate) fn resume_queues(&mut self) {
        for queue in self.checker.paused_queues() {
            let ask = Ask::PutQueue(queue, self.queue_settings(false));
            self.send_ask(Errand::Other, ask);
        }
    }
}
