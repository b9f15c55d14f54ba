//! From the JSON of a submission to a checked job.

use std::time::Duration;

use ganger_core::Wall;
use ganger_core::job::{JobOptions, JobSpec, SpecError};
use ganger_core::limits;
use ganger_core::name::QueueName;
use ganger_core::trace::TraceContext;

use super::fields::{Object, depth};
use super::parents;
use super::problem::{Code, Problem};
use crate::api::{Durability, FieldProblem, HumanDuration, Timeout};
use crate::auth;

/// Every field of a submission, as in [`crate::api::NewJobRequest`].
const FIELDS: &[&str] = &[
    "kind",
    "queue",
    "payload",
    "priority",
    "run_at",
    "delay",
    "expires_at",
    "threads",
    "min_threads",
    "fallback",
    "require",
    "max_attempts",
    "retry",
    "timeout",
    "unique_key",
    "unique_for",
    "concurrency_key",
    "fair_key",
    "fair_weight",
    "tags",
    "traceparent",
    "tracestate",
    "max_lost",
    "durability",
    "depends_on",
];

const RETRY_FIELDS: &[&str] = &["base", "factor", "max", "jitter"];

/// What surrounds a submission: the moment, and what its headers say.
#[derive(Clone, Copy, Debug)]
pub(super) struct Context<'a> {
    /// The moment from which a delay counts.
    pub(super) now: Wall,
    /// The `traceparent` header, whatever it holds.
    pub(super) traceparent: Option<&'a str>,
    /// The `tracestate` header, whatever it holds.
    pub(super) tracestate: Option<&'a str>,
    /// Whether jobs of kind `exec` are allowed to this client.
    pub(super) exec_allowed: bool,
    /// Queues that the caller is confined to, if he is.
    pub(super) queues: Option<&'a str>,
    /// How many jobs the request has, if it may have several: they can refer to each other.
    pub(super) items: Option<usize>,
}

/// Reads one job with nothing around it.
///
/// # Errors
/// As for any job.
pub(crate) fn alone(text: &str, now: Wall) -> Result<JobSpec, Problem> {
    job(
        text,
        "",
        Context { now, traceparent: None, tracestate: None, exec_allowed: true, items: None, queues: None },
    )
}

/// Reads one job of many. `base` is the JSON pointer of the object within the body.
///
/// # Errors
/// As for a job alone; or it wants to be buffered, which only a whole request can.
pub(super) fn job(text: &str, base: &str, context: Context<'_>) -> Result<JobSpec, Problem> {
    match job_alone(text, base, context)? {
        (spec, Durability::Durable) => Ok(spec),
        (_, Durability::Buffered) => {
            let detail = "is for a whole request: say it beside `jobs`; an import is always durable";
            Err(Problem::fields(vec![FieldProblem::new(format!("{base}/durability"), detail)]))
        }
    }
}

/// Reads one job, and how safe it is to be.
///
/// # Errors
/// Malformed JSON, or every field that is not valid, or a kind that is not allowed.
pub(super) fn job_alone(
    text: &str,
    base: &str,
    context: Context<'_>,
) -> Result<(JobSpec, Durability), Problem> {
    let mut object = Object::parse(text, FIELDS, base)?;
    let durability = object.take("durability").unwrap_or_default();
    let spec = read(&mut object, base, context);
    object.finish().map_err(Problem::fields)?;
    let Some(spec) = spec else {
        // Without an error there is a kind, so there is a job.
        return Err(Problem::new(Code::Internal, "the job could not be read"));
    };
    spec.check().map_err(|error| Problem::fields(vec![at_field(base, &error)]))?;
    auth::in_queues(context.queues, &spec.queue)?;
    if spec.kind.as_str() == "exec" && !context.exec_allowed {
        return Err(Problem::new(
            Code::ExecNotAllowed,
            "a job of kind `exec` runs a command on a worker, and this request has not the right token",
        ));
    }
    Ok((spec, durability))
}

