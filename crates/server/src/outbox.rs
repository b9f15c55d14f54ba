//! What goes to one worker, in order, with the payloads that belong to it.
//!
//! Order matters: an acknowledgement that overtook the repetition of its own lease would make the
//! worker run it again. So everything waits behind an assignment whose payloads are still being
//! read, with one exception: a pong. It answers the worker's own ping and nothing else, and without it
//! trouble with reading the store would let healthy sessions lapse.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use ganger_core::message::{AttemptReport, ToLeader, ToWorker, Work};
use ganger_core::outcome::Report;
use ganger_core::{Fence, SessionId, limits};
use ganger_proto::{Down, Parcel};
use tokio::sync::mpsc;
use tracing::warn;

use crate::clock::Clock;
use crate::gateway::{Gateway, OUTBOX, Outgoing};
use crate::inbox::Inbox;
use crate::payloads::{Payloads, TRACE_BYTES};

/// Bytes of payloads in one message; a larger payload travels alone.
pub const MESSAGE_BYTES: usize = 1 << 20;
/// Wait before payloads are read again, the first time.
const READ_AGAIN: Duration = Duration::from_millis(50);
/// Wait before payloads are read again, at the most.
const READ_AGAIN_MAX: Duration = Duration::from_secs(1);

/// The receiving end of a worker's stream. Dropping it closes the stream.
pub struct Outbox {
    session: SessionId,
    stream: u64,
    waiting: mpsc::Receiver<Outgoing>,
    gateway: Gateway,
    reader: Reader,
    /// Behind the assignment that is being read.
    held: VecDeque<Outgoing>,
    reading: Option<BoxFuture<'static, Vec<Parcel>>>,
}

/// What comes out.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// Send this. An assignment comes whole; [`split`] makes messages of it.
    Down(Down),
    /// See [`Outgoing::LeaseLost`].
    LeaseLost(Fence),
}

#[derive(Clone)]
struct Reader {
    session: SessionId,
    stream: u64,
    payloads: Arc<Payloads>,
    inbox: Inbox,
    clock: Clock,
}

impl Outbox {
    pub(crate) fn new(
        session: SessionId,
        stream: u64,
        waiting: mpsc::Receiver<Outgoing>,
        gateway: Gateway,
        payloads: Arc<Payloads>,
        inbox: Inbox,
        clock: Clock,
    ) -> Outbox {
        let reader = Reader { session, stream, payloads, inbox, clock };
        Outbox { session, stream, waiting, gateway, reader, held: VecDeque::new(), reading: None }
    }

    /// The next item; `None` when the stream is closed. Giving up the future loses nothing.
    pub async fn next(&mut self) -> Option<Item> {
        loop {
            let next = match &mut self.reading {
                None => match self.held.pop_front() {
                    Some(next) => next,
                    None => self.waiting.recv().await?,
                },
                Some(reading) => tokio::select! {
                    parcels = reading => {
                        self.reading = None;
                        if parcels.is_empty() {
                            continue;
                        }
                        return Some(Item::Down(Down::Assign(parcels)));
                    }
                    next = self.waiting.recv(), if self.held.len() < OUTBOX => match next? {
                        pong @ Outgoing::Say(ToWorker::Pong { .. }) => pong,
                        later @ (Outgoing::Say(_) | Outgoing::LeaseLost(_)) => {
                            self.held.push_back(later);
                            continue;
                        }
                    },
                },
            };
            match next {
                Outgoing::LeaseLost(fence) => return Some(Item::LeaseLost(fence)),
                Outgoing::Say(ToWorker::Assign(works)) => match self.reader.at_hand(works) {
                    Ok(parcels) => return Some(Item::Down(Down::Assign(parcels))),
                    Err(works) => self.reading = Some(self.reader.clone().read(works).boxed()),
                },
                Outgoing::Say(message) => return Some(Item::Down(Down::Other(message))),
            }
        }
    }
}

impl Drop for Outbox {
    fn drop(&mut self) {
        self.gateway.close(self.session, self.stream);
    }
}

impl Reader {
    fn at_hand(&self, works: Vec<Work>) -> Result<Vec<Parcel>, Vec<Work>> {
        self.payloads.at_hand(works, self.clock.now().wall)
    }

