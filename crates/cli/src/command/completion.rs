//! `ganger completion`: scripts that complete commands in a shell.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::args::Cli;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Fallible};

/// Print a completion script for a shell.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ganger completion bash > ~/.local/share/bash-completion/completions/ganger
  ganger completion zsh > \"${fpath[1]}/_ganger\"
  ganger completion fish > ~/.config/fish/completions/ganger.fish")]
pub(crate) struct Completion {
    /// The shell
    shell: Shell,
}

impl Completion {
    pub(super) fn run(self, context: &Context) -> Fallible<Exit> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "ganger", &mut script);
        let script = String::from_utf8(script)
            .map_err(|error| Failure::new(Exit::Failure, "cannot write a completion script", error, ""))?;
        context.out.text(&script)?;
        Ok(Exit::Success)
    }
}
