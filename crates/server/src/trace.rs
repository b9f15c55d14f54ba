//! The span of a submission: `enqueue {queue}`, a child of the caller's.
//!
//! It is made where every door submits, and only if somebody collects spans: else it costs the look at a flag. A job that
//! came without a trace then carries on this one, so that its attempt is found below its submission.

use ganger_core::JobId;
use ganger_core::change::Submitted;
use ganger_core::job::JobSpec;
use ganger_core::trace::TraceContext;
use ganger_proto::span::{carried, remote};
use opentelemetry::Context;
use opentelemetry::trace::TraceContextExt as _;
use tracing::Span;
use tracing::field::Empty;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;

use crate::http::problem::Problem;
use crate::service::{Answer, ServiceError};

/// Links of a submission whose jobs belong to several traces.
const LINKS: usize = 32;

/// A submission under way.
#[derive(Debug)]
pub(crate) struct Enqueue(Span);

impl Enqueue {
    /// Begins it, and has the jobs carry it on that have no trace of their own.
    pub(crate) fn begin<'a>(specs: impl Iterator<Item = &'a mut JobSpec>) -> Enqueue {
        let span = tracing::span!(
            target: "ganger::trace",
            parent: None,
            tracing::Level::INFO,
            "enqueue",
            otel.name = Empty,
            otel.kind = "producer",
            otel.status_code = Empty,
            messaging.system = "ganger",
            messaging.operation.name = "enqueue",
            "messaging.operation.type" = "send",
            messaging.destination.name = Empty,
            messaging.message.id = Empty,
            messaging.batch.message_count = Empty,
            ganger.job.kind = Empty,
            "error.type" = Empty,
        );
        if !span.is_disabled() {
            describe(&span, &mut specs.collect::<Vec<_>>());
        }
        Enqueue(span)
    }

    /// It was answered.
    pub(crate) fn answered(self, answer: &Answer<Submitted>) {
        if self.0.is_disabled() {
            return;
        }
        match answer {
            Ok(Submitted::Accepted(intakes) | Submitted::Replayed(intakes)) => {
                if let [intake] = intakes.as_slice() {
                    self.is(intake.job());
                }
            }
            Ok(Submitted::KeyReused) => self.failed("idempotency_key_reused"),
            Ok(Submitted::NoParent(..)) => self.failed("no_such_parent"),
            Err(error) => self.refused(error),
        }
    }

    /// It is this one job.
    pub(crate) fn is(&self, job: JobId) {
        self.0.record("messaging.message.id", tracing::field::display(job));
    }

    /// Nothing was taken in.
    pub(crate) fn refused(&self, error: &ServiceError) {
        if !self.0.is_disabled() {
            self.failed(Problem::from(error.clone()).code.as_str());
        }
    }

    fn failed(&self, kind: &str) {
        self.0.record("error.type", kind);
        self.0.record("otel.status_code", "ERROR");
    }
}

fn describe(span: &Span, specs: &mut [&mut JobSpec]) {
    let Some(first) = specs.first() else { return };
    let (queue, kind) = (first.queue.clone(), first.kind.clone());
    if specs.iter().all(|spec| spec.queue == queue) {
        span.record("otel.name", format!("enqueue {queue}"));
        span.record("messaging.destination.name", queue.as_str());
    } else {
        span.record("otel.name", "enqueue");
    }
    if specs.iter().all(|spec| spec.kind == kind) {
        span.record("ganger.job.kind", kind.as_str());
    }
    if specs.len() > 1 {
        span.record("messaging.batch.message_count", specs.len() as u64);
    }
    follow(span, specs);
    if let Some(own) = carried(span.context().span().span_context()) {
        for spec in specs.iter_mut().filter(|spec| spec.options.traceparent.is_none()) {
            spec.options.carry(Some(own.clone()));
        }
    }
}

/// Puts the span below the caller's. Jobs of several traces have no one caller: it is linked to each.
fn follow(span: &Span, specs: &[&mut JobSpec]) {
    let mut callers: Vec<TraceContext> = Vec::new();
    for trace in specs.iter().filter_map(|spec| spec.options.trace()) {
        if callers.len() < LINKS && !callers.contains(&trace) {
            callers.push(trace);
        }
    }
    match callers.as_slice() {
        [caller] => {
            // Fails only without anyone who collects spans.
            let _ = span.set_parent(Context::new().with_remote_span_context(remote(caller)));
        }
        several => several.iter().for_each(|caller| span.add_link(remote(caller))),
    }
}
