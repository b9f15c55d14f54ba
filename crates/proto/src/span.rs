//! The context of a trace as OpenTelemetry has it. Both ends of the wire make spans and hand their contexts on.

use ganger_core::trace::{Parent, TraceContext};
use opentelemetry::trace::{SpanContext, SpanId, TraceFlags, TraceId};

/// Somebody else's span, to be a child of or to link to.
#[must_use]
pub fn remote(trace: &TraceContext) -> SpanContext {
    let Parent { trace_id, span_id, flags } = trace.parent;
    SpanContext::new(
        TraceId::from_bytes(trace_id.to_be_bytes()),
        SpanId::from_bytes(span_id.to_be_bytes()),
        TraceFlags::new(flags),
        true,
        trace.state.parse().unwrap_or_default(),
    )
}

/// A span as a job can carry it; nothing if nobody collects spans.
#[must_use]
pub fn carried(span: &SpanContext) -> Option<TraceContext> {
    let parent = Parent {
        trace_id: u128::from_be_bytes(span.trace_id().to_bytes()),
        span_id: u64::from_be_bytes(span.span_id().to_bytes()),
        flags: span.trace_flags().to_u8(),
    };
    span.is_valid().then(|| TraceContext { parent, state: span.trace_state().header() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_carried_is_the_span_that_it_came_from() {
        let read = |state| {
            let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
            TraceContext::read(Some(parent), Some(state)).expect("valid")
        };
        for trace in [read("a=b,c=d"), read("")] {
            assert_eq!(carried(&remote(&trace)), Some(trace));
        }
        assert_eq!(carried(&SpanContext::empty_context()), None);
    }
}
