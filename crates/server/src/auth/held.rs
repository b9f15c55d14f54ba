//! What callers have open at this moment, against [`Bounds`].
//!
//! Only callers that can be told apart are counted. Streams of events have a bound for all together besides, and the last of
//! them are kept for callers who have none: however many streams a few viewers open, an operator gets his.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::http::request::Parts;
use axum::http::{Method, Uri};
use axum::response::Response;
use bytes::Bytes;
use ganger_core::access::{Access, Bound, Bounds, Caller, Permission, Who};
use ganger_core::{Mono, limits};
use hyper::body::{Frame, SizeHint};
use tokio::time::Sleep;

use crate::clock::Clock;
use crate::http::problem::{Code, Problem};

/// Streams of events that are kept for callers who have none.
const RESERVED_STREAMS: usize = 32;
/// Callers whose pace of enqueueing is remembered; those who owe nothing are forgotten first.
const PACES: usize = 10_000;

/// Who has how much. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct HeldByCallers(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    bounds: Bounds,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    held: HashMap<(Bound, String), usize>,
    streams: usize,
    /// When each caller's bytes will be worked off.
    paid_at: HashMap<String, Mono>,
}

/// One thing that a caller has, until it is dropped.
#[derive(Debug)]
pub(crate) struct Held {
    of: HeldByCallers,
    bound: Bound,
    who: String,
}

impl HeldByCallers {
    pub(super) fn new(bounds: Bounds) -> HeldByCallers {
        HeldByCallers(Arc::new(Inner { bounds, table: Mutex::default() }))
    }

    /// Counts what a request opens.
    ///
    /// # Errors
    /// The caller has too many of these.
    pub(super) fn take(&self, request: &Parts, caller: &Caller) -> Result<Option<Held>, Problem> {
        if caller.who == Who::Anyone {
            return Ok(None);
        }
        let Some(bound) = opened(&request.method, &request.uri) else { return Ok(None) };
        self.hold(bound, caller.who.to_string()).map(Some)
    }

    fn hold(&self, bound: Bound, who: String) -> Result<Held, Problem> {
        let most = self.0.bounds.of(bound);
        let mut table = self.table();
        let own = table.held.get(&(bound, who.clone())).copied().unwrap_or(0);
        if own >= most {
            let detail = format!(
                "this caller has {own} of `{}` open, which is the limit; close some, or raise it with --limit {}=NUMBER",
                bound.as_str(),
                bound.as_str()
            );
            return Err(Problem::new(Code::RateLimited, detail).after(1));
        }
        if bound == Bound::EventStreams {
            if own > 0 && table.streams + RESERVED_STREAMS >= limits::EVENT_STREAMS {
                let detail = "the last streams are for callers who have none; close one of yours";
                return Err(Problem::new(Code::TooManyStreams, detail));
            }
            table.streams += 1;
        }
        *table.held.entry((bound, who.clone())).or_default() += 1;
        drop(table);
        Ok(Held { of: self.clone(), bound, who })
    }

    /// The body of a request, read no faster than its caller may enqueue.
    pub(super) fn paced(&self, body: Body, access: Access, caller: &Caller, clock: &Clock) -> Body {
        let enqueues = matches!(access, Access::Needs(Permission::Enqueue, _));
        if !enqueues || caller.who == Who::Anyone || body.is_end_stream() {
            return body;
        }
        let (held, who, clock) = (self.clone(), caller.who.to_string(), clock.clone());
        Body::new(Paced { body, held, who, clock, waiting: None })
    }

    /// Counts bytes; how long to wait before more are read.
    fn pay(&self, who: &str, bytes: usize, now: Mono) -> Duration {
        let per_second = self.0.bounds.of(Bound::EnqueueBytes).max(1);
        let cost = Duration::from_secs_f64(bytes as f64 / per_second as f64);
        let mut table = self.table();
        if table.paid_at.len() >= PACES {
            table.paid_at.retain(|_, at| *at > now);
        }
        let paid = table.paid_at.get(who).copied().unwrap_or(now).max(now) + cost;
        table.paid_at.insert(who.to_owned(), paid);
        // Two seconds' worth may come at once.
        paid.since(now).saturating_sub(Duration::from_secs(2))
    }

    /// A panic while the lock is held leaves whole numbers.
    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut table = self.of.table();
        if self.bound == Bound::EventStreams {
            table.streams -= 1;
        }
        let key = (self.bound, std::mem::take(&mut self.who));
        match table.held.get_mut(&key) {
            Some(held) if *held > 1 => *held -= 1,
            Some(_) | None => drop(table.held.remove(&key)),
        }
    }
}

/// What a request keeps open for as long as it is answered.
fn opened(method: &Method, uri: &Uri) -> Option<Bound> {
    let waits = || {
        let pairs = uri.query().unwrap_or_default().split('&');
        pairs.filter_map(|pair| pair.split_once('=')).any(|(name, _)| name == "wait")
    };
    match (method, uri.path()) {
        (&Method::GET, "/v1/events") => Some(Bound::EventStreams),
        (&Method::POST, "/v1/jobs:import" | "/v1/jobs%3Aimport" | "/v1/jobs%3aimport") => {
            Some(Bound::Imports)
        }
        (&Method::POST, "/ganger.v1.Worker/Session") => Some(Bound::Sessions),
        // Over gRPC any read of a job may wait: the body says so, and is not read here.
        (&Method::POST, "/ganger.v1.Jobs/Get") => Some(Bound::Waits),
        (&Method::GET, _) if waits() => Some(Bound::Waits),
        (_, _) => None,
    }
}

