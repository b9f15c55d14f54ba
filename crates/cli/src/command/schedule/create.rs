//! `ganger schedule create`: a schedule from flags.

use clap::{ArgGroup, Args, ValueEnum};
use ganger_core::Wall;
use ganger_core::name::ScheduleName;
use ganger_server::api::{HumanDuration, NewJobRequest, ScheduleRequest};

use super::{not_json, one};
use crate::client::Call;
use crate::command::enqueue::{EXEC, read_payload};
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
pub(super) struct Create {
    /// Its name
    name: ScheduleName,
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
    kind: String,
    /// The job's input: JSON, `@FILE`, or `-` for standard input
    #[arg(short, long, value_name = "JSON", allow_hyphen_values = true)]
    payload: Option<String>,
    /// The lane that its jobs wait in [default: default]
    #[arg(short, long)]
    queue: Option<String>,
    /// Larger runs first, from -128 to 127 [default: 0]
    #[arg(long, allow_hyphen_values = true)]
    priority: Option<i8>,
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
    /// It fires nothing until it is resumed
    #[arg(long)]
    paused: bool,
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

impl Create {
    pub(super) async fn run(self, context: &Context) -> Fallible<Exit> {
        let token = if self.kind == EXEC { exec_token::find(&context.config)? } else { None };
        let request = ScheduleRequest {
            name: Some(self.name.to_string()),
            cron: self.cron,
            every: self.every,
            at: self.at,
            time_zone: self.zone,
            misfire: self.misfire.as_ref().and_then(word),
            misfire_window: self.misfire_window,
            overlap: self.overlap.as_ref().and_then(word),
            jitter: self.jitter,
            paused: self.paused.then_some(true),
            job: NewJobRequest {
                kind: self.kind,
                queue: self.queue,
                payload: self.payload.as_deref().map(read_payload).transpose()?,
                priority: self.priority,
                ..NewJobRequest::default()
            },
            ..ScheduleRequest::default()
        };
        let body = serde_json::to_string(&request).map_err(not_json)?;
        let call = Call::submit_once(format!("create schedule {}", self.name), "/v1/schedules", body);
        one(context, &context.client()?.send(&call.with_exec_token(token)).await?)
    }
}
