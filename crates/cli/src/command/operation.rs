//! `ganger operation`: replay, cancel or delete many jobs, and follow how it goes.

mod begin;
mod progress;

use std::time::Duration;

use clap::{Args, Subcommand};
use ganger_core::{JobId, OperationId};
use ganger_server::api::{OperationBody, OperationRequest, OperationsBody};

pub(super) use begin::{Manner, begin};

use crate::client::{Answer, Call};
use crate::clock;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Fallible};
use crate::humane::{self, grouped, relative};
use crate::output::{Cell, Paint, Shown, Style, Table};

/// Bulk operations: replay, cancel or delete every job that a filter means.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ganger operation start replay --filter 'state:dead kind:email.send age<2h' --dry-run
  ganger operation start replay --filter 'state:dead kind:email.send age<2h' --rate 200 --yes
  ganger operation list")]
pub(crate) struct Operation {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Start(Start),
    /// Every operation that is remembered, the newest first
    #[command(visible_alias = "ls", after_help = "Example:\n  ganger operation list")]
    List,
    /// One operation
    #[command(after_help = "Example:\n  ganger operation get op_01J9X7QK5V8M3N2P4R6S8T0V1W -o json")]
    Get(One),
    /// Stop an operation; what it has done stays done
    #[command(after_help = "Example:\n  ganger operation cancel op_01J9X7QK5V8M3N2P4R6S8T0V1W")]
    Cancel(One),
    Wait(Wait),
}

#[derive(Args, Debug)]
struct One {
    /// The operation's id
    id: OperationId,
}

/// Wait until an operation is over.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  ganger operation wait op_01J9X7QK5V8M3N2P4R6S8T0V1W --timeout 10m")]
struct Wait {
    /// The operation's id
    id: OperationId,
    /// Give up after this time
    #[arg(long, value_parser = humane::parse, value_name = "DURATION")]
    timeout: Option<Duration>,
}

/// Replay, cancel or delete many jobs. Tells first how many there are.
#[derive(Args, Debug)]
#[command(after_help = "\
It concerns jobs as they are when it starts, and goes on in the server if this command is stopped.

Examples:
  ganger operation start replay --filter 'state:dead kind:email.send' --dry-run
  ganger operation start cancel --filter 'queue:mail tag:campaign-7' --reason 'wrong template' --yes
  ganger operation start delete --filter 'state:succeeded created<2026-01-01' --rate 2000 --yes --detach")]
struct Start {
    /// replay, cancel or delete
    action: String,
    /// Which jobs, as for `ganger job list`
    #[arg(long, value_name = "QUERY", required_unless_present_any = ["ids", "all"], conflicts_with_all = ["ids", "all"])]
    filter: Option<String>,
    /// Which jobs, one by one
    #[arg(long = "id", value_name = "ID", conflicts_with = "all")]
    ids: Vec<JobId>,
    /// Really all jobs
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    manner: Manner,
}

impl Operation {
    pub(super) async fn run(self, context: &Context) -> Fallible<Exit> {
        match self.verb {
            Verb::Start(start) => start.run(context).await,
            Verb::List => list(context).await,
            Verb::Get(One { id }) => {
                let call = Call::get(format!("get operation {id}"), path(id));
                one(context, &context.client()?.send(&call).await?)
            }
            Verb::Cancel(One { id }) => {
                let call = Call::post(format!("cancel operation {id}"), format!("{}:cancel", path(id)));
                one(context, &context.client()?.send(&call).await?)
            }
            Verb::Wait(wait) => {
                let client = context.client()?;
                match progress::follow(context, &client, wait.id, None, wait.timeout).await? {
                    progress::Followed::Over(answer) => one(context, &answer),
                    progress::Followed::TimedOut(operation) => Err(Failure::new(
                        Exit::TimedOut,
                        format!("{} is not over in time", wait.id),
                        format!("{} jobs are done so far", grouped(operation.done)),
                        format!("wait longer with `ganger operation wait {}`", wait.id),
                    )),
                    progress::Followed::Interrupted => Ok(Exit::Interrupted),
                }
            }
        }
    }
}

impl Start {
    async fn run(self, context: &Context) -> Fallible<Exit> {
        let request = OperationRequest {
            action: self.action,
            filter: self.filter,
            ids: (!self.ids.is_empty()).then_some(self.ids),
            all: self.all,
            ..OperationRequest::default()
        };
        begin(context, "start the operation", "/v1/operations", request, self.manner).await
    }
}

async fn list(context: &Context) -> Fallible<Exit> {
    let answer = context.client()?.send(&Call::get("list operations", "/v1/operations")).await?;
    let operations = answer.read::<OperationsBody>()?.items;
    let items = super::items(&answer)?;
    let names = operations.iter().map(|operation| operation.id.to_string()).collect();
    let shown = Shown { body: &answer.body, items: items.iter().map(AsRef::as_ref).collect(), names };
    context.out.show(&shown, |_| table(&operations, context.out.style()))?;
    Ok(Exit::Success)
}

fn one(context: &Context, answer: &Answer) -> Fallible<Exit> {
    let operation = answer.read::<OperationBody>()?;
    let name = operation.id.to_string();
    context.out.show_one(&answer.body, &name, |_| table(&[operation], context.out.style()))?;
    Ok(Exit::Success)
}

fn table(operations: &[OperationBody], style: Style) -> String {
    let mut table =
        Table::new(["OPERATION", "ACTION", "STATE", ">DONE", ">SKIPPED", ">RATE", "AGE", "WHICH"]);
    for operation in operations {
        let paint = match operation.state {
            ganger_core::operation::OperationState::Running => Paint::Blue,
            ganger_core::operation::OperationState::Done => Paint::Green,
            ganger_core::operation::OperationState::Cancelled => Paint::Dim,
        };
        let which = match (&operation.filter, operation.ids) {
            (Some(filter), _) => filter.clone(),
            (None, Some(ids)) => format!("{} jobs by id", grouped(ids as u64)),
            (None, None) => "all jobs".into(),
        };
        table.row(vec![
            operation.id.to_string().into(),
            operation.action.as_str().into(),
            Cell::painted(operation.state.as_str(), paint),
            grouped(operation.done).into(),
            skipped(operation).into(),
            format!("{}/s", operation.rate).into(),
            relative(operation.created_at, clock::now()).into(),
            which.into(),
        ]);
    }
    if operations.is_empty() { String::new() } else { table.render(style) }
}

/// How many were left alone, and why.
fn skipped(operation: &OperationBody) -> String {
    let why: Vec<String> =
        operation.skipped_by.iter().map(|(why, count)| format!("{} {why}", grouped(*count))).collect();
    if why.is_empty() { "0".into() } else { why.join(", ") }
}

fn path(id: OperationId) -> String {
    format!("/v1/operations/{id}")
}
