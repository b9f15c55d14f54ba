//! `ganger queue`: look at queues, stop and start them, set how they behave.

use clap::{Args, Subcommand, ValueEnum};
use ganger_core::name::QueueName;
use ganger_core::queue::Policy;
use ganger_server::api::{KeepBody, PurgeBody, QueueBody, QueuePut, QueuesBody, RetentionPut};

use crate::client::{Answer, Call};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Fallible};
use crate::humane::{grouped, short};
use crate::output::{Cell, Paint, Shown, Style, Table};

/// Queues: look at them, stop and start them, set how they behave.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ganger queue list
  ganger queue pause mail")]
pub(crate) struct Queue {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Every queue, with what it holds
    #[command(visible_alias = "ls", after_help = "Example:\n  ganger queue list -o wide")]
    List,
    /// One queue
    #[command(after_help = "Example:\n  ganger queue get mail")]
    Get(Named),
    /// Start nothing of it any more; submissions are still accepted
    #[command(after_help = "Example:\n  ganger queue pause mail")]
    Pause(Named),
    /// Start its jobs again, and accept submissions again
    #[command(after_help = "Example:\n  ganger queue resume mail")]
    Resume(Named),
    /// Refuse submissions; what is there still runs
    #[command(after_help = "Example:\n  ganger queue drain mail")]
    Drain(Named),
    Set(Set),
    Purge(Purge),
}

#[derive(Args, Debug)]
struct Named {
    /// The queue
    queue: QueueName,
}

/// Change the settings of a queue; what is not named stays as it is.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ganger queue set mail --policy spread
  ganger queue set mail --keep-finished 2d --keep-dead forever")]
struct Set {
    /// The queue
    queue: QueueName,
    /// Which of the workers that fit gets the next job
    #[arg(long, value_name = "POLICY")]
    policy: Option<PolicyWord>,
    /// How long succeeded and cancelled jobs are kept: a duration, `none` or `forever`
    #[arg(long, value_name = "TIME")]
    keep_finished: Option<KeepBody>,
    /// How long dead jobs are kept: a duration or `forever`
    #[arg(long, value_name = "TIME")]
    keep_dead: Option<KeepBody>,
}

