//! How a server comes to lead where several share a store, and how it stays the leader.
//!
//! ```text
//!            another leads                      nobody does
//!  stand ───────────────▶ follow ──▶ stand ───────────────▶ take over ──▶ lead
//!    ▲                      │  every two seconds, when the leader's row is about to run out,      │
//!    └──────────────────────┘  and at once when the leader is seen to be gone                     │
//!    ▲                                                                                            │
//!    └────────────────────────────── the term is over ◀───────────────────────────────────────────┘
//! ```
//!
//! What can go wrong, and why the worst case is harmless:
//! - *The store cannot be reached.* A standby goes on following whom it followed; a leader runs out of authority,
//!   says nothing and writes nothing, and goes on where it was if nobody led meanwhile. Both try again.
//! - *Loading takes longer than the leader's TTL.* The row is renewed from the moment the election is won, not
//!   from the end of the load, so nobody takes over from a leader that is only slow to begin.
//! - *The coordinator's thread hangs.* Then its row is not renewed, although the rest of the process could.
//! - *The leader stands still.* Its row runs out, another takes over, and the store refuses whatever the old one
//!   still wants to write. Its next renewal tells it so.
//! - *A renewal is answered late.* Authority counts from the moment it was sent.
//! - *The leader stops in good order.* It resigns, and whoever waits for that takes over at once. So does one that
//!   was elected and is still loading.

mod renewer;

use std::sync::Arc;
use std::time::Duration;

use ganger_core::change::Snapshot;
use ganger_core::coordinator::Coordinator;
use ganger_core::leadership::{Reign, Step, Takeover};
use ganger_core::{Mono, Term};
use ganger_store::shared::{Candidate, Election, LeaderView, SharedStore};
use ganger_store::{Store, StoreError};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use tracing::{debug, info, warn};

use crate::clock::Clock;
use crate::coordinator_thread::{CoordinatorThread, Phase};
use crate::inbox::{Inbox, Message};
use crate::store_health::StoreHealth;
use crate::writer::Observer;

pub use renewer::Pulse;
pub(crate) use renewer::Renewer;

/// A standby stands so often at the least.
const STAND_EVERY: Duration = Duration::from_secs(2);
/// And so long after the leader's row has run out, if it is not renewed.
const AFTER_THE_ROW: Duration = Duration::from_millis(50);
/// Wait before standing again when the store did not answer, the first time; it doubles up to [`STAND_EVERY`].
const STAND_AGAIN: Duration = Duration::from_millis(100);
/// Longest wait for an election or a resignation.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);
/// Longest load: a million jobs take seconds.
const LOAD_WITHIN: Duration = Duration::from_secs(300);
/// Longest resignation: the row runs out by itself soon after.
const RESIGN_WITHIN: Duration = Duration::from_secs(2);
/// How long a server that stops waits to hear whether it was just elected, and to resign.
const GIVE_UP_WITHIN: Duration = Duration::from_secs(4);

/// A server's place in an election.
#[derive(Clone)]
pub struct Seat {
    /// Where the election is held.
    pub shared: Arc<dyn SharedStore>,
    /// As which it stands.
    pub candidate: Candidate,
    /// Whether the store answers.
    pub health: StoreHealth,
    /// Whether the thread that stands, and then leads, is alive.
    pub pulse: Pulse,
    /// Where renewals are told.
    pub inbox: Inbox,
}

/// What came of standing once.
enum Stood {
    Leads(Box<Won>),
    Follows(LeaderView),
}

/// An election that was won, with what was loaded after it.
struct Won {
    reign: Reign,
    snapshot: Snapshot,
    renewer: Renewer,
}

/// Why a wait ended.
enum Woken {
    Stopped,
    TimeIsUp,
    LeaderIsGone,
}

