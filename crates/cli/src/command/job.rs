//! `ganger job`: look at jobs, wait for them, stop them, run them again.

mod export;
mod histogram;
mod list;
mod logs;
mod related;
mod show;
mod verb;
mod wait;

use clap::{Args, Subcommand};
use ganger_core::JobId;

pub(super) use wait::ended;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Fallible;

/// Jobs: look at them, wait for them, stop them, run them again.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ganger job list --state dead --queue mail
  ganger job list 'state:dead kind:email.* error~timeout age<2h'
  ganger job explain job_01J9X7QK5V8M3N2P4R6S8T0V1W
  ganger job list --state dead -o name | xargs ganger job replay")]
pub(crate) struct Job {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    #[command(visible_alias = "ls")]
    List(list::List),
    Export(export::Export),
    Histogram(histogram::Histogram),
    /// One job with its payload and result
    #[command(after_help = "\
Examples:
  ganger job get job_01J9X7QK5V8M3N2P4R6S8T0V1W
  ganger job get job_01J9X7QK5V8M3N2P4R6S8T0V1W -o json | jq .result")]
    Get(One),
    Wait(wait::Wait),
    /// Why a job is, or is not, running
    #[command(after_help = "Example:\n  ganger job explain job_01J9X7QK5V8M3N2P4R6S8T0V1W")]
    Explain(One),
    /// Stop jobs: waiting ones at once, running ones through their worker
    #[command(after_help = "Example:\n  ganger job cancel job_01J9X7QK5V8M3N2P4R6S8T0V1W")]
    Cancel(Many),
    /// Run final jobs again, with the same id and a fresh allowance of attempts
    #[command(after_help = "\
Examples:
  ganger job replay job_01J9X7QK5V8M3N2P4R6S8T0V1W
  ganger job list --state dead -o name | xargs ganger job replay")]
    Replay(Many),
    /// Delete final jobs for ever
    #[command(after_help = "Example:\n  ganger job delete job_01J9X7QK5V8M3N2P4R6S8T0V1W")]
    Delete(Many),
    /// Make waiting jobs due at once
    #[command(after_help = "Example:\n  ganger job run-now job_01J9X7QK5V8M3N2P4R6S8T0V1W")]
    RunNow(Many),
    /// Every attempt of a job: when, where, how it ended
    #[command(after_help = "Example:\n  ganger job attempts job_01J9X7QK5V8M3N2P4R6S8T0V1W")]
    Attempts(One),
    /// What a job waits for, and what waits for it
    #[command(after_help = "Example:\n  ganger job related job_01J9X7QK5V8M3N2P4R6S8T0V1W")]
    Related(One),
    #[command(visible_alias = "log")]
    Logs(logs::Logs),
}

#[derive(Args, Debug)]
struct One {
    /// The job's id
    id: JobId,
}

#[derive(Args, Debug)]
struct Many {
    /// The jobs' ids
    #[arg(required = true, value_name = "ID")]
    ids: Vec<JobId>,
}

impl Job {
    pub(super) async fn run(self, context: &Context) -> Fallible<Exit> {
        match self.verb {
            Verb::List(list) => list.run(context).await,
            Verb::Export(export) => export.run(context).await,
            Verb::Histogram(histogram) => histogram.run(context).await,
            Verb::Get(one) => show::get(context, one.id).await,
            Verb::Wait(wait) => wait.run(context).await,
            Verb::Explain(one) => show::explain(context, one.id).await,
            Verb::Cancel(many) => verb::run(context, verb::Verb::Cancel, &many.ids).await,
            Verb::Replay(many) => verb::run(context, verb::Verb::Replay, &many.ids).await,
            Verb::Delete(many) => verb::run(context, verb::Verb::Delete, &many.ids).await,
            Verb::RunNow(many) => verb::run(context, verb::Verb::RunNow, &many.ids).await,
            Verb::Attempts(one) => show::attempts(context, one.id).await,
            Verb::Related(one) => related::run(context, one.id).await,
            Verb::Logs(logs) => logs.run(context).await,
        }
    }
}
