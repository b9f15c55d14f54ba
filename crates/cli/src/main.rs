//! `ganger`: the scheduler, its workers and its command line in one binary.

mod args;
mod client;
mod clock;
mod command;
mod config;
mod context;
mod descriptors;
mod exec_token;
mod exit;
mod failure;
mod follow;
mod humane;
mod local_worker;
mod logging;
mod manager;
mod output;
mod page;
mod port_owner;
mod secret_check;
mod serving;
mod signals;
mod telemetry;
mod token;

use std::process::ExitCode;

use crate::args::Cli;
use crate::config::{Config, Environment, Format, Key};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Fallible};

/// A job is many small allocations, mostly freed by another thread than the one that made them: in a drain the
/// system's allocator took a fifth of all CPU.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    let cli = Cli::read();
    let environment = Environment::read();
    let as_json = cli.wants_json(&environment);
    match run(cli, &environment) {
        Ok(exit) => exit.into(),
        Err(failure) => {
            if !failure.is_silent() {
                let color = output::stderr_is_terminal() && environment.terminal().color;
                output::note(&failure.render(as_json, color));
            }
            failure.exit.into()
        }
    }
}

fn run(cli: Cli, environment: &Environment) -> Fallible<Exit> {
    let directory = std::env::current_dir().map_err(|error| {
        Failure::file("cannot tell the working directory", &error, "change to one that exists")
    })?;
    let config = Config::resolve(cli.layer(), environment, &directory)?;
    let service = cli.command.service();
    let telemetry = logging::start(&config, service)?;
    let runtime = cli.command.runtime().map_err(|error| {
        Failure::file(
            "cannot start the threads of this process",
            &error,
            "raise the limits of this user (ulimit -u)",
        )
    })?;
    let context = Context::new(config, environment.clone(), directory);
    let exit = runtime.block_on(cli.command.run(&context));
    // Whatever still blocks a thread must not keep the user waiting for the prompt.
    runtime.shutdown_background();
    if let Some(telemetry) = telemetry {
        telemetry.stop();
    }
    exit
}

impl Cli {
    /// Whether errors are documents: known even where the settings themselves are the error.
    fn wants_json(&self, environment: &Environment) -> bool {
        let (flags, environment) = (self.layer(), environment.layer());
        let wanted = flags.get(Key::Output).or_else(|| environment.get(Key::Output));
        matches!(wanted.map(str::parse), Some(Ok(Format::Json | Format::Ndjson)))
    }
}
