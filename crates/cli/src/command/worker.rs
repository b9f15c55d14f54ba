//! `ganger worker`: run the built-in kinds; look at workers, drain them.

mod fleet;
mod start;
mod supervise;

use std::path::Path;

use clap::{Args, Subcommand};

use crate::config::Layer;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Fallible;

/// Start a worker for the built-in kinds; or look at workers and drain them.
#[derive(Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Without a verb it starts a worker: `ganger worker --threads 8` is `ganger worker start --threads 8`.

Examples:
  ganger worker --url http://10.0.0.5:8080 --queue mail --threads 16
  ganger worker --processes 4 --allow-exec
  ganger worker list"
)]
pub(crate) struct Worker {
    #[command(subcommand)]
    verb: Option<Verb>,
    #[command(flatten)]
    start: start::Start,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Start a worker for the built-in kinds, http and sleep among them, and exec if allowed
    #[command(after_help = "Example:\n  ganger worker start --queue mail --threads 16 --labels zone=eu")]
    Start(Box<start::Start>),
    /// Every worker, lost ones of the last hour included
    #[command(visible_alias = "ls", after_help = "Example:\n  ganger worker list -o wide")]
    List,
    /// Tell workers to finish what they hold and to take nothing new
    #[command(
        after_help = "Examples:\n  ganger worker drain wrk_01J9X7QK5V8M3N2P4R6S8T0V1W\n  ganger worker drain mail-1"
    )]
    Drain(fleet::Drain),
}

impl Worker {
    pub(super) async fn run(self, context: &Context) -> Fallible<Exit> {
        match self.verb {
            None => self.start.run(context).await,
            Some(Verb::Start(start)) => start.run(context).await,
            Some(Verb::List) => fleet::list(context).await,
            Some(Verb::Drain(drain)) => drain.run(context).await,
        }
    }

    pub(super) fn is_service(&self) -> bool {
        match self.verb {
            None | Some(Verb::Start(_)) => true,
            Some(Verb::List | Verb::Drain(_)) => false,
        }
    }

    pub(super) fn settings(&self, layer: &mut Layer) -> Option<&Path> {
        match &self.verb {
            None => self.start.settings(layer),
            Some(Verb::Start(start)) => start.settings(layer),
            Some(Verb::List | Verb::Drain(_)) => {}
        }
        None
    }
}
