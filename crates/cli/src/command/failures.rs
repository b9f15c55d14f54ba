//! `ganger failure`: failures of one cause, as a group.

use std::time::Duration;

use clap::{Args, Subcommand};
use ganger_core::fingerprint::Fingerprint;
use ganger_server::api::{FailureBody, FailuresBody, OperationRequest, duration};

use super::operation::{Manner, begin};
use crate::client::{Answer, Call, with_query};
use crate::clock;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Fallible;
use crate::humane::{self, grouped, relative};
use crate::output::{Cell, Shown, Style, Table, chart};

/// How wide the chart of a group may be.
const TREND_WIDTH: usize = 25;
/// How many characters of an error a row has room for.
const ERROR_WIDTH: usize = 120;

/// Failures of one cause, as a group: look at them, replay or discard their dead jobs.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ganger failure list --window 1h
  ganger job list failure:9f86d081884c7d65
  ganger failure replay 9f86d081884c7d65 --rate 200")]
pub(crate) struct FailureCommand {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    List(List),
    /// One group
    #[command(after_help = "Example:\n  ganger failure get 9f86d081884c7d65")]
    Get(Named),
    /// Run the dead jobs of a group again
    #[command(after_help = "\
Examples:
  ganger failure replay 9f86d081884c7d65 --dry-run
  ganger failure replay 9f86d081884c7d65 --rate 200 --yes")]
    Replay(Operate),
    /// Delete the dead jobs of a group for ever
    #[command(after_help = "Example:\n  ganger failure discard 9f86d081884c7d65 --reason 'known bug' --yes")]
    Discard(Operate),
}

/// Groups that were seen lately, the last seen first.
///
/// Each with how often it came in the window, how that went over time, and what part of its kind's attempts it was, for windows of up
/// to seven days; beside its total since the first.
#[derive(Args, Debug)]
#[command(
    visible_alias = "ls",
    after_help = "\
Examples:
  ganger failure list --window 1h --kind email.send
  ganger failure list --window 7d"
)]
struct List {
    /// Seen within this time
    #[arg(long, value_parser = humane::parse, default_value = "24h", value_name = "DURATION")]
    window: Duration,
    /// Only of this kind
    #[arg(short, long)]
    kind: Option<String>,
    /// At most so many
    #[arg(long, value_name = "ROWS")]
    limit: Option<usize>,
}

#[derive(Args, Debug)]
struct Named {
    /// The group's fingerprint
    fingerprint: Fingerprint,
}

#[derive(Args, Debug)]
struct Operate {
    /// The group's fingerprint
    fingerprint: Fingerprint,
    #[command(flatten)]
    manner: Manner,
}

impl FailureCommand {
    pub(super) async fn run(self, context: &Context) -> Fallible<Exit> {
        match self.verb {
            Verb::List(list) => list.run(context).await,
            Verb::Get(Named { fingerprint }) => {
                let path = format!("/v1/failures/{fingerprint}");
                let call = Call::get(format!("get failure group {fingerprint}"), path);
                one(context, &context.client()?.send(&call).await?)
            }
            Verb::Replay(operate) => operate.run(context, "replay").await,
            Verb::Discard(operate) => operate.run(context, "discard").await,
        }
    }
}

impl List {
    async fn run(self, context: &Context) -> Fallible<Exit> {
        let path = with_query(
            "/v1/failures",
            [
                ("window", Some(duration::format(self.window))),
                ("kind", self.kind),
                ("limit", self.limit.map(|limit| limit.to_string())),
            ],
        );
        let answer = context.client()?.send(&Call::get("list failures", path)).await?;
        let FailuresBody { items: groups, window } = answer.read::<FailuresBody>()?;
        let items = super::items(&answer)?;
        let names = groups.iter().map(|group| group.fingerprint.to_string()).collect();
        let shown = Shown { body: &answer.body, items: items.iter().map(AsRef::as_ref).collect(), names };
        context.out.show(&shown, |_| table(&groups, window.is_some(), context.out.style()))?;
        if groups.is_empty() && context.out.is_for_people() {
            context.out.note("nothing failed in that time");
        }
        Ok(Exit::Success)
    }
}

