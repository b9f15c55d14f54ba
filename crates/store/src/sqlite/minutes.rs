//! The buckets of minutes: added to once per batch, queue and kind, and read as a timeline.

use std::ops::ControlFlow;

use ganger_core::change::{Applied, Batch};
use ganger_core::limits;
use ganger_core::minutes::{Counts, Spread};
use ganger_core::timeline::{Span, Timeline};
use rusqlite::{Connection, OptionalExtension};

use super::error::Failure;
use super::{row, sql};

/// Adds what a batch counts for.
pub(super) fn add(conn: &Connection, batch: &Batch, answers: &[Applied]) -> Result<(), Failure> {
    let buckets = batch.counted.settled(&batch.changes, answers);
    if buckets.is_empty() {
        return Ok(());
    }
    let minute = batch.counted.minute;
    let mut find = conn.prepare_cached(sql::FIND_MINUTE)?;
    let mut put = conn.prepare_cached(sql::ADD_MINUTES)?;
    for bucket in buckets.iter() {
        let (queue, kind) = (bucket.queue.as_str(), bucket.kind.as_str());
        let before: Option<(Vec<u8>, Vec<u8>)> =
            find.query_row((minute, queue, kind), |found| Ok((found.get(0)?, found.get(1)?))).optional()?;
        let mut counts =
            before.map_or_else(|| Ok(Counts::default()), |(counts, total)| decode(&counts, &total))?;
        counts.add(&bucket.counts);
        put.execute((minute, queue, kind, encode(&counts), encode_total(&counts.total)))?;
    }
    Ok(())
}

/// Folds the buckets of a span.
pub(super) fn timeline(conn: &Connection, span: &Span) -> Result<Timeline, Failure> {
    let mut timeline = Timeline::new(span);
    let mut statement = conn.prepare_cached(sql::LIST_MINUTES)?;
    let (queue, kind) =
        (span.queue.as_ref().map(|queue| queue.as_str()), span.kind.as_ref().map(|kind| kind.as_str()));
    // One more than it looks at, so that it knows whether there are more.
    let rows = i64::try_from(limits::TIMELINE_ROWS + 1).unwrap_or(i64::MAX);
    let mut rows = statement.query((span.first(), span.end(), queue, kind, rows))?;
    while let Some(found) = rows.next()? {
        let (queue, kind) =
            (row::text(found, 1)?.unwrap_or_default(), row::text(found, 2)?.unwrap_or_default());
        let bytes = |place| found.get_ref(place)?.as_blob().map_err(rusqlite::Error::from);
        let counts = decode(bytes(3)?, bytes(4)?)?;
        if let ControlFlow::Break(()) = timeline.add(found.get(0)?, queue, kind, &counts) {
            break;
        }
    }
    Ok(timeline)
}

/// Numbers of seven bits a byte: most are small, and many are zero.
fn encode(counts: &Counts) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(64);
    for number in counts.numbers() {
        push(&mut bytes, number);
    }
    for spread in [&counts.wait, &counts.run] {
        push_spread(&mut bytes, spread);
    }
    bytes
}

/// Of nothing there are no bytes: so are the rows of minutes in which it was not counted yet.
fn encode_total(total: &Spread) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(16);
    if !total.trimmed().is_empty() {
        push(&mut bytes, total.sum_us);
        push_spread(&mut bytes, total);
    }
    bytes
}

fn decode(counts: &[u8], total: &[u8]) -> Result<Counts, Failure> {
    let read = || {
        let (mut counts, mut total) = (counts, total);
        let total = if total.is_empty() { Spread::default() } else { read_total(&mut total)? };
        read(&mut counts, total)
    };
    read().ok_or_else(|| Failure::unreadable("the counts of a minute", format!("{counts:?} {total:?}")))
}

fn read(rest: &mut &[u8], total: Spread) -> Option<Counts> {
    let mut numbers = [0; 8];
    for number in &mut numbers {
        *number = pull(rest)?;
    }
    let (wait, run) = (pull_spread(rest)?, pull_spread(rest)?);
    rest.is_empty().then(|| Counts::from_parts(&numbers, &wait, &run, total))
}

fn read_total(rest: &mut &[u8]) -> Option<Spread> {
    let (sum_us, counts) = (pull(rest)?, pull_spread(rest)?);
    rest.is_empty().then(|| Spread::from_parts(sum_us, &counts))
}

fn push_spread(bytes: &mut Vec<u8>, spread: &Spread) {
    let counts = spread.trimmed();
    push(bytes, counts.len() as u64);
    counts.iter().for_each(|count| push(bytes, u64::from(*count)));
}

fn pull_spread(rest: &mut &[u8]) -> Option<Vec<u32>> {
    (0..pull(rest)?.min(64)).map(|_| u32::try_from(pull(rest)?).ok()).collect()
}

fn push(bytes: &mut Vec<u8>, mut number: u64) {
    while number > 0x7F {
        bytes.push(0x80 | number.to_le_bytes()[0]);
        number >>= 7;
    }
    bytes.push(number.to_le_bytes()[0]);
}

fn pull(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, after) = rest.split_first()?;
        *rest = after;
        number |= u64::from(byte & 0x7F) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_come_back_as_they_were_packed() {
        let mut counts = Counts { enqueued: u64::MAX, started: 128, failed: 127, ..Counts::default() };
        for micros in [0, 251, 5_000, u64::MAX / 2] {
            counts.wait.observe(micros);
            counts.run.observe(micros * 2);
            counts.total.observe(micros / 3);
        }
        for counts in [Counts::default(), counts] {
            let (bytes, total) = (encode(&counts), encode_total(&counts.total));
            assert!(decode(&bytes[..bytes.len() - 1], &total).is_err());
            assert!(decode(&[&bytes[..], &[0]].concat(), &total).is_err());
            assert!(decode(&bytes, &[&total[..], &[0]].concat()).is_err());
            if let Some((_, less)) = total.split_last().filter(|(_, less)| !less.is_empty()) {
                assert!(decode(&bytes, less).is_err());
            }
            assert_eq!(decode(&bytes, &total).ok(), Some(counts));
        }
        assert!(encode(&Counts::default()).len() == 10 && encode_total(&Spread::default()).is_empty());
    }
}
