//! `ganger schedule`: rules that submit jobs, made, looked at, stopped and started.

mod apply;
mod create;
mod shown;

use clap::{Args, Subcommand};
use ganger_core::Wall;
use ganger_core::name::ScheduleName;
use ganger_server::api::{FiredBody, OccurrencesBody, ScheduleBody, SchedulesBody, UpcomingBody};
use serde_json::json;

use crate::client::{Answer, Call, with_query};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Fallible};
use crate::output::Shown;

/// Schedules: rules that submit a job at every instant they name.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ganger schedule create nightly --cron '30 2 * * *' --zone Europe/Berlin --kind report
  ganger schedule next nightly
  ganger schedule apply schedules.toml --dry-run")]
pub(crate) struct Schedule {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Every schedule, with when it fires next
    #[command(visible_alias = "ls", after_help = "Example:\n  ganger schedule list -o wide")]
    List,
    /// One schedule
    #[command(after_help = "Example:\n  ganger schedule get nightly -o json")]
    Get(Named),
    Create(create::Create),
    Update(create::Update),
    Apply(apply::Apply),
    /// Delete a schedule with its ledger; its jobs stay
    #[command(after_help = "Example:\n  ganger schedule delete nightly")]
    Delete(Named),
    /// Fire nothing until it is resumed
    #[command(after_help = "Example:\n  ganger schedule pause nightly")]
    Pause(Named),
    /// Fire again; what was due meanwhile stays skipped
    #[command(after_help = "Example:\n  ganger schedule resume nightly")]
    Resume(Named),
    /// Fire now, whatever the schedule says
    #[command(after_help = "Example:\n  ganger schedule run nightly")]
    Run(Named),
    /// When it fires next, with what the clocks do
    #[command(after_help = "\
Examples:
  ganger schedule next nightly 5
  ganger schedule next nightly 10 --from 2027-03-20T00:00:00Z")]
    Next(Next),
    Backfill(Backfill),
    /// What became of its occurrences, newest first
    #[command(after_help = "Example:\n  ganger schedule history nightly --limit 20")]
    History(History),
}

#[derive(Args, Debug)]
struct Named {
    /// The schedule
    name: ScheduleName,
}

#[derive(Args, Debug)]
struct Next {
    /// The schedule
    name: ScheduleName,
    /// How many instants, up to 1000
    #[arg(default_value_t = 10)]
    count: usize,
    /// Instants after this moment (RFC 3339) [default: now]
    #[arg(long, value_name = "MOMENT")]
    from: Option<Wall>,
}

/// Fire the instants of a range of the past that did not fire.
#[derive(Args, Debug)]
#[command(after_help = "\
Example:
  ganger schedule backfill nightly --from 2026-11-01T00:00:00Z --to 2026-11-08T00:00:00Z --dry-run")]
struct Backfill {
    /// The schedule
    name: ScheduleName,
    /// The first moment (RFC 3339)
    #[arg(long, value_name = "MOMENT")]
    from: Wall,
    /// The last moment (RFC 3339)
    #[arg(long, value_name = "MOMENT")]
    to: Wall,
    /// Only show which instants there are
    #[arg(long)]
    dry_run: bool,
}

#[derive(Args, Debug)]
struct History {
    /// The schedule
    name: ScheduleName,
    /// How many rows, up to 500
    #[arg(long, default_value_t = 50)]
    limit: usize,
}

impl Schedule {
    pub(super) async fn run(self, context: &Context) -> Fallible<Exit> {
        match self.verb {
            Verb::List => list(context).await,
            Verb::Get(Named { name }) => {
                let call = Call::get(format!("get schedule {name}"), path(&name, ""));
                one(context, &context.client()?.send(&call).await?)
            }
            Verb::Create(create) => create.run(context).await,
            Verb::Update(update) => update.run(context).await,
            Verb::Apply(apply) => apply.run(context).await,
            Verb::Delete(Named { name }) => {
                let call = Call::delete(format!("delete schedule {name}"), path(&name, ""));
                context.client()?.send(&call).await?;
                let body = json!({"name": name, "deleted": true}).to_string();
                let text = format!("schedule {name} is gone; its jobs stay");
                context.out.show_one(&body, name.as_str(), |_| text)?;
                Ok(Exit::Success)
            }
            Verb::Pause(named) => verb(context, &named.name, "pause").await,
            Verb::Resume(named) => verb(context, &named.name, "resume").await,
            Verb::Run(Named { name }) => {
                let call = Call::post(format!("run schedule {name}"), path(&name, ":run"));
                fired(context, &context.client()?.send(&call).await?)
            }
            Verb::Next(next) => next.run(context).await,
            Verb::Backfill(backfill) => backfill.run(context).await,
            Verb::History(history) => history.run(context).await,
        }
    }
}

