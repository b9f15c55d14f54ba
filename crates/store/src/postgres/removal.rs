//! What is removed: dead jobs on request, old ones by retention, ledger entries that ran out. All of it inside the
//! transaction of a batch.
//!
//! Retention removes the oldest rows first, up to a limit. A day whose jobs are all over, in every queue, is not removed
//! row by row: its table is dropped, the counters of the day tell what was in it, and what was kept beside its jobs is
//! swept out little by little.

use std::collections::{BTreeMap, HashMap, HashSet};

use ganger_core::change::Tally;
use ganger_core::fingerprint::trend::{BUCKETS_KEPT, bucket_of};
use ganger_core::fingerprint::{FORGOTTEN_AFTER, GROUPS};
use ganger_core::job::State;
use ganger_core::limits;
use ganger_core::minutes::minute_of;
use ganger_core::name::QueueName;
use ganger_core::queue::QueueSettings;
use ganger_core::{JobId, Wall};
use tokio_postgres::Row;
use uuid::Uuid;

use super::connection::Connection;
use super::error::Failure;
use super::known::day_of;
use super::pipeline::{Param, Pipeline, param};
use super::sql::Sql;
use super::{codec, row, sql};
use crate::retention;
use crate::tallies::Tallies;

/// A day with fewer jobs is as well removed row by row.
const DROPPED_JOBS: i64 = 10_000;
/// At most so many tables are dropped at a time, for each holds up readers for a moment.
const DROPPED_DAYS: usize = 4;
/// Days without jobs are kept for so long, because their tables were made ahead.
const EMPTY_DAYS: i32 = 2;

/// Removes the oldest dead jobs of a queue.
pub(super) async fn purge_dead(
    connection: &Connection,
    queue: &QueueName,
    limit: usize,
) -> Result<Vec<Tally>, Failure> {
    let mut tallies = Tallies::default();
    let all = [(queue.as_str().to_owned(), Wall(i64::MAX))];
    remove_oldest(connection, sql::OLDEST_DEAD, &all, limit, &mut tallies).await?;
    Ok(tallies.into_vec())
}

/// Removes final jobs by name; others are left alone.
pub(super) async fn delete(connection: &Connection, jobs: &[JobId]) -> Result<Vec<Tally>, Failure> {
    let mut tallies = Tallies::default();
    let ids: Vec<Uuid> = jobs.iter().map(|job| job.uuid()).collect();
    add(&one(connection, sql::REMOVE_FINALS, vec![param(ids)]).await?, &mut tallies)?;
    Ok(tallies.into_vec())
}

/// Removes what retention no longer keeps, and what ran out.
pub(super) async fn prune(
    connection: &Connection,
    days: &mut HashSet<i32>,
    now: Wall,
    limit: usize,
) -> Result<Vec<Tally>, Failure> {
    let mut tallies = Tallies::default();
    let counted = Counted::read(connection).await?;
    drop_days(connection, &counted, days, now, &mut tallies).await?;
    for (dead, sql) in [(false, sql::OLDEST_HISTORY), (true, sql::OLDEST_DEAD)] {
        let cutoffs = counted.cutoffs(dead, now);
        remove_oldest(connection, sql, &cutoffs, limit, &mut tallies).await?;
    }
    let rows = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut pipeline = Pipeline::new(connection);
    pipeline.add(sql::PRUNE_ANSWERS, vec![param(now.0), param(rows)])?;
    pipeline.add(sql::PRUNE_UNIQUE_KEYS, vec![param(now.0), param(rows)])?;
    pipeline.add(sql::PRUNE_CLOSED_KEYS, vec![param(now.0)])?;
    let most = i64::try_from(GROUPS).unwrap_or(i64::MAX);
    for forget in [sql::FORGET_FAILURE_TRENDS, sql::FORGET_FAILURES] {
        pipeline.add(forget, vec![param((now - FORGOTTEN_AFTER).0), param(rows), param(most)])?;
    }
    pipeline.add(sql::PRUNE_FAILURE_TRENDS, vec![param(bucket_of(now - BUCKETS_KEPT)), param(rows)])?;
    let kept = minute_of(now - limits::MINUTES_KEPT);
    pipeline.add(sql::PRUNE_MINUTES, vec![param(kept), param(rows)])?;
    pipeline.add(sql::PRUNE_COUNTERS, vec![param(day_of(now).saturating_sub(EMPTY_DAYS))])?;
    pipeline.add(sql::MAKE_DAYS, vec![param(Vec::<i32>::new())])?;
    pipeline.run().await.map_err(|(_, failure)| failure)?;
    sweep(connection, rows).await?;
    Ok(tallies.into_vec())
}

/// How many final jobs there are, by day, queue and state, and how long they are kept.
struct Counted {
    sorts: Vec<(i32, String, State, i64)>,
    settings: HashMap<String, QueueSettings>,
}

impl Counted {
    async fn read(connection: &Connection) -> Result<Counted, Failure> {
        let mut pipeline = Pipeline::new(connection);
        let sorts = pipeline.add(sql::COUNTED_DAYS, vec![])?;
        let queues = pipeline.add(sql::LOAD_QUEUES, vec![])?;
        let answers = pipeline.run().await.map_err(|(_, failure)| failure)?;
        let sort = |found: &Row| -> Result<(i32, String, State, i64), Failure> {
            Ok((found.try_get(0)?, found.try_get(1)?, row::final_state(found, 2)?, found.try_get(3)?))
        };
        let mut settings = HashMap::new();
        for found in &answers[queues] {
            let own = serde_json::from_str(found.try_get(1)?)
                .map_err(|error| Failure::unreadable("queue settings", error))?;
            settings.insert(found.try_get(0)?, own);
        }
        Ok(Counted { sorts: answers[sorts].iter().map(sort).collect::<Result<_, _>>()?, settings })
    }