fn read(object: &mut Object<'_>, base: &str, context: Context<'_>) -> Option<JobSpec> {
    let kind = name(object, "kind");
    if kind.is_none() && object.raw("kind").is_none() {
        object.refuse("kind", "is missing");
    }
    let queue = name::<QueueName>(object, "queue").unwrap_or_default();
    let priority = object.integer("priority", i8::MIN.into()..=i8::MAX.into()).unwrap_or(0);
    let run_at = run_at(object, context.now);
    let depends_on = parents::depends_on(object, base, context.items);
    let options = options(object, base, context);
    let payload = object.raw("payload").map_or("null", |raw| raw.get());
    if payload.len() > limits::PAYLOAD_BYTES {
        let (is, max) = (payload.len(), limits::PAYLOAD_BYTES);
        object.refuse("payload", format!("has {is} bytes, the limit is {max}"));
    } else if depth(payload) > limits::JSON_DEPTH {
        object.refuse("payload", format!("is nested deeper than {} levels", limits::JSON_DEPTH));
    }
    if object.is_refused() {
        return None;
    }
    Some(JobSpec {
        kind: kind?,
        queue,
        priority: i8::try_from(priority).ok()?,
        run_at,
        payload: payload.to_string(),
        depends_on,
        options,
    })
}

fn name<T: std::str::FromStr<Err: std::fmt::Display>>(object: &mut Object<'_>, field: &str) -> Option<T> {
    let text: String = object.take(field)?;
    text.parse().map_err(|error| object.refuse(field, format!("{error}"))).ok()
}

fn run_at(object: &mut Object<'_>, now: Wall) -> Option<Wall> {
    let run_at = object.take::<Wall>("run_at");
    let delay = duration(object, "delay");
    if object.raw("run_at").is_some() && object.raw("delay").is_some() {
        object.refuse("delay", "cannot be given together with `run_at`");
    }
    match delay {
        Some(Duration::ZERO) => None,
        Some(delay) => Some(now + delay),
        None => run_at,
    }
}

fn options(object: &mut Object<'_>, base: &str, context: Context<'_>) -> JobOptions {
    let default = JobOptions::default();
    let threads = small(object, "threads", limits::THREADS.into()).unwrap_or(1);
    let attempts = i64::from(limits::ATTEMPTS);
    let trace = trace(object, context);
    let mut options = JobOptions {
        threads,
        min_threads: small(object, "min_threads", limits::THREADS.into()).unwrap_or(1),
        fallback: object.take("fallback").unwrap_or_default(),
        require: object.take("require").unwrap_or_default(),
        max_attempts: small(object, "max_attempts", attempts).unwrap_or(default.max_attempts),
        retry: retry(object, base),
        timeout: timeout(object).unwrap_or(default.timeout),
        max_lost: small(object, "max_lost", attempts).unwrap_or(default.max_lost),
        expires_at: object.take("expires_at"),
        unique_key: object.take("unique_key"),
        unique_for: unique_for(object).unwrap_or_default(),
        concurrency_key: object.take("concurrency_key"),
        fair_key: object.take("fair_key"),
        fair_weight: small(object, "fair_weight", limits::FAIR_WEIGHT.into()).unwrap_or(default.fair_weight),
        tags: object.take("tags").unwrap_or_default(),
        // Taken below.
        traceparent: None,
        tracestate: None,
        schedule: None,
    };
    options.carry(trace);
    options
}

/// The trace that the job says it belongs to, or else the one of the request. What is not valid is ignored, as the
/// standard asks.
fn trace(object: &mut Object<'_>, context: Context<'_>) -> Option<TraceContext> {
    let parent: Option<String> = object.take("traceparent");
    let state: Option<String> = object.take("tracestate");
    TraceContext::read(parent.as_deref(), state.as_deref())
        .or_else(|| TraceContext::read(context.traceparent, context.tracestate))
}

/// An integer from 1 to `high`, which fits the type.
fn small<T: TryFrom<i64>>(object: &mut Object<'_>, field: &str, high: i64) -> Option<T> {
    object.integer(field, 1..=high).and_then(|value| T::try_from(value).ok())
}

fn timeout(object: &mut Object<'_>) -> Option<Option<Duration>> {
    object.take::<Timeout>("timeout").map(Timeout::duration)
}

fn duration(object: &mut Object<'_>, field: &str) -> Option<Duration> {
    let value = object.take::<HumanDuration>(field)?.0;
    if value > limits::LONGEST {
        let days = limits::LONGEST.as_secs() / 86_400;
        object.refuse(field, format!("is longer than {days} days"));
        return None;
    }
    Some(value)
}

