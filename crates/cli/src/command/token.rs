//! `ganger token`: by which programs are recognised.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use ganger_core::access::{Permission, Role};
use ganger_server::api::{HumanDuration, TokenBody, TokenRequest, TokensBody, WhoBody};

use crate::client::Call;
use crate::clock;
use crate::config::{Place, RawStore};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Fallible};
use crate::humane::relative;
use crate::output::{Shown, Style, Table};
use crate::serving::{database_failure, store_failure};

/// Tokens: by which programs are recognised.
///
/// A server that asks who calls takes them as GANGER_TOKEN, from the file that GANGER_TOKEN_FILE names, or as
/// `Authorization: Bearer`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ganger token create ci --role submitter --queue 'build*' --expires-in 90d
  ganger token list
  ganger token revoke 4k2m9x7q0b1c")]
pub(crate) struct Token {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Every token, without its secret
    #[command(visible_alias = "ls", after_help = "Example:\n  ganger token list")]
    List,
    Create(Create),
    /// Refuse a token from now on
    #[command(after_help = "Example:\n  ganger token revoke 4k2m9x7q0b1c")]
    Revoke(Named),
    Recover(Recover),
    /// Who the server takes this command line for
    #[command(after_help = "Example:\n  ganger token whoami")]
    Whoami,
}

#[derive(Args, Debug)]
struct Named {
    /// The token's id: what is between its two underscores
    id: String,
}

/// Make a token, and print it this once.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ganger token create ci --role submitter --expires-in 90d
  ganger token create gpu-workers --role worker --queue gpu --queue 'video*' --enqueue mail
  ganger token create grafana --role viewer -o json")]
struct Create {
    /// What it is for
    name: String,
    /// viewer, submitter, operator, worker or admin
    #[arg(long, value_parser = role)]
    role: Role,
    /// Only this permission of the role; can be repeated
    #[arg(long = "scope", value_name = "PERMISSION", value_parser = permission)]
    scopes: Vec<Permission>,
    /// Only this queue, in which * stands for anything; can be repeated
    #[arg(short, long = "queue", value_name = "PATTERN")]
    queues: Vec<String>,
    /// Also enqueue into this queue, in which * stands for anything; can be repeated. A worker's token enqueues into
    /// the queues that it serves without it
    #[arg(long = "enqueue", value_name = "PATTERN")]
    enqueue: Vec<String>,
    /// How long it holds [default: without an end]
    #[arg(long, value_name = "DURATION")]
    expires_in: Option<HumanDuration>,
    /// Requests per second, at the most
    #[arg(long, value_name = "NUMBER")]
    rate: Option<u32>,
}

/// Make a token that may do everything for a day, without any other token.
///
/// It is written into the store itself: that takes the credentials of the database, or for a data directory that its
/// server is stopped. Servers of a database take it within seconds.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ganger token recover --store postgres://ganger:PASSWORD@db/ganger
  ganger token recover --data /var/lib/ganger")]
struct Recover {
    /// The data directory of a server that is stopped
    #[arg(long, value_name = "DIR", conflicts_with = "store")]
    data: Option<PathBuf>,
    /// The database [env: GANGER_STORE]
    #[arg(long, value_name = "URL")]
    store: Option<RawStore>,
}

impl Recover {
    async fn run(self, context: &Context) -> Fallible<Exit> {
        let place = match (&self.store, self.data) {
            (Some(raw), _) => raw
                .text()
                .parse()
                .map_err(|why: String| Failure::usage("cannot use that store", why, "correct --store"))?,
            (None, Some(dir)) => Place::Sqlite(dir),
            (None, None) => context.config.store.value.clone(),
        };
        let failed =
            || Failure::new(Exit::Failure, "cannot make a token", "it could not be written down", "");
        let (text, documents) = ganger_server::recovery_token(clock::now()).ok_or_else(failed)?;
        let what = format!("cannot write a token into {place}");
        match &place {
            Place::Sqlite(dir) => ganger_store::sqlite::put_documents(dir, &documents)
                .map_err(|error| store_failure(&what, &error))?,
            Place::Postgres(url) => ganger_store::postgres::put_documents(url, &documents)
                .await
                .map_err(|error| database_failure(&what, &error))?,
        }
        let body = serde_json::json!({ "token": text }).to_string();
        context.out.show_one(&body, &text, |_| text.clone())?;
        context.out.note("it may do everything and holds for a day: make another with it, `ganger token create NAME --role admin`");
        Ok(Exit::Success)
    }
}

