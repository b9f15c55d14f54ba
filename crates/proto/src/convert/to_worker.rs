//! What the leader says: `ToWorker` on the wire, [`Down`] here.

use ganger_core::limits;
use ganger_core::message::{CancelWhy, ToWorker, Work};
use ganger_core::trace::TraceContext;

use super::parts::{self, at_most, duration_to_wire, uuid_to_wire};
use super::{DecodeError, Down, Parcel, Trace};
use crate::v1::{self, cancel::Why, to_worker::Message};

impl From<Down> for v1::ToWorker {
    fn from(down: Down) -> v1::ToWorker {
        let message = match down {
            Down::Assign(parcels) => assign(parcels),
            Down::Other(message) => plain(message),
        };
        v1::ToWorker { message: Some(message) }
    }
}

fn assign(parcels: Vec<Parcel>) -> Message {
    Message::Assign(v1::Assign { work: parcels.into_iter().map(Into::into).collect() })
}

fn plain(message: ToWorker) -> Message {
    match message {
        ToWorker::Welcome { term, ttl } => Message::Welcome(v1::Welcome {
            term: Some(term.into()),
            ttl: Some(duration_to_wire(ttl)),
            leader: String::new(),
        }),
        ToWorker::Pong { number } => Message::Pong(v1::Pong { number }),
        ToWorker::Assign(works) => {
            let bare = |work| Parcel { work, payload: "null".into(), trace: None };
            assign(works.into_iter().map(bare).collect())
        }
        ToWorker::Ack(fences) => {
            Message::Ack(v1::Ack { fences: fences.into_iter().map(Into::into).collect() })
        }
        ToWorker::Cancel { job, fence, why } => Message::Cancel(v1::Cancel {
            job: uuid_to_wire(job.uuid()),
            fence: Some(fence.into()),
            why: Why::from(why).into(),
        }),
        ToWorker::Marked { fence, stands } => {
            Message::Marked(v1::Marked { fence: Some(fence.into()), stands })
        }
        ToWorker::Drain => Message::Drain(v1::Drain {}),
        ToWorker::Gone => Message::Gone(v1::Gone {}),
    }
}

impl TryFrom<v1::ToWorker> for Down {
    type Error = DecodeError;

    fn try_from(wire: v1::ToWorker) -> Result<Down, DecodeError> {
        let message = match wire.message.ok_or(DecodeError::Missing("message"))? {
            Message::Assign(v1::Assign { work }) => {
                at_most("assign.work", work.len(), limits::ASSIGN_LEASES, "leases")?;
                let mut parcels: Vec<Parcel> = Vec::with_capacity(work.len());
                for work in work {
                    parcels.push(parcel(work, parcels.last().map(|last| &last.work))?);
                }
                return Ok(Down::Assign(parcels));
            }
            Message::Welcome(welcome) => ToWorker::Welcome {
                term: welcome.term.ok_or(DecodeError::Missing("welcome.term"))?.into(),
                ttl: parts::duration("welcome.ttl", welcome.ttl.ok_or(DecodeError::Missing("welcome.ttl"))?)?,
            },
            Message::Pong(v1::Pong { number }) => ToWorker::Pong { number },
            Message::Ack(v1::Ack { fences }) => {
                let fences: Result<Vec<_>, _> = fences.into_iter().map(|f| parts::fence(Some(f))).collect();
                ToWorker::Ack(fences?)
            }
            Message::Cancel(cancel) => ToWorker::Cancel {
                job: parts::job_id_from_wire(&cancel.job)?,
                fence: parts::fence(cancel.fence)?,
                why: why(cancel.why())?,
            },
            Message::Marked(v1::Marked { fence, stands }) => {
                ToWorker::Marked { fence: parts::fence(fence)?, stands }
            }
            Message::Drain(v1::Drain {}) => ToWorker::Drain,
            Message::Gone(v1::Gone {}) => ToWorker::Gone,
        };
        Ok(Down::Other(message))
    }
}

impl From<Parcel> for v1::Work {
    fn from(parcel: Parcel) -> v1::Work {
        let work = parcel.work;
        let trace = parcel.trace.map(|trace| *trace);
        v1::Work {
            job: uuid_to_wire(work.job.uuid()),
            fence: Some(work.fence.into()),
            attempt: work.attempt,
            threads: work.threads.into(),
            kind: work.kind.as_str().to_owned(),
            queue: work.queue.as_str().to_owned(),
            payload: parcel.payload,
            timeout: work.timeout.map(duration_to_wire),
            max_attempts: work.max_attempts,
            traceparent: trace.as_ref().map(|trace| trace.context.parent.to_string()).unwrap_or_default(),
            waited: trace.as_ref().map(|trace| duration_to_wire(trace.waited)),
            occurrence: trace.as_ref().is_some_and(|trace| trace.occurrence),
            tracestate: trace.map(|trace| trace.context.state).unwrap_or_default(),
        }
    }
}

impl TryFrom<v1::Work> for Parcel {
    type Error = DecodeError;

    fn try_from(wire: v1::Work) -> Result<Parcel, DecodeError> {
        parcel(wire, None)
    }
}

/// Reads one lease. Most of an assignment have the names of the one before, which are then shared.
fn parcel(wire: v1::Work, before: Option<&Work>) -> Result<Parcel, DecodeError> {
    Ok(Parcel {
        work: Work {
            job: parts::job_id_from_wire(&wire.job)?,
            fence: parts::fence(wire.fence)?,
            attempt: wire.attempt,
            threads: parts::threads("work.threads", wire.threads)?,
            kind: match before {
                Some(before) if before.kind.as_str() == wire.kind => before.kind.clone(),
                Some(_) | None => parts::name("work.kind", &wire.kind)?,
            },
            queue: match before {
                Some(before) if before.queue.as_str() == wire.queue => before.queue.clone(),
                Some(_) | None => parts::name("work.queue", &wire.queue)?,
            },
            timeout: wire.timeout.map(|t| parts::duration("work.timeout", t)).transpose()?,
            max_attempts: wire.max_attempts,
        },
        trace: trace(&wire.traceparent, &wire.tracestate, wire.waited, wire.occurrence),
        payload: if wire.payload.is_empty() { "null".into() } else { wire.payload },
    })
}

fn trace(
    traceparent: &str,
    tracestate: &str,
    waited: Option<prost_types::Duration>,
    occurrence: bool,
) -> Option<Box<Trace>> {
    let context = TraceContext::read(Some(traceparent), Some(tracestate))?;
    Some(Box::new(Trace { context, waited: parts::duration_clamped(waited), occurrence }))
}

impl From<CancelWhy> for Why {
    fn from(why: CancelWhy) -> Why {
        match why {
            CancelWhy::Cancelled => Why::Cancelled,
            CancelWhy::Timeout => Why::Timeout,
            CancelWhy::Lapsed => Why::Lapsed,
            CancelWhy::LeaseLost => Why::LeaseLost,
            CancelWhy::Draining => Why::Draining,
        }
    }
}

fn why(wire: Why) -> Result<CancelWhy, DecodeError> {
    match wire {
        // Also what a reason of a later version reads as: stopping is what matters.
        Why::Unspecified | Why::Cancelled => Ok(CancelWhy::Cancelled),
        Why::Timeout => Ok(CancelWhy::Timeout),
        Why::Lapsed => Ok(CancelWhy::Lapsed),
        Why::LeaseLost => Ok(CancelWhy::LeaseLost),
        Why::Draining => Ok(CancelWhy::Draining),
    }
}
