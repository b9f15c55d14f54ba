//! The buckets of minutes: added to once per batch, queue and kind, and read as a timeline.

use std::fmt::Write as _;
use std::ops::ControlFlow;

use futures::{TryStreamExt, pin_mut};
use ganger_core::change::{Applied, Batch};
use ganger_core::limits;
use ganger_core::minutes::{Counts, Spread};
use ganger_core::timeline::{Span, Timeline};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::error::Failure;
use super::pipeline::{Param, Pipeline, param};
use super::{readers, sql};

/// Adds what a batch counts for.
pub(super) fn add<'a>(
    pipeline: &mut Pipeline<'a>,
    batch: &'a Batch,
    answers: &[Applied],
) -> Result<(), Failure> {
    match columns(batch, answers) {
        (params, true) => pipeline.add(sql::ADD_MINUTES, params).map(drop),
        (_, false) => Ok(()),
    }
}

/// The parameters that say what a batch counts for, and whether it does for anything.
pub(super) fn columns<'a>(batch: &'a Batch, answers: &[Applied]) -> (Vec<Param<'a>>, bool) {
    let buckets = batch.counted.settled(&batch.changes, answers);
    let texts = |text: &dyn Fn(&Counts) -> String| {
        param(buckets.iter().map(|bucket| text(&bucket.counts)).collect::<Vec<String>>())
    };
    let params = vec![
        param(batch.counted.minute),
        param(buckets.iter().map(|bucket| bucket.queue.as_str().to_owned()).collect::<Vec<String>>()),
        param(buckets.iter().map(|bucket| bucket.kind.as_str().to_owned()).collect::<Vec<String>>()),
        texts(&|counts| array(&counts.numbers().map(signed))),
        texts(&|counts| array(counts.wait.trimmed())),
        texts(&|counts| array(counts.run.trimmed())),
        texts(&|counts| array(&total(&counts.total))),
    ];
    (params, !buckets.is_empty())
}

/// Folds the buckets of a span.
pub(super) async fn timeline(db: &readers::Snapshot<'_>, span: &Span) -> Result<Timeline, Failure> {
    let mut timeline = Timeline::new(span);
    let statement = db.prepare_cached(sql::LIST_MINUTES.text).await?;
    let (first, end) = (span.first(), span.end());
    let queue = span.queue.as_ref().map(|queue| queue.as_str());
    let kind = span.kind.as_ref().map(|kind| kind.as_str());
    // One more than it looks at, so that it knows whether there are more.
    let rows = i64::try_from(limits::TIMELINE_ROWS + 1).unwrap_or(i64::MAX);
    let params: [&(dyn ToSql + Sync); 5] = [&first, &end, &queue, &kind, &rows];
    let found = db.query_raw(&statement, params).await?;
    pin_mut!(found);
    while let Some(row) = found.try_next().await? {
        let (queue, kind): (&str, &str) = (row.try_get(1)?, row.try_get(2)?);
        if let ControlFlow::Break(()) = timeline.add(row.try_get(0)?, queue, kind, &counts(&row)?) {
            break;
        }
    }
    Ok(timeline)
}

fn counts(row: &Row) -> Result<Counts, Failure> {
    let numbers: Vec<u64> = row.try_get::<_, Vec<i64>>(3)?.into_iter().map(i64::cast_unsigned).collect();
    let spread = |place: usize| -> Result<Vec<u32>, Failure> {
        let counts: Vec<i64> = row.try_get(place)?;
        Ok(counts.into_iter().map(|count| u32::try_from(count).unwrap_or(u32::MAX)).collect())
    };
    let sum_us = row.try_get::<_, Vec<i64>>(6)?.first().copied().map_or(0, i64::cast_unsigned);
    let total = Spread::from_parts(sum_us, spread(6)?.get(1..).unwrap_or_default());
    Ok(Counts::from_parts(&numbers, &spread(4)?, &spread(5)?, total))
}

/// The sum, and then the counts; nothing of nothing.
fn total(spread: &Spread) -> Vec<i64> {
    let counts = spread.trimmed();
    let sum = (!counts.is_empty()).then(|| signed(spread.sum_us));
    sum.into_iter().chain(counts.iter().map(|count| i64::from(*count))).collect()
}

/// As many as a number of the database can hold.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// An array as PostgreSQL reads one.
fn array(numbers: &[impl std::fmt::Display]) -> String {
    let mut text = String::from("{");
    for (place, number) in numbers.iter().enumerate() {
        let comma = if place > 0 { "," } else { "" };
        // Writing to a text does not fail.
        let _ = write!(text, "{comma}{number}");
    }
    text.push('}');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_is_written_as_postgresql_reads_one() {
        assert_eq!(
            (array(&[0u32; 0]), array(&[7]), array(&[1, 2, 3])),
            ("{}".into(), "{7}".into(), "{1,2,3}".into())
        );
    }
}
