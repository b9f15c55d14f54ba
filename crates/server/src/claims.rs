//! The worker protocol for clients that speak plain HTTP.
//!
//! A claim is a session of its own that this server keeps on its client's behalf: it takes one
//! assignment, and its TTL is the client's lease. Between two requests there is no stream, which
//! proves nothing; each request opens the next one, and that is also a sign of life. So a claim survives a restart
//! of the server as any worker does, and a client needs nothing but its token.

mod locks;
mod stream;
mod token;

use std::sync::Arc;
use std::time::Duration;

use ganger_core::access::Caller;
use ganger_core::change::WorkerInfo;
use ganger_core::coordinator::port::Refusal;
use ganger_core::message::{AttemptReport, Hello, ToLeader, ToWorker};
use ganger_core::name::{Kind, Labels, QueueName};
use ganger_core::outcome::{Outcome, Report};
use ganger_core::{Mono, SessionId, Term};
use ganger_proto::{Down, Parcel};
use ganger_store::read::StoredJob;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use crate::outbox::Item;
use crate::service::{Answer, Service, ServiceError};
use locks::Locks;
use stream::{ANSWER_WITHIN, ClaimStream, Silence};
pub use token::{Token, TokenError};

/// Jobs that one claim may take.
pub const CLAIM_JOBS: u16 = 64;
/// The longest that a claim waits for a job.
pub const CLAIM_WAIT: Duration = Duration::from_secs(60);
/// Claims that may wait at the same time.
const CLAIMS_WAITING: usize = 10_000;
/// Payloads in one answer; leases beyond it are handed back. One job always fits.
const ANSWER_BYTES: usize = 8 << 20;

/// Serves claims.
#[derive(Clone, Debug)]
pub struct Claims {
    service: Service,
    waiting: Arc<Semaphore>,
    locks: Locks,
}

/// What a client wants.
#[derive(Clone, Debug)]
pub struct ClaimRequest {
    /// From this queue.
    pub queue: QueueName,
    /// Of these kinds; empty means all.
    pub kinds: Vec<Kind>,
    /// At most so many, and [`CLAIM_JOBS`].
    pub max: u16,
    /// How long they are held without a further request.
    pub lease: Duration,
    /// How long to wait for the first, at most [`CLAIM_WAIT`].
    pub wait: Duration,
    /// A name for people.
    pub worker: String,
}

/// What a client gets.
#[derive(Clone, Debug, Default)]
pub struct Claimed {
    /// The jobs, each with the token that proves its lease.
    pub jobs: Vec<(Token, Parcel)>,
    /// How long they are held from now on.
    pub lease: Duration,
}

/// What became of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a lost lease means the work must not be acknowledged"]
pub enum Reported {
    /// The outcome is durable.
    Recorded,
    /// The lease is over; nothing was written.
    LeaseLost,
}

/// A lease that is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extended {
    /// From now on so long.
    pub lease: Duration,
    /// A person wants the job to stop.
    pub cancel_wanted: bool,
}

/// How a job stands to a token.
enum Holding {
    Held(Box<StoredJob>),
    Ended(Outcome),
    Lost,
}

impl Holding {
    /// What a report comes to if the lease is over. Work that was handed back unstarted leaves no trace: its lease
    /// is over and nothing says how, which is what was asked for.
    fn reported(&self, outcome: Outcome, unstarted: bool) -> Reported {
        match self {
            Holding::Ended(recorded) if *recorded == outcome => Reported::Recorded,
            Holding::Lost if unstarted => Reported::Recorded,
            Holding::Held(_) | Holding::Ended(_) | Holding::Lost => Reported::LeaseLost,
        }
    }
}

impl Claims {
    /// Serves claims through this service.
    #[must_use]
    pub fn new(service: Service) -> Claims {
        let waiting = Arc::new(Semaphore::new(CLAIMS_WAITING));
        Claims { service, waiting, locks: Locks::default() }
    }

    /// Takes jobs from a queue for that caller; none if none came in time.
    ///
    /// # Errors
    /// There is no leader, or too many claims wait.
    pub async fn claim(&self, request: ClaimRequest, caller: Arc<Caller>) -> Answer<Claimed> {
        let permit = self.waiting.clone().try_acquire_owned().map_err(|_| Refusal::Overloaded)?;
        let (reply, claimed) = oneshot::channel();
        // Of its own, so that what was leased is handed back when the client goes away.
        tokio::spawn(claim(self.service.clone(), (request, caller), reply, permit));
        claimed.await.unwrap_or_else(|_| Err(ServiceError::Unknown("the claim was interrupted".into())))
    }

    /// Whether the claim of a token is that caller's, as far as this leader has seen. Sessions are named in attempts and events: without
    /// this, whoever holds leases of his own could make up tokens for those of others.
    #[must_use]
    pub fn are_of(&self, token: Token, caller: &Caller) -> bool {
        self.service.auth().owners().allow(token.session, caller)
    }

