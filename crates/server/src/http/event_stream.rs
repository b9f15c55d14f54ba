//! `GET /v1/events`: what one client of the live events gets to see.

use std::collections::HashSet;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::IntoResponse as _;
use axum::response::sse::{Event as Frame, KeepAlive, Sse};
use futures::stream::{Stream, StreamExt as _, unfold};
use ganger_core::JobId;
use ganger_core::access::Caller;
use ganger_core::event::Event;
use ganger_core::name::QueueName;
use tokio::sync::broadcast::error::RecvError;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::App;
use super::events::{EventId, Hub, Live, Subscription, Told};
use super::problem::{Code, Problem};
use super::request::{Answer, Params};
use crate::api::ProblemBody;
use crate::auth::Asking;

/// A silent stream shows that it lives this often.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// Most jobs or queues that one stream can be narrowed to.
const NARROWED: usize = 64;
/// Most jobs on a screen whose changes can be followed.
const VISIBLE: usize = 100;
/// What a client can listen to.
const TOPICS: [&str; 7] = ["job", "attempt", "worker", "queue", "schedule", "operation", "counts"];

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(events))
}

/// Follow live events
///
/// Server-Sent Events. `Last-Event-ID` resumes; `event: gap` says that some were missed. `event: open` says that everything from now on
/// is told; its id is where to resume before anything has happened. `event: operation` is a bulk
/// operation that began, is over or is further, and `event: counts` the counts of states with how things are in one sentence, each at most
/// twice a second; these two have no id and are not told again. `event: slow` says that the server is busy and tells counts only every
/// `interval_ms`; 0 is as usual. The stream ends when its token is revoked or expires. Whoever is confined to some queues hears of
/// these only, and of nothing that is about all of them.
#[utoipa::path(get, path = "/v1/events", tag = "events",
    params(
        ("topics" = Option<String>, Query, description = "job, attempt, worker, queue, schedule, operation, counts; all if not given"),
        ("job" = Option<String>, Query, description = "Only events of these jobs"),
        ("visible" = Option<String>, Query,
            description = "Of the topics job and attempt, only these jobs, at most 100; other topics go on"),
        ("queue" = Option<String>, Query, description = "Only events of these queues"),
        ("Last-Event-ID" = Option<String>, Header, description = "The last event seen"),
    ),
    responses((status = 200, body = String, content_type = "text/event-stream"),
        (status = 503, body = ProblemBody, description = "Too many clients listen")))]
async fn events(State(app): State<App>, asking: Asking, params: Params, headers: HeaderMap) -> Answer {
    params.only(&["topics", "job", "queue", "visible"])?;
    let filter = Filter::read(&params)?;
    let last = headers.get("last-event-id").and_then(|value| value.to_str().ok());
    // An id that cannot be read is one that we do not have: the client learns that it missed something.
    let unknown = EventId { epoch: 0, number: 0 };
    let after = last.filter(|text| !text.is_empty()).map(|text| text.parse().unwrap_or(unknown));
    let Some(subscription) = app.events.subscribe(after) else {
        let most = app.options.event_clients;
        return Err(Problem::new(Code::TooManyStreams, format!("{most} clients listen already")));
    };
    let (service, caller) = (app.service.clone(), Arc::clone(&asking.0));
    let over = async move { asking.until_not_let_in(&service).await };
    let hearing = Hearing { filter, caller };
    let stream = frames(app.events.clone(), subscription, hearing).take_until(over);
    let mut response = Sse::new(stream).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response();
    // Proxies must pass events on as they come.
    response.headers_mut().insert("x-accel-buffering", axum::http::HeaderValue::from_static("no"));
    Ok(response)
}

/// What one client listens to.
#[derive(Debug, PartialEq, Eq)]
struct Filter {
    topics: Vec<&'static str>,
    jobs: Vec<JobId>,
    queues: Vec<QueueName>,
    /// Jobs on a screen: the only ones that are told of. Empty: no such narrowing.
    visible: HashSet<JobId>,
}

