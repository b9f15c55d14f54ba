//! Jobs and attempts as they travel to programs.

use std::borrow::Cow;
use std::sync::Arc;

use ganger_core::change::AttemptRecord;
use ganger_core::coordinator::view::{Explanation, QueueAhead};
use ganger_core::dependency::Edge;
use ganger_core::filter::Filter;
use ganger_core::fingerprint::Fingerprint;
use ganger_core::job::State;
use ganger_core::outcome::Outcome;
use ganger_core::{JobId, limits, redact};
use ganger_proto::convert::{duration_to_wire, moment_to_wire as moment};
use ganger_proto::v1;
use ganger_store::read::{ListQuery, StoredJob};

use super::read::{self, given, named_if};
use crate::api::JobEventBody;
use crate::auth::Asking;
use crate::http::cursor;
use crate::http::problem::Problem;
use crate::service::{Bucket, Histogram, JobView};

/// A job. Without the name of whoever runs it, its session is shown.
pub(super) fn job(view: JobView) -> v1::Job {
    let JobView { stored, progress, worker } = view;
    let (lease, last, end) = (stored.lease, stored.last_attempt, stored.end);
    let o = stored.spec.options;
    let (schedule, schedule_due_at) =
        o.schedule.map(|origin| (origin.name.to_string(), moment(origin.due_at))).unzip();
    let worker = lease.map(|lease| worker.unwrap_or_else(|| lease.session.to_string()));
    let threads = lease.map(|lease| lease.threads).or_else(|| last.as_ref().map(|last| last.threads));
    let failure = last
        .as_ref()
        .and_then(|last| Fingerprint::of(stored.spec.kind.as_str(), last.outcome, last.error.as_deref()));
    v1::Job {
        id: stored.id.to_string(),
        kind: stored.spec.kind.to_string(),
        queue: stored.spec.queue.to_string(),
        state: stored.state.as_str().into(),
        priority: stored.spec.priority.into(),
        payload: stored.spec.payload,
        attempt: lease.map_or(stored.standing.attempt, |lease| lease.attempt),
        max_attempts: o.max_attempts,
        created_at: Some(moment(stored.created_at)),
        due_at: Some(moment(stored.due_at)),
        finished_at: end.as_ref().map(|end| moment(end.at)),
        reason: end.as_ref().and_then(|end| end.reason.clone()).unwrap_or_default(),
        result: end.and_then(|end| end.result).unwrap_or_default(),
        tags: o.tags,
        unique_key: o.unique_key.unwrap_or_default(),
        expires_at: o.expires_at.map(moment),
        concurrency_key: o.concurrency_key.unwrap_or_default(),
        fair_key: o.fair_key.unwrap_or_default(),
        schedule: schedule.unwrap_or_default(),
        schedule_due_at,
        progress: progress.map(|(fraction, note)| v1::JobProgress { fraction, note }),
        cancel_requested: stored.cancel_wanted,
        worker: worker.or_else(|| last.as_ref().map(|last| last.worker.clone())).unwrap_or_default(),
        failure: failure.map(|group| group.to_string()).unwrap_or_default(),
        last_error: last.and_then(|last| last.error).unwrap_or_default(),
        threads: threads.unwrap_or_default().into(),
    }
}

/// The same where many jobs are shown: fields that are named like secrets are hidden.
pub(super) fn hidden(mut job: v1::Job) -> v1::Job {
    for text in [&mut job.payload, &mut job.result] {
        if let Cow::Owned(hidden) = redact::json(text) {
            *text = hidden;
        }
    }
    job
}

/// The same for that caller: who may not read payloads sees neither payload nor result.
pub(super) fn to(asking: Option<&Asking>, view: JobView) -> v1::Job {
    let mut job = job(view);
    if !asking.is_some_and(Asking::reads_payloads) {
        job.payload.clear();
        job.result.clear();
    }
    job
}

/// A job that is related to another one by this edge.
pub(super) fn related(id: JobId, edge: Edge, job: Option<StoredJob>) -> v1::RelatedJob {
    let (state, spec) = job.map(|job| (job.state, job.spec)).unzip();
    let (kind, queue) = spec.map(|spec| (spec.kind.to_string(), spec.queue.to_string())).unzip();
    let word = |state: Option<State>| state.map(|state| state.as_str().to_owned()).unwrap_or_default();
    v1::RelatedJob {
        id: id.to_string(),
        state: word(state),
        kind: kind.unwrap_or_default(),
        queue: queue.unwrap_or_default(),
        on_dead: edge.on_dead.as_str().into(),
        settled: word(edge.ended),
    }
}

