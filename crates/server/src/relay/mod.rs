//! A standby accepts everything: what it cannot answer itself, it relays to the leader.
//!
//! ```text
//!  request ─▶ admit (is it relayed?) ─▶ observe ─▶ guard ─▶ through ─▶ route
//!                                                              │ here: this server leads, or it is about
//!                                                              │       itself, or about a final job
//!                                                              ├ held: nobody leads at the moment
//!                                                              └ relayed: HTTP/2 to the leader
//! ```
//! One relay for REST, events, imports, gRPC calls and the streams of workers: to it they are all a request and an answer
//! that may both be long.
//!
//! **What can go wrong, and why it is harmless.** While nobody leads, or the leader cannot be reached, or says that it does not
//! lead, nothing has happened: the call is held, within bounds, and sent when there is a leader. If the answer is lost on its way,
//! the call may have been carried out: it is sent again only if doing it twice is doing it once. Submissions
//! are made so by a key ([`key`]). Anything else is answered with `outcome_unknown`, never with a guess. A body
//! that is too large to keep, or has no end, is sent once.
//!
//! A relayed request is never relayed again: two servers that each take the other for the leader answer
//! `not_leading` instead of sending a call round in circles. Servers recognise each other by a [`seal`].

mod body;
mod call;
mod certificate;
mod health;
mod hold;
pub(crate) mod key;
mod knock;
mod measures;
mod message;
mod pool;
mod route;
mod scrape;
mod seal;
mod seen;
mod upstream;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use futures::StreamExt as _;
use ganger_core::{JobId, Mono};
use tokio::sync::{Notify, Semaphore, watch};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

pub use measures::RelayMeasures;
pub use pool::{CONNECTIONS, STREAMS};
pub(crate) use seal::Relayed;

use crate::coordinator_thread::Phase;
use crate::grpc;
use crate::http::problem::{Code, Problem};
use crate::listener::Peer;
use crate::metrics::Metrics;
use crate::service::Service;
use crate::tls::Trust;
use call::Call;
use hold::Waiting;
use measures::Ended;
use message::{About, Told};

pub(crate) use route::{Place, Route};
pub(crate) use scrape::LeaderTold;
use seal::{Refused, SEAL, Seal};
use upstream::{Carried, Upstream};

/// Shortest secret that servers may share.
pub const SECRET_BYTES: usize = 16;
/// Where events are followed.
const EVENTS: &str = "/v1/events";
/// How often unused connections are looked for.
const CLOSE_IDLE_EVERY: Duration = Duration::from_secs(15);
/// A refused seal is logged so often at the most.
const COMPLAIN_EVERY: Duration = Duration::from_secs(10);

/// How much a standby holds.
#[derive(Clone, Debug)]
pub struct RelayOptions {
    /// How long a call waits for a leader.
    pub hold: Duration,
    /// How many calls may wait at the same time.
    pub most_held: usize,
    /// Bytes of bodies kept so that they can be sent again.
    pub kept_bytes: usize,
}

impl Default for RelayOptions {
    fn default() -> RelayOptions {
        RelayOptions { hold: Duration::from_secs(10), most_held: 10_000, kept_bytes: 64 << 20 }
    }
}

/// What a relay is made of.
pub struct RelayParts {
    /// Name of this server.
    pub server: String,
    /// What the servers of the cluster share.
    pub secret: Option<String>,
    /// Reads final jobs, and has the time.
    pub service: Service,
    /// Who leads.
    pub phase: watch::Receiver<Phase>,
    /// Ends live streams, so that a stop does not wait for them.
    pub stopping: CancellationToken,
    /// Where calls are counted.
    pub metrics: Metrics,
    /// How much is held.
    pub options: RelayOptions,
    /// Whose certificates are believed.
    pub(crate) trust: Trust,
}

/// The relay of one server. Cheap to clone.
#[derive(Clone)]
pub struct Relay(Arc<Inner>);

struct Inner {
    service: Service,
    phase: watch::Receiver<Phase>,
    stopping: CancellationToken,
    measures: RelayMeasures,
    options: RelayOptions,
    seal: Seal,
    trust: Trust,
    /// Places for calls that wait.
    seats: Arc<Semaphore>,
    /// Room for bodies, in bytes.
    room: Arc<Semaphore>,
    leader: Mutex<Option<Arc<Upstream>>>,
    complained: Mutex<Option<Mono>>,
    /// The leader refused what was relayed.
    doubted: Notify,
}

/// In which form a door refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Door {
    /// A problem document.
    Rest,
    /// A gRPC status.
    Grpc,
}

/// The seal of a request was not valid; whoever answers it says so.
#[derive(Clone, Copy, Debug)]
struct NotAdmitted(Refused);

/// Where a call goes.
enum Standing {
    Here,
    At(Arc<Upstream>),
    Nowhere,
}