impl Operate {
    async fn run(self, context: &Context, verb: &str) -> Fallible<Exit> {
        let what = format!("{verb} failure group {}", self.fingerprint);
        let path = format!("/v1/failures/{}:{verb}", self.fingerprint);
        begin(context, &what, &path, OperationRequest::default(), self.manner).await
    }
}

fn one(context: &Context, answer: &Answer) -> Fallible<Exit> {
    let group = answer.read::<FailureBody>()?;
    let name = group.fingerprint.to_string();
    context.out.show_one(&answer.body, &name, |_| {
        // The whole error, which may have many lines, below the row.
        format!("{}\n\n{}", table(std::slice::from_ref(&group), false, context.out.style()), group.error)
    })?;
    Ok(Exit::Success)
}

/// Groups as a table, with what they did in the window that was asked for if that is known.
fn table(groups: &[FailureBody], in_window: bool, style: Style) -> String {
    let mut table = if in_window {
        let columns = ["FINGERPRINT", "KIND", ">IN WINDOW", ">OF RUNS", "TREND", ">FAILURES"];
        Table::new(columns).column("FIRST").column("LAST").column("LAST JOB").column("ERROR")
    } else {
        Table::new(["FINGERPRINT", "KIND", ">FAILURES", "FIRST", "LAST", "LAST JOB", "ERROR"])
    };
    let now = clock::now();
    for group in groups {
        let mut row: Vec<Cell> = vec![group.fingerprint.to_string().into(), group.kind.as_str().into()];
        if in_window {
            let recent = group.recent.as_ref();
            let trend: Vec<f64> =
                recent.iter().flat_map(|recent| &recent.trend).map(|count| *count as f64).collect();
            row.push(recent.map_or_else(|| "-".into(), |recent| grouped(recent.count)).into());
            row.push(recent.and_then(|recent| recent.share).map_or_else(|| "-".into(), percent).into());
            row.push(chart(&trend, TREND_WIDTH, style.glyphs).into());
        }
        row.extend([
            grouped(group.count).into(),
            relative(group.first_at, now).into(),
            relative(group.last_at, now).into(),
            group.job.to_string().into(),
            first_line(&group.error).into(),
        ]);
        table.row(row);
    }
    if groups.is_empty() { String::new() } else { table.render(style) }
}

/// What an error begins with: a stack of calls would tear the table apart.
fn first_line(error: &str) -> String {
    let line = error.trim_start().lines().next().unwrap_or_default().trim_end();
    let cut = line.char_indices().nth(ERROR_WIDTH).map(|(at, _)| &line[..at]);
    match (cut, error.trim().lines().nth(1)) {
        (Some(cut), _) => format!("{cut}…"),
        (None, Some(_)) => format!("{line} …"),
        (None, None) => line.to_owned(),
    }
}

/// A part as people say it: what is not nothing is not shown as nothing.
fn percent(share: f64) -> String {
    match share * 100.0 {
        none if none <= 0.0 => "0%".into(),
        little if little < 0.1 => "<0.1%".into(),
        some if some < 10.0 => format!("{some:.1}%"),
        much => format!("{much:.0}%"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_one_line_of_an_error_and_says_that_there_is_more() {
        assert_eq!(first_line("KeyError: 'id'"), "KeyError: 'id'");
        assert_eq!(first_line("\nKeyError: 'id'\n  at a\n  at b\n"), "KeyError: 'id' …");
        assert_eq!(first_line(&"é".repeat(ERROR_WIDTH)), "é".repeat(ERROR_WIDTH));
        assert_eq!(first_line(&"é".repeat(ERROR_WIDTH + 1)), format!("{}…", "é".repeat(ERROR_WIDTH)));
    }

    #[test]
    fn a_part_is_told_with_the_digits_that_matter() {
        let told = [0.0, 0.000_4, 0.001, 0.034_56, 0.5, 1.0].map(percent);
        assert_eq!(told, ["0%", "<0.1%", "0.1%", "3.5%", "50%", "100%"]);
    }
}
