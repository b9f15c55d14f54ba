//! What others may see of the session while it runs: the handle, the health server.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use ganger_core::{Fence, SessionId};
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
}

impl Status {
    pub(crate) fn new(session: SessionId) -> Arc<Status> {
        let trouble = Some("not connected yet".into());
        let standing = Standing { session, open: false, draining: false, trouble };
        Arc::new(Status { standing: watch::Sender::new(standing), running: Mutex::default() })
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
        self.lock().insert(ctx.fence(), (ctx.clone(), clock::instant()));
    }

    pub(crate) fn ended(&self, fence: Fence) {
        self.lock().remove(&fence);
    }

    /// The running attempts, as JSON for people.
    pub(crate) fn running(&self) -> Value {
        let now = clock::instant();
        let running = self.lock();
        let one = |(ctx, since): &(Ctx, Instant)| {
            json!({
                "job": ctx.job_id(),
                "kind": ctx.kind(),
                "queue": ctx.queue(),
                "attempt": ctx.attempt(),
                "threads": ctx.threads(),
                "running_ms": u64::try_from(now.saturating_duration_since(*since).as_millis()).unwrap_or(u64::MAX),
                "stopping": ctx.is_cancelled(),
            })
        };
        running.values().map(one).collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Fence, (Ctx, Instant)>> {
        // Only whole entries are put in and taken out.
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
