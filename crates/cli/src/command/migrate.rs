//! `ganger migrate`: the schema of a data directory.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use ganger_store::StoreError;
use ganger_store::sqlite::migrate;
use serde_json::json;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Fallible};
use crate::output::Table;
use crate::serving::store_failure;

/// The schema of a data directory: look at it, bring it up, take it back.
#[derive(Args, Debug)]
#[command(after_help = "\
A server migrates up by itself when it starts; no server may run on the directory meanwhile.

Examples:
  ganger migrate status --data /var/lib/ganger
  ganger migrate up --data /var/lib/ganger")]
pub(crate) struct Migrate {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Which migrations the database has
    #[command(after_help = "Example:\n  ganger migrate status --data /var/lib/ganger")]
    Status(Where),
    /// Bring the schema to the newest version, or to --to
    #[command(after_help = "Example:\n  ganger migrate up --data /var/lib/ganger")]
    Up(Up),
    /// Take the schema back to an older version; what only newer ones can hold is lost
    #[command(after_help = "Example:\n  ganger migrate down --to 0 --data /var/lib/ganger --yes")]
    Down(Down),
}

#[derive(Args, Debug)]
struct Where {
    /// The data directory [env: GANGER_DATA]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
}

#[derive(Args, Debug)]
struct Up {
    /// The version to reach [default: the newest]
    #[arg(long, value_name = "VERSION")]
    to: Option<u32>,
    #[command(flatten)]
    place: Where,
}

#[derive(Args, Debug)]
struct Down {
    /// The version to go back to; 0 is empty
    #[arg(long, value_name = "VERSION")]
    to: u32,
    /// Yes, and what newer versions hold may be lost
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    place: Where,
}

impl Migrate {
    pub(super) fn run(self, context: &Context) -> Fallible<Exit> {
        let dir = &context.config.data.value;
        let failed = |error: StoreError| store_failure(&format!("cannot migrate {}", dir.display()), &error);
        // A schema is never made just by looking at it.
        if !dir.join("ganger.db").exists() && !matches!(self.verb, Verb::Up(_)) {
            return Err(Failure::new(
                Exit::NotFound,
                format!("cannot migrate {}", dir.display()),
                "there is no database in it",
                "name the directory that the server was started with: --data DIR or GANGER_DATA",
            ));
        }
        match self.verb {
            Verb::Status(_) => return status(context, &migrate::status(dir).map_err(failed)?),
            Verb::Up(up) => told(context, migrate::up(dir, up.to).map_err(failed)?)?,
            Verb::Down(down) if !down.yes => {
                return Err(Failure::usage(
                    format!("will not take {} back yet", dir.display()),
                    "what only newer versions of the schema can hold would be lost; version 0 loses every job",
                    "make a copy with `ganger backup`, then add --yes",
                ));
            }
            Verb::Down(down) => told(context, migrate::down(dir, down.to).map_err(failed)?)?,
        }
        Ok(Exit::Success)
    }

    pub(super) fn data(&self) -> Option<&Path> {
        match &self.verb {
            Verb::Status(place) => place.data.as_deref(),
            Verb::Up(up) => up.place.data.as_deref(),
            Verb::Down(down) => down.place.data.as_deref(),
        }
    }
}

fn told(context: &Context, version: u32) -> Fallible<()> {
    let body = json!({ "version": version }).to_string();
    context.out.show_one(&body, &version.to_string(), |_| format!("the schema is at version {version}"))
}

fn status(context: &Context, status: &migrate::Status) -> Fallible<Exit> {
    let step =
        |step: &migrate::Step| json!({ "version": step.version, "name": step.name, "applied": step.applied });
    let steps: Vec<_> = status.migrations.iter().map(step).collect();
    let body = json!({ "version": status.version, "migrations": steps }).to_string();
    context.out.show_one(&body, &status.version.to_string(), |_| {
        let mut table = Table::new([">VERSION", "NAME", "APPLIED"]);
        for step in &status.migrations {
            let applied = if step.applied { "yes" } else { "no" };
            table.row(vec![step.version.to_string().into(), step.name.into(), applied.into()]);
        }
        table.render(context.out.style())
    })?;
    Ok(Exit::Success)
}