impl CoordinatorThread {
    /// Stands until it leads; `None` if the server stops meanwhile.
    pub(crate) fn stand(
        &mut self,
        wait: &tokio::runtime::Runtime,
        seat: &Seat,
        more_than: u64,
    ) -> Option<(Term, Coordinator, Renewer)> {
        let mut pause = STAND_AGAIN;
        let mut seen_gone = None;
        loop {
            match self.stand_once(wait, seat, more_than)? {
                Ok(Stood::Leads(won)) => {
                    let Won { reign, snapshot, renewer } = *won;
                    self.parts.payloads.loaded(&snapshot);
                    let now = self.parts.clock.now();
                    let coordinator = Coordinator::new(self.options.clone(), reign, snapshot, now);
                    return Some((reign.term, coordinator, renewer));
                }
                Ok(Stood::Follows(leader)) => {
                    pause = STAND_AGAIN;
                    seen_gone = self.follow(wait, seat, leader, seen_gone)?;
                }
                Err(cause) => {
                    let first = seat.health.failed(self.parts.clock.now().mono, cause.to_string());
                    if first {
                        warn!("cannot stand for leadership: {cause}; trying again");
                    } else {
                        debug!("cannot stand for leadership: {cause}");
                    }
                    let gone = std::future::pending();
                    if let Woken::Stopped = self.idle(wait, pause, gone) {
                        return None;
                    }
                    pause = (pause * 2).min(STAND_EVERY);
                }
            }
        }
    }

    /// Stands once, and loads if it was elected; `None` if the server stops meanwhile.
    fn stand_once(
        &mut self,
        wait: &tokio::runtime::Runtime,
        seat: &Seat,
        more_than: u64,
    ) -> Option<Result<Stood, StoreError>> {
        let attempt = Attempt {
            seat: seat.clone(),
            store: self.parts.store.clone(),
            clock: self.parts.clock.clone(),
            inbox: seat.inbox.clone(),
            observer: self.parts.observer.clone(),
            phase: self.phase.clone(),
            stopping: CancellationToken::new(),
        };
        let stopping = attempt.stopping.clone();
        let mut task = AbortOnDropHandle::new(self.runtime.spawn(attempt.make(more_than)));
        let (mut renewed, mut lost) = (None, None);
        loop {
            seat.pulse.beat(self.parts.clock.now().mono);
            let inbox = &mut self.inbox;
            let message = wait.block_on(async {
                tokio::select! {
                    stood = &mut task => Err(stood),
                    message = inbox.recv() => Ok(message),
                }
            });
            match message {
                Err(Ok(Ok(Stood::Leads(won)))) if lost == Some(won.reign.term) => {
                    let cause = "another server took over during the load";
                    return Some(Err(StoreError::Unavailable(cause.into())));
                }
                Err(Ok(Ok(Stood::Leads(mut won)))) => {
                    let last = renewed.filter(|(term, _)| *term == won.reign.term);
                    let (_, sent_at) = last.unwrap_or((won.reign.term, Mono(0)));
                    won.reign.authority_from = won.reign.authority_from.max(sent_at);
                    return Some(Ok(Stood::Leads(won)));
                }
                Err(Ok(stood)) => return Some(stood),
                Err(Err(_)) => {
                    return Some(Err(StoreError::Failed("the takeover was interrupted".into())));
                }
                Ok(Some(Message::Renewed { term, sent_at })) => renewed = Some((term, sent_at)),
                Ok(Some(Message::TermLost { term })) => lost = Some(term),
                Ok(Some(Message::Stop) | None) => {
                    stopping.cancel();
                    let ended = self.runtime.spawn(give_up(task, seat.clone()));
                    // It bounds itself; a runtime that is going down ends it at once.
                    let _ = wait.block_on(ended);
                    return None;
                }
                // A message that is dropped says that nobody took it: nobody leads here.
                Ok(Some(_)) => {}
            }
        }
    }

    /// Follows this leader until it is time to stand again; `None` if the server stops meanwhile. The result is
    /// the term whose leader was seen to be gone: a hint that proves wrong is not waited for at once again.
    fn follow(
        &mut self,
        wait: &tokio::runtime::Runtime,
        seat: &Seat,
        leader: LeaderView,
        seen_gone: Option<Term>,
    ) -> Option<Option<Term>> {
        let known = match &*self.phase.borrow() {
            Phase::Following(before) => before.term == leader.term,
            Phase::TakingOver | Phase::Leading(_) | Phase::Stopped | Phase::Failed(_) => false,
        };
        if !known {
            info!(term = leader.term.number, "follows {} in term {}", leader.server, leader.term);
        }
        let term = leader.term;
        let left = seat.candidate.ttl.saturating_sub(leader.renewed_ago) + AFTER_THE_ROW;
        self.phase.send_replace(Phase::Following(leader));
        let shared = seat.shared.clone();
        let watch = (seen_gone != Some(term))
            .then(|| AbortOnDropHandle::new(self.runtime.spawn(async move { shared.vacated(term).await })));
        let gone = async {
            let seen = match watch {
                Some(watch) => watch.await.is_ok(),
                None => false,
            };
            // A watch that failed has seen nothing.
            if !seen {
                std::future::pending().await
            }
        };
        match self.idle(wait, left.min(STAND_EVERY), gone) {
            Woken::Stopped => None,
            Woken::TimeIsUp => Some(None),
            Woken::LeaderIsGone => Some(Some(term)),
        }
    }

