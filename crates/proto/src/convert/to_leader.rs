//! What a worker says: `FromWorker` on the wire, `ToLeader` in core.

use std::time::Duration;

use ganger_core::change::WorkerInfo;
use ganger_core::limits;
use ganger_core::message::{AttemptReport, Hello, ToLeader};
use ganger_core::name::Labels;
use ganger_core::outcome::Report;

use super::DecodeError;
use super::parts::{self, at_most, duration_to_wire, uuid_to_wire};
use crate::v1::{self, from_worker::Message, result};

/// The TTL of a worker that does not ask for one.
pub const TTL_DEFAULT: Duration = Duration::from_secs(15);
/// A worker that asks for less gets this: shorter ones would ping without end.
pub const TTL_SHORTEST: Duration = Duration::from_millis(100);
/// A worker that asks for more gets this: a dead one must be noticed some day.
pub const TTL_LONGEST: Duration = Duration::from_secs(3600);
/// Longest note of a progress message; longer ones are truncated.
pub const NOTE_BYTES: usize = 1 << 10;

impl From<ToLeader> for v1::FromWorker {
    fn from(message: ToLeader) -> v1::FromWorker {
        let message = match message {
            ToLeader::Hello(hello) => Message::Hello(hello.into()),
            ToLeader::Ping { number } => Message::Ping(v1::Ping { number }),
            ToLeader::Results(reports) => {
                Message::Results(v1::Results { results: reports.into_iter().map(Into::into).collect() })
            }
            ToLeader::Progress { job, fence, fraction, note } => Message::Progress(v1::Progress {
                job: uuid_to_wire(job.uuid()),
                fence: Some(fence.into()),
                fraction,
                note,
            }),
            ToLeader::Log { job, fence, text } => {
                Message::Log(v1::Log { job: uuid_to_wire(job.uuid()), fence: Some(fence.into()), text })
            }
            ToLeader::Mark { job, fence, stands } => {
                Message::Mark(v1::Mark { job: uuid_to_wire(job.uuid()), fence: Some(fence.into()), stands })
            }
            ToLeader::Drain => Message::Drain(v1::Drain {}),
            ToLeader::Goodbye => Message::Goodbye(v1::Goodbye {}),
        };
        v1::FromWorker { message: Some(message) }
    }
}

impl TryFrom<v1::FromWorker> for ToLeader {
    type Error = DecodeError;

    fn try_from(wire: v1::FromWorker) -> Result<ToLeader, DecodeError> {
        match wire.message.ok_or(DecodeError::Missing("message"))? {
            Message::Hello(hello) => Ok(ToLeader::Hello(hello.try_into()?)),
            Message::Ping(v1::Ping { number }) => Ok(ToLeader::Ping { number }),
            Message::Results(v1::Results { results }) => {
                at_most("results", results.len(), limits::RESULTS_PER_MESSAGE, "results")?;
                let reports: Result<Vec<_>, _> = results.into_iter().map(TryInto::try_into).collect();
                Ok(ToLeader::Results(reports?))
            }
            Message::Progress(p) => Ok(ToLeader::Progress {
                job: parts::job_id_from_wire(&p.job)?,
                fence: parts::fence(p.fence)?,
                fraction: if p.fraction.is_nan() { 0.0 } else { p.fraction.clamp(0.0, 1.0) },
                note: parts::truncated(p.note, NOTE_BYTES),
            }),
            Message::Log(log) => Ok(ToLeader::Log {
                job: parts::job_id_from_wire(&log.job)?,
                fence: parts::fence(log.fence)?,
                text: parts::last_bytes(log.text, limits::LOG_BYTES),
            }),
            Message::Mark(v1::Mark { job, fence, stands }) => Ok(ToLeader::Mark {
                job: parts::job_id_from_wire(&job)?,
                fence: parts::fence(fence)?,
                stands,
            }),
            Message::Drain(v1::Drain {}) => Ok(ToLeader::Drain),
            Message::Goodbye(v1::Goodbye {}) => Ok(ToLeader::Goodbye),
        }
    }
}

impl From<Hello> for v1::Hello {
    fn from(hello: Hello) -> v1::Hello {
        let worker = hello.worker;
        v1::Hello {
            session: uuid_to_wire(hello.session.uuid()),
            stream: hello.stream,
            name: worker.name,
            queues: worker.queues.iter().map(ToString::to_string).collect(),
            kinds: worker.kinds.iter().map(ToString::to_string).collect(),
            threads: worker.threads.into(),
            labels: worker.labels.into_iter().collect(),
            version: worker.version,
            highest: (hello.highest != Default::default()).then(|| hello.highest.into()),
            ttl: Some(duration_to_wire(worker.ttl)),
            draining: hello.draining,
        }
    }
}

impl TryFrom<v1::Hello> for Hello {
    type Error = DecodeError;

