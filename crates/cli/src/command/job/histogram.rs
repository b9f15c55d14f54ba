//! `ganger job histogram`.

use clap::Args;
use ganger_core::limits;
use ganger_core::name::QueueName;
use ganger_server::api::{BucketBody, HistogramBody};

use super::list::joined;
use crate::client::{Call, with_query};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Fallible;
use crate::humane::{grouped, jobs_match};
use crate::output::{Cell, Paint, Style, Table};

/// Columns of the longest bar.
const BAR: usize = 40;
/// Intervals, if not asked for otherwise: as many as fit on a screen.
const BUCKETS: usize = 20;

/// How many jobs match, over the time at which they were taken in.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ganger job histogram 'state:dead age<1d'
  ganger job histogram kind:email.send error~timeout --buckets 60 -o json | jq '.buckets[].count'")]
pub(super) struct Histogram {
    /// Which jobs, as for `ganger job list`; all without one
    #[arg(value_name = "QUERY")]
    query: Vec<String>,
    /// The same as QUERY, as `ganger operation start` takes it
    #[arg(long, value_name = "QUERY", conflicts_with = "query")]
    filter: Option<String>,
    /// Which jobs, by a saved view
    #[arg(long, value_name = "NAME")]
    view: Option<QueueName>,
    /// Intervals of equal length, from the oldest match to now
    #[arg(long, default_value_t = BUCKETS, value_name = "NUMBER", value_parser = buckets)]
    buckets: usize,
}

impl Histogram {
    pub(super) async fn run(self, context: &Context) -> Fallible<Exit> {
        let query = joined(
            context,
            self.view.as_ref(),
            self.filter.as_ref().map_or(&self.query[..], std::slice::from_ref),
        )
        .await?;
        let buckets = Some(self.buckets.to_string());
        let path = with_query("/v1/jobs:histogram", [("q", query), ("buckets", buckets)]);
        let answer = context.client()?.send(&Call::get("count jobs", path)).await?;
        let body = answer.read::<HistogramBody>()?;
        let name = body.matched.to_string();
        context.out.show_one(&answer.body, &name, |_| describe(&body, context.out.style()))?;
        Ok(Exit::Success)
    }
}

fn describe(body: &HistogramBody, style: Style) -> String {
    let matched = jobs_match(body.matched);
    let most = body.buckets.iter().map(|bucket| bucket.count).max().unwrap_or_default();
    let mut text = matched;
    if most > 0 {
        let mut table = Table::new(["FROM", ">JOBS", "CHART", "STATES"]);
        for bucket in &body.buckets {
            table.row(vec![
                bucket.at.to_string().into(),
                grouped(bucket.count).into(),
                Cell::painted(bar(bucket.count, most, style.glyphs), Paint::Plain),
                states(bucket).into(),
            ]);
        }
        text = format!("{}\n\n{text}", table.render(style));
    }
    if !body.scan.complete {
        text.push_str(&format!(" among the newest {}", grouped(body.scan.examined as u64)));
    }
    text
}

/// At least one column for whatever is there.
fn bar(count: u64, most: u64, glyphs: bool) -> String {
    let columns = (count as f64 / most as f64 * BAR as f64).ceil() as usize;
    if glyphs { "█" } else { "#" }.repeat(columns)
}

fn states(bucket: &BucketBody) -> String {
    let states: Vec<String> =
        bucket.states.iter().map(|(state, count)| format!("{state} {}", grouped(*count))).collect();
    states.join(", ")
}

fn buckets(text: &str) -> Result<usize, String> {
    let most = limits::HISTOGRAM_BUCKETS;
    let number = text.parse().ok().filter(|number| (1..=most).contains(number));
    number.ok_or_else(|| format!("it must be a number from 1 to {most}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_there_is_seen_and_the_most_is_the_longest() {
        assert_eq!(bar(0, 1_000, false), "");
        assert_eq!(bar(1, 1_000, false), "#");
        assert_eq!(bar(1_000, 1_000, true), "█".repeat(BAR));
        assert!(buckets("0").is_err() && buckets("501").is_err() && buckets("x").is_err());
        assert_eq!(buckets("500"), Ok(500));
    }
}
