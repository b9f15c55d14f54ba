//! `ganger backup` and `ganger restore`: a whole copy of the data, and back.

use std::path::{Path, PathBuf};

use clap::Args;
use ganger_store::sqlite::{self, RestoreOptions};
use serde_json::json;

use crate::config::Place;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Fallible};
use crate::humane::grouped;
use crate::serving::store_failure;

/// Write a consistent copy of the data to a new file, also while a server runs.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ganger backup ganger-monday.db --data /var/lib/ganger
  ganger backup /backups/ganger-$(date +%F).db")]
pub(crate) struct Backup {
    /// The file to write; it must not exist
    file: PathBuf,
    /// The data directory [env: GANGER_DATA]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
}

/// Put a backup in the place of the data. No server may run on the directory.
#[derive(Args, Debug)]
#[command(after_help = "\
Jobs that were running when the backup was made run again; what happened since is lost.

Example:
  ganger restore ganger-monday.db --data /var/lib/ganger --force")]
pub(crate) struct Restore {
    /// The backup
    file: PathBuf,
    /// The data directory [env: GANGER_DATA]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Replace the database that is there; it is kept aside
    #[arg(long)]
    force: bool,
}

impl Backup {
    pub(super) async fn run(self, context: &Context) -> Fallible<Exit> {
        only_sqlite(&context.config.store.value, "back up", "pg_dump")?;
        let data = context.config.data.value.clone();
        let to = context.directory.join(&self.file);
        let what = format!("cannot back up {} to {}", data.display(), self.file.display());
        let (from, copy) = (data.clone(), to.clone());
        tokio::task::spawn_blocking(move || sqlite::backup_dir(&from, &copy))
            .await
            .map_err(|error| Failure::new(Exit::Failure, what.clone(), error, ""))?
            .map_err(|error| store_failure(&what, &error))?;
        let bytes = std::fs::metadata(&to).map_or(0, |metadata| metadata.len());
        let name = to.display().to_string();
        let body = json!({ "file": name, "bytes": bytes }).to_string();
        context.out.show_one(&body, &name, |_| format!("{name}: {} bytes", grouped(bytes)))?;
        Ok(Exit::Success)
    }

    pub(super) fn data(&self) -> Option<&Path> {
        self.data.as_deref()
    }
}

impl Restore {
    pub(super) fn run(self, context: &Context) -> Fallible<Exit> {
        only_sqlite(&context.config.store.value, "restore", "pg_restore")?;
        let data = &context.config.data.value;
        let what = format!("cannot restore {} into {}", self.file.display(), data.display());
        let restored = sqlite::restore(&self.file, data, RestoreOptions { force: self.force })
            .map_err(|error| store_failure(&what, &error))?;
        let database = restored.database.display().to_string();
        let replaced = restored.replaced.map(|path| path.display().to_string());
        let body = json!({ "database": database, "replaced": replaced }).to_string();
        context.out.show_one(&body, &database, |_| match &replaced {
            Some(aside) => format!("restored {database}; the one before is {aside}"),
            None => format!("restored {database}"),
        })?;
        Ok(Exit::Success)
    }

    pub(super) fn data(&self) -> Option<&Path> {
        self.data.as_deref()
    }
}

/// A database has tools of its own for this.
fn only_sqlite(place: &Place, verb: &str, tool: &str) -> Fallible<()> {
    match place {
        Place::Sqlite(_) => Ok(()),
        Place::Postgres(_) => Err(Failure::usage(
            format!("cannot {verb} {place}"),
            "jobs are kept in a PostgreSQL database, which has tools of its own",
            format!("use {tool}, or name a data directory with --data"),
        )),
    }
}
