//! `ganger view`: filters with a name.

use clap::{Args, Subcommand};
use ganger_core::name::QueueName;
use ganger_server::api::{ViewBody, ViewPut, ViewsBody};

use crate::client::{Answer, Call};
use crate::clock;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Fallible};
use crate::humane::relative;
use crate::output::{Shown, Style, Table};

/// Saved views: filters with a name.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ganger view set late-mail 'queue:mail wait>5m' --description 'mail that waited too long'
  ganger job list --view late-mail")]
pub(crate) struct View {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Every saved view
    #[command(visible_alias = "ls", after_help = "Example:\n  ganger view list")]
    List,
    /// One saved view
    #[command(after_help = "Example:\n  ganger view get late-mail")]
    Get(Named),
    Set(Set),
    /// Forget a saved view
    #[command(after_help = "Example:\n  ganger view delete late-mail")]
    Delete(Named),
}

#[derive(Args, Debug)]
struct Named {
    /// The view
    name: QueueName,
}

/// Save a view; one of that name is replaced.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  ganger view set late-mail 'queue:mail wait>5m'")]
struct Set {
    /// The view
    name: QueueName,
    /// Its filter
    #[arg(required = true, num_args = 1.., value_name = "QUERY")]
    query: Vec<String>,
    /// What it is for
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
}

impl View {
    pub(super) async fn run(self, context: &Context) -> Fallible<Exit> {
        match self.verb {
            Verb::List => list(context).await,
            Verb::Get(Named { name }) => {
                let call = Call::get(format!("get view {name}"), path(&name));
                one(context, &context.client()?.send(&call).await?)
            }
            Verb::Set(set) => set.run(context).await,
            Verb::Delete(Named { name }) => {
                let call = Call::delete(format!("delete view {name}"), path(&name));
                context.client()?.send(&call).await?;
                context.out.note(&format!("view {name} is gone"));
                Ok(Exit::Success)
            }
        }
    }
}

impl Set {
    async fn run(self, context: &Context) -> Fallible<Exit> {
        let put = ViewPut { query: self.query.join(" "), description: self.description };
        let body = serde_json::to_string(&put)
            .map_err(|error| Failure::new(Exit::Failure, "cannot write the view as JSON", error, ""))?;
        let call = Call::put(format!("save view {}", self.name), path(&self.name), body);
        one(context, &context.client()?.send(&call).await?)
    }
}

/// The filter of a saved view.
pub(super) async fn filter_of(context: &Context, name: &QueueName) -> Fallible<String> {
    let call = Call::get(format!("get view {name}"), path(name));
    Ok(context.client()?.send(&call).await?.read::<ViewBody>()?.query)
}

async fn list(context: &Context) -> Fallible<Exit> {
    let answer = context.client()?.send(&Call::get("list views", "/v1/views")).await?;
    let views = answer.read::<ViewsBody>()?.items;
    let items = super::items(&answer)?;
    let names = views.iter().map(|view| view.name.clone()).collect();
    let shown = Shown { body: &answer.body, items: items.iter().map(AsRef::as_ref).collect(), names };
    context.out.show(&shown, |_| table(&views, context.out.style()))?;
    Ok(Exit::Success)
}

fn one(context: &Context, answer: &Answer) -> Fallible<Exit> {
    let view = answer.read::<ViewBody>()?;
    let name = view.name.clone();
    context.out.show_one(&answer.body, &name, |_| table(&[view], context.out.style()))?;
    Ok(Exit::Success)
}

fn table(views: &[ViewBody], style: Style) -> String {
    let mut table = Table::new(["VIEW", "SET", "QUERY", "DESCRIPTION"]);
    for view in views {
        let (set, about) = (relative(view.updated_at, clock::now()), view.description.as_deref());
        table.row(vec![
            view.name.as_str().into(),
            set.into(),
            view.query.as_str().into(),
            about.unwrap_or("").into(),
        ]);
    }
    table.render(style)
}

fn path(name: &QueueName) -> String {
    format!("/v1/views/{name}")
}
