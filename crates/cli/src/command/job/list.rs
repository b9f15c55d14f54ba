//! `ganger job list`.

use std::time::Duration;

use clap::Args;
use ganger_core::Wall;
use ganger_core::job::State;
use ganger_core::limits;
use ganger_core::name::QueueName;
use ganger_server::api::{JobBody, JobPage};

use crate::client::{Call, with_query};
use crate::clock;
use crate::command::view::filter_of;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Fallible;
use crate::humane::{relative, short};
use crate::output::{Cell, Shown, Style, Table, state_cell};

/// Jobs, newest first.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ganger job list
  ganger job list 'state:dead kind:email.* error~timeout age<2h'
  ganger job list payload.user.id:42 or tag:eu
  ganger job list -- -tag:eu kind:email.send
  ganger job list --state dead,retrying --queue mail
  ganger job list --kind email.send --since 2h -o json | jq '.items[].last_error'
  ganger job list --tag eu --all -o name")]
pub(super) struct List {
    /// Which jobs: fields, comparisons, words; docs/search.md has the language
    #[arg(value_name = "QUERY")]
    query: Vec<String>,
    /// The same as QUERY, as `ganger operation start` takes it
    #[arg(long, value_name = "QUERY", conflicts_with = "query")]
    filter: Option<String>,
    /// Which jobs, by a saved view
    #[arg(long, value_name = "NAME")]
    view: Option<QueueName>,
    /// Only in these states
    #[arg(short, long, value_delimiter = ',', value_parser = state, value_name = "STATE")]
    state: Vec<State>,
    /// Only of this queue
    #[arg(short, long)]
    queue: Option<String>,
    /// Only of this kind
    #[arg(short, long)]
    kind: Option<String>,
    /// Only with this tag
    #[arg(short, long)]
    tag: Option<String>,
    /// Only submitted with this unique key
    #[arg(long = "key", value_name = "UNIQUE_KEY")]
    unique_key: Option<String>,
    /// Only submitted within this time
    #[arg(long, value_parser = crate::humane::parse, value_name = "DURATION")]
    since: Option<Duration>,
    /// Only submitted before this moment (RFC 3339)
    #[arg(long, value_name = "MOMENT")]
    before: Option<Wall>,
    /// How many per page
    #[arg(long, default_value_t = limits::PAGE_DEFAULT, value_name = "ROWS")]
    limit: usize,
    /// Go on where another page ended
    #[arg(long)]
    cursor: Option<String>,
    /// All pages, not only the first
    #[arg(long)]
    all: bool,
}

impl List {
    pub(super) async fn run(mut self, context: &Context) -> Fallible<Exit> {
        let client = context.client()?;
        let query = joined(
            context,
            self.view.as_ref(),
            self.filter.as_ref().map_or(&self.query[..], std::slice::from_ref),
        )
        .await?;
        let since = self.since.map(|since| clock::now() - since);
        // The cursor moves through a finite list; each page is printed as it comes.
        loop {
            let answer = client.send(&Call::get("list jobs", self.path(query.clone(), since))).await?;
            let page = answer.read::<JobPage>()?;
            let items = crate::command::items(&answer)?;
            let shown = Shown {
                body: &answer.body,
                items: items.iter().map(AsRef::as_ref).collect(),
                names: page.items.iter().map(|job| job.id.to_string()).collect(),
            };
            context.out.show(&shown, |wide| table(&page.items, wide, context.out.style()))?;
            self.cursor = page.next_cursor.clone();
            if self.cursor.is_none() || !self.all {
                tell(context, &page);
                return Ok(Exit::Success);
            }
        }
    }