    /// Up to which moment the jobs of a queue and state are over; `None` if none is.
    fn cutoff(&self, queue: &str, state: State, now: Wall) -> Option<Wall> {
        let settings = self.settings.get(queue).copied().unwrap_or_default();
        retention::cutoff(retention::rule(settings.retention, state), now)
    }

    /// The queues that have jobs of such states, with the moment up to which those are over.
    fn cutoffs(&self, dead: bool, now: Wall) -> Vec<(String, Wall)> {
        let of_kind = self.sorts.iter().filter(|(_, _, state, _)| (*state == State::Dead) == dead);
        let queues: BTreeMap<&str, Option<Wall>> =
            of_kind.map(|(_, queue, state, _)| (queue.as_str(), self.cutoff(queue, *state, now))).collect();
        queues.into_iter().filter_map(|(queue, cutoff)| Some((queue.to_owned(), cutoff?))).collect()
    }

    /// The jobs of a day that lie in its table, and whether all of them are over.
    fn of_day(&self, day: i32, now: Wall) -> (i64, bool) {
        let in_table = self.sorts.iter().filter(|(of, _, state, _)| *of == day && *state != State::Dead);
        in_table.fold((0, true), |(jobs, over), (_, queue, state, count)| {
            // The last moment of the day must be over.
            let cutoff = self.cutoff(queue, *state, now);
            (jobs + count, over && cutoff.is_some_and(|cutoff| day_of(cutoff) > day))
        })
    }
}

/// Drops the tables of days that are over as a whole, and of days that have come to nothing.
async fn drop_days(
    connection: &Connection,
    counted: &Counted,
    days: &mut HashSet<i32>,
    now: Wall,
    tallies: &mut Tallies,
) -> Result<(), Failure> {
    let mut oldest: Vec<i32> = days.iter().copied().collect();
    oldest.sort_unstable();
    let mut dropped = 0;
    for day in oldest {
        if dropped == DROPPED_DAYS {
            break;
        }
        let (jobs, over) = counted.of_day(day, now);
        if jobs == 0 && day < day_of(now).saturating_sub(EMPTY_DAYS) {
            let answer = one(connection, sql::DROP_EMPTY_DAY, vec![param(day)]).await?;
            if answer.first().is_some_and(|found| found.get(0)) {
                days.remove(&day);
                dropped += 1;
            }
        } else if over && jobs >= DROPPED_JOBS {
            let gone = one(connection, sql::DROP_DAY, vec![param(day)]).await?;
            if !gone.is_empty() {
                days.remove(&day);
                dropped += 1;
            }
            add(&gone, tallies)?;
        }
    }
    Ok(())
}

/// Removes the oldest jobs of these queues, up to their moments and up to the limit.
async fn remove_oldest(
    connection: &Connection,
    oldest: Sql,
    cutoffs: &[(String, Wall)],
    limit: usize,
    tallies: &mut Tallies,
) -> Result<(), Failure> {
    if cutoffs.is_empty() || limit == 0 {
        return Ok(());
    }
    let queues: Vec<&str> = cutoffs.iter().map(|(queue, _)| queue.as_str()).collect();
    let moments: Vec<i64> = cutoffs.iter().map(|(_, cutoff)| cutoff.0).collect();
    let rows = i64::try_from(limit).unwrap_or(i64::MAX);
    let found = one(connection, oldest, vec![param(queues), param(moments), param(rows)]).await?;
    let ids = found.iter().map(|found| found.try_get(1)).collect::<Result<Vec<Uuid>, _>>()?;
    if ids.is_empty() {
        return Ok(());
    }
    let gone = one(connection, sql::REMOVE_FINALS, vec![param(ids)]).await?;
    add(&gone, tallies)
}

/// Goes on with sweeping out what dropped days left behind.
async fn sweep(connection: &Connection, rows: i64) -> Result<(), Failure> {
    let at = one(connection, sql::READ_SWEEP, vec![]).await?;
    let Some(beyond) = at.first().map(|found| found.try_get::<_, Uuid>(0)).transpose()? else {
        return Ok(());
    };
    let come = one(connection, sql::SWEEP_TRACES, vec![param(beyond), param(rows)]).await?;
    match come.first() {
        Some(found) => one(connection, sql::PUT_SWEEP, vec![param(found.try_get::<_, Uuid>(0)?)]).await?,
        None => one(connection, sql::END_SWEEP, vec![]).await?,
    };
    Ok(())
}

/// Adds rows of queue, kind, state and count.
fn add(rows: &[Row], tallies: &mut Tallies) -> Result<(), Failure> {
    for found in rows {
        let code: i16 = found.try_get(2)?;
        let state = codec::final_state(code).ok_or_else(|| Failure::unreadable("a final state", code))?;
        tallies.add(&row::name(found, 0)?, &row::name(found, 1)?, state, found.try_get(3)?);
    }
    Ok(())
}

async fn one(connection: &Connection, sql: Sql, params: Vec<Param<'_>>) -> Result<Vec<Row>, Failure> {
    let mut pipeline = Pipeline::new(connection);
    pipeline.add(sql, params)?;
    let mut answers = pipeline.run().await.map_err(|(_, failure)| failure)?;
    Ok(answers.pop().unwrap_or_default())
}
