//! `ganger user`: people who may log in.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use ganger_core::access::Role;
use ganger_core::limits;
use ganger_core::name::QueueName;
use ganger_server::api::{UserBody, UserRequest, UsersBody};

use super::token::role;
use crate::client::{Answer, Call};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Fallible};
use crate::output::{Shown, Style, Table};

/// Users: people who may log in.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ganger user add ada --role operator --password-file ./password
  ganger user set ada --role viewer
  ganger user list")]
pub(crate) struct User {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Every user
    #[command(visible_alias = "ls", after_help = "Example:\n  ganger user list")]
    List,
    Add(Add),
    Set(Set),
    /// Forget a user; his logins end
    #[command(visible_alias = "rm", after_help = "Example:\n  ganger user remove ada")]
    Remove(Named),
}

#[derive(Args, Debug)]
struct Named {
    /// The user
    name: QueueName,
}

/// Make a user known.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ganger user add ada --role operator --password-file ./password
  openssl rand -base64 18 | tee /dev/tty | ganger user add bob --role viewer --password-file -")]
struct Add {
    /// His name
    name: QueueName,
    /// viewer, submitter, operator, worker or admin
    #[arg(long, value_parser = role)]
    role: Role,
    #[command(flatten)]
    more: More,
    /// A file with his password, of 12 bytes or more; - reads standard input
    #[arg(long, value_name = "FILE")]
    password_file: PathBuf,
}

/// Change a user; what is not given stays. His logins end.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ganger user set ada --role viewer
  ganger user set ada --disabled true
  ganger user set ada --password-file ./password")]
struct Set {
    /// His name
    name: QueueName,
    /// viewer, submitter, operator, worker or admin
    #[arg(long, value_parser = role)]
    role: Option<Role>,
    #[command(flatten)]
    more: More,
    /// A file with his password, of 12 bytes or more; - reads standard input
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
}

#[derive(Args, Debug)]
struct More {
    /// Only this queue, in which * stands for anything; can be repeated
    #[arg(short, long = "queue", value_name = "PATTERN")]
    queues: Vec<String>,
    /// Whether he may not log in
    #[arg(long, value_name = "BOOL")]
    disabled: Option<bool>,
}

impl User {
    pub(super) async fn run(self, context: &Context) -> Fallible<Exit> {
        match self.verb {
            Verb::List => list(context).await,
            Verb::Add(add) => add.run(context).await,
            Verb::Set(set) => set.run(context).await,
            Verb::Remove(Named { name }) => {
                let call = Call::delete(format!("remove user {name}"), format!("/v1/users/{name}"));
                context.client()?.send(&call).await?;
                context.out.note(&format!("user {name} is gone"));
                Ok(Exit::Success)
            }
        }
    }
}

impl Add {
    async fn run(self, context: &Context) -> Fallible<Exit> {
        let request = UserRequest {
            name: Some(self.name.to_string()),
            password: Some(password(&self.password_file)?),
            role: Some(self.role),
            ..self.more.request()
        };
        let call = Call::submit_once(format!("add user {}", self.name), "/v1/users", super::json(&request)?);
        one(context, &context.client()?.send(&call).await?)
    }
}

impl Set {
    async fn run(self, context: &Context) -> Fallible<Exit> {
        let password = self.password_file.as_deref().map(password).transpose()?;
        let request = UserRequest { password, role: self.role, ..self.more.request() };
        let path = format!("/v1/users/{}", self.name);
        let call = Call::put(format!("change user {}", self.name), path, super::json(&request)?);
        one(context, &context.client()?.send(&call).await?)
    }
}

impl More {
    fn request(self) -> UserRequest {
        let queues = (!self.queues.is_empty()).then_some(self.queues);
        UserRequest { queues, disabled: self.disabled, ..UserRequest::default() }
    }
}

/// A password is never on a command line, where whoever lists processes would see it.
fn password(path: &Path) -> Fallible<String> {
    let most = *limits::PASSWORD_BYTES.end() as u64 + 2;
    let mut text = String::new();
    let read = if path.as_os_str() == "-" {
        std::io::stdin().take(most).read_to_string(&mut text)
    } else {
        std::fs::File::open(path).and_then(|file| file.take(most).read_to_string(&mut text))
    };
    read.map_err(|error| {
        let what = format!("cannot read the password from {}", path.display());
        Failure::file(what, &error, "name a file that holds it, or - for standard input")
    })?;
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}

async fn list(context: &Context) -> Fallible<Exit> {
    let answer = context.client()?.send(&Call::get("list users", "/v1/users")).await?;
    let users = answer.read::<UsersBody>()?.items;
    let items = super::items(&answer)?;
    let names = users.iter().map(|user| user.name.clone()).collect();
    let shown = Shown { body: &answer.body, items: items.iter().map(AsRef::as_ref).collect(), names };
    context.out.show(&shown, |_| table(&users, context.out.style()))?;
    Ok(Exit::Success)
}

fn one(context: &Context, answer: &Answer) -> Fallible<Exit> {
    let user = answer.read::<UserBody>()?;
    let name = user.name.clone();
    context.out.show_one(&answer.body, &name, |_| table(&[user], context.out.style()))?;
    Ok(Exit::Success)
}

fn table(users: &[UserBody], style: Style) -> String {
    let mut table = Table::new(["USER", "ROLE", "QUEUES", ">LOGINS", "STATE"]);
    for user in users {
        table.row(vec![
            user.name.as_str().into(),
            user.role.as_str().into(),
            user.queues.join(" ").into(),
            user.logins.to_string().into(),
            if user.disabled { "disabled" } else { "active" }.into(),
        ]);
    }
    table.render(style)
}
