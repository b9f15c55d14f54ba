//! Jobs and attempts as they travel to programs.

use std::sync::Arc;

use ganger_core::change::AttemptRecord;
use ganger_core::dependency::Edge;
use ganger_core::filter::Filter;
use ganger_core::job::State;
use ganger_core::{JobId, Wall, limits};
use ganger_proto::v1;
use ganger_store::read::{ListQuery, StoredJob};
use prost_types::Timestamp;

use crate::http::problem::{Code, Problem};

/// A job. `worker` is the name of whoever runs it; without it, its session is shown.
pub(super) fn job(stored: StoredJob, worker: Option<String>) -> v1::Job {
    let (lease, last, end) = (stored.lease, stored.last_attempt, stored.end);
    let worker = lease.map(|lease| worker.unwrap_or_else(|| lease.session.to_string()));
    let threads = lease.map(|lease| lease.threads).or_else(|| last.as_ref().map(|last| last.threads));
    v1::Job {
        id: stored.id.to_string(),
        kind: stored.spec.kind.to_string(),
        queue: stored.spec.queue.to_string(),
        state: stored.state.as_str().into(),
        priority: stored.spec.priority.into(),
        payload: stored.spec.payload,
        attempt: lease.map_or(stored.standing.attempt, |lease| lease.attempt),
        max_attempts: stored.spec.options.max_attempts,
        created_at: Some(moment(stored.created_at)),
        due_at: Some(moment(stored.due_at)),
        finished_at: end.as_ref().map(|end| moment(end.at)),
        reason: end.as_ref().and_then(|end| end.reason.clone()).unwrap_or_default(),
        result: end.and_then(|end| end.result).unwrap_or_default(),
        tags: stored.spec.options.tags,
        unique_key: stored.spec.options.unique_key.unwrap_or_default(),
        worker: worker.or_else(|| last.as_ref().map(|last| last.worker.clone())).unwrap_or_default(),
        last_error: last.and_then(|last| last.error).unwrap_or_default(),
        threads: threads.unwrap_or_default().into(),
    }
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

/// What a program wants to see listed.
pub(super) fn query(wire: v1::ListRequest) -> Result<ListQuery, Problem> {
    let given = |text: String| (!text.is_empty()).then_some(text);
    let mut states = Vec::with_capacity(wire.states.len());
    for text in &wire.states {
        let state = ganger_core::job::State::parse(text);
        states.push(state.ok_or_else(|| Problem::parameter("states", "has a word that is not a state"))?);
    }
    let filter = match wire.q.trim().is_empty() {
        true => None,
        false => Some(Arc::new(Filter::parse(&wire.q).map_err(|error| Problem::filter("q", error))?)),
    };
    let limit = match usize::try_from(wire.limit).unwrap_or(usize::MAX) {
        0 => limits::PAGE_DEFAULT,
        limit if limit <= limits::PAGE_MAX => limit,
        limit => {
            let max = limits::PAGE_MAX;
            return Err(Problem::parameter("limit", format!("is {limit}, the limit is {max}")));
        }
    };
    Ok(ListQuery {
        states,
        queue: given(wire.queue).map(|text| named("queue", &text)).transpose()?,
        kind: given(wire.kind).map(|text| named("kind", &text)).transpose()?,
        tag: given(wire.tag),
        unique_key: given(wire.unique_key),
        created_from: wire.created_from.map(|at| wall("created_from", at)).transpose()?,
        created_before: wire.created_before.map(|at| wall("created_before", at)).transpose()?,
        filter,
        before: given(wire.cursor).map(|text| named("cursor", &text)).transpose()?,
        limit,
    })
}

fn named<T: std::str::FromStr<Err: std::fmt::Display>>(name: &str, text: &str) -> Result<T, Problem> {
    text.parse().map_err(|error: T::Err| Problem::new(Code::InvalidParameter, format!("`{name}`: {error}")))
}

fn moment(at: Wall) -> Timestamp {
    let nanos = i32::try_from(at.0.rem_euclid(1_000_000) * 1_000).unwrap_or(0);
    Timestamp { seconds: at.0.div_euclid(1_000_000), nanos }
}

fn wall(name: &str, at: Timestamp) -> Result<Wall, Problem> {
    let micros = at.seconds.checked_mul(1_000_000).and_then(|m| m.checked_add(i64::from(at.nanos / 1_000)));
    micros.map(Wall).ok_or_else(|| Problem::parameter(name, "is not a moment"))
}
