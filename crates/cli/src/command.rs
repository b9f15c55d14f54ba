//! The commands, one file per noun.

mod audit;
mod backup;
mod bench;
mod cluster;
mod compat;
mod completion;
mod config;
mod demo;
mod dev;
mod doctor;
mod enqueue;
mod exit_codes;
mod failures;
mod health;
mod import;
mod job;
mod key;
mod kind;
mod migrate;
mod operation;
mod queue;
mod redis;
mod retry;
mod run;
mod schedule;
mod server;
mod stats;
mod tls;
mod token;
mod top;
mod user;
mod version;
mod view;
mod worker;

use std::io;

use clap::Subcommand;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::runtime::{Builder, Runtime};

use crate::client::Answer;
use crate::config::{Key, Layer};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Fallible};

/// Everything that `ganger` can do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Dev(dev::Dev),
    Server(server::Serve),
    Worker(worker::Worker),
    Run(run::Run),
    Enqueue(enqueue::Enqueue),
    Import(import::Import),
    #[command(visible_alias = "jobs")]
    Job(job::Job),
    #[command(visible_alias = "queues")]
    Queue(queue::Queue),
    #[command(visible_alias = "keys")]
    Key(key::Key),
    #[command(visible_alias = "kinds")]
    Kind(kind::Kind),
    #[command(visible_alias = "schedules")]
    Schedule(schedule::Schedule),
    #[command(visible_alias = "views")]
    View(view::View),
    #[command(visible_alias = "users")]
    User(user::User),
    #[command(visible_alias = "tokens")]
    Token(token::Token),
    Audit(audit::Audit),
    #[command(visible_alias = "failures")]
    Failure(failures::FailureCommand),
    #[command(visible_aliases = ["operations", "op"])]
    Operation(operation::Operation),
    Stats(stats::Stats),
    Top(top::Top),
    Cluster(cluster::Cluster),
    Health(health::Health),
    Doctor(doctor::Doctor),
    Migrate(migrate::Migrate),
    Backup(backup::Backup),
    Restore(backup::Restore),
    Bench(bench::Bench),
    Demo(demo::Demo),
    Config(config::ConfigCommand),
    Completion(completion::Completion),
    Version(version::Version),
    ExitCodes(exit_codes::ExitCodes),
}

impl Command {
    /// Does it.
    pub(crate) async fn run(self, context: &Context) -> Fallible<Exit> {
        match self {
            Command::Dev(command) => command.run(context).await,
            Command::Server(command) => command.run(context).await,
            Command::Worker(command) => command.run(context).await,
            Command::Run(command) => command.run(context).await,
            Command::Enqueue(command) => command.run(context).await,
            Command::Import(command) => command.run(context).await,
            Command::Job(command) => command.run(context).await,
            Command::Queue(command) => command.run(context).await,
            Command::Key(command) => command.run(context).await,
            Command::Kind(command) => command.run(context).await,
            Command::Schedule(command) => command.run(context).await,
            Command::View(command) => command.run(context).await,
            Command::User(command) => command.run(context).await,
            Command::Token(command) => command.run(context).await,
            Command::Audit(command) => command.run(context).await,
            Command::Failure(command) => command.run(context).await,
            Command::Operation(command) => command.run(context).await,
            Command::Stats(command) => command.run(context).await,
            Command::Top(command) => command.run(context).await,
            Command::Cluster(command) => command.run(context).await,
            Command::Health(command) => command.run(context).await,
            Command::Doctor(command) => command.run(context).await,
            Command::Migrate(command) => command.run(context).await,
            Command::Backup(command) => command.run(context).await,
            Command::Restore(command) => command.run(context),
            Command::Bench(command) => command.run(context).await,
            Command::Demo(command) => command.run(context).await,
            Command::Config(command) => command.run(context),
            Command::Completion(command) => command.run(context),
            Command::Version(command) => command.run(context).await,
            Command::ExitCodes(command) => command.run(context),
        }
    }

    /// Adds the settings that its own flags give.
    pub(crate) fn settings(&self, layer: &mut Layer) {
        let data = match self {
            Command::Dev(command) => command.settings(layer),
            Command::Server(command) => command.settings(layer),
            Command::Worker(command) => command.settings(layer),
            Command::Config(command) => command.settings(layer),
            Command::Doctor(command) => command.settings(layer),
            Command::Run(command) => command.data(),
            Command::Enqueue(command) => command.data(),
            Command::Migrate(command) => command.settings(layer),
            Command::Backup(command) => command.data(),
            Command::Restore(command) => command.data(),
            Command::Import(_)
            | Command::Job(_)
            | Command::Queue(_)
            | Command::Key(_)
            | Command::Kind(_)
            | Command::Schedule(_)
            | Command::View(_)
            | Command::User(_)
            | Command::Token(_)
            | Command::Audit(_)
            | Command::Failure(_)
            | Command::Operation(_)
            | Command::Stats(_)
            | Command::Top(_)
            | Command::Cluster(_)
            | Command::Health(_)
            | Command::Bench(_)
            | Command::Demo(_)
            | Command::Completion(_)
            | Command::Version(_)
            | Command::ExitCodes(_) => None,
        };
        layer.set(Key::Data, data.map(|path| path.display()));
    }

    /// The name under which it sends spans, if it serves until it is told to stop.
    pub(crate) fn service(&self) -> Option<&'static str> {
        match self {
            Command::Dev(_) => Some("ganger"),
            Command::Server(_) => Some("ganger-server"),
            Command::Worker(command) => command.is_service().then_some("ganger-worker"),
            Command::Run(_)
            | Command::Enqueue(_)
            | Command::Import(_)
            | Command::Job(_)
            | Command::Queue(_)
            | Command::Key(_)
            | Command::Kind(_)
            | Command::Schedule(_)
            | Command::View(_)
            | Command::User(_)
            | Command::Token(_)
            | Command::Audit(_)
            | Command::Failure(_)
            | Command::Operation(_)
            | Command::Stats(_)
            | Command::Top(_)
            | Command::Cluster(_)
            | Command::Health(_)
            | Command::Doctor(_)
            | Command::Migrate(_)
            | Command::Backup(_)
            | Command::Restore(_)
            | Command::Bench(_)
            | Command::Demo(_)
            | Command::Config(_)
            | Command::Completion(_)
            | Command::Version(_)
            | Command::ExitCodes(_) => None,
        }
    }

    /// Threads for services; a single one for commands that should be over at once.
    pub(crate) fn runtime(&self) -> io::Result<Runtime> {
        if self.service().is_some() || matches!(self, Command::Bench(_) | Command::Demo(_)) {
            Builder::new_multi_thread().enable_all().build()
        } else {
            Builder::new_current_thread().enable_all().build()
        }
    }
}

/// The documents of a list, byte for byte as the server sent them.
fn items(answer: &Answer) -> Fallible<Vec<Box<RawValue>>> {
    #[derive(Deserialize)]
    struct List {
        items: Vec<Box<RawValue>>,
    }
    Ok(answer.read::<List>()?.items)
}

/// A request as JSON.
fn json(request: &impl Serialize) -> Fallible<String> {
    serde_json::to_string(request)
        .map_err(|error| Failure::new(Exit::Failure, "cannot write the request as JSON", error, ""))
}

/// Reads `NAME=VALUE`.
fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        Some(_) | None => Err("it does not look like NAME=VALUE".into()),
    }
}