    /// Reports the end of an attempt. The answer comes after the commit.
    ///
    /// # Errors
    /// There is no leader, or the outcome is unknown.
    pub async fn report(&self, token: Token, report: Report) -> Answer<Reported> {
        let unstarted = matches!(report, Report::Released { started: false });
        let job = match self.holding(token).await? {
            Holding::Held(job) => job,
            // The answer to the same report was lost on its way.
            over @ (Holding::Ended(_) | Holding::Lost) => {
                return Ok(over.reported(report.outcome(), unstarted));
            }
        };
        let given = job.lease.map_or(job.due_at, |lease| lease.at);
        let ran = self.service.clock().now().wall.since(given);
        let (fence, outcome) = (token.fence, report.outcome());
        let message = ToLeader::Results(vec![AttemptReport { job: token.job, fence, report, ran }]);
        let _one_at_a_time = self.locks.lock(token.session).await;
        let mut lost = false;
        let heard = self.said(token.session, message, |item| {
            match item {
                Item::LeaseLost(late) if *late == fence => lost = true,
                Item::Down(Down::Other(ToWorker::Ack(fences))) => return fences.contains(&fence),
                Item::Down(_) | Item::LeaseLost(_) => {}
            }
            false
        });
        match heard.await {
            Ok(_) if lost => Ok(Reported::LeaseLost),
            Ok(_) => Ok(Reported::Recorded),
            // It may have been recorded all the same.
            Err(silence) => match (self.holding(token).await?, silence) {
                (Holding::Held(_), Silence::Gone) => Ok(Reported::LeaseLost),
                (Holding::Held(_), Silence::Closed | Silence::NotOpened(_) | Silence::TooLong) => {
                    Err(silence.into())
                }
                (over @ (Holding::Ended(_) | Holding::Lost), _) => Ok(over.reported(outcome, unstarted)),
            },
        }
    }

    /// Holds every lease of the token's claim for another while; `None` if this one is lost.
    ///
    /// # Errors
    /// There is no leader, or it did not answer.
    pub async fn extend(&self, token: Token) -> Answer<Option<Extended>> {
        self.sign_of_life(token, None).await
    }

    /// Passes on how far a handler is; `None` if the lease is lost.
    ///
    /// # Errors
    /// There is no leader, or it did not answer.
    pub async fn progress(&self, token: Token, fraction: f32, note: String) -> Answer<Option<Extended>> {
        let message = ToLeader::Progress { job: token.job, fence: token.fence, fraction, note };
        self.sign_of_life(token, Some(message)).await
    }

    /// Passes on what a handler logged; `None` if the lease is lost.
    ///
    /// # Errors
    /// There is no leader, or it did not answer.
    pub async fn log(&self, token: Token, text: String) -> Answer<Option<Extended>> {
        let message = ToLeader::Log { job: token.job, fence: token.fence, text };
        self.sign_of_life(token, Some(message)).await
    }

    async fn sign_of_life(&self, token: Token, message: Option<ToLeader>) -> Answer<Option<Extended>> {
        let Holding::Held(job) = self.holding(token).await? else { return Ok(None) };
        let _one_at_a_time = self.locks.lock(token.session).await;
        let last = ToLeader::Ping { number: u64::MAX };
        let mut stream = match self.resume(token.session).await {
            Ok(stream) => stream,
            Err(Silence::Gone) => return Ok(None),
            Err(silence) => return Err(silence.into()),
        };
        for message in message.into_iter().chain([last]) {
            stream.say(message).await;
        }
        let pong = |item: &Item| *item == Item::Down(Down::Other(ToWorker::Pong { number: u64::MAX }));
        match stream.hear_until(pong).await {
            Ok(_) => Ok(Some(Extended { lease: stream.ttl(), cancel_wanted: job.cancel_wanted })),
            Err(Silence::Gone) => Ok(None),
            Err(silence) => Err(silence.into()),
        }
    }

    /// Says something on a new stream, and hears until that is answered.
    async fn said(
        &self,
        session: SessionId,
        message: ToLeader,
        answered: impl FnMut(&Item) -> bool,
    ) -> Result<Item, Silence> {
        let mut stream = self.resume(session).await?;
        stream.say(message).await;
        stream.hear_until(answered).await
    }

    /// The next stream of a claim's session.
    async fn resume(&self, session: SessionId) -> Result<ClaimStream, Silence> {
        // The leader knows this session better than we do; it takes nothing new, whatever becomes of it.
        let worker = worker("claim".into(), Vec::new(), Vec::new(), 1, Duration::from_secs(1));
        ClaimStream::greet(&self.service, hello(session, worker, true)).await
    }

    /// What the store says about a token.
    async fn holding(&self, token: Token) -> Answer<Holding> {
        let job = match self.service.job(token.job).await {
            Ok(view) => view.stored,
            Err(ServiceError::NoSuchJob(_)) => return Ok(Holding::Lost),
            Err(error) => return Err(error),
        };
        if job.lease.is_some_and(|lease| lease.session == token.session) {
            return Ok(Holding::Held(Box::new(job)));
        }
        match &job.last_attempt {
            Some(last) if last.fence == token.fence => Ok(Holding::Ended(last.outcome)),
            Some(_) | None => Ok(Holding::Lost),
        }
    }
}

