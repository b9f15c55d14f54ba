//! A row of the firing ledger as databases keep it: in columns, so that people can ask for them.

use ganger_core::schedule::ledger::{Cause, Fate, Occurrence, Skip, Why};
use ganger_core::{JobId, Wall};
use uuid::Uuid;

/// What became of an occurrence, in columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Columns {
    pub(crate) state: &'static str,
    pub(crate) job: Option<Uuid>,
    pub(crate) why: Option<&'static str>,
    pub(crate) since: Option<i64>,
    pub(crate) count: i64,
}

impl Columns {
    pub(crate) fn of(fate: &Fate) -> Columns {
        let (state, job, skip) = match fate {
            Fate::Fired(job) => ("fired", Some(job.uuid()), None),
            Fate::Waiting => ("waiting", None, None),
            Fate::Skipped(skip) => ("skipped", skip.job.map(JobId::uuid), Some(skip)),
        };
        Columns {
            state,
            job,
            why: skip.map(|skip| skip.why.as_str()),
            since: skip.and_then(|skip| skip.since).map(|since| since.0),
            count: skip.map_or(1, |skip| skip.count.cast_signed()),
        }
    }
}

/// What became of an occurrence, from its columns; `None` if they are malformed.
pub(crate) fn fate(
    state: &str,
    job: Option<Uuid>,
    why: Option<&str>,
    since: Option<i64>,
    count: i64,
) -> Option<Fate> {
    let job = job.map(JobId::from_uuid);
    match state {
        "fired" => job.map(Fate::Fired),
        "waiting" => Some(Fate::Waiting),
        "skipped" => {
            let (why, since) = (Why::parse(why?)?, since.map(Wall));
            Some(Fate::Skipped(Skip { why, job, since, count: count.cast_unsigned() }))
        }
        _ => None,
    }
}

/// A row of the ledger; `None` if it is malformed.
pub(crate) fn occurrence(
    due_at: i64,
    decided_at: i64,
    cause: &str,
    fate: Option<Fate>,
) -> Option<Occurrence> {
    let (due_at, decided_at) = (Wall(due_at), Wall(decided_at));
    Some(Occurrence { due_at, decided_at, cause: Cause::parse(cause)?, fate: fate? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fate_reads_back() {
        let job = JobId::from_uuid(Uuid::from_u128(5));
        let skip = |why, since| Skip { why, job: Some(job), since, count: 7 };
        let mut fates = vec![Fate::Fired(job), Fate::Waiting];
        fates.extend(Why::ALL.map(|why| Fate::Skipped(skip(why, None))));
        fates.push(Fate::Skipped(skip(Why::Missed, Some(Wall(3)))));
        for one in fates {
            let Columns { state, job, why, since, count } = Columns::of(&one);
            assert_eq!(fate(state, job, why, since, count), Some(one));
        }
        assert_eq!(fate("fired", None, None, None, 1), None);
        assert_eq!(fate("lost", None, None, None, 1), None);
    }
}
