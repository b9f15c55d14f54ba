//! The command line itself: what every command shares.

use std::path::PathBuf;

use clap::{Args, CommandFactory as _, FromArgMatches as _, Id, Parser};

use crate::command::Command;
use crate::config::{Color, Format, Key, Layer, LogFormat, ServerUrls};

/// A job scheduler in one binary: it keeps jobs safe, hands each to the right worker at the right
/// time, and can always say why a job is not running.
#[derive(Debug, Parser)]
#[command(
    name = "ganger",
    version,
    arg_required_else_help = true,
    after_help = "\
Examples:
  ganger dev                         start a server with local workers, no database needed
  ganger run -- echo hello           run a command as a job and see its output
  ganger enqueue sleep -p '{\"seconds\":1}' --wait
  ganger job list --state dead       what failed for good
  ganger help exit-codes             what the exit codes mean"
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What every command understands.
#[derive(Args, Debug)]
#[command(next_help_heading = "Common options")]
pub(crate) struct Global {
    /// The server to talk to, or several between commas [default: http://127.0.0.1:8080] [env: GANGER_URL]
    #[arg(long, global = true, value_name = "URL")]
    url: Option<ServerUrls>,
    /// Believe servers whose certificates this authority has signed (PEM) [default: those that the system knows] [env:
    /// GANGER_CA]
    #[arg(long, global = true, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// How to print answers [default: table] [env: GANGER_OUTPUT]
    #[arg(short, long, global = true, value_name = "FORMAT")]
    output: Option<Format>,
    /// When to use colour [default: auto] [env: GANGER_COLOR, NO_COLOR]
    #[arg(long, global = true, value_name = "WHEN")]
    color: Option<Color>,
    /// How to write logs [default: human] [env: GANGER_LOG_FORMAT; GANGER_LOG selects which]
    #[arg(long = "log", global = true, value_name = "FORMAT")]
    log_format: Option<LogFormat>,
    /// Read the variables of other schedulers as well, such as DATABASE_URL and REDIS_ADDR [env: GANGER_COMPAT_ENV=true]
    #[arg(long, global = true)]
    compat_env: bool,
}

impl Cli {
    /// The command line that was typed. Exits if it cannot be understood, or asks for help.
    pub(crate) fn read() -> Cli {
        let matches = Cli::tree().get_matches();
        Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }

    /// The tree of commands. What every command understands is explained once, at its root.
    pub(crate) fn tree() -> clap::Command {
        let mut root = Cli::command();
        // Only then do commands have the options of the root.
        root.build();
        let common: Vec<Id> = root
            .get_arguments()
            .filter(|argument| argument.is_global_set())
            .map(|a| a.get_id().clone())
            .collect();
        short(root, &common, true)
    }

    /// The settings that were given as flags.
    pub(crate) fn layer(&self) -> Layer {
        let mut layer = Layer::default();
        layer.set(Key::Url, self.global.url.as_ref());
        layer.set(Key::Ca, self.global.ca.as_ref().map(|path| path.display()));
        layer.set(Key::Output, self.global.output);
        layer.set(Key::Color, self.global.color);
        layer.set(Key::LogFormat, self.global.log_format);
        layer.set(Key::CompatEnv, self.global.compat_env.then_some(true));
        self.command.settings(&mut layer);
        layer
    }
}

/// A command and those below it, without what is explained at the root.
fn short(mut command: clap::Command, common: &[Id], is_root: bool) -> clap::Command {
    let children: Vec<String> = command.get_subcommands().map(|child| child.get_name().to_owned()).collect();
    for child in children.iter().filter(|child| *child != "help") {
        command = command.mut_subcommand(child, |child| short(child, common, false));
    }
    if is_root {
        return command;
    }
    command = command.mut_args(|argument| match common.contains(argument.get_id()) {
        true => argument.hide_short_help(true).hide_long_help(true),
        false => argument,
    });
    let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    command.after_help(format!("{after}\n\nCommon options, such as --url and --output: ganger --help"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_every_command_understands_is_explained_once() {
        let mut tree = Cli::tree();
        let root = tree.render_help().to_string();
        assert!(root.contains("--url <URL>") && root.contains("--color <WHEN>"), "{root}");
        let job = tree.find_subcommand_mut("job").and_then(|job| job.find_subcommand_mut("get")).unwrap();
        for help in [job.render_help(), job.render_long_help()] {
            let help = help.to_string();
            assert!(!help.contains("--color"), "{help}");
            assert!(help.contains("Common options, such as --url and --output: ganger --help"), "{help}");
        }
        for words in [
            ["ganger", "job", "list", "--url", "http://a:1"],
            ["ganger", "--url", "http://a:1", "job", "list"],
        ] {
            assert!(Cli::tree().try_get_matches_from(words).is_ok(), "{words:?}");
        }
    }

    fn walk(command: &clap::Command, path: &str, visit: &mut impl FnMut(&str, &clap::Command)) {
        visit(path, command);
        for child in command.get_subcommands() {
            walk(child, &format!("{path} {}", child.get_name()), visit);
        }
    }

    #[test]
    fn the_tree_of_arguments_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_help_has_an_example_that_names_its_command() {
        walk(&Cli::command(), "ganger", &mut |path, command| {
            let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(after.contains("Example") && after.contains(path), "`{path} --help` has no example");
        });
    }

    #[test]
    fn every_command_and_argument_is_explained() {
        walk(&Cli::command(), "ganger", &mut |path, command| {
            assert!(command.get_about().is_some(), "`{path}` has no description");
            for argument in command.get_arguments().filter(|a| !a.is_hide_set()) {
                assert!(argument.get_help().is_some(), "`{path}`: `{}` has no help", argument.get_id());
            }
        });
    }
}
