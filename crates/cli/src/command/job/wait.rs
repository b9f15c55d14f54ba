//! `ganger job wait`.

use std::time::Duration;

use clap::Args;
use ganger_core::JobId;
use ganger_core::job::State;
use ganger_server::api::JobBody;

use crate::client::Answer;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Fallible};
use crate::follow::{Waited, until_final};
use crate::humane::{self, short};

/// Wait until a job has ended, and print its result.
#[derive(Args, Debug)]
#[command(after_help = "\
Exits with 0 if it succeeded, 3 if it did not, 7 if the time was up.

Example:
  ganger job wait job_01J9X7QK5V8M3N2P4R6S8T0V1W --timeout 30s")]
pub(super) struct Wait {
    /// The job's id
    id: JobId,
    /// Give up after this time
    #[arg(long, value_parser = humane::parse, value_name = "DURATION")]
    timeout: Option<Duration>,
}

impl Wait {
    pub(super) async fn run(self, context: &Context) -> Fallible<Exit> {
        let client = context.client()?;
        let waited = until_final(&client, self.id, self.timeout).await?;
        ended(context, self.id, waited)
    }
}

/// Tells what waiting came to: the result on success, the reason otherwise.
pub(in crate::command) fn ended(context: &Context, id: JobId, waited: Waited) -> Fallible<Exit> {
    match waited {
        Waited::Final(answer, job) => told(context, &answer, &job),
        Waited::TimedOut(job) => Err(Failure::new(
            Exit::TimedOut,
            format!("{id} has not ended in time"),
            format!("it is {}", job.state.as_str()),
            format!("wait longer with `ganger job wait {id}`, or ask `ganger job explain {id}`"),
        )),
        Waited::Interrupted => {
            context.out.note(&format!("no longer waiting; the job goes on: ganger job wait {id}"));
            Ok(Exit::Interrupted)
        }
    }
}

fn told(context: &Context, answer: &Answer, job: &JobBody) -> Fallible<Exit> {
    let id = job.id.to_string();
    let after = short(Duration::from_millis(job.total_time_ms));
    match job.state {
        State::Succeeded => {
            let result = job.result.as_ref().map_or("null", |result| result.get()).to_owned();
            context.out.show_one(&answer.body, &id, |_| result)?;
            if context.out.is_for_people() {
                context.out.note(&format!("{id} succeeded in {after}"));
            }
            Ok(Exit::Success)
        }
        State::Dead
        | State::Cancelled
        | State::Scheduled
        | State::Blocked
        | State::Queued
        | State::Running
        | State::Retrying => {
            context.out.show_one(&answer.body, &id, |_| String::new())?;
            let word = job.state.as_str();
            let reason = job.last_error.as_deref().or(job.reason.as_deref()).unwrap_or("no reason was given");
            context.out.note(&format!("{id} is {word} after {} attempts and {after}: {reason}", job.attempt));
            Ok(Exit::JobFailed)
        }
    }
}
