//! Every message survives the wire, and no rubbish panics.

use std::time::Duration;

use ganger_core::change::WorkerInfo;
use ganger_core::dependency::{self, Dependency, OnDead};
use ganger_core::job::{Fallback, JobOptions, JobSpec};
use ganger_core::message::{AttemptReport, CancelWhy, Hello, ToLeader, ToWorker, Work};
use ganger_core::outcome::Report;
use ganger_core::retry::RetryPolicy;
use ganger_core::trace::{Parent, TraceContext};
use ganger_core::{Fence, JobId, SessionId, Term, Wall, limits};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use prost::Message as _;
use uuid::Uuid;

use super::*;
use crate::v1;

fn job() -> impl Strategy<Value = JobId> {
    any::<u128>().prop_map(|bits| JobId::from_uuid(Uuid::from_u128(bits)))
}

fn term() -> impl Strategy<Value = Term> {
    (any::<u64>(), any::<u64>()).prop_map(|(number, id)| Term { number, id })
}

fn fence() -> impl Strategy<Value = Fence> {
    (term(), any::<u64>()).prop_map(|(term, seq)| Fence { term, seq })
}

fn duration() -> impl Strategy<Value = Duration> {
    (0..limits::LONGEST.as_secs(), 0..1_000_000_000u32).prop_map(|(s, n)| Duration::new(s, n))
}

fn unique_for() -> impl Strategy<Value = Duration> {
    prop_oneof![9 => duration(), 1 => Just(limits::FOREVER)]
}

fn report() -> impl Strategy<Value = Report> {
    prop_oneof![
        any::<i64>().prop_map(|n| Report::Ok(format!("{{\"n\":{n}}}"))),
        ".{0,40}".prop_map(Report::Error),
        ".{0,40}".prop_map(Report::Fatal),
        (duration(), ".{0,40}").prop_map(|(d, e)| Report::RetryAfter(d, e)),
        duration().prop_map(Report::Snooze),
        duration().prop_map(Report::Throttled),
        Just(Report::Timeout),
        Just(Report::Cancelled),
        any::<bool>().prop_map(|started| Report::Released { started }),
    ]
}

fn attempt_report() -> impl Strategy<Value = AttemptReport> {
    (job(), fence(), report(), duration()).prop_map(|(job, fence, report, ran)| AttemptReport {
        job,
        fence,
        report,
        ran,
    })
}

prop_compose! {
    fn hello()(
        session in any::<u128>(),
        stream: u64,
        name in "[a-zäö -]{0,40}",
        queues in vec("[a-z.]{1,20}", 0..4),
        kinds in vec("[a-z.]{1,20}", 0..4),
        threads in 1..=limits::THREADS,
        labels in btree_map("[a-z]{1,9}", ".{0,9}", 0..4),
        highest in term(),
        draining: bool,
        ttl in 100u64..3_600_000,
    ) -> Hello {
        Hello {
            session: SessionId::from_uuid(Uuid::from_u128(session)),
            stream,
            worker: WorkerInfo {
                name,
                queues: queues.iter().map(|q| q.parse().unwrap()).collect(),
                kinds: kinds.iter().map(|k| k.parse().unwrap()).collect(),
                threads,
                labels,
                version: "1.2.3".into(),
                local: false,
                claim: false,
                ttl: Duration::from_millis(ttl),
            },
            highest,
            draining,
        }
    }
}

fn to_leader() -> impl Strategy<Value = ToLeader> {
    prop_oneof![
        hello().prop_map(ToLeader::Hello),
        any::<u64>().prop_map(|number| ToLeader::Ping { number }),
        vec(attempt_report(), 0..=limits::RESULTS_PER_MESSAGE).prop_map(ToLeader::Results),
        (job(), fence(), 0.0f32..=1.0, ".{0,40}")
            .prop_map(|(job, fence, fraction, note)| ToLeader::Progress { job, fence, fraction, note }),
        (job(), fence(), "(.{0,40}\n){0,3}").prop_map(|(job, fence, text)| ToLeader::Log {
            job,
            fence,
            text
        }),
        (job(), fence(), any::<bool>()).prop_map(|(job, fence, stands)| ToLeader::Mark {
            job,
            fence,
            stands
        }),
        Just(ToLeader::Drain),
        Just(ToLeader::Goodbye),
    ]
}

prop_compose! {
    fn trace_context()(
        trace_id in 1..=u128::MAX,
        span_id in 1..=u64::MAX,
        flags: u8,
        state in "([a-z]{1,9}=[a-z0-9]{1,9})?",
    ) -> TraceContext {
        TraceContext { parent: Parent { trace_id, span_id, flags }, state }
    }
}

prop_compose! {
    fn trace()(context in trace_context(), waited in duration(), occurrence: bool) -> Trace {
        Trace { context, waited, occurrence }
    }
}

prop_compose! {
    fn parcel()(
        job in job(),
        fence in fence(),
        attempt: u32,
        threads in 1..=limits::THREADS,
        kind in "[a-z.]{1,20}",
        queue in "[a-z.]{1,20}",
        timeout in option::of(duration()),
        max_attempts: u32,
        payload in ".{1,60}",
        trace in option::of(trace()),
    ) -> Parcel {
        let (kind, queue) = (kind.parse().unwrap(), queue.parse().unwrap());
        Parcel {
            work: Work { job, fence, attempt, threads, kind, queue, timeout, max_attempts },
            payload,
            trace: trace.map(Box::new),
        }
    }
}