/// The one duration that may be without an end.
fn unique_for(object: &mut Object<'_>) -> Option<Duration> {
    let forever = object.raw("unique_for").is_some_and(|raw| raw.get() == "\"forever\"");
    if forever {
        object.take::<HumanDuration>("unique_for").map(|long| long.0)
    } else {
        duration(object, "unique_for")
    }
}

fn retry(object: &mut Object<'_>, base: &str) -> ganger_core::retry::RetryPolicy {
    let mut policy = ganger_core::retry::RetryPolicy::default();
    let Some(raw) = object.raw("retry") else { return policy };
    let mut inner = match Object::parse(raw.get(), RETRY_FIELDS, &format!("{base}/retry")) {
        Ok(inner) => inner,
        Err(_) => {
            object.refuse("retry", "must be an object with `base`, `factor`, `max`, `jitter`");
            return policy;
        }
    };
    policy.base = duration(&mut inner, "base").unwrap_or(policy.base);
    policy.max = duration(&mut inner, "max").unwrap_or(policy.max);
    policy.factor = inner.take("factor").unwrap_or(policy.factor);
    policy.jitter = inner.take("jitter").unwrap_or(policy.jitter);
    if let Err(errors) = inner.finish() {
        object.refuse_all(errors);
    }
    policy
}

