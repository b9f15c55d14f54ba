//! A job as a client asks for it: `NewJob` on the wire, `JobSpec` in core.

use std::time::Duration;

use ganger_core::JobId;
use ganger_core::dependency::{self, Dependency, OnDead};
use ganger_core::job::{Fallback, JobOptions, JobSpec};
use ganger_core::limits;
use ganger_core::retry::RetryPolicy;
use ganger_core::trace::TraceContext;

use super::DecodeError;
use super::parts::{self, at_most, duration_to_wire, moment_to_wire};
use crate::v1;

impl From<JobSpec> for v1::NewJob {
    fn from(spec: JobSpec) -> v1::NewJob {
        let o = spec.options;
        v1::NewJob {
            kind: spec.kind.to_string(),
            queue: spec.queue.to_string(),
            payload: spec.payload,
            priority: spec.priority.into(),
            run_at: spec.run_at.map(moment_to_wire),
            expires_at: o.expires_at.map(moment_to_wire),
            threads: o.threads.into(),
            min_threads: o.min_threads.into(),
            fallback: match o.fallback {
                Fallback::Widest => "widest".into(),
                Fallback::Single => "single".into(),
            },
            require: o.require.into_iter().collect(),
            max_attempts: o.max_attempts,
            retry: Some(v1::RetryPolicy {
                base: Some(duration_to_wire(o.retry.base)),
                factor: o.retry.factor,
                max: Some(duration_to_wire(o.retry.max)),
                jitter: o.retry.jitter,
            }),
            // Zero is how the wire says "none"; absent would mean the default.
            timeout: Some(duration_to_wire(o.timeout.unwrap_or_default())),
            max_lost: o.max_lost,
            unique_key: o.unique_key.unwrap_or_default(),
            unique_for: Some(duration_to_wire(o.unique_for)),
            tags: o.tags,
            traceparent: o.traceparent.unwrap_or_default(),
            tracestate: o.tracestate.unwrap_or_default(),
            concurrency_key: o.concurrency_key.unwrap_or_default(),
            fair_key: o.fair_key.unwrap_or_default(),
            fair_weight: o.fair_weight.into(),
            depends_on: spec.depends_on.into_iter().map(parent_to_wire).collect(),
        }
    }
}

/// Reads a submission and checks every bound of [`JobSpec::check`].
impl TryFrom<v1::NewJob> for JobSpec {
    type Error = DecodeError;

    fn try_from(wire: v1::NewJob) -> Result<JobSpec, DecodeError> {
        at_most("require", wire.require.len(), limits::LABELS, "labels")?;
        let mut spec = JobSpec {
            kind: parts::name("kind", &wire.kind)?,
            queue: match wire.queue.as_str() {
                "" => Default::default(),
                name => parts::name("queue", name)?,
            },
            priority: i8::try_from(wire.priority).map_err(|_| {
                DecodeError::bad("priority", format_args!("is {}, allowed are -128 to 127", wire.priority))
            })?,
            run_at: wire.run_at.map(|at| parts::moment("run_at", at)).transpose()?,
            payload: if wire.payload.is_empty() { "null".into() } else { wire.payload },
            depends_on: parents(wire.depends_on)?,
            options: JobOptions {
                threads: threads_or_one("threads", wire.threads)?,
                min_threads: threads_or_one("min_threads", wire.min_threads)?,
                fallback: match wire.fallback.as_str() {
                    "" | "widest" => Fallback::Widest,
                    "single" => Fallback::Single,
                    _ => return Err(DecodeError::bad("fallback", "is neither `widest` nor `single`")),
                },
                require: wire.require.into_iter().collect(),
                max_attempts: or_default(wire.max_attempts, JobOptions::default().max_attempts),
                retry: wire.retry.map(retry).transpose()?.unwrap_or_default(),
                timeout: timeout(wire.timeout)?,
                max_lost: or_default(wire.max_lost, JobOptions::default().max_lost),
                expires_at: wire.expires_at.map(|at| parts::moment("expires_at", at)).transpose()?,
                unique_key: (!wire.unique_key.is_empty()).then_some(wire.unique_key),
                unique_for: match wire.unique_for {
                    Some(held) if held == duration_to_wire(limits::FOREVER) => limits::FOREVER,
                    held => duration_or("unique_for", held, Duration::ZERO)?,
                },
                tags: wire.tags,
                // Taken below.
                traceparent: None,
                tracestate: None,
                concurrency_key: (!wire.concurrency_key.is_empty()).then_some(wire.concurrency_key),
                fair_key: (!wire.fair_key.is_empty()).then_some(wire.fair_key),
                fair_weight: fair_weight(wire.fair_weight)?,
                schedule: None,
            },
        };
        spec.options.carry(TraceContext::read(Some(&wire.traceparent), Some(&wire.tracestate)));
        spec.check().map_err(|e| DecodeError::bad(e.field, e.problem))?;
        Ok(spec)
    }
}