    fn path(&self, query: Option<String>, since: Option<Wall>) -> String {
        let states: Vec<&str> = self.state.iter().map(|state| state.as_str()).collect();
        with_query(
            "/v1/jobs",
            [
                ("q", query),
                ("state", (!states.is_empty()).then(|| states.join(","))),
                ("queue", self.queue.clone()),
                ("kind", self.kind.clone()),
                ("tag", self.tag.clone()),
                ("unique_key", self.unique_key.clone()),
                ("created_from", since.map(|moment| moment.to_string())),
                ("created_before", self.before.map(|moment| moment.to_string())),
                ("limit", Some(self.limit.to_string())),
                ("cursor", self.cursor.clone()),
            ],
        )
    }
}

/// One filter of a saved view and of what was typed; none if there is neither.
pub(super) async fn joined(
    context: &Context,
    view: Option<&QueueName>,
    words: &[String],
) -> Fallible<Option<String>> {
    let typed = (!words.is_empty()).then(|| words.join(" "));
    let Some(view) = view else { return Ok(typed) };
    let saved = filter_of(context, view).await?;
    Ok(Some(typed.map_or_else(|| saved.clone(), |typed| format!("({saved}) ({typed})"))))
}

/// Says what a person would otherwise have to guess: that there is more, or that nothing matched.
fn tell(context: &Context, page: &JobPage) {
    if !context.out.is_for_people() {
        return;
    }
    if page.items.is_empty() && page.next_cursor.is_none() {
        context.out.note("no job matches");
    }
    if let Some(cursor) = &page.next_cursor {
        let searched = if page.scan.complete { "" } else { " (not everything was searched yet)" };
        context.out.note(&format!("there is more{searched}: --all, or --cursor {cursor}"));
    }
}

fn table(jobs: &[JobBody], wide: bool, style: Style) -> String {
    let titles = ["STATE", "ID", "KIND", "QUEUE", ">ATTEMPTS", ">WAITED", ">RAN", "AGE"];
    let mut table = Table::new(titles);
    if wide {
        table = table.column("PRIORITY").column("KEY").column("TAGS").column("WORKER");
    }
    table = table.column("NOTE");
    let now = clock::now();
    for job in jobs {
        let mut row = vec![
            state_cell(job.state, style),
            job.id.to_string().into(),
            job.kind.as_str().into(),
            job.queue.as_str().into(),
            format!("{}/{}", job.attempts_used, job.max_attempts).into(),
            millis(job.queue_time_ms),
            millis(job.execution_time_ms),
            relative(job.created_at, now).into(),
        ];
        if wide {
            row.push(job.priority.to_string().into());
            row.push(job.unique_key.as_deref().unwrap_or("-").into());
            row.push(if job.tags.is_empty() { "-".into() } else { job.tags.join(",").into() });
            row.push(job.worker.as_deref().unwrap_or("-").into());
        }
        row.push(remark(job, now));
        table.row(row);
    }
    if jobs.is_empty() { String::new() } else { table.render(style) }
}

/// The most useful one thing about a job.
fn remark(job: &JobBody, now: Wall) -> Cell {
    match job.state {
        State::Scheduled => relative(job.run_at, now).into(),
        State::Retrying => {
            let error = job.last_error.as_deref().unwrap_or("failed");
            format!("{}: {error}", relative(job.run_at, now)).into()
        }
        State::Running if job.cancel_requested => "told to stop".into(),
        State::Running => match &job.progress {
            Some(progress) => format!("{:.0} % {}", progress.fraction * 100.0, progress.note).into(),
            None => "".into(),
        },
        State::Dead | State::Cancelled => {
            job.last_error.as_deref().or(job.reason.as_deref()).unwrap_or_default().into()
        }
        State::Blocked | State::Queued | State::Succeeded => "".into(),
    }
}

fn millis(millis: Option<u64>) -> Cell {
    millis.map_or_else(|| "-".into(), |millis| short(Duration::from_millis(millis)).into())
}

fn state(text: &str) -> Result<State, String> {
    let known = || State::ALL.map(State::as_str).join(", ");
    State::parse(text).ok_or_else(|| format!("there is no such state; the states are {}", known()))
}
