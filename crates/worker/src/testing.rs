//! Running handlers in tests: no server, no waiting, the real retry rules without jitter.

use std::sync::Arc;
use std::time::Duration;

use ganger_core::message::Work;
use ganger_core::outcome::Report;
use ganger_core::{Fence, JobId};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::Notify;

use crate::client::ClientError;
use crate::context::Ctx;
use crate::error::{JobError, WorkerError};
use crate::handler::Handler;
use crate::job::Job;
use crate::registry::Registry;

/// Attempts of one job; one that snoozes for ever must not hang a test.
const MOST_ATTEMPTS: u32 = 10_000;

/// Runs jobs with the handlers of a registry.
///
/// ```
/// # use ganger_worker::testing::Harness;
/// # use ganger_worker::{Ctx, Job, JobError, Registry};
/// const GREET: Job<String, String> = Job::new("greet");
///
/// async fn greet(_: Ctx, name: String) -> Result<String, JobError> {
///     Ok(format!("hello, {name}"))
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let harness = Harness::new(Registry::new().handle(&GREET, greet)).unwrap();
/// let ran = harness.run(&GREET, "Ada".to_owned()).await.unwrap();
/// assert_eq!(ran.result.unwrap(), "hello, Ada");
/// # }
/// ```
pub struct Harness(Registry);

/// What became of a job.
#[derive(Debug)]
pub struct Ran<R> {
    /// What its handler returned; or, if the job died, the last error.
    pub result: Result<R, String>,
    /// Attempts that were run.
    pub attempts: u32,
    /// How long a server would have waited between them.
    pub waited: Duration,
}

impl Harness {
    /// Tests with these handlers.
    ///
    /// # Errors
    /// The registry has a mistake, or no handler.
    pub fn new(registry: Registry) -> Result<Harness, WorkerError> {
        registry.checked().map(Harness)
    }

    /// Runs a job to its end. Its context belongs to no server: marks stand at once, and it has no parents.
    ///
    /// # Errors
    /// The job cannot be enqueued, or what its handler returned is not an `R`.
    pub async fn run<P: Serialize, R: DeserializeOwned>(
        &self,
        job: &Job<P, R>,
        payload: P,
    ) -> Result<Ran<R>, ClientError> {
        let name = |(what, text, cause): (_, &str, _)| ClientError::Name { what, text: text.into(), cause };
        let spec = job.spec().map_err(name)?;
        let payload =
            serde_json::to_string(&payload).map_err(|cause| ClientError::Json { what: "payload", cause })?;
        let unknown = || ClientError::Answer(format!("there is no handler of kind `{}`", spec.kind));
        let handler = self.0.get(&spec.kind).ok_or_else(unknown)?;
        let (mut failures, mut waited) = (0, Duration::ZERO);
        for attempt in 1..=MOST_ATTEMPTS {
            let work = Work {
                job: JobId::new(1, [7; 10]),
                fence: Fence::default(),
                attempt,
                threads: spec.options.threads,
                kind: spec.kind.clone(),
                queue: spec.queue.clone(),
                timeout: spec.options.timeout,
                max_attempts: spec.options.max_attempts,
            };
            let ctx = Ctx::new(work, None, Arc::new(Notify::new()), None);
            let error = match ran(handler, ctx, payload.clone()).await {
                Ok(text) => {
                    let result = serde_json::from_str(&text);
                    let result = result.map_err(|cause| ClientError::Json { what: "result", cause })?;
                    return Ok(Ran { result: Ok(result), attempts: attempt, waited });
                }
                Err(error) => error,
            };
            let text = error.to_string();
            let delay = match error.into_report() {
                Report::Snooze(delay) | Report::Throttled(delay) => {
                    waited += delay;
                    continue;
                }
                Report::RetryAfter(delay, _) => Some(delay),
                Report::Error(_) => Some(spec.options.retry.delay(failures + 1)),
                Report::Fatal(_)
                | Report::Ok(_)
                | Report::Timeout
                | Report::Cancelled
                | Report::Released { .. } => None,
            };
            failures += 1;
            match delay.filter(|_| failures < spec.options.max_attempts) {
                Some(delay) => waited += delay,
                None => return Ok(Ran { result: Err(text), attempts: attempt, waited }),
            }
        }
        Err(ClientError::Answer(format!("{MOST_ATTEMPTS} attempts were run, and there is no end")))
    }
}

async fn ran(handler: &Handler, ctx: Ctx, payload: String) -> Result<String, JobError> {
    match handler {
        Handler::Async(handler) => handler(ctx, payload).await,
        Handler::Blocking(handler) => {
            let handler = handler.clone();
            let ended = tokio::task::spawn_blocking(move || handler(ctx, payload)).await;
            ended.unwrap_or_else(|panic| Err(JobError::retry(panic)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Fatal as _;

    const FLAKY: Job<u32, u32> = Job::new("flaky").max_attempts(4);
    const OTHER: Job<(), ()> = Job::new("other");

    async fn flaky(ctx: Ctx, until: u32) -> Result<u32, JobError> {
        match ctx.attempt() {
            attempt if attempt >= until => Ok(attempt),
            1 => Err(JobError::snooze(Duration::from_secs(60))),
            _ if until == 99 => Err("never").fatal()?,
            _ => Err(JobError::retry("not yet")),
        }
    }

    fn harness() -> Harness {
        let registry = Registry::new().handle(&FLAKY, flaky);
        Harness::new(registry.handle_blocking(&Job::<u32, u32>::new("double"), |_, n| Ok(n * 2))).unwrap()
    }

    #[tokio::test]
    async fn a_job_is_run_to_its_end_by_the_rules_of_the_server() {
        let ran = harness().run(&FLAKY, 4).await.unwrap();
        assert_eq!((ran.result, ran.attempts, ran.waited), (Ok(4), 4, Duration::from_secs(60 + 1 + 2)));
        let dead = harness().run(&FLAKY, 50).await.unwrap();
        assert_eq!((dead.result, dead.attempts), (Err("not yet".into()), 5), "a snooze burns no attempt");
        let fatal = harness().run(&FLAKY, 99).await.unwrap();
        assert_eq!((fatal.result, fatal.attempts), (Err("never".into()), 2));
        let ran = harness().run(&Job::<u32, u32>::new("double"), 21).await.unwrap();
        assert_eq!(ran.result, Ok(42));
    }

    #[tokio::test]
    async fn a_kind_without_a_handler_is_told() {
        let error = harness().run(&OTHER, ()).await.unwrap_err();
        assert!(error.to_string().contains("no handler of kind `other`"), "{error}");
        assert!(Harness::new(Registry::new()).is_err());
    }
}