impl Token {
    pub(super) async fn run(self, context: &Context) -> Fallible<Exit> {
        match self.verb {
            Verb::List => list(context).await,
            Verb::Create(create) => create.run(context).await,
            Verb::Revoke(Named { id }) => {
                let plain = id
                    .strip_prefix("gng_")
                    .map_or(id.as_str(), |rest| rest.split('_').next().unwrap_or(rest));
                if !plain.bytes().all(|b| b.is_ascii_alphanumeric()) || plain.is_empty() {
                    return Err(Failure::usage(
                        "cannot revoke that token",
                        "it is not the id of one",
                        "`ganger token list` shows the ids",
                    ));
                }
                let call = Call::delete(format!("revoke token {plain}"), format!("/v1/tokens/{plain}"));
                context.client()?.send(&call).await?;
                context.out.note(&format!("token {plain} is refused from now on"));
                Ok(Exit::Success)
            }
            Verb::Recover(recover) => recover.run(context).await,
            Verb::Whoami => whoami(context).await,
        }
    }
}

impl Create {
    async fn run(self, context: &Context) -> Fallible<Exit> {
        let request = TokenRequest {
            name: self.name,
            role: Some(self.role),
            scopes: (!self.scopes.is_empty()).then_some(self.scopes),
            queues: (!self.queues.is_empty()).then_some(self.queues),
            enqueue: (!self.enqueue.is_empty()).then_some(self.enqueue),
            expires_in: self.expires_in,
            rate: self.rate,
        };
        let body = super::json(&request)?;
        let call = Call::submit_once(format!("make token {}", request.name), "/v1/tokens", body);
        let answer = context.client()?.send(&call).await?;
        let made = answer.read::<TokenBody>()?;
        let text = made.token.clone().unwrap_or_default();
        context.out.show_one(&answer.body, &text, |_| {
            format!("{}\n{text}\n", table(&[made], context.out.style()))
        })?;
        context.out.note("keep it: it is not shown again");
        Ok(Exit::Success)
    }
}

async fn list(context: &Context) -> Fallible<Exit> {
    let answer = context.client()?.send(&Call::get("list tokens", "/v1/tokens")).await?;
    let tokens = answer.read::<TokensBody>()?.items;
    let items = super::items(&answer)?;
    let names = tokens.iter().map(|token| token.id.clone()).collect();
    let shown = Shown { body: &answer.body, items: items.iter().map(AsRef::as_ref).collect(), names };
    context.out.show(&shown, |_| table(&tokens, context.out.style()))?;
    Ok(Exit::Success)
}

async fn whoami(context: &Context) -> Fallible<Exit> {
    let answer = context.client()?.send(&Call::get("ask who this is", "/v1/whoami")).await?;
    let who = answer.read::<WhoBody>()?;
    context.out.show_one(&answer.body, &who.who, |_| {
        let may: Vec<&str> = who.permissions.iter().map(|permission| permission.as_str()).collect();
        let mut table = Table::new(["WHO", "MAY", "QUEUES"]);
        table.row(vec![who.who.as_str().into(), may.join(" ").into(), who.queues.join(" ").into()]);
        table.render(context.out.style())
    })?;
    Ok(Exit::Success)
}

fn table(tokens: &[TokenBody], style: Style) -> String {
    let mut table = Table::new(["ID", "NAME", "ROLE", "QUEUES", "USED", "ENDS"]);
    let now = clock::now();
    for token in tokens {
        let used = token.used_at.map_or_else(|| "never".to_owned(), |at| relative(at, now));
        let ends = token.expires_at.map_or_else(|| "never".to_owned(), |at| relative(at, now));
        table.row(vec![
            token.id.as_str().into(),
            token.name.as_str().into(),
            token.role.as_str().into(),
            token.queues.join(" ").into(),
            used.into(),
            ends.into(),
        ]);
    }
    table.render(style)
}

/// Reads a role.
pub(super) fn role(text: &str) -> Result<Role, String> {
    let known = || Role::ALL.iter().map(|role| role.as_str()).collect::<Vec<_>>().join(", ");
    Role::parse(text).ok_or_else(|| format!("it is none of {}", known()))
}

fn permission(text: &str) -> Result<Permission, String> {
    let known = || Permission::ALL.iter().map(|one| one.as_str()).collect::<Vec<_>>().join(", ");
    Permission::parse(text).ok_or_else(|| format!("it is none of {}", known()))
}