/// The answer, which gives back what was held when it is over.
pub(super) fn until_over(answer: Response, held: Option<Held>) -> Response {
    match held {
        None => answer,
        Some(held) => answer.map(|body| Body::new(Answer { body, _held: held })),
    }
}

struct Answer {
    body: Body,
    _held: Held,
}

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A body that is read at its caller's pace.
struct Paced {
    body: Body,
    held: HeldByCallers,
    who: String,
    clock: Clock,
    /// What was read and is not due yet.
    waiting: Option<(Pin<Box<Sleep>>, Frame<Bytes>)>,
}

impl HttpBody for Paced {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if let Some((rest, _)) = &mut self.waiting {
            ready!(rest.as_mut().poll(cx));
            return Poll::Ready(self.waiting.take().map(|(_, frame)| Ok(frame)));
        }
        let frame = match ready!(Pin::new(&mut self.body).poll_frame(cx)) {
            Some(Ok(frame)) => frame,
            other => return Poll::Ready(other),
        };
        let bytes = frame.data_ref().map_or(0, Bytes::len);
        let wait = self.held.pay(&self.who, bytes, self.clock.now().mono);
        if wait.is_zero() {
            return Poll::Ready(Some(Ok(frame)));
        }
        let mut rest = Box::pin(tokio::time::sleep(wait));
        // It was just made, so it is not over; polled, it wakes this task.
        let _ = rest.as_mut().poll(cx);
        self.waiting = Some((rest, frame));
        Poll::Pending
    }

    fn is_end_stream(&self) -> bool {
        self.waiting.is_none() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let rest = self.body.size_hint();
        let read = self.waiting.as_ref().and_then(|(_, frame)| frame.data_ref()).map_or(0, Bytes::len) as u64;
        let mut hint = SizeHint::new();
        hint.set_lower(rest.lower().saturating_add(read));
        if let Some(upper) = rest.upper() {
            hint.set_upper(upper.saturating_add(read));
        }
        hint
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(bound: Bound, value: usize) -> HeldByCallers {
        HeldByCallers::new(Bounds::default().with(bound, value))
    }

    #[test]
    fn a_caller_has_as_many_as_the_bound_and_others_have_theirs() {
        let held = of(Bound::Waits, 3);
        let mut mine: Vec<Held> = (0..3).map(|_| held.hold(Bound::Waits, "a".into()).unwrap()).collect();
        let refused = held.hold(Bound::Waits, "a".into()).unwrap_err();
        assert!(refused.detail.contains("--limit waits="), "{}", refused.detail);
        assert!(held.hold(Bound::Waits, "b".into()).is_ok());
        mine.pop();
        assert!(held.hold(Bound::Waits, "a".into()).is_ok());
        mine.clear();
        assert!(held.table().held.is_empty(), "nothing is kept of who was here");
    }

    #[test]
    fn the_last_streams_are_for_callers_who_have_none() {
        let held = of(Bound::EventStreams, limits::EVENT_STREAMS);
        let stream = |who: &str| held.hold(Bound::EventStreams, who.into());
        let most = limits::EVENT_STREAMS - RESERVED_STREAMS;
        let greedy: Vec<Held> = (0..most).map(|_| stream("viewer").unwrap()).collect();
        assert_eq!(stream("viewer").unwrap_err().code, Code::TooManyStreams);
        let admin = stream("admin").unwrap();
        assert_eq!(stream("admin").unwrap_err().code, Code::TooManyStreams, "he has one");
        drop((greedy, admin));
        assert_eq!(held.table().streams, 0);
    }

    #[test]
    fn bytes_come_as_fast_as_they_may_after_two_seconds_worth() {
        let held = of(Bound::EnqueueBytes, 1_000);
        assert_eq!(held.pay("a", 2_000, Mono(0)), Duration::ZERO);
        assert_eq!(held.pay("a", 1_000, Mono(0)), Duration::from_secs(1));
        assert_eq!(held.pay("b", 2_000, Mono(0)), Duration::ZERO, "others have their own pace");
        assert_eq!(held.pay("a", 0, Mono(3_000_000)), Duration::ZERO);
    }

    #[test]
    fn what_stays_open_is_told_by_its_request() {
        let of = |method, path: &str| opened(&method, &path.parse().unwrap());
        assert_eq!(of(Method::GET, "/v1/events?topics=job"), Some(Bound::EventStreams));
        assert_eq!(of(Method::GET, "/v1/jobs/job_1?wait=30s"), Some(Bound::Waits));
        assert_eq!(of(Method::GET, "/v1/jobs/job_1?awaits=1"), None);
        assert_eq!(of(Method::POST, "/v1/jobs:import"), Some(Bound::Imports));
        assert_eq!(of(Method::POST, "/ganger.v1.Worker/Session"), Some(Bound::Sessions));
        assert_eq!(of(Method::GET, "/v1/jobs"), None);
    }
}
