//! `ganger job export`.

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use ganger_core::name::QueueName;

use super::list::joined;
use crate::client::{Call, with_query};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Fallible};

/// Every job that a filter means, as NDJSON or CSV.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ganger job export state:dead --format csv --to dead.csv
  ganger job export 'kind:email.send age<1d' | jq .last_error")]
pub(super) struct Export {
    /// Which jobs, as for `ganger job list`; all without one
    #[arg(value_name = "QUERY")]
    query: Vec<String>,
    /// The same as QUERY, as `ganger operation start` takes it
    #[arg(long, value_name = "QUERY", conflicts_with = "query")]
    filter: Option<String>,
    /// Which jobs, by a saved view
    #[arg(long, value_name = "NAME")]
    view: Option<QueueName>,
    /// How they are written
    #[arg(long, default_value = "ndjson")]
    format: FileFormat,
    /// Into this file instead of the standard output
    #[arg(long, value_name = "FILE")]
    to: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum FileFormat {
    /// One JSON document per line
    Ndjson,
    /// For spreadsheets
    Csv,
}

impl Export {
    pub(super) async fn run(self, context: &Context) -> Fallible<Exit> {
        let format = match self.format {
            FileFormat::Ndjson => "ndjson",
            FileFormat::Csv => "csv",
        };
        let query = joined(
            context,
            self.view.as_ref(),
            self.filter.as_ref().map_or(&self.query[..], std::slice::from_ref),
        )
        .await?;
        let path = with_query("/v1/jobs:export", [("q", query), ("format", Some(format.into()))]);
        let call = Call::get("export jobs", path);
        let client = context.client()?;
        match &self.to {
            None => client.download(&call, &mut io::stdout().lock()).await?,
            Some(path) => {
                let named = |error: &io::Error| {
                    let what = format!("cannot write {}", path.display());
                    Failure::file(what, error, "name a file in a directory that can be written to")
                };
                let mut file = File::create(path).map_err(|error| named(&error))?;
                client.download(&call, &mut file).await?;
                file.flush().and_then(|()| file.sync_all()).map_err(|error| named(&error))?;
            }
        }
        Ok(Exit::Success)
    }
}