pub(super) fn attempt(record: AttemptRecord) -> v1::Attempt {
    v1::Attempt {
        number: record.number,
        outcome: record.outcome.as_str().into(),
        error: record.error.unwrap_or_default(),
        worker: record.worker,
        threads: record.threads.into(),
        leased_at: Some(moment(record.leased_at)),
        started_at: Some(moment(record.started_at)),
        ended_at: Some(moment(record.ended_at)),
    }
}

/// Why a job is, or is not, running.
pub(super) fn explanation(explanation: Explanation) -> v1::ExplainResponse {
    let gates = explanation.gates.into_iter().map(|gate| v1::Gate {
        gate: gate.gate.to_string(),
        closed: gate.closed,
        evidence: gate.evidence,
    });
    v1::ExplainResponse {
        id: explanation.job.to_string(),
        state: explanation.state.as_str().into(),
        summary: explanation.summary,
        gates: gates.collect(),
        position: explanation.position.map(|p| v1::Position {
            ahead: p.ahead as u64,
            exact: p.exact,
            other_queues: p.others.into_iter().map(queue_ahead).collect(),
        }),
        estimate: explanation.estimate.map(duration_to_wire),
        per_second: explanation.pace,
        next_step: explanation.next_step.unwrap_or_default(),
    }
}

/// Jobs of another queue that come first.
pub(super) fn queue_ahead(QueueAhead { queue, jobs }: QueueAhead) -> v1::QueueAhead {
    v1::QueueAhead { queue: queue.map(|queue| queue.to_string()).unwrap_or_default(), jobs }
}

/// Something that happened to a job.
pub(super) fn event(event: JobEventBody) -> v1::JobEvent {
    v1::JobEvent {
        at: Some(moment(event.at)),
        event: event.event,
        attempt: event.attempt.unwrap_or_default(),
        worker: event.worker.unwrap_or_default(),
        outcome: event.outcome.map_or("", Outcome::as_str).to_owned(),
        who: event.who.unwrap_or_default(),
        text: event.text.unwrap_or_default(),
    }
}

/// Matches over time.
pub(super) fn histogram(histogram: Histogram) -> v1::HistogramResponse {
    let bucket = |bucket: Bucket| v1::Bucket {
        at: Some(moment(bucket.at)),
        count: bucket.count,
        states: bucket.states.iter().map(|(state, n)| (state.as_str().to_owned(), *n)).collect(),
    };
    v1::HistogramResponse {
        matched: histogram.matched,
        step: Some(duration_to_wire(histogram.step)),
        buckets: histogram.buckets.into_iter().map(bucket).collect(),
        examined: histogram.survey.examined as u64,
        complete: histogram.survey.complete,
    }
}

/// What a program wants to see listed, of what it may see.
pub(super) fn query(wire: v1::ListRequest, asking: &Asking) -> Result<ListQuery, Problem> {
    let mut states = Vec::with_capacity(wire.states.len().min(State::ALL.len()));
    for text in &wire.states {
        let state = State::parse(text)
            .ok_or_else(|| Problem::parameter("states", "has a word that is not a state"))?;
        if !states.contains(&state) {
            states.push(state);
        }
    }
    let filter = match wire.q.trim().is_empty() {
        true => None,
        false => Some(Arc::new(Filter::parse(&wire.q).map_err(|error| Problem::filter("q", error))?)),
    };
    let query = ListQuery {
        states,
        queue: named_if("queue", &wire.queue)?,
        kind: named_if("kind", &wire.kind)?,
        tag: bounded("tag", wire.tag, limits::TAG_BYTES)?,
        unique_key: bounded("unique_key", wire.unique_key, limits::KEY_BYTES)?,
        created_from: read::moment("created_from", wire.created_from)?,
        created_before: read::moment("created_before", wire.created_before)?,
        filter,
        before: None,
        limit: read::limit(wire.limit, limits::PAGE_MAX)?,
    };
    let mut query = asking.confine(query)?;
    if !wire.cursor.is_empty() {
        query.before = Some(cursor::decode(&query, &wire.cursor)?);
    }
    Ok(query)
}

fn bounded(field: &str, text: String, most: usize) -> Result<Option<String>, Problem> {
    if text.len() > most {
        return Err(Problem::parameter(field, format!("has {} bytes, the limit is {most}", text.len())));
    }
    Ok(given(text))
}
