//! Running one attempt: begin, run the handler, conclude, report.
//!
//! However the handler ends (it returns, fails, panics, is dropped because it would not stop, or
//! the whole runtime goes away) its [`End`] is told exactly once.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt;
use ganger_core::outcome::Report;
use ganger_core::{Fence, Mono};
use tokio::runtime;
use tokio_util::sync::CancellationToken;
use tracing::{Instrument as _, Span};

use crate::clock::Clock;
use crate::context::Ctx;
use crate::desk::Shared;
use crate::error::JobError;
use crate::handler::Handler;
use crate::trace;

/// Attempts that one task runs before it lets others have its thread.
const WITHOUT_PAUSE: u32 = 32;

/// An attempt that is to begin. Counts as running; dropped, it ends.
pub(crate) struct Start {
    pub(crate) handler: Handler,
    pub(crate) ctx: Ctx,
    pub(crate) payload: String,
    /// Drops an async handler that does not stop by itself.
    pub(crate) abort: CancellationToken,
    pub(crate) end: End,
}

/// Begins an attempt on the runtime of the handlers. Its task goes on with the next piece of work, and with
/// the one after that, as long as there is some.
pub(crate) fn begin(runtime: &runtime::Handle, start: Start) {
    let others = runtime.clone();
    runtime.spawn(async move {
        let mut next = Some(start);
        let mut without_pause = 0;
        while let Some(Start { handler, ctx, payload, abort, mut end }) = next {
            // Waiting for a thread of the runtime is not running, and prefetch goes by the time that kinds run.
            end.started = end.clock.mono();
            let span = trace::process(ctx.work(), ctx.trace());
            let report = run(handler, ctx.clone(), payload, abort).instrument(span.clone()).await;
            let settle = trace::ended(&span, ctx.work(), &report, ctx.cancel_reason());
            drop(span);
            let (start, more) = end.report(report, settle);
            more.into_iter().for_each(|start| begin(&others, start));
            next = start;
            without_pause += 1;
            if without_pause == WITHOUT_PAUSE {
                without_pause = 0;
                tokio::task::yield_now().await;
            }
        }
    });
}

/// Runs the handler to its end, and says what came of it.
pub(crate) async fn run(handler: Handler, ctx: Ctx, payload: String, abort: CancellationToken) -> Report {
    let outcome = match handler {
        Handler::Async(handler) => {
            let ctx = ctx.clone();
            let running = AssertUnwindSafe(async move { handler(ctx, payload).await }).catch_unwind();
            tokio::select! {
                biased;
                outcome = running => outcome,
                () = abort.cancelled() => return Report::Cancelled,
            }
        }
        Handler::Blocking(handler) => {
            let ctx = ctx.clone();
            let span = Span::current();
            let running = tokio::task::spawn_blocking(move || span.in_scope(|| handler(ctx, payload)));
            match running.await {
                Ok(outcome) => Ok(outcome),
                Err(error) if error.is_panic() => Err(error.into_panic()),
                // The runtime stops before the handler began.
                Err(_) => return Report::Released { started: true },
            }
        }
    };
    match outcome {
        Ok(outcome) => conclude(outcome, ctx.is_cancelled()),
        Err(panic) => Report::Error(format!("panicked: {}", panic_text(panic.as_ref()))).shortened(),
    }
}