    fn try_from(wire: v1::Hello) -> Result<Hello, DecodeError> {
        at_most("hello.queues", wire.queues.len(), limits::WORKER_NAMES, "names")?;
        at_most("hello.kinds", wire.kinds.len(), limits::WORKER_NAMES, "names")?;
        plain_text("hello.name", &wire.name)?;
        plain_text("hello.version", &wire.version)?;
        let ttl = match wire.ttl {
            None => TTL_DEFAULT,
            Some(ttl) => parts::duration("hello.ttl", ttl)?.clamp(TTL_SHORTEST, TTL_LONGEST),
        };
        let queues: Result<Vec<_>, _> =
            wire.queues.iter().map(|text| parts::name("hello.queues", text)).collect();
        let kinds: Result<Vec<_>, _> =
            wire.kinds.iter().map(|text| parts::name("hello.kinds", text)).collect();
        Ok(Hello {
            session: parts::session_id_from_wire(&wire.session)?,
            stream: wire.stream,
            worker: WorkerInfo {
                name: wire.name,
                queues: queues?,
                kinds: kinds?,
                threads: parts::threads("hello.threads", wire.threads)?,
                labels: labels(wire.labels)?,
                version: wire.version,
                // Neither is the worker's to say: the server knows its own.
                local: false,
                claim: false,
                ttl,
            },
            highest: wire.highest.map(Into::into).unwrap_or_default(),
            draining: wire.draining,
        })
    }
}

fn plain_text(field: &'static str, text: &str) -> Result<(), DecodeError> {
    at_most(field, text.len(), limits::NAME_BYTES, "bytes")?;
    if text.chars().any(char::is_control) {
        return Err(DecodeError::bad(field, "contains a control character"));
    }
    Ok(())
}

fn labels(wire: std::collections::HashMap<String, String>) -> Result<Labels, DecodeError> {
    at_most("hello.labels", wire.len(), limits::LABELS, "labels")?;
    for (name, value) in &wire {
        if name.is_empty() {
            return Err(DecodeError::bad("hello.labels", "has a label without a name"));
        }
        at_most("hello.labels", name.len(), limits::LABEL_BYTES, "bytes in a name")?;
        at_most("hello.labels", value.len(), limits::LABEL_BYTES, "bytes in a value")?;
    }
    Ok(wire.into_iter().collect())
}

impl From<AttemptReport> for v1::Result {
    fn from(report: AttemptReport) -> v1::Result {
        let wire = match report.report {
            Report::Ok(json) => result::Report::Ok(json),
            Report::Error(text) => result::Report::Error(text),
            Report::Fatal(text) => result::Report::Fatal(text),
            Report::RetryAfter(delay, error) => {
                result::Report::RetryAfter(v1::RetryAfter { delay: Some(duration_to_wire(delay)), error })
            }
            Report::Snooze(delay) => result::Report::Snooze(duration_to_wire(delay)),
            Report::Throttled(long) => result::Report::Throttled(duration_to_wire(long)),
            Report::Timeout => result::Report::Timeout(v1::TimedOut {}),
            Report::Cancelled => result::Report::Cancelled(v1::WasCancelled {}),
            Report::Released { started } => result::Report::Released(v1::Released { started }),
        };
        v1::Result {
            job: uuid_to_wire(report.job.uuid()),
            fence: Some(report.fence.into()),
            ran: Some(duration_to_wire(report.ran)),
            report: Some(wire),
        }
    }
}

impl TryFrom<v1::Result> for AttemptReport {
    type Error = DecodeError;

    fn try_from(wire: v1::Result) -> Result<AttemptReport, DecodeError> {
        let report = match wire.report.ok_or(DecodeError::Missing("result.report"))? {
            result::Report::Ok(json) => kept(json),
            result::Report::Error(text) => Report::Error(text),
            result::Report::Fatal(text) => Report::Fatal(text),
            result::Report::RetryAfter(again) => {
                Report::RetryAfter(parts::duration_clamped(again.delay), again.error)
            }
            result::Report::Snooze(delay) => Report::Snooze(parts::duration_clamped(Some(delay))),
            result::Report::Throttled(long) => Report::Throttled(parts::duration_clamped(Some(long))),
            result::Report::Timeout(v1::TimedOut {}) => Report::Timeout,
            result::Report::Cancelled(v1::WasCancelled {}) => Report::Cancelled,
            result::Report::Released(v1::Released { started }) => Report::Released { started },
        };
        Ok(AttemptReport {
            job: parts::job_id_from_wire(&wire.job)?,
            fence: parts::fence(wire.fence)?,
            report: report.shortened(),
            ran: parts::duration_clamped(wire.ran),
        })
    }
}

/// A result that can be stored and shown, or the reason why it cannot.
fn kept(json: String) -> Report {
    match serde_json::from_str::<&serde_json::value::RawValue>(&json) {
        Ok(_) => Report::of_result(json),
        Err(problem) => Report::Fatal(format!("result_not_json: {problem}")),
    }
}
