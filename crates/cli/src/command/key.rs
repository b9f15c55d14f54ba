//! `ganger key`: look at the keys of queues, close and open them.

use clap::{Args, Subcommand};
use ganger_core::Wall;
use ganger_core::name::QueueName;
use ganger_server::api::{HumanDuration, KeyBody, KeyClose, KeysBody};

use crate::client::{Answer, Call};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Fallible};
use crate::humane::grouped;
use crate::output::{Cell, Paint, Shown, Style, Table};

/// Keys of queues: look at them, close and open them.
///
/// Jobs that were submitted with --concurrency-key share the limits of their queue's keys, and wait while their
/// key is closed.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ganger key list
  ganger key close mail customer-7 --for 10m")]
pub(crate) struct Key {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    List(List),
    Close(Close),
    /// Open a key before its time is over
    #[command(after_help = "Example:\n  ganger key open mail customer-7")]
    Open(Named),
}

/// Keys that have live jobs or are closed; the closed ones first.
#[derive(Args, Debug)]
#[command(
    visible_alias = "ls",
    after_help = "Examples:\n  ganger key list\n  ganger key list --queue mail --limit 10"
)]
struct List {
    /// Of this queue alone
    #[arg(short, long)]
    queue: Option<QueueName>,
    /// At most so many
    #[arg(long, value_name = "NUMBER")]
    limit: Option<usize>,
}

#[derive(Args, Debug)]
struct Named {
    /// The queue
    queue: QueueName,
    /// The key
    key: String,
}

/// Start nothing of a key for a while; its jobs wait, and all others go on.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ganger key close mail customer-7 --for 10m
  ganger key close mail customer-7 --until 2030-01-01T00:00:00Z")]
struct Close {
    #[command(flatten)]
    named: Named,
    /// For so long from now
    #[arg(
        long = "for",
        value_name = "DURATION",
        conflicts_with = "until",
        required_unless_present = "until"
    )]
    long: Option<HumanDuration>,
    /// Until this moment (RFC 3339)
    #[arg(long, value_name = "MOMENT")]
    until: Option<Wall>,
}

impl Key {
    pub(super) async fn run(self, context: &Context) -> Fallible<Exit> {
        match self.verb {
            Verb::List(list) => list.run(context).await,
            Verb::Close(close) => close.run(context).await,
            Verb::Open(named) => {
                let what = format!("open key {} of queue {}", named.key, named.queue);
                let call = Call::post(what, named.path("open")).repeatable();
                one(context, &context.client()?.send(&call).await?)
            }
        }
    }
}

impl List {
    async fn run(self, context: &Context) -> Fallible<Exit> {
        let path =
            self.queue.map_or_else(|| "/v1/keys".to_owned(), |queue| format!("/v1/queues/{queue}/keys"));
        let path = self.limit.map_or(path.clone(), |limit| format!("{path}?limit={limit}"));
        let answer = context.client()?.send(&Call::get("list keys", path)).await?;
        let keys = answer.read::<KeysBody>()?;
        let items = super::items(&answer)?;
        let names = keys.items.iter().map(|key| key.key.clone()).collect();
        let shown = Shown { body: &answer.body, items: items.iter().map(AsRef::as_ref).collect(), names };
        context.out.show(&shown, |_| table(&keys.items, context.out.style()))?;
        if keys.total > keys.items.len() {
            context.out.note(&format!(
                "{} of {} keys are shown",
                keys.items.len(),
                grouped(keys.total as u64)
            ));
        }
        Ok(Exit::Success)
    }
}

impl Close {
    async fn run(self, context: &Context) -> Fallible<Exit> {
        let close = KeyClose { for_: self.long, until: self.until };
        let body = serde_json::to_string(&close)
            .map_err(|error| Failure::new(Exit::Failure, "cannot write the request as JSON", error, ""))?;
        let what = format!("close key {} of queue {}", self.named.key, self.named.queue);
        let call = Call::submit_once(what, &self.named.path("close"), body).repeatable();
        one(context, &context.client()?.send(&call).await?)
    }
}

impl Named {
    fn path(&self, verb: &str) -> String {
        format!("/v1/queues/{}/keys/{}:{verb}", self.queue, encoded(&self.key))
    }
}

/// A key as one segment of a path: whatever is not plain is percent-encoded.
fn encoded(key: &str) -> String {
    use std::fmt::Write as _;
    let mut text = String::new();
    for byte in key.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            text.push(byte.into());
        } else {
            // Writing to a text cannot fail.
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

fn one(context: &Context, answer: &Answer) -> Fallible<Exit> {
    let key = answer.read::<KeyBody>()?;
    let name = key.key.clone();
    context.out.show_one(&answer.body, &name, |_| table(&[key], context.out.style()))?;
    Ok(Exit::Success)
}

fn table(keys: &[KeyBody], style: Style) -> String {
    let mut table = Table::new(["QUEUE", "KEY", ">WAITING", ">RUNNING", "CLOSED UNTIL"]);
    for key in keys {
        let closed = match key.closed_until {
            Some(until) => Cell::painted(until.to_string(), Paint::Yellow),
            None => "-".into(),
        };
        let (waiting, running) = (grouped(key.waiting.into()), grouped(key.running.into()));
        table.row(vec![
            key.queue.as_str().into(),
            key.key.as_str().into(),
            waiting.into(),
            running.into(),
            closed,
        ]);
    }
    table.render(style)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_one_segment_whatever_it_contains() {
        assert_eq!(encoded("customer-7_a.b~"), "customer-7_a.b~");
        assert_eq!(encoded("a/b?c#d%e:f ü"), "a%2Fb%3Fc%23d%25e%3Af%20%C3%BC");
    }
}