fn down() -> impl Strategy<Value = Down> {
    let why = prop_oneof![
        Just(CancelWhy::Cancelled),
        Just(CancelWhy::Timeout),
        Just(CancelWhy::Lapsed),
        Just(CancelWhy::LeaseLost),
        Just(CancelWhy::Draining),
    ];
    prop_oneof![
        vec(parcel(), 0..8).prop_map(Down::Assign),
        (term(), duration()).prop_map(|(term, ttl)| Down::Other(ToWorker::Welcome { term, ttl })),
        any::<u64>().prop_map(|number| Down::Other(ToWorker::Pong { number })),
        vec(fence(), 0..9).prop_map(|fences| Down::Other(ToWorker::Ack(fences))),
        (job(), fence(), why).prop_map(|(job, fence, why)| Down::Other(ToWorker::Cancel { job, fence, why })),
        (fence(), any::<bool>()).prop_map(|(fence, stands)| Down::Other(ToWorker::Marked { fence, stands })),
        Just(Down::Other(ToWorker::Drain)),
        Just(Down::Other(ToWorker::Gone)),
    ]
}

prop_compose! {
    fn job_options()(
        threads in 1..=limits::THREADS,
        single: bool,
        require in btree_map("[a-z]{1,9}", "[a-z]{0,9}", 0..4),
        max_attempts in 1..=limits::ATTEMPTS,
        base in duration(),
        factor in 1.0f64..100.0,
        jitter in 0.0f64..1.0,
        timeout in option::of(duration().prop_filter("not zero", |d| *d > Duration::ZERO)),
        max_lost in 1..=limits::ATTEMPTS,
        unique_key in option::of("[a-z]{1,9}"),
        unique_for in unique_for(),
        tags in vec("[a-z]{1,9}", 0..4),
        (concurrency_key, fair_key) in (option::of("[a-z]{1,9}"), option::of("[a-z]{1,9}")),
        (fair_weight, trace) in (1..=limits::FAIR_WEIGHT, option::of(trace_context())),
    ) -> JobOptions {
        let mut options = JobOptions {
            threads,
            min_threads: 1,
            fallback: if single { Fallback::Single } else { Fallback::Widest },
            require,
            max_attempts,
            retry: RetryPolicy { base, factor, max: Duration::from_secs(60), jitter },
            timeout,
            max_lost,
            expires_at: None,
            unique_key,
            unique_for,
            tags,
            traceparent: None,
            tracestate: None,
            concurrency_key,
            fair_key,
            fair_weight,
            schedule: None,
        };
        options.carry(trace);
        options
    }
}

prop_compose! {
    fn spec()(
        kind in "[a-z.]{1,20}",
        queue in "[a-z.]{1,20}",
        priority: i8,
        run_at in option::of(-62_000_000_000_000_000i64..200_000_000_000_000_000),
        payload in ".{1,60}",
        options in job_options(),
        parents in vec((any::<u128>(), 0usize..3, option::of(0usize..1000)), 0..3),
    ) -> JobSpec {
        let (kind, queue) = (kind.parse().unwrap(), queue.parse().unwrap());
        let depends_on = parents.into_iter().map(|(id, policy, place)| Dependency {
            job: place.map_or_else(|| JobId::from_uuid(Uuid::from_u128(id)), dependency::reference),
            on_dead: OnDead::ALL[policy],
        });
        let depends_on = depends_on.collect();
        JobSpec { kind, queue, priority, run_at: run_at.map(Wall), payload, depends_on, options }
    }
}

proptest! {
    #[test]
    fn every_message_to_the_leader_survives_the_wire(message in to_leader()) {
        let bytes = v1::FromWorker::from(message.clone()).encode_to_vec();
        let wire = v1::FromWorker::decode(bytes.as_slice()).unwrap();
        prop_assert_eq!(ToLeader::try_from(wire).unwrap(), message);
    }

    #[test]
    fn every_message_to_a_worker_survives_the_wire(message in down()) {
        let bytes = v1::ToWorker::from(message.clone()).encode_to_vec();
        let wire = v1::ToWorker::decode(bytes.as_slice()).unwrap();
        prop_assert_eq!(Down::try_from(wire).unwrap(), message);
    }

    #[test]
    fn every_submission_survives_the_wire(spec in spec()) {
        let bytes = v1::NewJob::from(spec.clone()).encode_to_vec();
        let wire = v1::NewJob::decode(bytes.as_slice()).unwrap();
        prop_assert_eq!(JobSpec::try_from(wire).unwrap(), spec);
    }

    #[test]
    fn rubbish_is_refused_and_never_panics(bytes in vec(any::<u8>(), 0..200)) {
        let _ = v1::FromWorker::decode(bytes.as_slice()).map(ToLeader::try_from);
        let _ = v1::ToWorker::decode(bytes.as_slice()).map(Down::try_from);
        let _ = v1::NewJob::decode(bytes.as_slice()).map(JobSpec::try_from);
    }

    #[test]
    fn a_message_damaged_on_its_way_never_panics(message in to_leader(), at: usize, with: u8) {
        let mut bytes = v1::FromWorker::from(message).encode_to_vec();
        let at = at % bytes.len();
        bytes[at] = with;
        let _ = v1::FromWorker::decode(bytes.as_slice()).map(ToLeader::try_from);
    }
}