impl Relay {
    /// Starts to follow the leader. Must be called within a runtime.
    #[must_use]
    pub fn start(parts: RelayParts) -> Relay {
        let relay = Relay(Arc::new(Inner {
            trust: parts.trust,
            seal: Seal::new(&parts.server, parts.secret.as_deref()),
            service: parts.service,
            phase: parts.phase,
            stopping: parts.stopping,
            measures: parts.metrics.relay().clone(),
            seats: Arc::new(Semaphore::new(parts.options.most_held)),
            room: Arc::new(Semaphore::new(parts.options.kept_bytes)),
            options: parts.options,
            leader: Mutex::default(),
            complained: Mutex::default(),
            doubted: Notify::new(),
        }));
        tokio::spawn(relay.0.clone().follow());
        tokio::spawn(relay.0.clone().knock_at_leaders());
        relay
    }

    /// Recognises what another server relayed. Before everything else: nobody further in sees the seal.
    pub(crate) fn admit(&self, mut request: Request) -> Request {
        if !request.headers().contains_key(SEAL) {
            request.headers_mut().remove(key::RELAY_KEY);
            request.headers_mut().remove(certificate::CERTIFICATE);
            return request;
        }
        let (mut parts, body) = request.into_parts();
        let now = self.0.service.clock().now();
        match self.0.seal.take(&mut parts, now.wall) {
            None => {}
            Some(Ok(relayed)) => {
                certificate::take(&mut parts, relayed.sealed);
                if let Some(client) = relayed.client {
                    parts.extensions.insert(Peer(client));
                }
                parts.extensions.insert(relayed);
            }
            Some(Err(refused)) => {
                parts.headers.remove(certificate::CERTIFICATE);
                self.0.complain(refused, now.mono);
                parts.extensions.insert(NotAdmitted(refused));
            }
        }
        Request::from_parts(parts, body)
    }
}

/// The last thing before a route: answers here, relays or holds.
pub(crate) async fn through(relay: &Relay, door: Door, request: Request, next: Next) -> Response {
    let relay = &relay.0;
    if let Some(NotAdmitted(refused)) = request.extensions().get() {
        return door.refuse(Problem::new(Code::RelayRefused, format!("the seal is not accepted: {refused}")));
    }
    if relay.leads() {
        return relay.here(request, next).await;
    }
    if request.uri().path() == scrape::METRICS && request.extensions().get::<Relayed>().is_none() {
        return next.run(relay.with_gauges(request).await).await;
    }
    let route = Route::of(request.method(), request.uri());
    if request.uri().path() == EVENTS && relay.service.knows_events() {
        return relay.here(request, next).await;
    }
    let here = match route.place {
        Place::Here => true,
        Place::Leader => false,
        Place::HereIfFinal(id) => relay.is_final(id).await,
        Place::ByMessage => return relay.by_message(door, request, route, next).await,
    };
    if here { next.run(request).await } else { relay.carry(door, Call::new(request, route), next).await }
}

impl Door {
    /// A refusal in that form.
    pub(crate) fn refuse(self, problem: Problem) -> Response {
        match self {
            Door::Rest => problem.into_response(),
            Door::Grpc => grpc::refusal(problem),
        }
    }
}

impl Inner {
    fn leads(&self) -> bool {
        matches!(*self.phase.borrow(), Phase::Leading(_))
    }

    /// Answers as the leader. Events come from whoever leads: when this server does not hear of them any more, their
    /// listeners must go there.
    async fn here(&self, request: Request, next: Next) -> Response {
        let events = request.uri().path() == EVENTS;
        let response = next.run(request).await;
        if !events {
            return response;
        }
        let service = self.service.clone();
        response.map(|body| {
            let deaf = async move { service.knows_events_no_more().await };
            Body::from_stream(body.into_data_stream().take_until(Box::pin(deaf)))
        })
    }

    /// Answers what its message allows to be answered here: a read of final jobs, a submission that is buffered.
    async fn by_message(&self, door: Door, request: Request, route: Route, next: Next) -> Response {
        let call = match Told::read(request).await {
            Ok(call) => call,
            Err(problem) => return self.refuse(door, Ended::BadBody, problem),
        };
        match call.about {
            About::FinalJobs => return next.run(call.request()).await,
            About::Job(id) if self.is_final(id).await => return next.run(call.request()).await,
            About::Buffered if self.service.accelerator().is_some_and(|a| a.allows_buffered()) => {
                let response = next.clone().run(call.request()).await;
                if !message::wants_a_leader(&response) {
                    return response;
                }
            }
            About::Job(_) | About::Buffered | About::Other => {}
        }
        self.carry(door, Call::new(call.request(), route), next).await
    }

    async fn is_final(&self, id: JobId) -> bool {
        self.service.job(id).await.is_ok_and(|view| view.stored.state.is_final())
    }