/// Remove the dead jobs of a queue for ever.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  ganger queue purge mail --yes")]
struct Purge {
    /// The queue
    queue: QueueName,
    /// Yes, for ever
    #[arg(long)]
    yes: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
#[value(rename_all = "snake_case")]
enum PolicyWord {
    /// The one whose last assignment is oldest
    LeastRecentlyUsed,
    /// The next in order of arrival, in turn
    RoundRobin,
    /// The one with the fewest free threads that still fit
    BestFit,
    /// The one with the most free threads
    Spread,
}

impl From<PolicyWord> for Policy {
    fn from(word: PolicyWord) -> Policy {
        match word {
            PolicyWord::LeastRecentlyUsed => Policy::LeastRecentlyUsed,
            PolicyWord::RoundRobin => Policy::RoundRobin,
            PolicyWord::BestFit => Policy::BestFit,
            PolicyWord::Spread => Policy::Spread,
        }
    }
}

impl Queue {
    pub(super) async fn run(self, context: &Context) -> Fallible<Exit> {
        match self.verb {
            Verb::List => list(context).await,
            Verb::Get(named) => {
                let call = Call::get(format!("get queue {}", named.queue), path(&named.queue, ""));
                one(context, &context.client()?.send(&call).await?)
            }
            Verb::Pause(named) => verb(context, &named.queue, "pause").await,
            Verb::Resume(named) => verb(context, &named.queue, "resume").await,
            Verb::Drain(named) => verb(context, &named.queue, "drain").await,
            Verb::Set(set) => set.run(context).await,
            Verb::Purge(purge) => purge.run(context).await,
        }
    }
}

impl Set {
    async fn run(self, context: &Context) -> Fallible<Exit> {
        let retention = RetentionPut { finished: self.keep_finished, dead: self.keep_dead };
        let change = QueuePut {
            policy: self.policy.map(Policy::from),
            retention: (retention != RetentionPut::default()).then_some(retention),
            ..QueuePut::default()
        };
        if change == QueuePut::default() {
            return Err(Failure::usage(
                format!("cannot set queue {}", self.queue),
                "nothing to change was named",
                "add --policy, --keep-finished or --keep-dead",
            ));
        }
        let body = serde_json::to_string(&change)
            .map_err(|error| Failure::new(Exit::Failure, "cannot write the change as JSON", error, ""))?;
        let call = Call::put(format!("set queue {}", self.queue), path(&self.queue, ""), body);
        one(context, &context.client()?.send(&call).await?)
    }
}

impl Purge {
    async fn run(self, context: &Context) -> Fallible<Exit> {
        if !self.yes {
            return Err(Failure::usage(
                format!("will not purge queue {} yet", self.queue),
                "its dead jobs would be gone for ever, with their payloads and errors",
                format!(
                    "look at them with `ganger job list --queue {} --state dead`, then add --yes",
                    self.queue
                ),
            ));
        }
        let call = Call::post(format!("purge queue {}", self.queue), path(&self.queue, ":purge"));
        let answer = context.client()?.send(&call).await?;
        let purged = answer.read::<PurgeBody>()?.purged;
        let human = format!("{} dead jobs of {} are gone", grouped(purged), self.queue);
        context.out.show_one(&answer.body, &purged.to_string(), |_| human)?;
        Ok(Exit::Success)
    }
}

async fn list(context: &Context) -> Fallible<Exit> {
    let answer = context.client()?.send(&Call::get("list queues", "/v1/queues")).await?;
    let queues = answer.read::<QueuesBody>()?.items;
    let items = super::items(&answer)?;
    let names = queues.iter().map(|queue| queue.queue.to_string()).collect();
    let shown = Shown { body: &answer.body, items: items.iter().map(AsRef::as_ref).collect(), names };
    context.out.show(&shown, |wide| table(&queues, wide, context.out.style()))?;
    Ok(Exit::Success)
}

async fn verb(context: &Context, queue: &QueueName, verb: &str) -> Fallible<Exit> {
    let call = Call::post(format!("{verb} queue {queue}"), path(queue, &format!(":{verb}"))).repeatable();
    one(context, &context.client()?.send(&call).await?)
}

fn one(context: &Context, answer: &Answer) -> Fallible<Exit> {
    let queue = answer.read::<QueueBody>()?;
    let name = queue.queue.to_string();
    context.out.show_one(&answer.body, &name, |_| table(&[queue], true, context.out.style()))?;
    Ok(Exit::Success)
}

fn table(queues: &[QueueBody], wide: bool, style: Style) -> String {
    let mut table = Table::new([
        "QUEUE",
        "STATE",
        ">SCHEDULED",
        ">QUEUED",
        ">RUNNING",
        ">RETRYING",
        ">DEAD",
        ">OLDEST",
        ">WORKERS",
    ]);
    if wide {
        table = table.column("POLICY").column("KEPT").column("DEAD KEPT");
    }
    for queue in queues {
        let jobs = &queue.jobs;
        let (state, paint) = match (queue.paused, queue.draining) {
            (true, true) => ("paused, draining", Paint::Yellow),
            (true, false) => ("paused", Paint::Yellow),
            (false, true) => ("draining", Paint::Yellow),
            (false, false) => ("open", Paint::Green),
        };
        let oldest = queue.oldest_ready_ms.map(|ms| short(std::time::Duration::from_millis(ms)));
        let mut row: Vec<Cell> = vec![queue.queue.as_str().into(), Cell::painted(state, paint)];
        row.extend(
            [jobs.scheduled, jobs.queued, jobs.running, jobs.retrying, jobs.dead].map(|n| grouped(n).into()),
        );
        row.push(oldest.unwrap_or_else(|| "-".into()).into());
        row.push(queue.workers.to_string().into());
        row.push(queue.policy.as_str().into());
        row.push(queue.retention.finished.to_string().into());
        row.push(queue.retention.dead.to_string().into());
        table.row(row);
    }
    table.render(style)
}

fn path(queue: &QueueName, suffix: &str) -> String {
    format!("/v1/queues/{queue}{suffix}")
}
