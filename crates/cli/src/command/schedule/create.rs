//! `ganger schedule create` and `update`: a schedule from flags.

use clap::{ArgGroup, Args, ValueEnum};
use ganger_core::Wall;
use ganger_core::name::ScheduleName;
use ganger_server::api::{HumanDuration, ScheduleBody, ScheduleRequest, Timeout};

use super::{not_json, one, path};
use crate::client::Call;
use crate::command::enqueue::{EXEC, read_payload};
use crate::command::retry::RetryFlags;
use crate::context::Context;
use crate::exec_token;
use crate::exit::Exit;
use crate::failure::Fallible;

/// Make a schedule that does not exist yet.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ganger schedule create hourly --cron @hourly --kind greet
  ganger schedule create nightly --cron '30 2 * * MON-FRI' --zone Europe/Berlin --kind report -p '{\"days\":1}'
  ganger schedule create poll --every 30s --kind poll --overlap skip")]
#[command(group(ArgGroup::new("when").required(true).args(["cron", "every", "at"])))]
#[command(mut_arg("kind", |kind| kind.required(true)))]
pub(super) struct Create {
    /// Its name
    name: ScheduleName,
    #[command(flatten)]
    rule: Rule,
    /// It fires nothing until it is resumed
    #[arg(long)]
    paused: bool,
}

/// Change some settings of a schedule; what is not given stays as it is.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ganger schedule update nightly --cron '0 3 * * *'
  ganger schedule update nightly -p '{\"days\":7}' --max-attempts 3 --retry-base 1m")]
#[command(group(ArgGroup::new("when").args(["cron", "every", "at"])))]
pub(super) struct Update {
    /// Its name
    name: ScheduleName,
    #[command(flatten)]
    rule: Rule,
}

/// When it fires, and what.
#[derive(Args, Debug)]
struct Rule {
    /// Five fields (minute, hour, day, month, weekday), six with seconds first, or `@daily` and its like
    #[arg(long, value_name = "EXPRESSION")]
    cron: Option<String>,
    /// Again and again after this long, from 1 second on
    #[arg(long, value_name = "DURATION")]
    every: Option<HumanDuration>,
    /// Once, at this moment (RFC 3339)
    #[arg(long, value_name = "MOMENT")]
    at: Option<Wall>,
    /// The time zone of a cron expression [default: UTC]
    #[arg(long, value_name = "ZONE")]
    zone: Option<String>,
    /// What sort of job it submits; picks the handler
    #[arg(long)]
    kind: Option<String>,
    /// The job's input: JSON, `@FILE`, or `-` for standard input
    #[arg(short, long, value_name = "JSON", allow_hyphen_values = true)]
    payload: Option<String>,
    /// The queue of its jobs [default: default]
    #[arg(short, long)]
    queue: Option<String>,
    /// Larger runs first, from -128 to 127 [default: 0]
    #[arg(long, allow_hyphen_values = true)]
    priority: Option<i8>,
    /// Attempts allowed in all [default: 5]
    #[arg(long, value_name = "NUMBER")]
    max_attempts: Option<u32>,
    #[command(flatten)]
    retry: RetryFlags,
    /// Longest run of one attempt, or `none` [default: 1h]
    #[arg(long, value_name = "DURATION")]
    timeout: Option<Timeout>,
    /// What becomes of instants at which nobody was there [default: fire_once]
    #[arg(long, value_name = "RULE")]
    misfire: Option<Misfire>,
    /// With fire_all: how far back [default: 1h]
    #[arg(long, value_name = "DURATION")]
    misfire_window: Option<HumanDuration>,
    /// What happens while a job of it is not final [default: skip]
    #[arg(long, value_name = "RULE")]
    overlap: Option<Overlap>,
    /// Each job waits a while that is its own, up to this
    #[arg(long, value_name = "DURATION")]
    jitter: Option<HumanDuration>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
#[value(rename_all = "snake_case")]
enum Misfire {
    /// The last of them fires
    FireOnce,
    /// Those of the window fire, at most 100
    FireAll,
    /// None fires that is more than a minute late
    Skip,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
#[value(rename_all = "snake_case")]
enum Overlap {
    /// The next one is skipped
    Skip,
    /// The next one fires all the same
    Allow,
    /// The next one waits, and those after it are skipped
    QueueOne,
    /// The next one fires, and the job is cancelled
    CancelPrevious,
}

fn word(value: &impl ValueEnum) -> Option<String> {
    value.to_possible_value().map(|value| value.get_name().to_owned())
}

impl Rule {
    /// The schedule with what was given put over what it was.
    fn over(self, before: ScheduleRequest) -> Fallible<ScheduleRequest> {
        let mut after = before;
        if self.cron.is_some() || self.every.is_some() || self.at.is_some() {
            (after.cron, after.every, after.at) = (self.cron, self.every, self.at);
        }
        after.time_zone = self.zone.or(after.time_zone);
        after.misfire = self.misfire.as_ref().and_then(word).or(after.misfire);
        after.misfire_window = self.misfire_window.or(after.misfire_window);
        after.overlap = self.overlap.as_ref().and_then(word).or(after.overlap);
        after.jitter = self.jitter.or(after.jitter);
        let job = &mut after.job;
        job.kind = self.kind.unwrap_or_else(|| std::mem::take(&mut job.kind));
        job.queue = self.queue.or(job.queue.take());
        job.payload = self.payload.as_deref().map(read_payload).transpose()?.or(job.payload.take());
        job.priority = self.priority.or(job.priority);
        job.max_attempts = self.max_attempts.or(job.max_attempts);
        job.retry = self.retry.over(job.retry.take());
        job.timeout = self.timeout.or(job.timeout);
        Ok(after)
    }
}

impl Create {
    pub(super) async fn run(self, context: &Context) -> Fallible<Exit> {
        let named = ScheduleRequest {
            name: Some(self.name.to_string()),
            paused: self.paused.then_some(true),
            ..ScheduleRequest::default()
        };
        let request = self.rule.over(named)?;
        let token = if request.job.kind == EXEC { exec_token::find(&context.config)? } else { None };
        let body = serde_json::to_string(&request).map_err(not_json)?;
        let call = Call::submit_once(format!("create schedule {}", self.name), "/v1/schedules", body);
        one(context, &context.client()?.send(&call.with_exec_token(token)).await?)
    }
}

impl Update {
    pub(super) async fn run(self, context: &Context) -> Fallible<Exit> {
        let client = context.client()?;
        let what = format!("update schedule {}", self.name);
        let place = path(&self.name, "");
        let before = client.send(&Call::get(what.clone(), place.clone())).await?.read::<ScheduleBody>()?;
        let request = self.rule.over(as_request(before))?;
        let token = if request.job.kind == EXEC { exec_token::find(&context.config)? } else { None };
        let body = serde_json::to_string(&request).map_err(not_json)?;
        one(context, &client.send(&Call::put(what, place, body).with_exec_token(token)).await?)
    }
}

/// A schedule as it would be asked for.
fn as_request(body: ScheduleBody) -> ScheduleRequest {
    ScheduleRequest {
        name: None,
        cron: body.cron,
        every: body.every,
        at: body.at,
        time_zone: Some(body.time_zone),
        starts_at: body.starts_at,
        ends_at: body.ends_at,
        misfire: Some(body.misfire),
        misfire_window: body.misfire_window,
        overlap: Some(body.overlap),
        jitter: Some(body.jitter),
        paused: Some(body.paused),
        job: body.job,
    }
}
