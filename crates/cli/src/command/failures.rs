//! `ganger failure`: failures of one cause, as a group.

use std::time::Duration;

use clap::{Args, Subcommand};
use ganger_core::fingerprint::Fingerprint;
use ganger_server::api::{FailureBody, FailuresBody, OperationRequest};

use super::operation::{Manner, begin};
use crate::client::{Answer, Call, with_query};
use crate::clock;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Fallible;
use crate::humane::{self, grouped, relative};
use crate::output::{Shown, Style, Table};

/// Failures of one cause, as a group: look at them, replay or discard their dead jobs.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ganger failure list --window 1h
  ganger job list failure:9f86d081884c7d65
  ganger failure replay 9f86d081884c7d65 --rate 200")]
pub(crate) struct FailureCommand {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    List(List),
    /// One group
    #[command(after_help = "Example:\n  ganger failure get 9f86d081884c7d65")]
    Get(Named),
    /// Run the dead jobs of a group again
    #[command(after_help = "\
Examples:
  ganger failure replay 9f86d081884c7d65 --dry-run
  ganger failure replay 9f86d081884c7d65 --rate 200 --yes")]
    Replay(Operate),
    /// Delete the dead jobs of a group for ever
    #[command(after_help = "Example:\n  ganger failure discard 9f86d081884c7d65 --reason 'known bug' --yes")]
    Discard(Operate),
}

/// Groups that were seen lately, the last seen first.
#[derive(Args, Debug)]
#[command(visible_alias = "ls", after_help = "Example:\n  ganger failure list --window 1h --kind email.send")]
struct List {
    /// Seen within this time
    #[arg(long, value_parser = humane::parse, default_value = "24h", value_name = "DURATION")]
    window: Duration,
    /// Only of this kind
    #[arg(short, long)]
    kind: Option<String>,
    /// At most so many
    #[arg(long, value_name = "ROWS")]
    limit: Option<usize>,
}

#[derive(Args, Debug)]
struct Named {
    /// The group's fingerprint
    fingerprint: Fingerprint,
}

#[derive(Args, Debug)]
struct Operate {
    /// The group's fingerprint
    fingerprint: Fingerprint,
    #[command(flatten)]
    manner: Manner,
}

impl FailureCommand {
    pub(super) async fn run(self, context: &Context) -> Fallible<Exit> {
        match self.verb {
            Verb::List(list) => list.run(context).await,
            Verb::Get(Named { fingerprint }) => {
                let path = format!("/v1/failures/{fingerprint}");
                let call = Call::get(format!("get failure group {fingerprint}"), path);
                one(context, &context.client()?.send(&call).await?)
            }
            Verb::Replay(operate) => operate.run(context, "replay").await,
            Verb::Discard(operate) => operate.run(context, "discard").await,
        }
    }
}

impl List {
    async fn run(self, context: &Context) -> Fallible<Exit> {
        let path = with_query(
            "/v1/failures",
            [
                ("window", Some(format!("{}s", self.window.as_secs().max(1)))),
                ("kind", self.kind),
                ("limit", self.limit.map(|limit| limit.to_string())),
            ],
        );
        let answer = context.client()?.send(&Call::get("list failures", path)).await?;
        let groups = answer.read::<FailuresBody>()?.items;
        let items = super::items(&answer)?;
        let names = groups.iter().map(|group| group.fingerprint.to_string()).collect();
        let shown = Shown { body: &answer.body, items: items.iter().map(AsRef::as_ref).collect(), names };
        context.out.show(&shown, |_| table(&groups, context.out.style()))?;
        if groups.is_empty() && context.out.is_for_people() {
            context.out.note("nothing failed in that time");
        }
        Ok(Exit::Success)
    }
}

impl Operate {
    async fn run(self, context: &Context, verb: &str) -> Fallible<Exit> {
        let what = format!("{verb} failure group {}", self.fingerprint);
        let path = format!("/v1/failures/{}:{verb}", self.fingerprint);
        begin(context, &what, &path, OperationRequest::default(), self.manner).await
    }
}

fn one(context: &Context, answer: &Answer) -> Fallible<Exit> {
    let group = answer.read::<FailureBody>()?;
    let name = group.fingerprint.to_string();
    context.out.show_one(&answer.body, &name, |_| table(&[group], context.out.style()))?;
    Ok(Exit::Success)
}

fn table(groups: &[FailureBody], style: Style) -> String {
    let mut table = Table::new(["FINGERPRINT", "KIND", ">FAILURES", "FIRST", "LAST", "LAST JOB", "ERROR"]);
    let now = clock::now();
    for group in groups {
        table.row(vec![
            group.fingerprint.to_string().into(),
            group.kind.as_str().into(),
            grouped(group.count).into(),
            relative(group.first_at, now).into(),
            relative(group.last_at, now).into(),
            group.job.to_string().into(),
            group.error.as_str().into(),
        ]);
    }
    if groups.is_empty() { String::new() } else { table.render(style) }
}