pub(super) fn at_field(base: &str, error: &SpecError) -> FieldProblem {
    FieldProblem::new(format!("{base}/{}", error.field.replace('.', "/")), error.problem.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::{NewJobRequest, ParentRequest, RetryRequest};

    const NOW: Wall = Wall(1_700_000_000_000_000);
    const CONTEXT: Context<'_> = Context {
        now: NOW,
        traceparent: None,
        tracestate: None,
        exec_allowed: false,
        queues: None,
        items: None,
    };

    fn take(json: &str) -> JobSpec {
        job(json, "", CONTEXT).unwrap_or_else(|p| panic!("{json}: {p:?}"))
    }

    fn refuse(json: &str) -> String {
        job(json, "", CONTEXT).expect_err(json).detail
    }

    #[test]
    fn only_the_kind_is_required() {
        assert_eq!(take(r#"{"kind": "noop"}"#), JobSpec::new("noop".parse().unwrap()));
        assert_eq!(refuse("{}"), "`kind` is missing");
        assert_eq!(refuse(r#"{"kind": null}"#), "`kind` is missing");
    }

    #[test]
    fn the_payload_is_kept_byte_for_byte() {
        let payload =
            "{ \"big\": 12345678901234567890123,  \"a\":1,\"a\":2, \"x\": 1e999, \"u\": \"\\u0000\" }";
        assert_eq!(take(&format!("{{\"kind\":\"noop\",\"payload\":  {payload} }}")).payload, payload);
    }

    #[test]
    fn every_mistake_is_named_at_once() {
        let json = r#"{"priority": 200, "queue": "a b", "threads": 0, "retry": {"base": "x", "bas": 1}, "tags": "t"}"#;
        let problem = job(json, "/jobs/7", CONTEXT).unwrap_err();
        let pointers: Vec<&str> = problem.errors.iter().map(|e| e.pointer.as_str()).collect();
        for expected in ["kind", "priority", "queue", "threads", "retry/base", "retry/bas", "tags"] {
            assert!(pointers.contains(&format!("/jobs/7/{expected}").as_str()), "{expected} in {pointers:?}");
        }
    }

    #[test]
    fn a_delay_counts_from_now_and_excludes_run_at() {
        assert_eq!(take(r#"{"kind":"a","delay":"5m"}"#).run_at, Some(NOW + Duration::from_secs(300)));
        assert_eq!(take(r#"{"kind":"a","delay":0}"#).run_at, None);
        assert!(refuse(r#"{"kind":"a","delay":1,"run_at":"2030-01-01T00:00:00Z"}"#).contains("together"));
        assert!(refuse(r#"{"kind":"a","delay":"400d"}"#).contains("366 days"));
        assert!(refuse(r#"{"kind":"a","run_at":"tomorrow"}"#).starts_with("`run_at`"));
    }

    #[test]
    fn a_payload_is_taken_at_the_deepest_level_and_refused_one_below() {
        let nested = |n: usize| format!("{{\"kind\":\"a\",\"payload\":{}{}}}", "[".repeat(n), "]".repeat(n));
        assert!(job(&nested(limits::JSON_DEPTH), "", CONTEXT).is_ok());
        assert!(refuse(&nested(limits::JSON_DEPTH + 1)).contains("64 levels"));
    }

    #[test]
    fn exec_needs_its_token() {
        let problem = job(r#"{"kind":"exec"}"#, "", CONTEXT).unwrap_err();
        assert_eq!(problem.code, Code::ExecNotAllowed);
        assert!(job(r#"{"kind":"exec"}"#, "", Context { exec_allowed: true, ..CONTEXT }).is_ok());
    }

    /// The document and the reader must name the same fields.
    #[test]
    fn every_documented_field_is_read() {
        let request = NewJobRequest {
            kind: "noop".into(),
            queue: Some("mail".into()),
            payload: Some(serde_json::value::RawValue::from_string("[1]".into()).unwrap()),
            priority: Some(-3),
            run_at: Some(NOW + Duration::from_secs(9)),
            delay: None,
            expires_at: Some(NOW + Duration::from_secs(99)),
            threads: Some(4),
            min_threads: Some(2),
            fallback: Some(ganger_core::job::Fallback::Single),
            require: Some([("gpu".to_string(), "yes".to_string())].into()),
            max_attempts: Some(7),
            retry: Some(RetryRequest { factor: Some(3.0), ..RetryRequest::default() }),
            timeout: Some(Timeout::None),
            unique_key: Some("k".into()),
            unique_for: Some(HumanDuration(Duration::from_secs(60))),
            concurrency_key: Some("c".into()),
            fair_key: Some("f".into()),
            fair_weight: Some(3),
            tags: Some(vec!["t".into()]),
            traceparent: Some("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01".into()),
            tracestate: Some("a=b".into()),
            max_lost: Some(2),
            durability: Some(Durability::Durable),
            depends_on: Some(vec![ParentRequest::On {
                job: "job_01J9X7QK5V8M3N2P4R6S8T0V1W".into(),
                on_dead: ganger_core::dependency::OnDead::Wait,
            }]),
        };
        let spec = take(&serde_json::to_string(&request).unwrap());
        assert_eq!((spec.queue.as_str(), spec.priority, spec.payload.as_str()), ("mail", -3, "[1]"));
        assert_eq!(spec.depends_on[0].on_dead, ganger_core::dependency::OnDead::Wait);
        let o = spec.options;
        assert_eq!((o.threads, o.min_threads, o.max_attempts, o.max_lost, o.timeout), (4, 2, 7, 2, None));
        assert_eq!((o.retry.factor, o.unique_for.as_secs(), o.tags.len()), (3.0, 60, 1));
        let keys = (o.concurrency_key.as_deref(), o.fair_key.as_deref(), o.fair_weight);
        assert_eq!(keys, (Some("c"), Some("f"), 3));
        let json = serde_json::to_value(&request).unwrap();
        for name in FIELDS.iter().filter(|name| **name != "delay") {
            assert!(json.get(name).is_some(), "{name} is documented");
        }
        assert_eq!(json.as_object().unwrap().len(), FIELDS.len() - 1);
    }

    #[test]
    fn only_a_traceparent_is_taken_from_the_header() {
        let good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let of = |body: &str, header: &str| {
            let context = Context { traceparent: Some(header), tracestate: Some("a=b"), ..CONTEXT };
            let o = job(body, "", context).unwrap().options;
            (o.traceparent, o.tracestate)
        };
        let plain = r#"{"kind": "k"}"#;
        assert_eq!(of(plain, good), (Some(good.into()), Some("a=b".into())));
        for bad in ["", "00-0-0-00", "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01", "x"] {
            assert_eq!(of(plain, bad), (None, None), "{bad}");
        }
        let own =
            r#"{"kind": "k", "traceparent": "00-1bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"}"#;
        let taken = of(own, good);
        assert!(taken.0.is_some_and(|trace| trace.starts_with("00-1bf")) && taken.1.is_none());
        let long = format!(r#"{{"kind": "k", "traceparent": "{}"}}"#, "0".repeat(5_000));
        assert_eq!(of(&long, good), (Some(good.into()), Some("a=b".into())), "what is not valid is ignored");
    }
}