fn conclude(outcome: Result<String, JobError>, cancelled: bool) -> Report {
    match outcome {
        Ok(result) => Report::of_result(result),
        // It failed because it was told to stop.
        Err(error) if cancelled && error.is_plain() => Report::Cancelled,
        // A text beyond all bounds would break every stream that it is sent on.
        Err(error) => error.into_report().shortened(),
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("without a message")
}

/// The end of an attempt: told once, when it is reported or else when it is dropped.
pub(crate) struct End {
    shared: Option<Arc<Shared>>,
    fence: Fence,
    started: Mono,
    clock: Clock,
}

impl End {
    pub(crate) fn new(shared: Arc<Shared>, fence: Fence, clock: Clock) -> End {
        End { shared: Some(shared), fence, started: clock.mono(), clock }
    }

    /// What the handler came to. Tells what this task, and others, can do next.
    fn report(mut self, report: Report, settle: Span) -> (Option<Start>, Vec<Start>) {
        match self.shared.take() {
            Some(shared) => shared.ended(self.fence, report, self.started, settle),
            None => (None, Vec::new()),
        }
    }
}

impl Drop for End {
    fn drop(&mut self) {
        let Some(shared) = self.shared.take() else { return };
        let report = if std::thread::panicking() {
            Report::Error("panicked while being dropped".into())
        } else {
            // The runtime of the handlers stopped.
            Report::Released { started: true }
        };
        shared.ended_alone(self.fence, report, self.started);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::desk::tests::{results, starts, with_work};
    use ganger_core::limits;
    use ganger_core::message::CancelWhy;
    use std::time::Duration;

    async fn report_of(handler: Handler, payload: &str) -> Report {
        run(handler, Ctx::for_test("test"), payload.into(), CancellationToken::new()).await
    }

    fn fails_with(make: impl Fn() -> JobError + Send + Sync + 'static) -> Handler {
        let make = std::sync::Arc::new(make);
        Handler::new_async(move |_, (): ()| {
            let make = make.clone();
            async move { Err::<(), _>(make()) }
        })
    }

    #[tokio::test]
    async fn a_result_is_json_and_a_payload_of_the_wrong_shape_is_fatal() {
        let double = || Handler::new_async(|_, n: u32| async move { Ok(n * 2) });
        assert_eq!(report_of(double(), "21").await, Report::Ok("42".into()));
        let Report::Fatal(text) = report_of(double(), "\"x\"").await else { panic!("not fatal") };
        assert!(text.starts_with("payload does not fit the handler"), "{text}");
    }

    #[tokio::test]
    async fn a_handler_ends_as_it_says() {
        let second = Duration::from_secs(1);
        assert_eq!(report_of(fails_with(|| "no".into()), "null").await, Report::Error("no".into()));
        assert_eq!(report_of(fails_with(|| JobError::fatal("no")), "null").await, Report::Fatal("no".into()));
        assert_eq!(
            report_of(fails_with(move || JobError::snooze(second)), "null").await,
            Report::Snooze(second)
        );
        assert_eq!(
            report_of(fails_with(move || JobError::retry_after(second, "busy")), "null").await,
            Report::RetryAfter(second, "busy".into())
        );
    }

    #[tokio::test]
    async fn a_panic_is_a_failed_attempt_with_its_message() {
        let panics = Handler::new_async(|_, n: u32| async move {
            assert!(n == 0, "number was {n}");
            Ok(())
        });
        assert_eq!(report_of(panics, "7").await, Report::Error("panicked: number was 7".into()));
        let blocking = Handler::new_blocking(|_, (): ()| -> Result<(), JobError> { panic!("blocked") });
        assert_eq!(report_of(blocking, "null").await, Report::Error("panicked: blocked".into()));
    }

    #[tokio::test]
    async fn a_result_is_taken_at_the_bound_and_fatal_one_past_it() {
        let long = |n| Handler::new_async(move |_, (): ()| async move { Ok("x".repeat(n)) });
        assert!(matches!(report_of(long(limits::RESULT_BYTES - 2), "null").await, Report::Ok(_)));
        assert_eq!(
            report_of(long(limits::RESULT_BYTES - 1), "null").await,
            Report::Fatal("result_too_large: 1048577 bytes, the limit is 1048576".into())
        );
    }

    #[tokio::test]
    async fn an_error_text_is_cut() {
        let report = report_of(fails_with(|| "é".repeat(limits::ERROR_BYTES).into()), "null").await;
        assert_eq!(report.error().map(str::len), Some(limits::ERROR_BYTES));
        let panics = Handler::new_blocking(|_, (): ()| -> Result<(), JobError> {
            std::panic::resume_unwind(Box::new("x".repeat(limits::ERROR_BYTES)))
        });
        let report = report_of(panics, "null").await;
        assert_eq!(report.error().map(str::len), Some(limits::ERROR_BYTES));
    }

    #[tokio::test]
    async fn an_error_of_a_handler_that_was_told_to_stop_is_no_failure() {
        let ctx = Ctx::for_test("test");
        ctx.cancel(CancelWhy::Cancelled);
        let waits = Handler::new_async(|ctx: Ctx, (): ()| async move {
            ctx.unless_cancelled(std::future::pending::<()>()).await
        });
        let report = run(waits, ctx.clone(), "null".into(), CancellationToken::new()).await;
        assert_eq!(report, Report::Cancelled);
        let fatal = fails_with(|| JobError::fatal("bad input"));
        let report = run(fatal, ctx, "null".into(), CancellationToken::new()).await;
        assert_eq!(report, Report::Fatal("bad input".into()));
    }

    #[tokio::test]
    async fn a_handler_that_does_not_stop_is_dropped() {
        let deaf = Handler::new_async(|_, (): ()| std::future::pending::<Result<(), JobError>>());
        let abort = CancellationToken::new();
        abort.cancel();
        assert_eq!(run(deaf, Ctx::for_test("test"), "null".into(), abort).await, Report::Cancelled);
    }

    /// The user drops the runtime under the worker: the work is handed back, not failed.
    #[test]
    fn work_whose_runtime_goes_away_is_released() {
        let runtime = runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
        let deaf = Handler::new_async(|_, (): ()| std::future::pending::<Result<(), JobError>>());
        let shared = with_work(1, 1, deaf);
        for start in starts(&shared) {
            begin(runtime.handle(), start);
        }
        drop(runtime);
        let heard =
            runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(results(&shared));
        assert_eq!(heard, [Report::Released { started: true }]);
    }

    #[test]
    fn a_panic_of_a_dropped_handler_still_ends_the_attempt() {
        struct Bomb;
        impl Drop for Bomb {
            fn drop(&mut self) {
                panic!("boom");
            }
        }
        let runtime = runtime::Builder::new_multi_thread().worker_threads(1).enable_time().build().unwrap();
        let armed = Handler::new_async(|_, (): ()| async {
            let _bomb = Bomb;
            std::future::pending::<Result<(), JobError>>().await
        });
        let shared = with_work(1, 1, armed);
        for start in starts(&shared) {
            start.abort.cancel();
            begin(runtime.handle(), start);
        }
        let heard = runtime.block_on(results(&shared));
        // Dropped before it was first polled, there is no bomb yet.
        assert!(matches!(heard[..], [Report::Error(_) | Report::Cancelled]), "{heard:?}");
    }
}
