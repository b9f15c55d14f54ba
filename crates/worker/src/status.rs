//! What others may see of the session while it runs: the handle, the health server.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use ganger_core::outcome::Report;
use ganger_core::{Fence, JobId, SessionId};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::clock;
use crate::context::Ctx;

/// How the session stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The present life of the process.
    pub session: SessionId,
    /// The leader has welcomed it.
    pub open: bool,
    /// It takes nothing new.
    pub draining: bool,
    /// Why it is not open, as far as is known.
    pub trouble: Option<String>,
}

/// Shared between the session's thread, which writes, and everybody else.
#[derive(Debug)]
pub(crate) struct Status {
    standing: watch::Sender<Standing>,
    running: Mutex<BTreeMap<Fence, (Ctx, Instant)>>,
    threads: u16,
    started: AtomicU64,
    /// Attempts that ended, in the order of [`ENDS`].
    ended: [AtomicU64; ENDS.len()],
}

/// How an attempt ends, as far as its worker knows.
const ENDS: [&str; 5] = ["ok", "error", "timeout", "cancelled", "released"];

fn place(report: &Report) -> usize {
    match report {
        Report::Ok(_) => 0,
        Report::Error(_) | Report::Fatal(_) | Report::RetryAfter(..) => 1,
        Report::Timeout => 2,
        Report::Cancelled => 3,
        Report::Snooze(_) | Report::Throttled(_) | Report::Released { .. } => 4,
    }
}

impl Status {
    pub(crate) fn new(session: SessionId, threads: u16) -> Arc<Status> {
        let trouble = Some("not connected yet".into());
        let standing = Standing { session, open: false, draining: false, trouble };
        Arc::new(Status {
            standing: watch::Sender::new(standing),
            running: Mutex::default(),
            threads,
            started: AtomicU64::default(),
            ended: Default::default(),
        })
    }

    pub(crate) fn watch(&self) -> watch::Receiver<Standing> {
        self.standing.subscribe()
    }

    pub(crate) fn update(&self, change: impl FnOnce(&mut Standing)) {
        self.standing.send_if_modified(|standing| {
            let before = standing.clone();
            change(standing);
            *standing != before
        });
    }

    pub(crate) fn started(&self, ctx: &Ctx) {
        self.started.fetch_add(1, Ordering::Relaxed);
        self.lock().insert(ctx.fence(), (ctx.clone(), clock::instant()));
    }

    pub(crate) fn ended(&self, fence: Fence, report: &Report) {
        self.ended[place(report)].fetch_add(1, Ordering::Relaxed);
        self.lock().remove(&fence);
    }

    /// Everything that it counts, for Prometheus.
    pub(crate) fn metrics(&self) -> String {
        let standing = self.standing.borrow().clone();
        let (running, used) = {
            let running = self.lock();
            (running.len(), running.values().map(|(ctx, _)| u64::from(ctx.threads())).sum::<u64>())
        };
        let started = self.started.load(Ordering::Relaxed);
        let ended = ENDS.iter().zip(&self.ended).map(|(outcome, count)| {
            let count = count.load(Ordering::Relaxed);
            format!("ganger_worker_attempts_ended_total{{outcome=\"{outcome}\"}} {count}\n")
        });
        let ended: String = ended.collect();
        let gauge = |name: &str, help: &str, value: u64| {
            let name = format!("ganger_worker_{name}");
            format!("# HELP {name} {help}.\n# TYPE {name} gauge\n{name} {value}\n")
        };
        let gauges = [
            gauge("jobs_running", "Attempts that run", running as u64),
            gauge("threads", "Its capacity", self.threads.into()),
            gauge("threads_used", "Threads that attempts hold", used),
            gauge("session_open", "Whether the leader has welcomed it", standing.open.into()),
            gauge("draining", "Whether it takes nothing new", standing.draining.into()),
        ];
        format!(
            "# HELP ganger_worker_attempts_started Attempts that began.\n\
             # TYPE ganger_worker_attempts_started counter\n\
             ganger_worker_attempts_started_total {started}\n\
             # HELP ganger_worker_attempts_ended Attempts that ended, by outcome.\n\
             # TYPE ganger_worker_attempts_ended counter\n{ended}{}# EOF\n",
            gauges.concat(),
        )
    }

    /// The running attempts, as JSON for people.
    pub(crate) fn running(&self) -> Value {
        let now = clock::instant();
        self.lock().values().map(|attempt| shown(attempt, now)).collect()
    }

    /// The running attempt of a job, if there is one.
    pub(crate) fn running_job(&self, job: JobId) -> Option<Value> {
        let now = clock::instant();
        self.lock().values().find(|(ctx, _)| ctx.job_id() == job).map(|attempt| shown(attempt, now))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Fence, (Ctx, Instant)>> {
        // Only whole entries are put in and taken out.
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn shown((ctx, since): &(Ctx, Instant), now: Instant) -> Value {
    let running = now.saturating_duration_since(*since);
    json!({
        "job": ctx.job_id(),
        "kind": ctx.kind(),
        "queue": ctx.queue(),
        "attempt": ctx.attempt(),
        "threads": ctx.threads(),
        "running_ms": u64::try_from(running.as_millis()).unwrap_or(u64::MAX),
        "stopping": ctx.is_cancelled(),
    })
}
