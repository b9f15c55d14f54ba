//! `ganger job cancel`, `replay` and `run-now`: the same verb on any number of jobs.

use ganger_core::JobId;
use ganger_server::api::CancelBody;

use crate::client::{Answer, Call, Client};
use crate::config::Format;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Fallible;
use crate::output;

/// What is done to the jobs.
#[derive(Clone, Copy, Debug)]
pub(super) enum Verb {
    /// Stop them.
    Cancel,
    /// Run them again.
    Replay,
    /// Make them due.
    RunNow,
    /// Remove them.
    Delete,
}

/// Does it to each, in order. One failure does not stop the rest; it shows in the exit code.
pub(super) async fn run(context: &Context, verb: Verb, ids: &[JobId]) -> Fallible<Exit> {
    let client = context.client()?;
    let mut failed = None;
    let mut done = 0;
    for id in ids {
        match one(&client, verb, *id).await {
            Ok(answer) => {
                done += 1;
                let human = verb.told(&answer, *id);
                // A job that is gone has no document any more.
                let gone = format!("{{\"id\":\"{id}\",\"deleted\":true}}");
                let body = if answer.body.is_empty() { &gone } else { &answer.body };
                context.out.show_one(body, &id.to_string(), |_| human)?;
            }
            Err(failure) if ids.len() == 1 || failure.exit == Exit::Unreachable => return Err(failure),
            Err(failure) => {
                let as_json = matches!(context.out.format(), Format::Json | Format::Ndjson);
                output::note(&failure.render(as_json, false));
                failed = Some(failure.exit);
            }
        }
    }
    Ok(match failed {
        None => Exit::Success,
        Some(exit) if done == 0 => exit,
        Some(_) => Exit::Partial,
    })
}

async fn one(client: &Client, verb: Verb, id: JobId) -> Fallible<Answer> {
    let word = verb.word();
    let what = format!("{word} job {id}");
    let call = match verb {
        Verb::Delete => Call::delete(what, format!("/v1/jobs/{id}")),
        Verb::Cancel | Verb::Replay | Verb::RunNow => Call::post(what, format!("/v1/jobs/{id}:{word}")),
    };
    client.send(&call).await
}

impl Verb {
    const fn word(self) -> &'static str {
        match self {
            Verb::Cancel => "cancel",
            Verb::Replay => "replay",
            Verb::RunNow => "run-now",
            Verb::Delete => "delete",
        }
    }

    fn told(self, answer: &Answer, id: JobId) -> String {
        match self {
            Verb::Cancel => match answer.read::<CancelBody>() {
                Ok(body) if !body.cancelled => format!("{id} runs; its worker was told to stop it"),
                Ok(_) | Err(_) => format!("{id} is cancelled"),
            },
            Verb::Replay => format!("{id} is queued again"),
            Verb::RunNow => format!("{id} is due now"),
            Verb::Delete => format!("{id} is gone"),
        }
    }
}
