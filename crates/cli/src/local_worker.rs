//! Workers that this binary runs, with the kinds that are built into it.

use std::error::Error as _;
use std::time::Duration;

use ganger_worker::kinds::exec::Environment as ExecEnvironment;
use ganger_worker::kinds::{self, KindOptions};
use ganger_worker::{Finish, Registry, WorkerError, WorkerHandle};

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Fallible};

/// The built-in kinds, `exec` among them if commands may be run, and `welcome_email` if there is a mail server.
pub(crate) fn registry(context: &Context, allow_exec: bool) -> Fallible<Registry> {
    let environment = ExecEnvironment::passed_from(context.environment.variables());
    let guard = context.config.http_allow.value.guard();
    let demo_scale = context.config.demo_scale.value;
    let smtp = match &context.config.smtp_url.value.0 {
        Some(url) => Some(url.parse().map_err(|error| {
            // The address itself may hold a password.
            let (what, fix) =
                ("cannot use `smtp_url`", "correct GANGER_SMTP_URL, or smtp_url in the settings file");
            Failure::usage(what, error, fix)
        })?),
        None => None,
    };
    Ok(kinds::builtin(KindOptions { allow_exec, environment, guard, demo_scale, smtp }))
}

/// Drains workers at the same time and tells how many leases were left behind.
pub(crate) async fn stop_all(workers: &[WorkerHandle], grace: Duration) -> Fallible<usize> {
    let stops = workers.iter().map(|worker| worker.stop(grace));
    let mut left = 0;
    for finish in futures::future::join_all(stops).await {
        left += unfinished(finish.map_err(|error| worker_failure(&error))?);
    }
    Ok(left)
}

/// Lets workers leave at once, without an orphaned program behind them. A worker that is over already
/// has nothing to leave.
pub(crate) async fn abandon_all(workers: &[WorkerHandle]) {
    futures::future::join_all(workers.iter().map(WorkerHandle::abandon)).await;
}

/// Leases that a worker left behind.
pub(crate) const fn unfinished(finish: Finish) -> usize {
    match finish {
        Finish::Drained => 0,
        Finish::GaveUp { unfinished } => unfinished,
    }
}

/// What a worker said, in three lines.
pub(crate) fn worker_failure(error: &WorkerError) -> Box<Failure> {
    let (exit, fix) = match error {
        WorkerError::Url { .. } => (Exit::Usage, "correct --url or GANGER_URL"),
        WorkerError::Name { .. } | WorkerError::Bound { .. } | WorkerError::ControlCharacter(_) => {
            (Exit::Usage, "correct that option and start it again")
        }
        WorkerError::Health { .. } => {
            (Exit::Failure, "use another address for --health, or port 0 for a free one")
        }
        WorkerError::TwoHandlers(_) | WorkerError::Thread(_) | WorkerError::SessionDied => {
            (Exit::Failure, "start it again; its jobs run elsewhere or wait")
        }
    };
    let why = error.source().map_or_else(String::new, ToString::to_string);
    Failure::new(exit, format!("cannot run the worker: {error}"), why, fix)
}