fn hello(session: SessionId, worker: WorkerInfo, draining: bool) -> Hello {
    Hello { session, stream: 0, worker, highest: Term::default(), draining }
}

fn worker(name: String, queues: Vec<QueueName>, kinds: Vec<Kind>, threads: u16, ttl: Duration) -> WorkerInfo {
    let version = env!("CARGO_PKG_VERSION").into();
    let labels = Labels::new();
    WorkerInfo { name, queues, kinds, threads, labels, version, local: false, claim: true, ttl }
}

/// One claim, from its session's beginning to its assignment, or to its end without one.
async fn claim(
    service: Service,
    (request, caller): (ClaimRequest, Arc<Caller>),
    mut reply: oneshot::Sender<Answer<Claimed>>,
    _permit: OwnedSemaphorePermit,
) {
    let until = service.clock().now().mono + request.wait.min(CLAIM_WAIT);
    let threads = request.max.clamp(1, CLAIM_JOBS);
    // Random through and through: the token must not be guessed.
    let session = SessionId::from_uuid(uuid::Uuid::new_v4());
    service.auth().owners().take(session, &caller);
    let info = worker(request.worker, vec![request.queue], request.kinds, threads, request.lease);
    let mut stream = match ClaimStream::greet(&service, hello(session, info, false)).await {
        Ok(stream) => stream,
        Err(silence) => {
            service.auth().owners().forget(session);
            let _ = reply.send(Err(silence.into()));
            return;
        }
    };
    let answer = tokio::select! {
        answer = assigned(&service, &mut stream, until) => answer,
        () = reply.closed() => Ok(Vec::new()),
    };
    let lease = stream.ttl();
    let delivered = match answer {
        Ok(parcels) if !parcels.is_empty() => {
            let parcels = hand_back_surplus(&mut stream, parcels).await;
            let token =
                |parcel: Parcel| (Token { session, job: parcel.work.job, fence: parcel.work.fence }, parcel);
            reply.send(Ok(Claimed { jobs: parcels.into_iter().map(token).collect(), lease })).is_ok()
        }
        Ok(_) => {
            let _ = reply.send(Ok(Claimed { jobs: Vec::new(), lease }));
            false
        }
        Err(silence) => {
            let _ = reply.send(Err(silence.into()));
            false
        }
    };
    if !delivered {
        // Whatever was leased meanwhile was never started: goodbye hands it back.
        stream.say(ToLeader::Goodbye).await;
        service.auth().owners().forget(session);
    }
}

/// Waits for an assignment, with signs of life, and makes sure that its leases begin now.
async fn assigned(service: &Service, stream: &mut ClaimStream, until: Mono) -> Result<Vec<Parcel>, Silence> {
    let every = stream.ttl() / 3;
    let mut number = 1;
    let parcels = loop {
        let left = service.clock().until(until);
        if left.is_zero() {
            return Ok(Vec::new());
        }
        let heard = tokio::select! {
            heard = tokio::time::timeout(left.min(every), stream.hear()) => heard,
            () = service.stopping() => return Ok(Vec::new()),
        };
        match heard {
            Ok(Ok(Item::Down(Down::Assign(parcels)))) => break parcels,
            Ok(Ok(Item::Down(Down::Other(_)) | Item::LeaseLost(_))) => {}
            Ok(Err(silence)) => return Err(silence),
            Err(_) => {
                number += 1;
                stream.say(ToLeader::Ping { number }).await;
            }
        }
    };
    let number = number + 1;
    stream.say(ToLeader::Ping { number }).await;
    stream.hear_until(|item| *item == Item::Down(Down::Other(ToWorker::Pong { number }))).await?;
    Ok(parcels)
}

/// Keeps an answer within its bounds. That they are no more jobs than were asked for, the coordinator sees to.
async fn hand_back_surplus(stream: &mut ClaimStream, parcels: Vec<Parcel>) -> Vec<Parcel> {
    let mut bytes = 0;
    let (mut kept, mut surplus) = (Vec::new(), Vec::new());
    for parcel in parcels {
        bytes += parcel.payload.len();
        if kept.is_empty() || bytes <= ANSWER_BYTES {
            kept.push(parcel);
        } else {
            surplus.push(AttemptReport {
                job: parcel.work.job,
                fence: parcel.work.fence,
                report: Report::Released { started: false },
                ran: Duration::ZERO,
            });
        }
    }
    if !surplus.is_empty() {
        stream.say(ToLeader::Results(surplus)).await;
    }
    kept
}

impl From<Silence> for ServiceError {
    fn from(silence: Silence) -> ServiceError {
        match silence {
            Silence::Gone | Silence::Closed => ServiceError::NotReady("the leader has just changed".into()),
            Silence::NotOpened(reason) => ServiceError::NotReady(reason.to_string()),
            Silence::TooLong => {
                ServiceError::Unknown(format!("no answer came within {} s", ANSWER_WITHIN.as_secs()))
            }
        }
    }
}
