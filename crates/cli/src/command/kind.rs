//! `ganger kind`: look at kinds, and set how they behave.

use clap::{Args, Subcommand, ValueEnum};
use ganger_core::name::Kind as KindName;
use ganger_server::api::{KindBody, KindPut, KindsBody};

use crate::client::{Answer, Call};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Fallible};
use crate::output::{Shown, Style, Table};

/// Kinds: look at them, set how they behave.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ganger kind list
  ganger kind set invoice.send --transactional on")]
pub(crate) struct Kind {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Every kind that was ever set
    #[command(visible_alias = "ls", after_help = "Example:\n  ganger kind list")]
    List,
    /// One kind
    #[command(after_help = "Example:\n  ganger kind get invoice.send")]
    Get(Named),
    Set(Set),
}

#[derive(Args, Debug)]
struct Named {
    /// The kind
    kind: KindName,
}

/// Change the settings of a kind; jobs that run keep what they were started with.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  ganger kind set invoice.send --transactional on")]
struct Set {
    /// The kind
    kind: KindName,
    /// Whether its handlers may end their job inside their own database transaction, with ganger.complete; needs PostgreSQL
    #[arg(long, value_name = "ON|OFF")]
    transactional: Switch,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Switch {
    On,
    Off,
}

impl Kind {
    pub(super) async fn run(self, context: &Context) -> Fallible<Exit> {
        match self.verb {
            Verb::List => list(context).await,
            Verb::Get(Named { kind }) => {
                let call = Call::get(format!("get kind {kind}"), path(&kind));
                one(context, &context.client()?.send(&call).await?)
            }
            Verb::Set(set) => set.run(context).await,
        }
    }
}

impl Set {
    async fn run(self, context: &Context) -> Fallible<Exit> {
        let change = KindPut { transactional: Some(matches!(self.transactional, Switch::On)) };
        let body = serde_json::to_string(&change)
            .map_err(|error| Failure::new(Exit::Failure, "cannot write the change as JSON", error, ""))?;
        let call = Call::put(format!("set kind {}", self.kind), path(&self.kind), body);
        one(context, &context.client()?.send(&call).await?)
    }
}

async fn list(context: &Context) -> Fallible<Exit> {
    let answer = context.client()?.send(&Call::get("list kinds", "/v1/kinds")).await?;
    let kinds = answer.read::<KindsBody>()?.items;
    let items = super::items(&answer)?;
    let names = kinds.iter().map(|kind| kind.kind.to_string()).collect();
    let shown = Shown { body: &answer.body, items: items.iter().map(AsRef::as_ref).collect(), names };
    context.out.show(&shown, |_| table(&kinds, context.out.style()))?;
    Ok(Exit::Success)
}

fn one(context: &Context, answer: &Answer) -> Fallible<Exit> {
    let kind = answer.read::<KindBody>()?;
    let name = kind.kind.to_string();
    context.out.show_one(&answer.body, &name, |_| table(&[kind], context.out.style()))?;
    Ok(Exit::Success)
}

fn table(kinds: &[KindBody], style: Style) -> String {
    let mut table = Table::new(["KIND", "TRANSACTIONAL"]);
    for kind in kinds {
        let transactional = if kind.transactional { "on" } else { "off" };
        table.row(vec![kind.kind.as_str().into(), transactional.into()]);
    }
    table.render(style)
}

fn path(kind: &KindName) -> String {
    format!("/v1/kinds/{kind}")
}
