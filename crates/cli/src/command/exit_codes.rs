//! `ganger exit-codes`: what the exit codes mean.

use clap::Args;
use serde_json::{Value, json};

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Fallible;

/// What the exit codes mean.
#[derive(Args, Debug)]
#[command(after_help = help())]
pub(crate) struct ExitCodes {}

impl ExitCodes {
    pub(super) fn run(self, context: &Context) -> Fallible<Exit> {
        let item = |exit: &Exit| json!({ "code": exit.number(), "meaning": exit.meaning() });
        let items: Vec<Value> = Exit::ALL.iter().map(item).collect();
        let body = json!({ "items": items }).to_string();
        context.out.show_one(&body, "exit-codes", |_| table())?;
        Ok(Exit::Success)
    }
}

fn table() -> String {
    let line = |exit: &Exit| format!("{:>5}  {}", exit.number(), exit.meaning());
    Exit::ALL.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn help() -> String {
    format!("Codes:\n{}\n\nExample:\n  ganger exit-codes", table())
}