    /// Brings a call to the leader, whoever that is by then.
    async fn carry(&self, door: Door, mut call: Call, next: Next) -> Response {
        let mut waiting = Waiting::new(self);
        loop {
            waiting.over();
            let mut since = self.service.clock().now();
            let why = match self.standing() {
                Standing::Here => {
                    self.measures.ended(Ended::Here);
                    return self.here(call.into_request(), next).await;
                }
                Standing::At(_) if call.is_relayed() => {
                    return door.refuse(Problem::new(Code::NotLeading, "this server does not lead"));
                }
                Standing::At(_) if call.is_unread() => match call.read(&self.room).await {
                    Ok(()) => continue,
                    Err(problem) => return self.refuse(door, Ended::BadBody, problem),
                },
                Standing::At(leader) => {
                    match leader.carry(&mut call, &self.seal, since.wall, &self.stopping).await {
                        Carried::Answered(response) => {
                            self.measures.ended(Ended::Answered);
                            return response;
                        }
                        Carried::Full(detail) => {
                            return self.refuse(
                                door,
                                Ended::Overloaded,
                                Problem::new(Code::Overloaded, detail),
                            );
                        }
                        Carried::NotHandled(why) => why,
                        Carried::Refused(_) => {
                            self.doubted.notify_one();
                            format!("{}; {}", knock::not_recognised(leader.server()), knock::ADVICE)
                        }
                        Carried::Lost(why) => {
                            call.answer_was_lost();
                            // What it took until then was no waiting for a leader.
                            since = self.service.clock().now();
                            why
                        }
                    }
                }
                Standing::Nowhere => "nobody leads at the moment".into(),
            };
            let tried = match call.may_be_sent() {
                true => waiting.wait(since.mono, why).await,
                false => Err((Ended::NoLeader, Problem::new(Code::NoLeader, why))),
            };
            match tried {
                Ok(()) => {}
                // Whatever came in the way later: it may have been carried out the first time.
                Err((_, problem)) if call.is_uncertain() => {
                    let problem = Problem::new(Code::OutcomeUnknown, problem.detail);
                    return self.refuse(door, Ended::Unknown, problem);
                }
                Err((ended, problem)) => return self.refuse(door, ended, problem),
            }
        }
    }

    fn refuse(&self, door: Door, ended: Ended, problem: Problem) -> Response {
        self.measures.ended(ended);
        door.refuse(problem)
    }

    /// Where calls go now. Lets go of a leader that is no more.
    fn standing(&self) -> Standing {
        // A panic while the lock is held leaves one leader or none.
        let mut known = self.leader.lock().unwrap_or_else(PoisonError::into_inner);
        // Read under the lock, so that nobody goes back to an earlier leader.
        let phase = self.phase.borrow();
        let standing = match &*phase {
            Phase::Following(leader) => {
                if let Some(known) = known.as_ref().filter(|known| known.is(leader)) {
                    return Standing::At(known.clone());
                }
                info!("relays to {} at {}", leader.server, leader.address);
                let (clock, measures) = (self.service.clock().clone(), self.measures.clone());
                Standing::At(Arc::new(Upstream::new(
                    leader,
                    &self.seal,
                    self.trust.clone(),
                    (clock, measures),
                )))
            }
            Phase::TakingOver => Standing::Nowhere,
            Phase::Leading(_) => Standing::Here,
            // What is under way may still be answered by the leader.
            Phase::Stopped | Phase::Failed(_) => return Standing::Here,
        };
        let next = match &standing {
            Standing::At(leader) => Some(leader.clone()),
            Standing::Here | Standing::Nowhere => None,
        };
        if let Some(before) = std::mem::replace(&mut *known, next) {
            before.retire();
        }
        standing
    }

    /// Lets go of a leader as soon as there is another, also when nobody calls.
    async fn follow(self: Arc<Inner>) {
        let mut phase = self.phase.clone();
        loop {
            phase.mark_unchanged();
            self.standing();
            tokio::select! {
                changed = phase.changed() => {
                    if changed.is_err() {
                        return;
                    }
                }
                () = tokio::time::sleep(CLOSE_IDLE_EVERY) => self.close_idle(),
                () = self.stopping.cancelled() => return,
            }
        }
    }

    fn close_idle(&self) {
        let known = self.leader.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(leader) = known {
            leader.close_idle();
        }
    }

    /// Says that somebody tried, but not as often as he can try.
    fn complain(&self, refused: Refused, now: Mono) {
        self.measures.refused();
        let mut last = self.complained.lock().unwrap_or_else(PoisonError::into_inner);
        if last.is_none_or(|last| now.since(last) >= COMPLAIN_EVERY) {
            *last = Some(now);
            warn!("refused a request that claims to be relayed by a server of this cluster: {refused}");
        }
    }
}

impl fmt::Debug for Relay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Relay").field("phase", &*self.0.phase.borrow()).finish_non_exhaustive()
    }
}