    /// Reads until the store answers: an assignment must not be lost. Ends with its stream at the
    /// latest, because the leases are sent again on the next one.
    async fn read(self, works: Vec<Work>) -> Vec<Parcel> {
        let mut pause = READ_AGAIN;
        loop {
            match self.payloads.read(&works, self.clock.now().wall).await {
                Ok(found) => {
                    self.hand_back(found.ended).await;
                    return found.parcels;
                }
                Err(error) => {
                    warn!(worker.session = %self.session, "cannot read payloads for {}: {error}", self.session);
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(READ_AGAIN_MAX);
                }
            }
        }
    }

    /// Leases of jobs that ended before their worker heard of them: nobody would ever report, and
    /// their threads would stay occupied.
    async fn hand_back(&self, ended: Vec<Work>) {
        for works in ended.chunks(limits::RESULTS_PER_MESSAGE) {
            let reports = works.iter().map(|work| AttemptReport {
                job: work.job,
                fence: work.fence,
                report: Report::Released { started: false },
                ran: Duration::ZERO,
            });
            let message = ToLeader::Results(reports.collect());
            self.inbox.from_worker(self.session, self.stream, message).await;
        }
    }
}

/// Cuts an assignment into messages of bounded size, in order.
#[must_use]
pub fn split(parcels: Vec<Parcel>) -> VecDeque<Vec<Parcel>> {
    let mut messages = VecDeque::new();
    let mut message: Vec<Parcel> = Vec::new();
    let mut bytes = 0;
    for parcel in parcels {
        let size = parcel.payload.len()
            + parcel.trace.as_ref().map_or(0, |trace| trace.context.state.len() + TRACE_BYTES);
        let full = message.len() == limits::ASSIGN_LEASES || bytes + size > MESSAGE_BYTES;
        if full && !message.is_empty() {
            messages.push_back(std::mem::take(&mut message));
            bytes = 0;
        }
        bytes += size;
        message.push(parcel);
    }
    if !message.is_empty() {
        messages.push_back(message);
    }
    messages
}

impl fmt::Debug for Outbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outbox")
            .field("session", &self.session)
            .field("stream", &self.stream)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ganger_core::{JobId, Term};

    fn parcel(seq: u64, bytes: usize) -> Parcel {
        Parcel {
            work: Work {
                job: JobId::new(seq, [0; 10]),
                fence: Fence { term: Term::default(), seq },
                attempt: 1,
                threads: 1,
                kind: "k".parse().unwrap(),
                queue: "q".parse().unwrap(),
                timeout: None,
                max_attempts: 1,
            },
            payload: "x".repeat(bytes),
            trace: None,
        }
    }

    fn sizes(parcels: Vec<Parcel>) -> Vec<usize> {
        let order: Vec<u64> = parcels.iter().map(|p| p.work.fence.seq).collect();
        let messages = split(parcels);
        let kept: Vec<u64> = messages.iter().flatten().map(|p| p.work.fence.seq).collect();
        assert_eq!(kept, order, "whole and in order");
        messages.iter().map(Vec::len).collect()
    }

    #[test]
    fn a_message_holds_its_bound_of_leases_and_one_more_begins_the_next() {
        let small = |n: u64| (0..n).map(|seq| parcel(seq, 1)).collect();
        assert_eq!(sizes(small(0)), [0; 0]);
        assert_eq!(sizes(small(limits::ASSIGN_LEASES as u64)), [limits::ASSIGN_LEASES]);
        assert_eq!(sizes(small(limits::ASSIGN_LEASES as u64 + 1)), [limits::ASSIGN_LEASES, 1]);
    }

    #[test]
    fn a_message_holds_its_bound_of_bytes_and_a_larger_payload_travels_alone() {
        let half = MESSAGE_BYTES / 2;
        assert_eq!(sizes(vec![parcel(1, half), parcel(2, half)]), [2]);
        assert_eq!(sizes(vec![parcel(1, half), parcel(2, half + 1)]), [1, 1]);
        let large = vec![parcel(1, 1), parcel(2, MESSAGE_BYTES + 1), parcel(3, 1), parcel(4, 1)];
        assert_eq!(sizes(large), [1, 1, 2]);
    }
}
