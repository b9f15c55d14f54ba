//! `ganger migrate`: the schema of a data directory, or of a database.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use ganger_store::StoreError;
use ganger_store::postgres::migrate as postgres;
use ganger_store::sqlite::migrate as sqlite;
use serde_json::json;

use crate::config::{Key, Layer, Place, RawStore};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Fallible};
use crate::output::{Paint, Style, Table};
use crate::serving::{database_failure, store_failure};

/// The schema of a data directory or a database: look at it, bring it up, take it back.
#[derive(Args, Debug)]
#[command(after_help = "\
A server migrates up by itself when it starts; no server may run on the directory meanwhile. Servers on a database
may run while it is migrated up; take it down only when none does.

Examples:
  ganger migrate status --data /var/lib/ganger
  ganger migrate up --data /var/lib/ganger
  ganger migrate status --store postgres://ganger@db/ganger")]
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
    /// The database, or sqlite:DIR [env: GANGER_STORE]
    #[arg(long, value_name = "URL", conflicts_with = "data")]
    store: Option<RawStore>,
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
    pub(super) async fn run(self, context: &Context) -> Fallible<Exit> {
        let place = &context.config.store.value;
        if let Verb::Down(down) = &self.verb
            && !down.yes
        {
            let copy = match place {
                Place::Sqlite(_) => "`ganger backup`",
                Place::Postgres(_) => "pg_dump",
            };
            return Err(Failure::usage(
                format!("will not take {} back yet", shown(place)),
                "what only newer versions of the schema can hold would be lost; version 0 loses every job",
                format!("make a copy with {copy}, then add --yes"),
            ));
        }
        match place {
            Place::Sqlite(dir) => self.sqlite(context, dir),
            Place::Postgres(url) => self.postgres(context, place, url).await,
        }
    }

    pub(super) fn settings(&self, layer: &mut Layer) -> Option<&Path> {
        let place = match &self.verb {
            Verb::Status(place) => place,
            Verb::Up(up) => &up.place,
            Verb::Down(down) => &down.place,
        };
        layer.set(Key::Store, place.store.as_ref().map(RawStore::text));
        place.data.as_deref()
    }

    fn sqlite(self, context: &Context, dir: &Path) -> Fallible<Exit> {
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
            Verb::Status(_) => {
                let found = sqlite::status(dir).map_err(failed)?;
                let steps = found.migrations.iter().map(|step| (step.version, step.name, step.applied));
                status(context, found.version, &steps.collect::<Vec<_>>())
            }
            Verb::Up(up) => told(context, sqlite::up(dir, up.to).map_err(failed)?),
            Verb::Down(down) => told(context, sqlite::down(dir, down.to).map_err(failed)?),
        }
    }

    async fn postgres(self, context: &Context, place: &Place, url: &str) -> Fallible<Exit> {
        let failed = |error: StoreError| database_failure(&format!("cannot migrate {place}"), &error);
        match self.verb {
            Verb::Status(_) => {
                let found = postgres::status(url).await.map_err(failed)?;
                let steps = found.migrations.iter().map(|step| (step.version, step.name, step.applied));
                status(context, found.version, &steps.collect::<Vec<_>>())
            }
            Verb::Up(up) => told(context, postgres::up(url, up.to).await.map_err(failed)?),
            Verb::Down(down) => told(context, postgres::down(url, down.to).await.map_err(failed)?),
        }
    }
}

fn shown(place: &Place) -> String {
    match place {
        Place::Sqlite(dir) => dir.display().to_string(),
        Place::Postgres(_) => place.to_string(),
    }
}

fn told(context: &Context, version: u32) -> Fallible<Exit> {
    let body = json!({ "version": version }).to_string();
    context.out.show_one(&body, &version.to_string(), |_| format!("the schema is at version {version}"))?;
    Ok(Exit::Success)
}

fn status(context: &Context, version: u32, steps: &[(u32, &str, bool)]) -> Fallible<Exit> {
    let migrations: Vec<_> = steps
        .iter()
        .map(|(version, name, applied)| json!({ "version": version, "name": name, "applied": applied }))
        .collect();
    let body = json!({ "version": version, "migrations": migrations }).to_string();
    context.out.show_one(&body, &version.to_string(), |_| described(version, steps, context.out.style()))?;
    Ok(Exit::Success)
}

fn described(version: u32, steps: &[(u32, &str, bool)], style: Style) -> String {
    let mut table = Table::new([">VERSION", "NAME", "APPLIED"]);
    for (version, name, applied) in steps {
        let applied = if *applied { "yes" } else { "no" };
        table.row(vec![version.to_string().into(), (*name).into(), applied.into()]);
    }
    let table = table.render(style);
    let known = steps.last().map_or(0, |(version, ..)| *version);
    if version <= known {
        return table;
    }
    // What the migrations after the last are called, only the binary knows that brought them.
    let newer = format!(
        "the database has schema version {version} and this ganger knows up to {known}; use the ganger that migrated it, \
         or a newer one"
    );
    format!("{table}\n\n{}", Paint::Red.on(&newer, style))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Style = Style { color: false, glyphs: false, width: None };

    #[test]
    fn a_schema_that_is_newer_than_the_binary_is_told() {
        let steps = [(1, "initial", true), (2, "doors", true)];
        assert!(!described(2, &steps, PLAIN).contains("this ganger"));
        let text = described(3, &steps, PLAIN);
        assert!(text.contains("has schema version 3 and this ganger knows up to 2; use"), "{text}");
    }
}
