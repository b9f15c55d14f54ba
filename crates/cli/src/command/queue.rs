//! `ganger queue`: look at queues, stop and start them, set how they behave.

use clap::{Args, Subcommand, ValueEnum};
use ganger_core::limits;
use ganger_core::name::QueueName;
use ganger_core::queue::Policy;
use ganger_server::api::{
    AgeingBody, HumanDuration, KeepBody, OrNone, PurgeBody, QueueBody, QueueLimitsBody, QueueLimitsPut,
    QueuePut, QueuesBody, RateText, RetentionPut,
};

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
  ganger queue set mail --keep-finished 2d --keep-dead forever
  ganger queue set mail --max-running 10 --rate 100/1m --burst 20 --max-depth 100000
  ganger queue set mail --key-max-running 1 --rate none
  ganger queue set interactive --weight 4
  ganger queue set urgent --precedence 1")]
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
    /// Its share of the starts among the queues of the same precedence that a worker serves, 1 to 1000 [default: 1]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..=i64::from(limits::QUEUE_WEIGHT)))]
    weight: Option<u16>,
    /// Workers start jobs of queues with a larger precedence first, -128 to 127 [default: 0]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    precedence: Option<i8>,
    #[command(flatten)]
    limits: SetLimits,
}

/// Limits: a number, or `none`.
#[derive(Args, Debug)]
struct SetLimits {
    /// Jobs that run at a time
    #[arg(long, value_name = "NUMBER")]
    max_running: Option<OrNone<u32>>,
    /// Starts per period, as in 100/1m
    #[arg(long, value_name = "RATE")]
    rate: Option<OrNone<RateText>>,
    /// Starts at once after a pause [default: a tenth of the rate's number]
    #[arg(long, value_name = "NUMBER")]
    burst: Option<u32>,
    /// Jobs that wait; submissions beyond are refused, or held
    #[arg(long, value_name = "NUMBER")]
    max_depth: Option<OrNone<u32>>,
    /// How long a submission waits for room if there is none, up to 30s; 0s refuses it at once
    #[arg(long, value_name = "DURATION")]
    block: Option<HumanDuration>,
    /// The same for each concurrency key of the queue: jobs that run at a time
    #[arg(long, value_name = "NUMBER")]
    key_max_running: Option<OrNone<u32>>,
    /// Starts per period of each concurrency key
    #[arg(long, value_name = "RATE")]
    key_rate: Option<OrNone<RateText>>,
    /// Starts at once of each concurrency key
    #[arg(long, value_name = "NUMBER")]
    key_burst: Option<u32>,
    /// Jobs of each concurrency key that wait
    #[arg(long, value_name = "NUMBER")]
    key_max_depth: Option<OrNone<u32>>,
    /// A waiting job gains one priority for each so long, or `none`
    #[arg(long, value_name = "DURATION")]
    ageing: Option<OrNone<HumanDuration>>,
    /// It gains at most so much [default: 255]
    #[arg(long, requires = "ageing", value_name = "NUMBER")]
    ageing_at_most: Option<u8>,
}

impl SetLimits {
    fn change(&self, put: QueuePut) -> QueuePut {
        let of_queue = QueueLimitsPut {
            max_running: self.max_running,
            rate: self.rate,
            burst: self.burst,
            max_depth: self.max_depth,
        };
        let of_keys = QueueLimitsPut {
            max_running: self.key_max_running,
            rate: self.key_rate,
            burst: self.key_burst,
            max_depth: self.key_max_depth,
        };
        let given = |limits: QueueLimitsPut| (limits != QueueLimitsPut::default()).then_some(limits);
        let at_most = self.ageing_at_most.unwrap_or(u8::MAX);
        let ageing = self.ageing.map(|ageing| match ageing {
            OrNone::None => OrNone::None,
            OrNone::Some(every) => OrNone::Some(AgeingBody { every, at_most }),
        });
        QueuePut { limits: given(of_queue), key_limits: given(of_keys), block: self.block, ageing, ..put }
    }
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
            weight: self.weight,
            precedence: self.precedence,
            ..QueuePut::default()
        };
        let change = self.limits.change(change);
        if change == QueuePut::default() {
            return Err(Failure::usage(
                format!("cannot set queue {}", self.queue),
                "nothing to change was named",
                "add --weight, --precedence, --policy, --keep-finished, --keep-dead, --max-running, --rate or --max-depth",
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
        ">BLOCKED",
        ">QUEUED",
        ">RUNNING",
        ">RETRYING",
        ">DEAD",
        ">OLDEST",
        ">WORKERS",
    ]);
    if wide {
        table = table.column("PRECEDENCE").column("WEIGHT");
        table = table.column("POLICY").column("KEPT").column("DEAD KEPT").column("LIMITS");
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
            [jobs.scheduled, jobs.blocked, jobs.queued, jobs.running, jobs.retrying, jobs.dead]
                .map(|n| grouped(n).into()),
        );
        row.push(oldest.unwrap_or_else(|| "-".into()).into());
        row.push(queue.workers.to_string().into());
        row.push(queue.precedence.to_string().into());
        row.push(queue.weight.to_string().into());
        row.push(queue.policy.as_str().into());
        row.push(queue.retention.finished.to_string().into());
        row.push(queue.retention.dead.to_string().into());
        row.push(limits_in_words(queue).into());
        table.row(row);
    }
    table.render(style)
}

/// The limits of a queue and of its keys, in few words.
fn limits_in_words(queue: &QueueBody) -> String {
    let mut words = Vec::new();
    for (of, set) in [("", &queue.limits), ("per key ", &queue.key_limits)] {
        let QueueLimitsBody { max_running, rate, burst, max_depth } = set;
        words.extend(max_running.map(|max| format!("{of}{max} running")));
        words.extend(rate.map(|rate| format!("{of}{rate}, {} at once", burst.unwrap_or(1))));
        words.extend(max_depth.map(|max| format!("{of}{max} waiting")));
    }
    words.extend(queue.ageing.map(|ageing| format!("ages every {}", ageing.every)));
    if words.is_empty() { "-".into() } else { words.join("; ") }
}

fn path(queue: &QueueName, suffix: &str) -> String {
    format!("/v1/queues/{queue}{suffix}")
}