/// Bounds beyond its type are for the check of the whole job.
fn fair_weight(value: u32) -> Result<u16, DecodeError> {
    let most = limits::FAIR_WEIGHT;
    let refused = |_| DecodeError::bad("fair_weight", format!("is {value}, allowed are 1 to {most}"));
    if value == 0 { Ok(1) } else { u16::try_from(value).map_err(refused) }
}

/// Another job of the same batch is named by `#` and its place.
fn parent_to_wire(parent: Dependency) -> v1::Parent {
    let job = match dependency::referenced(parent.job) {
        Some(nth) => format!("#{nth}"),
        None => parent.job.to_string(),
    };
    v1::Parent { job, on_dead: parent.on_dead.as_str().into() }
}

fn parents(wire: Vec<v1::Parent>) -> Result<Vec<Dependency>, DecodeError> {
    at_most("depends_on", wire.len(), limits::DEPENDENCIES, "jobs")?;
    wire.into_iter().map(parent).collect()
}

fn parent(wire: v1::Parent) -> Result<Dependency, DecodeError> {
    let bad = |detail: &str| DecodeError::bad("depends_on", detail);
    let job = match wire.job.strip_prefix('#') {
        Some(place) => match place.parse::<usize>() {
            Ok(nth) if nth < limits::BATCH_JOBS => dependency::reference(nth),
            _ => return Err(bad("has a `#` that is not followed by the place of a job in the batch")),
        },
        None => {
            let id: JobId = wire.job.parse().map_err(|error| DecodeError::bad("depends_on", error))?;
            if dependency::referenced(id).is_some() {
                return Err(bad("names a job that is not there"));
            }
            id
        }
    };
    let on_dead = match wire.on_dead.as_str() {
        "" => OnDead::default(),
        word => OnDead::parse(word)
            .ok_or_else(|| bad("has an `on_dead` that is not `cancel`, `run` or `wait`"))?,
    };
    Ok(Dependency { job, on_dead })
}

fn threads_or_one(field: &'static str, value: u32) -> Result<u16, DecodeError> {
    parts::threads(field, value.max(1))
}

fn or_default(value: u32, default: u32) -> u32 {
    if value == 0 { default } else { value }
}

fn duration_or(
    field: &'static str,
    value: Option<prost_types::Duration>,
    default: Duration,
) -> Result<Duration, DecodeError> {
    value.map_or(Ok(default), |d| parts::duration(field, d))
}

fn timeout(wire: Option<prost_types::Duration>) -> Result<Option<Duration>, DecodeError> {
    let Some(wire) = wire else { return Ok(JobOptions::default().timeout) };
    let timeout = parts::duration("timeout", wire)?;
    Ok((timeout > Duration::ZERO).then_some(timeout))
}

fn retry(wire: v1::RetryPolicy) -> Result<RetryPolicy, DecodeError> {
    let default = RetryPolicy::default();
    Ok(RetryPolicy {
        base: duration_or("retry.base", wire.base, default.base)?,
        factor: if wire.factor == 0.0 { default.factor } else { wire.factor },
        max: duration_or("retry.max", wire.max, default.max)?,
        jitter: wire.jitter,
    })
}
