//! The spans of an attempt: `process {queue}` around its handler, `settle {queue}` until its end is recorded.
//!
//! They are `tracing` spans of target `ganger::trace`: a program that embeds this crate gets them exported by the layer of
//! `tracing-opentelemetry` that it has, and pays nothing if it has none. Whether a span is below the submitter's or begins
//! a trace of its own is decided in [`ganger_core::trace`].

use std::collections::HashMap;

use ganger_core::Fence;
use ganger_core::message::{CancelWhy, Work};
use ganger_core::outcome::Report;
use ganger_core::trace::{Relation, Story, TraceContext};
use ganger_proto::Trace;
use ganger_proto::span::{carried, remote};
use opentelemetry::Context;
use opentelemetry::trace::TraceContextExt as _;
use tracing::Span;
use tracing::field::Empty;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;

/// The span that a handler runs in.
pub(crate) fn process(work: &Work, trace: Option<&Trace>) -> Span {
    let span = tracing::span!(
        target: "ganger::trace",
        parent: None,
        tracing::Level::INFO,
        "process",
        otel.name = format!("process {}", work.queue),
        otel.kind = "consumer",
        otel.status_code = Empty,
        messaging.system = "ganger",
        messaging.operation.name = "process",
        "messaging.operation.type" = "process",
        messaging.destination.name = work.queue.as_str(),
        messaging.message.id = %work.job,
        ganger.job.kind = work.kind.as_str(),
        ganger.job.attempt = work.attempt,
        "error.type" = Empty,
    );
    if span.is_disabled() {
        return span;
    }
    if let Some(trace) = trace {
        let story = Story { attempt: work.attempt, waited: trace.waited, occurrence: trace.occurrence };
        let submitter = remote(&trace.context);
        match story.relation() {
            Relation::Child => {
                // Fails only without anyone who collects spans.
                let _ = span.set_parent(Context::new().with_remote_span_context(submitter));
            }
            Relation::LinkedRoot => span.add_link(submitter),
        }
    }
    span
}

/// The handler is over; tells the span of what remains to be done.
pub(crate) fn ended(process: &Span, work: &Work, report: &Report, why: Option<CancelWhy>) -> Span {
    if process.is_disabled() {
        return Span::none();
    }
    if let Some(kind) = error_type(report, why) {
        process.record("error.type", kind);
        process.record("otel.status_code", "ERROR");
    }
    tracing::span!(
        target: "ganger::trace",
        parent: process,
        tracing::Level::INFO,
        "settle",
        otel.name = format!("settle {}", work.queue),
        otel.kind = "client",
        otel.status_code = Empty,
        messaging.system = "ganger",
        messaging.operation.name = "settle",
        "messaging.operation.type" = "settle",
        messaging.destination.name = work.queue.as_str(),
        messaging.message.id = %work.job,
        ganger.job.kind = work.kind.as_str(),
        ganger.job.attempt = work.attempt,
        ganger.outcome = outcome(report, why),
        "error.type" = Empty,
    )
}

/// The present span, wherever it comes from, as a job can carry it.
pub(crate) fn current() -> Option<TraceContext> {
    let of = |context: Context| carried(context.span().span_context());
    of(Span::current().context()).or_else(|| of(Context::current()))
}

/// Ends that are reported and not yet acknowledged. As many as the worker has leases, at most.
#[derive(Default)]
pub(crate) struct Settling(HashMap<Fence, Span>);

impl Settling {
    pub(crate) fn insert(&mut self, fence: Fence, span: Span) {
        if !span.is_disabled() {
            self.0.insert(fence, span);
        }
    }

    /// The server has recorded them, or never will.
    pub(crate) fn acknowledged(&mut self, fences: &[Fence]) {
        if !self.0.is_empty() {
            fences.iter().for_each(|fence| drop(self.0.remove(fence)));
        }
    }

    /// The session is over: nobody will acknowledge the rest.
    pub(crate) fn lost(&mut self) {
        for (_, span) in self.0.drain() {
            span.record("error.type", "lost");
            span.record("otel.status_code", "ERROR");
        }
    }
}

/// What failed, of a bounded set: texts of errors stay with the job.
fn error_type(report: &Report, why: Option<CancelWhy>) -> Option<&'static str> {
    match report {
        Report::Ok(_) | Report::Snooze(_) | Report::Throttled(_) | Report::Released { .. } => None,
        Report::Error(text) if text.starts_with("panicked") => Some("panic"),
        Report::Error(_) | Report::RetryAfter(..) => Some("error"),
        Report::Fatal(_) => Some("fatal"),
        Report::Timeout => Some("timeout"),
        Report::Cancelled => match why {
            Some(CancelWhy::Timeout) => Some("timeout"),
            Some(CancelWhy::LeaseLost | CancelWhy::Lapsed) => Some("lost"),
            Some(CancelWhy::Cancelled | CancelWhy::Draining) | None => Some("cancelled"),
        },
    }
}

fn outcome(report: &Report, why: Option<CancelWhy>) -> &'static str {
    match report {
        Report::Ok(_) => "ok",
        Report::Snooze(_) | Report::Throttled(_) | Report::Released { .. } => "released",
        Report::Error(_) | Report::RetryAfter(..) | Report::Fatal(_) => "error",
        Report::Timeout | Report::Cancelled => error_type(report, why).unwrap_or("cancelled"),
    }
}