impl Next {
    async fn run(self, context: &Context) -> Fallible<Exit> {
        let from = self.from.map(|from| from.to_string());
        let at =
            with_query(&path(&self.name, "/next"), [("n", Some(self.count.to_string())), ("from", from)]);
        let call = Call::get(format!("look ahead in schedule {}", self.name), at);
        let answer = context.client()?.send(&call).await?;
        let instants = answer.read::<UpcomingBody>()?.items;
        let items = super::items(&answer)?;
        let names = instants.iter().map(|instant| instant.at.to_string()).collect();
        let shown = Shown { body: &answer.body, items: items.iter().map(AsRef::as_ref).collect(), names };
        context.out.show(&shown, |_| shown::instants(&instants, context.out.style()))?;
        Ok(Exit::Success)
    }
}

impl Backfill {
    async fn run(self, context: &Context) -> Fallible<Exit> {
        let body = json!({"from": self.from, "to": self.to, "preview": self.dry_run}).to_string();
        let what = format!("backfill schedule {}", self.name);
        // What has fired does not fire again.
        let call = Call::submit_once(what, &path(&self.name, ":backfill"), body).repeatable();
        let answer = context.client()?.send(&call).await?;
        if self.dry_run {
            let told = answer.read::<FiredBody>()?;
            let text = shown::instants(&told.instants, context.out.style());
            context.out.show_one(&answer.body, self.name.as_str(), |_| text)?;
            context.out.note("nothing was fired; those that had fired before would be left alone");
            return Ok(Exit::Success);
        }
        fired(context, &answer)
    }
}

impl History {
    async fn run(self, context: &Context) -> Fallible<Exit> {
        let at = with_query(&path(&self.name, "/occurrences"), [("limit", Some(self.limit.to_string()))]);
        let call = Call::get(format!("list the history of schedule {}", self.name), at);
        let answer = context.client()?.send(&call).await?;
        let rows = answer.read::<OccurrencesBody>()?.items;
        let items = super::items(&answer)?;
        let names = rows.iter().map(|row| row.due_at.to_string()).collect();
        let shown = Shown { body: &answer.body, items: items.iter().map(AsRef::as_ref).collect(), names };
        context.out.show(&shown, |_| shown::occurrences(&rows, context.out.style()))?;
        Ok(Exit::Success)
    }
}

async fn list(context: &Context) -> Fallible<Exit> {
    let schedules = all(context).await?;
    let body = serde_json::to_string(&SchedulesBody { items: schedules.clone(), next_cursor: None })
        .map_err(not_json)?;
    let items = schedules.iter().map(serde_json::value::to_raw_value).collect::<Result<Vec<_>, _>>();
    let items = items.map_err(not_json)?;
    let names = schedules.iter().map(|schedule| schedule.name.to_string()).collect();
    let shown = Shown { body: &body, items: items.iter().map(AsRef::as_ref).collect(), names };
    context.out.show(&shown, |wide| shown::schedules(&schedules, wide, context.out.style()))?;
    Ok(Exit::Success)
}

/// Every schedule, page by page.
async fn all(context: &Context) -> Fallible<Vec<ScheduleBody>> {
    let client = context.client()?;
    let (mut schedules, mut cursor) = (Vec::new(), None);
    loop {
        let at = with_query("/v1/schedules", [("limit", Some("500".into())), ("cursor", cursor)]);
        let page = client.send(&Call::get("list schedules", at)).await?.read::<SchedulesBody>()?;
        schedules.extend(page.items);
        match page.next_cursor {
            Some(next) => cursor = Some(next),
            None => return Ok(schedules),
        }
    }
}

async fn verb(context: &Context, name: &ScheduleName, verb: &str) -> Fallible<Exit> {
    let call = Call::post(format!("{verb} schedule {name}"), path(name, &format!(":{verb}"))).repeatable();
    one(context, &context.client()?.send(&call).await?)
}

fn one(context: &Context, answer: &Answer) -> Fallible<Exit> {
    let schedule = answer.read::<ScheduleBody>()?;
    let name = schedule.name.to_string();
    context
        .out
        .show_one(&answer.body, &name, |_| shown::schedules(&[schedule], true, context.out.style()))?;
    Ok(Exit::Success)
}

fn fired(context: &Context, answer: &Answer) -> Fallible<Exit> {
    let told = answer.read::<FiredBody>()?;
    let name = told.occurrences.iter().filter_map(|row| row.job).map(|job| job.to_string());
    let name = name.collect::<Vec<_>>().join("\n");
    context
        .out
        .show_one(&answer.body, &name, |_| shown::occurrences(&told.occurrences, context.out.style()))?;
    Ok(Exit::Success)
}

fn path(name: &ScheduleName, suffix: &str) -> String {
    format!("/v1/schedules/{name}{suffix}")
}

fn not_json(error: serde_json::Error) -> Box<Failure> {
    Failure::new(Exit::Failure, "cannot write the schedule as JSON", error, "")
}
