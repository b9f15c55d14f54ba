//! `ganger job logs`.

use clap::Args;
use ganger_core::JobId;
use ganger_server::api::JobBody;
use serde_json::json;

use crate::client::Call;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Fallible;
use crate::follow::{Waited, log, logs_until_final};

/// Without `--attempt`, so many of the last attempts are shown.
const ATTEMPTS_SHOWN: u32 = 20;

/// What a job logged: the last 64 KiB of each attempt are kept.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ganger job logs job_01J9X7QK5V8M3N2P4R6S8T0V1W
  ganger job logs -f job_01J9X7QK5V8M3N2P4R6S8T0V1W
  ganger job logs job_01J9X7QK5V8M3N2P4R6S8T0V1W --attempt 2")]
pub(super) struct Logs {
    /// The job's id
    id: JobId,
    /// Of which attempt; of all of them if not given, and of the last one with -o json
    #[arg(long, conflicts_with = "follow", value_name = "NUMBER")]
    attempt: Option<u32>,
    /// Print lines as they come, until the job has ended
    #[arg(short, long)]
    follow: bool,
}

impl Logs {
    pub(super) async fn run(self, context: &Context) -> Fallible<Exit> {
        let client = context.client()?;
        let id = self.id;
        if self.follow {
            return Ok(match logs_until_final(&client, id, context.out, |_| {}).await? {
                Waited::Final(..) | Waited::TimedOut(_) => Exit::Success,
                Waited::Interrupted => Exit::Interrupted,
            });
        }
        let attempt = match self.attempt {
            Some(attempt) => attempt,
            None => {
                let call = Call::get(format!("read the log of {id}"), format!("/v1/jobs/{id}"));
                client.send(&call).await?.read::<JobBody>()?.attempt
            }
        };
        if context.out.is_for_people() {
            let first = self.attempt.unwrap_or_else(|| attempt.saturating_sub(ATTEMPTS_SHOWN - 1).max(1));
            if attempt == 0 {
                context.out.note("it has not been attempted yet");
            }
            for number in first..=attempt {
                if self.attempt.is_none() && attempt > 1 {
                    context.out.note(&format!("attempt {number} of {attempt}:"));
                }
                context.out.text(&log(&client, id, number).await?)?;
            }
        } else {
            let text = if attempt == 0 { String::new() } else { log(&client, id, attempt).await? };
            let body = json!({ "job": id, "attempt": attempt, "text": text }).to_string();
            context.out.show_one(&body, &id.to_string(), |_| String::new())?;
        }
        Ok(Exit::Success)
    }
}