    /// Waits, and refuses whoever asks meanwhile: a message that is dropped says that nobody took it.
    fn idle(
        &mut self,
        wait: &tokio::runtime::Runtime,
        pause: Duration,
        gone: impl Future<Output = ()>,
    ) -> Woken {
        let inbox = &mut self.inbox;
        wait.block_on(async {
            let stopped = async { while !matches!(inbox.recv().await, Some(Message::Stop) | None) {} };
            tokio::select! {
                biased;
                () = stopped => Woken::Stopped,
                () = gone => Woken::LeaderIsGone,
                () = tokio::time::sleep(pause) => Woken::TimeIsUp,
            }
        })
    }
}

/// The server stops while it stands: an election that is won all the same is given back, so that nobody waits for the
/// row to run out.
async fn give_up(task: AbortOnDropHandle<Result<Stood, StoreError>>, seat: Seat) {
    let stood = tokio::time::timeout(GIVE_UP_WITHIN, task).await;
    if let Ok(Ok(Ok(Stood::Leads(won)))) = stood {
        let term = won.reign.term;
        drop(won);
        seat.resign(term).await;
    }
}

/// What standing once works with.
struct Attempt {
    seat: Seat,
    store: Arc<dyn Store>,
    clock: Clock,
    inbox: Inbox,
    observer: Arc<dyn Observer>,
    phase: watch::Sender<Phase>,
    stopping: CancellationToken,
}

impl Attempt {
    async fn make(self, more_than: u64) -> Result<Stood, StoreError> {
        let Attempt { seat, store, clock, inbox, observer, phase, stopping } = self;
        let mut snapshot = Snapshot::default();
        let mut renewer = None;
        let (mut takeover, mut step) = Takeover::begin(clock.now().mono);
        loop {
            step = match step {
                Step::Bump => {
                    let standing = seat.shared.stand(&seat.candidate, more_than);
                    let election = within(ANSWER_WITHIN, "the election", standing).await?;
                    seat.health.well();
                    let term = match election {
                        Election::Follows(leader) => return Ok(Stood::Follows(leader)),
                        Election::Leads(term) => term,
                    };
                    info!(term = term.number, "was elected for term {term}, and loads");
                    phase.send_replace(Phase::TakingOver);
                    let answered = clock.now().mono;
                    let started = Renewer::start(&seat, term, clock.clone(), inbox.clone(), observer.clone());
                    renewer = Some((term, started));
                    takeover.bumped(answered, term)
                }
                Step::Load => {
                    let loading = within(LOAD_WITHIN, "the load", store.load());
                    let Some(loaded) = stopping.run_until_cancelled(loading).await else {
                        // Nobody renews a row that is given back.
                        if let Some((term, renewer)) = renewer {
                            drop(renewer);
                            seat.resign(term).await;
                        }
                        return Err(StoreError::Unavailable("the server stops".into()));
                    };
                    snapshot = loaded?;
                    takeover.loaded()
                }
                Step::Lead(reign) => {
                    // A leader is made by its election, which started this.
                    let missing = || StoreError::Failed("nobody renews the leader's row".into());
                    let (_, renewer) = renewer.ok_or_else(missing)?;
                    return Ok(Stood::Leads(Box::new(Won { reign, snapshot, renewer })));
                }
            };
        }
    }
}

impl Seat {
    /// The leader of this term leads no more, and whoever waits may take over at once.
    pub(crate) async fn resign(self, term: Term) {
        let resigned = tokio::time::timeout(RESIGN_WITHIN, self.shared.resign(term)).await;
        match resigned {
            Ok(Ok(())) => info!(term = term.number, "resigned from term {term}"),
            Ok(Err(cause)) => warn!("cannot resign from term {term}: {cause}"),
            Err(_) => warn!("cannot resign from term {term}: the store does not answer"),
        }
    }
}

async fn within<T>(
    longest: Duration,
    what: &str,
    call: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    match tokio::time::timeout(longest, call).await {
        Ok(answer) => answer,
        Err(_) => Err(StoreError::Unavailable(format!("{what} was not answered in {} s", longest.as_secs()))),
    }
}
