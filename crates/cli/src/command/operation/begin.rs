//! Starting an operation: first what it would do, then a yes, then how far it is.

use std::io::{BufRead as _, IsTerminal as _, Write as _};

use clap::Args;
use ganger_server::api::{OperationBody, OperationRequest, PreviewBody};

use super::progress::{self, Followed};
use crate::client::{Call, Client};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Fallible};
use crate::humane::{grouped, jobs_match};
use crate::output;

/// How an operation is carried out.
#[derive(Args, Debug)]
pub(in crate::command) struct Manner {
    /// Only tell what would be done
    #[arg(long)]
    dry_run: bool,
    /// Jobs per second, at the most [default: 500]
    #[arg(long, value_name = "JOBS")]
    rate: Option<u32>,
    /// Why, for whoever looks later
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Do not ask
    #[arg(long)]
    yes: bool,
    /// Do not wait for its end
    #[arg(long)]
    detach: bool,
}

/// Tells what an operation would do and, if the user agrees, starts it and follows it.
pub(in crate::command) async fn begin(
    context: &Context,
    what: &str,
    path: &str,
    request: OperationRequest,
    manner: Manner,
) -> Fallible<Exit> {
    let client = context.client()?;
    let request = OperationRequest { rate: manner.rate, reason: manner.reason.clone(), ..request };
    let look = OperationRequest { dry_run: true, ..request.clone() };
    let answer = client.send(&Call::submit_once(what, path, json(&look)?).repeatable()).await?;
    let preview = answer.read::<PreviewBody>()?;
    if manner.dry_run {
        let matched = preview.matched.to_string();
        context.out.show_one(&answer.body, &matched, |_| told(&preview))?;
        return Ok(Exit::Success);
    }
    context.out.note(&told(&preview));
    if !manner.yes {
        agree(what, &preview)?;
    }
    let key = format!("cli-{}", uuid::Uuid::new_v4());
    let answer = client.send(&Call::submit(what, path, json(&request)?, key)).await?;
    let operation = answer.read::<OperationBody>()?;
    if manner.detach {
        return super::one(context, &answer);
    }
    finish(context, &client, &operation, &preview).await
}

async fn finish(
    context: &Context,
    client: &Client,
    operation: &OperationBody,
    preview: &PreviewBody,
) -> Fallible<Exit> {
    let id = operation.id;
    let total = preview.scan.complete.then_some(preview.matched);
    match progress::follow(context, client, id, total, None).await? {
        Followed::Over(answer) => super::one(context, &answer),
        Followed::TimedOut(_) | Followed::Interrupted => {
            context
                .out
                .note(&format!("no longer waiting; the operation goes on: ganger operation wait {id}"));
            Ok(Exit::Interrupted)
        }
    }
}

fn told(preview: &PreviewBody) -> String {
    let by = |counts: &std::collections::BTreeMap<String, u64>| {
        let each: Vec<String> = counts.iter().map(|(name, n)| format!("{name} {}", grouped(*n))).collect();
        each.join(", ")
    };
    let least = if preview.scan.complete { "" } else { "at least " };
    let mut text = format!("{least}{}", jobs_match(preview.matched));
    if preview.matched > 0 {
        text.push_str(&format!(
            "\n  by state: {}\n  by queue: {}\n  by kind:  {}",
            by(&preview.by_state),
            by(&preview.by_queue),
            by(&preview.by_kind)
        ));
        let sample: Vec<String> = preview.sample.iter().map(ToString::to_string).collect();
        text.push_str(&format!("\n  such as:  {}", sample.join(" ")));
    }
    if preview.skipped > 0 {
        text.push_str(&format!("\n{} would be left alone", grouped(preview.skipped)));
    }
    if !preview.scan.complete {
        text.push_str(&format!(
            "\nonly the newest {} rows were looked at",
            grouped(preview.scan.examined as u64)
        ));
    }
    text
}

/// The user types the number, or said yes beforehand.
fn agree(what: &str, preview: &PreviewBody) -> Fallible<()> {
    let number = preview.matched.to_string();
    if !std::io::stdin().is_terminal() || !output::stderr_is_terminal() {
        return Err(Failure::usage(
            format!("will not {what} yet"),
            format!("{}, and nobody is there to agree", jobs_match(preview.matched)),
            "look at them with --dry-run or `ganger job list`, then add --yes",
        ));
    }
    let mut stderr = std::io::stderr();
    // Nobody may be there to read it; then nobody answers either.
    let _ = write!(stderr, "Type {number} to continue: ").and_then(|()| stderr.flush());
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line);
    if read.is_ok() && line.trim() == number {
        return Ok(());
    }
    Err(Failure::usage(format!("did not {what}"), "another number was typed", "nothing was changed"))
}

fn json(request: &OperationRequest) -> Fallible<String> {
    serde_json::to_string(request)
        .map_err(|error| Failure::new(Exit::Failure, "cannot write the request as JSON", error, ""))
}