impl Filter {
    fn read(params: &Params) -> Result<Filter, Problem> {
        let mut topics = Vec::new();
        for text in params.many("topics") {
            match TOPICS.iter().find(|topic| **topic == text) {
                Some(topic) => topics.push(*topic),
                None => {
                    return Err(Problem::parameter("topics", format!("can be {}", TOPICS.join(", "))));
                }
            }
        }
        if topics.is_empty() {
            topics = TOPICS.to_vec();
        }
        Ok(Filter {
            topics,
            jobs: several(params, "job", NARROWED)?,
            queues: several(params, "queue", NARROWED)?,
            visible: several(params, "visible", VISIBLE)?.into_iter().collect(),
        })
    }

    fn wants(&self, event: &Event) -> bool {
        let (topic, job, queue) = about(event);
        self.topics.contains(&topic)
            && (self.visible.is_empty() || job.is_none_or(|job| self.visible.contains(&job)))
            && (self.jobs.is_empty() || job.is_some_and(|job| self.jobs.contains(&job)))
            && (self.queues.is_empty() || queue.is_some_and(|queue| self.queues.contains(queue)))
    }

    /// Bulk operations are about no one job or queue.
    fn wants_operations(&self) -> bool {
        self.topics.contains(&"operation") && self.jobs.is_empty() && self.queues.is_empty()
    }

    fn wants_counts(&self) -> bool {
        self.topics.contains(&"counts")
    }
}

/// What one client gets to hear: what it asked for, of what is his.
struct Hearing {
    filter: Filter,
    caller: Arc<Caller>,
}

impl Hearing {
    /// What names no queue may be about any.
    fn wants(&self, event: &Event) -> bool {
        let (_, _, queue) = about(event);
        let his = self.caller.queues.is_all() || queue.is_some_and(|queue| self.caller.sees(queue));
        his && self.filter.wants(event)
    }

    fn wants_operations(&self) -> bool {
        self.caller.queues.is_all() && self.filter.wants_operations()
    }

    fn wants_counts(&self) -> bool {
        self.caller.queues.is_all() && self.filter.wants_counts()
    }
}

fn several<T: std::str::FromStr<Err: std::fmt::Display>>(
    params: &Params,
    name: &str,
    most: usize,
) -> Result<Vec<T>, Problem> {
    let texts = params.many(name);
    if texts.len() > most {
        return Err(Problem::parameter(name, format!("has {} values, the limit is {most}", texts.len())));
    }
    let parse = |text: &str| text.parse().map_err(|e: T::Err| Problem::parameter(name, format!("{e}")));
    texts.into_iter().map(parse).collect()
}

/// Topic, job and queue of an event.
fn about(event: &Event) -> (&'static str, Option<JobId>, Option<&QueueName>) {
    match event {
        Event::Job { job, queue, .. } => ("job", Some(*job), Some(queue)),
        Event::Attempt { job, queue, .. } => ("attempt", Some(*job), Some(queue)),
        Event::LeaseLost { job, .. } => ("attempt", Some(*job), None),
        Event::Progress { job, .. } => ("job", Some(*job), None),
        Event::Worker { .. } => ("worker", None, None),
        Event::Queue { queue, .. } => ("queue", None, Some(queue)),
        Event::Occurrence { .. } | Event::ScheduleOverdue { .. } | Event::Schedule { .. } => {
            ("schedule", None, None)
        }
        Event::Difference { job, .. } => ("job", Some(*job), None),
    }
}

fn name(event: &Event) -> &'static str {
    match event {
        Event::Job { .. } => "job",
        Event::Attempt { .. } => "attempt",
        Event::LeaseLost { .. } => "lease_lost",
        Event::Progress { .. } => "progress",
        Event::Worker { .. } => "worker",
        Event::Queue { .. } => "queue",
        Event::Occurrence { .. } => "occurrence",
        Event::ScheduleOverdue { .. } => "schedule_overdue",
        Event::Schedule { .. } => "schedule",
        Event::Difference { .. } => "difference",
    }
}

struct Client {
    hub: Hub,
    subscription: Subscription,
    missed: std::vec::IntoIter<Told>,
    /// Where the stream begins, until that is told.
    at: Option<EventId>,
    hearing: Hearing,
}

fn frames(
    hub: Hub,
    mut subscription: Subscription,
    hearing: Hearing,
) -> impl Stream<Item = Result<Frame, Infallible>> {
    let missed = std::mem::take(&mut subscription.missed).into_iter();
    let at = Some(subscription.at);
    unfold(Client { hub, subscription, missed, at, hearing }, |mut client| async move {
        let frame = client.next().await?;
        Some((Ok(frame), client))
    })
}

