//! `ganger top`: how things are, live, in a terminal.
//!
//! The model knows, `update` changes it, `view` draws it: all three are pure. `run` carries out what they ask for, over one
//! connection to the stream of events and a few bounded questions.

mod action;
mod fetch;
#[cfg(test)]
mod fixture;
mod grid;
mod model;
mod pace;
#[cfg(test)]
mod panics;
mod rows;
mod run;
mod screen;
mod stream;
mod theme;
mod update;
mod view;

use std::io::{self, IsTerminal as _};

use clap::Args;

use crate::config::{Color, Format};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Fallible};

/// A dashboard in the terminal: queues, jobs, failures, workers, schedules and operations, live.
#[derive(Args, Debug)]
#[command(after_help = "\
Keys: 1-6 views, j k move, enter open, / filter, : command, ? all keys, q quit. Upper case changes something, and asks first.
Where there is no terminal, `ganger stats -o json` and `ganger job list` have the same numbers.

Examples:
  ganger top
  ganger top --url https://jobs.example.com --read-only
  NO_COLOR=1 ganger top --ascii")]
pub(crate) struct Top {
    /// Switch off every key that changes something
    #[arg(long)]
    read_only: bool,
    /// Draw with ASCII only
    #[arg(long)]
    ascii: bool,
}

impl Top {
    pub(super) async fn run(self, context: &Context) -> Fallible<Exit> {
        let config = &context.config;
        let refuse = |why: &str| {
            let fix =
                "use `ganger stats`, `ganger queue list` or `ganger job list`, with -o json for programs";
            Err(Failure::usage("cannot show `ganger top` here", why, fix))
        };
        if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
            return refuse("it needs a terminal, and standard input or output is not one");
        }
        if !matches!(config.output.value, Format::Table | Format::Wide) {
            return refuse("it is for people, and -o asks for a document");
        }
        if context.environment.terminal_is_dumb() {
            return refuse("the terminal cannot move its cursor (TERM=dumb)");
        }
        let colour = match config.color.value {
            Color::Auto => config.terminal.color,
            Color::Always => true,
            Color::Never => false,
        };
        let client = context.client()?;
        let theme = theme::Theme::new(colour, config.terminal.utf8 && !self.ascii);
        let model = model::Model::new(client.address(), self.read_only, theme, jiff::tz::TimeZone::system());
        run::run(model, client, context.environment.is_graphical()).await
    }
}
