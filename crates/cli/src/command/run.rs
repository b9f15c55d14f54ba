//! `ganger run`: a command as a job, with its output and its exit code.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use ganger_core::job::State;
use ganger_server::api::{JobBody, NewJobRequest, Timeout};
use serde_json::json;

use super::enqueue::{EXEC, read_stdin, submit};
use crate::context::Context;
use crate::exec_token;
use crate::exit::Exit;
use crate::failure::{Failure, Fallible};
use crate::follow::{Waited, logs_until_final};
use crate::humane::short;
use crate::output;

/// Run a command as a job: see its output, get its exit code.
#[derive(Args, Debug)]
#[command(after_help = "\
The command runs on a worker that was started with --allow-exec; `ganger dev` has one. It runs once:
a command that may run again after a failure needs --max-attempts. Ctrl-C stops the waiting, not the
job. The exit code is that of the command, or 125 if ganger itself failed. What it prints, on either
stream, goes to standard output by lines; of a flood of output only the end may come through.

Examples:
  ganger run -- echo hello
  ganger run -q builds --timeout 10m -- make test
  ganger run --env STAGE=prod -- sh -c 'echo $STAGE'
  sort names.txt | ganger run -i -- uniq -c")]
pub(crate) struct Run {
    /// The lane it waits in [default: default]
    #[arg(short, long)]
    queue: Option<String>,
    /// A name for finding it again; becomes a tag
    #[arg(long)]
    name: Option<String>,
    /// Longest run, or `none` [default: 1h]
    #[arg(long, value_name = "DURATION")]
    timeout: Option<Timeout>,
    /// Where to run it; the working directory, if the server is on this machine
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// A variable of its environment; may be repeated
    #[arg(long, value_parser = super::pair, value_name = "NAME=VALUE")]
    env: Vec<(String, String)>,
    /// Give it this command's standard input, read to its end first: text, up to 1 MiB
    #[arg(short = 'i', long)]
    stdin: bool,
    /// Attempts allowed in all
    #[arg(long, default_value_t = 1, value_name = "NUMBER")]
    max_attempts: u32,
    /// Print the job's id and do not wait
    #[arg(short, long)]
    detach: bool,
    /// The data directory of the local server, for the token that commands need
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// The command and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<String>,
}

impl Run {
    pub(super) async fn run(self, context: &Context) -> Fallible<Exit> {
        // Nobody could tell a failure of the command from one of ours otherwise.
        self.submit_and_follow(context)
            .await
            .map_err(|failure| if failure.is_silent() { failure } else { failure.with_exit(Exit::RunFailed) })
    }

    pub(super) fn data(&self) -> Option<&Path> {
        self.data.as_deref()
    }

    async fn submit_and_follow(self, context: &Context) -> Fallible<Exit> {
        let client = context.client()?;
        let detach = self.detach;
        let request = self.request(context)?;
        let (answer, submitted) = submit(context, &client, &request, None).await?;
        let id = submitted.id;
        if detach {
            context.out.show_one(&answer.body, &id.to_string(), |_| id.to_string())?;
            return Ok(Exit::Success);
        }
        let mut told = Told { quiet: !output::stderr_is_terminal(), last: None };
        let waited = logs_until_final(&client, id, context.out, |job| told.change(job)).await;
        let goes_on =
            || context.out.note(&format!("no longer waiting; the job goes on: ganger job logs -f {id}"));
        match waited {
            Ok(Waited::Final(_, job)) => exit_of(&job),
            Ok(Waited::TimedOut(_) | Waited::Interrupted) => {
                goes_on();
                Ok(Exit::Interrupted)
            }
            Err(failure) => {
                // The reader of a pipe has enough; unlike a child, the job hears nothing of that.
                if failure.is_silent() {
                    goes_on();
                }
                Err(failure)
            }
        }
    }

    fn request(self, context: &Context) -> Fallible<NewJobRequest> {
        // With the token of a local server the worker sees the same directories as the user.
        let local = exec_token::find(&context.config)?.is_some();
        let cwd = match self.cwd {
            Some(cwd) => Some(context.directory.join(cwd)),
            None => local.then(|| context.directory.clone()),
        };
        let mut payload = json!({ "argv": self.command });
        if let Some(cwd) = cwd {
            payload["cwd"] = json!(cwd.display().to_string());
        }
        if self.stdin {
            payload["stdin"] = json!(read_stdin()?);
        }
        if !self.env.is_empty() {
            payload["env"] = json!(self.env.into_iter().collect::<BTreeMap<_, _>>());
        }
        let payload = serde_json::value::to_raw_value(&payload)
            .map_err(|error| Failure::new(Exit::Failure, "cannot write the command as JSON", error, ""))?;
        Ok(NewJobRequest {
            kind: EXEC.into(),
            queue: self.queue,
            payload: Some(payload),
            max_attempts: Some(self.max_attempts),
            timeout: self.timeout,
            tags: self.name.map(|name| vec![name]),
            ..NewJobRequest::default()
        })
    }
}

/// Tells a person at a terminal where the job is.
struct Told {
    quiet: bool,
    last: Option<(State, u32)>,
}

impl Told {
    fn change(&mut self, job: &JobBody) {
        if self.quiet || self.last.replace((job.state, job.attempt)) == Some((job.state, job.attempt)) {
            return;
        }
        let text = match job.state {
            State::Running => format!("{} runs on {}", job.id, job.worker.as_deref().unwrap_or("a worker")),
            State::Succeeded => format!("succeeded in {}", short(Duration::from_millis(job.total_time_ms))),
            State::Retrying => {
                format!("failed, will be tried again: {}", job.last_error.as_deref().unwrap_or(""))
            }
            State::Scheduled | State::Blocked | State::Queued => {
                format!("{} is {}", job.id, job.state.as_str())
            }
            State::Dead | State::Cancelled => return,
        };
        output::note(&text);
    }
}

/// The command's own exit code, or why there is none.
fn exit_of(job: &JobBody) -> Fallible<Exit> {
    if job.state == State::Succeeded {
        return Ok(Exit::Success);
    }
    let reason = job.last_error.as_deref().or(job.reason.as_deref()).unwrap_or("no reason was given");
    match exit_code(reason) {
        Some(code) => Ok(Exit::Command(code)),
        None => Err(Failure::new(
            Exit::RunFailed,
            format!("the command did not finish: the job is {}", job.state.as_str()),
            reason,
            format!("look at `ganger job get {}` and `ganger job explain {}`", job.id, job.id),
        )),
    }
}

/// A command that failed says so in a fixed form: `exit code 3: …`, or `killed by signal 9`, which shells
/// tell as 128 and the signal.
fn exit_code(error: &str) -> Option<u8> {
    let number = |rest: &str| rest.split(|c: char| !c.is_ascii_digit()).next()?.parse::<u8>().ok();
    match error.strip_prefix("exit code ") {
        Some(rest) => number(rest).filter(|code| *code != 0),
        None => number(error.strip_prefix("killed by signal ")?)?.checked_add(128),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exit_code_is_read_from_the_error() {
        assert_eq!(exit_code("exit code 3: no such file"), Some(3));
        assert_eq!(exit_code("exit code 255"), Some(255));
        assert_eq!(exit_code("killed by signal 9"), Some(137));
        for other in ["killed by signal 200", "told to stop", "exit code 300", "exit code 0", "exit code", ""]
        {
            assert_eq!(exit_code(other), None, "{other}");
        }
    }
}