impl Client {
    /// The next frame; `None` when the server stops.
    async fn next(&mut self) -> Option<Frame> {
        if std::mem::take(&mut self.subscription.gap) {
            return Some(gap(None));
        }
        for told in self.missed.by_ref() {
            if self.hearing.wants(told.event()) {
                return frame(&told);
            }
        }
        if let Some(at) = self.at.take() {
            return Some(Frame::default().id(at.to_string()).event("open").data("{}"));
        }
        loop {
            let subscription = &mut self.subscription;
            let _seated = &subscription.seat;
            tokio::select! {
                () = subscription.stopping.cancelled() => return None,
                received = subscription.live.recv() => match received {
                    Ok(Live::Told(told)) if self.hearing.wants(told.event()) => return frame(&told),
                    Ok(Live::Operation(json)) if self.hearing.wants_operations() => {
                        return Some(Frame::default().event("operation").data(json));
                    }
                    Ok(Live::Told(_) | Live::Operation(_)) => {}
                    Ok(Live::Missed(missed)) => return Some(gap(missed)),
                    Err(RecvError::Lagged(missed)) => {
                        self.hub.lagged(missed);
                        return Some(gap(Some(missed)));
                    }
                    Err(RecvError::Closed) => return None,
                },
                changed = subscription.pace.changed(), if self.hearing.wants_counts() => {
                    changed.ok()?;
                    let every = *subscription.pace.borrow_and_update();
                    return Some(Frame::default().event("slow").data(format!("{{\"interval_ms\":{every}}}")));
                }
                changed = subscription.counts.changed(), if self.hearing.wants_counts() => {
                    changed.ok()?;
                    let counts: Option<Arc<str>> = subscription.counts.borrow_and_update().clone();
                    if let Some(counts) = counts {
                        return Some(Frame::default().event("counts").data(counts));
                    }
                }
            }
        }
    }
}

fn frame(told: &Told) -> Option<Frame> {
    // An event is made of names, numbers and texts: it always serialises.
    let data = serde_json::to_string(told.event()).ok()?;
    Some(Frame::default().id(told.id.to_string()).event(name(told.event())).data(data))
}

fn gap(missed: Option<u64>) -> Frame {
    let data = missed.map_or("{}".into(), |n| format!("{{\"missed\":{n}}}"));
    Frame::default().event("gap").data(data)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ganger_core::Wall;
    use ganger_core::job::State;

    #[test]
    fn a_narrowed_stream_tells_only_what_was_asked_for() {
        let id = JobId::new(1, [1; 10]);
        let other = JobId::new(1, [2; 10]);
        let event = |job| Event::Job {
            job,
            queue: "mail".parse().unwrap(),
            kind: "noop".parse().unwrap(),
            state: State::Queued,
            attempt: 0,
            created_at: Wall(0),
            at: Wall(0),
        };
        let filter = |topics: &[&'static str], jobs: &[JobId], queues: &[&str]| Filter {
            topics: topics.to_vec(),
            jobs: jobs.to_vec(),
            queues: queues.iter().map(|q| q.parse().unwrap()).collect(),
            visible: HashSet::new(),
        };
        assert!(filter(&TOPICS, &[], &[]).wants(&event(id)));
        assert!(filter(&["job"], &[id], &["mail"]).wants(&event(id)));
        assert!(!filter(&["job"], &[id], &[]).wants(&event(other)));
        assert!(!filter(&["job"], &[], &["other"]).wants(&event(id)));
        assert!(!filter(&["worker"], &[], &[]).wants(&event(id)));
    }

    #[test]
    fn what_is_on_a_screen_narrows_jobs_and_nothing_else() {
        let (seen, unseen) = (JobId::new(1, [1; 10]), JobId::new(1, [2; 10]));
        let (topics, visible) = (TOPICS.to_vec(), HashSet::from([seen]));
        let filter = Filter { topics, jobs: Vec::new(), queues: Vec::new(), visible };
        let progress = |job| Event::Progress { job, fraction: 0.5, note: String::new() };
        assert!(filter.wants(&progress(seen)) && !filter.wants(&progress(unseen)));
        let queue = "mail".parse().unwrap();
        assert!(filter.wants(&Event::Queue { queue, paused: true, draining: false, at: Wall(0) }));
        assert!(filter.wants_operations() && filter.wants_counts());
    }
}
