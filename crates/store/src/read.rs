//! What a store tells about jobs.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use ganger_core::change::{AttemptRecord, End};
use ganger_core::dependency::{self, Edge};
use ganger_core::filter::{Facts, Filter};
use ganger_core::job::{JobSpec, State};
use ganger_core::limits;
use ganger_core::name::{Kind, QueueName};
use ganger_core::rules::Standing;
use ganger_core::{JobId, SessionId, Wall};
use serde::{Deserialize, Serialize};

/// A job as stored, live or final.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoredJob {
    /// Its identity.
    pub id: JobId,
    /// What was asked for, payload included.
    pub spec: JobSpec,
    /// Where it is: from its row, its lease and the moment of reading.
    pub state: State,
    /// Order of intake.
    pub seq: u64,
    /// When it was taken in.
    pub created_at: Wall,
    /// When it may run, or last might; of a blocked one, when it might if nobody held it up.
    pub due_at: Wall,
    /// How its attempts stand.
    pub standing: Standing,
    /// A person asked for it to stop.
    pub cancel_wanted: bool,
    /// Its present lease, if it is running.
    pub lease: Option<LeaseView>,
    /// Its last recorded attempt.
    pub last_attempt: Option<AttemptRecord>,
    /// How it ended, if it did.
    pub end: Option<End>,
}

impl StoredJob {
    /// How long it waited for a worker, ready to run, before its last attempt; so far, if it waits now.
    #[must_use]
    pub fn waited(&self, now: Wall) -> Option<Duration> {
        let ended = self.end.as_ref().map_or(now, |end| end.at);
        match (self.state, &self.lease, &self.last_attempt) {
            (_, Some(lease), _) => Some(lease.at.since(self.due_at)),
            (State::Queued, None, _) => Some(now.since(self.due_at)),
            // It waits for a moment or for others, not for a worker.
            (State::Scheduled | State::Blocked | State::Retrying, None, _) => None,
            (_, None, Some(attempt)) => Some(attempt.leased_at.since(self.due_at)),
            (_, None, None) => Some(ended.since(self.due_at)),
        }
    }

    /// How long its last attempt ran; so far, if it runs now.
    #[must_use]
    pub fn ran(&self, now: Wall) -> Option<Duration> {
        match (&self.lease, &self.last_attempt) {
            (Some(lease), _) => Some(now.since(lease.at)),
            (None, Some(attempt)) => Some(attempt.ended_at.since(attempt.started_at)),
            (None, None) => None,
        }
    }

    /// What a filter may ask of it.
    #[must_use]
    pub fn facts(&self, now: Wall) -> Facts<'_> {
        let (options, end, last) = (&self.spec.options, self.end.as_ref(), self.last_attempt.as_ref());
        Facts {
            id: self.id,
            state: self.state,
            kind: self.spec.kind.as_str(),
            queue: self.spec.queue.as_str(),
            priority: self.spec.priority,
            tags: &options.tags,
            unique_key: options.unique_key.as_deref(),
            attempt: self.lease.map_or(self.standing.attempt, |lease| lease.attempt),
            max_attempts: options.max_attempts,
            threads: options.threads,
            created_at: self.created_at,
            run_at: self.due_at,
            finished_at: end.map(|end| end.at),
            waited: self.waited(now),
            ran: self.ran(now),
            outcome: last.map(|attempt| attempt.outcome),
            error: last.and_then(|attempt| attempt.error.as_deref()),
            worker: last.map(|attempt| attempt.worker.as_str()),
            reason: end.and_then(|end| end.reason.as_deref()),
            schedule: options.schedule.as_ref().map(|origin| origin.name.as_str()),
            payload: &self.spec.payload,
            result: end.and_then(|end| end.result.as_deref()),
        }
    }
}

/// Which jobs are related to a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Related {
    /// Those that it waits for, or waited for.
    Parents,
    /// Those that wait, or waited, for it.
    Children,
}

impl Related {
    /// The job of an edge that was asked about.
    #[must_use]
    pub const fn near(self, edge: &Edge) -> JobId {
        match self {
            Related::Parents => edge.child,
            Related::Children => edge.parent,
        }
    }

    /// The other one.
    #[must_use]
    pub const fn far(self, edge: &Edge) -> JobId {
        match self {
            Related::Parents => edge.parent,
            Related::Children => edge.child,
        }
    }
}

/// A present lease, for readers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeaseView {
    /// Who holds it.
    pub session: SessionId,
    /// Which attempt it is.
    pub attempt: u32,
    /// Threads granted.
    pub threads: u16,
    /// When it was given.
    pub at: Wall,
}

/// Which jobs to list. Newest first, by id; every condition must hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListQuery {
    /// Any of these states; empty means all.
    pub states: Vec<State>,
    /// Of this queue.
    pub queue: Option<QueueName>,
    /// Of this kind.
    pub kind: Option<Kind>,
    /// With this tag.
    pub tag: Option<String>,
    /// Submitted with this unique key.
    pub unique_key: Option<String>,
    /// Taken in at this moment or later.
    pub created_from: Option<Wall>,
    /// Taken in before this moment.
    pub created_before: Option<Wall>,
    /// That this filter admits. See [`ListQuery::and`].
    pub filter: Option<Arc<Filter>>,
    /// Only jobs with a smaller id: the last of the page before.
    pub before: Option<JobId>,
    /// At most so many.
    pub limit: usize,
}

/// One page of a list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// The jobs, newest first. Payload and result are included.
    pub jobs: Vec<StoredJob>,
    /// Where the next page begins; `None` at the end.
    pub next: Option<JobId>,
    /// Rows that were looked at.
    pub examined: usize,
    /// Whether every row that could match was looked at, up to the page's end. `false` where the scan
    /// met its bound ([`ganger_core::limits::SCAN_ROWS`]) first; `next` then continues it.
    pub complete: bool,
}

impl ListQuery {
    /// Rows of a page: what was asked for, from 1 to [`limits::PAGE_MAX`].
    #[must_use]
    pub fn page_rows(&self) -> usize {
        self.limit.clamp(1, limits::PAGE_MAX)
    }

    /// The same, of jobs that a filter admits at this moment too; `None` if there can be none. What an index can do of the
    /// filter becomes a condition of its own.
    #[must_use]
    pub fn and(mut self, filter: Arc<Filter>, now: Wall) -> Option<ListQuery> {
        let narrowed = filter.narrowed(now);
        if let Some(mut states) = narrowed.states {
            states.retain(|state| self.admits_state(*state));
            if states.is_empty() {
                return None;
            }
            self.states = states;
        }
        // Where a condition of the same sort is there already, the filter is asked anyway.
        self.queue = self.queue.or(narrowed.queue);
        self.kind = self.kind.or(narrowed.kind);
        self.tag = self.tag.or(narrowed.tag);
        self.unique_key = self.unique_key.or(narrowed.unique_key);
        self.created_from = self.created_from.max(narrowed.created_from);
        self.created_before = match (self.created_before, narrowed.created_before) {
            (Some(own), Some(other)) => Some(own.min(other)),
            (own, other) => own.or(other),
        };
        self.filter = Some(filter);
        Some(self)
    }

    /// The page of the jobs that match among these, which were found by their ids.
    #[must_use]
    pub fn page_of(&self, mut jobs: Vec<StoredJob>, now: Wall) -> Page {
        jobs.sort_unstable_by_key(|job| std::cmp::Reverse(job.id));
        jobs.dedup_by_key(|job| job.id);
        let mut page = PageBuilder::new(self, limits::SCAN_ROWS);
        for job in jobs.into_iter().filter(|job| self.before.is_none_or(|before| job.id < before)) {
            let (id, matching) = (job.id, self.matches(&job, now).then_some(job));
            if page.look_at(id, matching).is_break() {
                break;
            }
        }
        page.finish()
    }

    /// Whether the filter, if there is one, admits a job.
    #[must_use]
    pub fn admits(&self, job: &StoredJob, now: Wall) -> bool {
        self.filter.as_ref().is_none_or(|filter| filter.admits(&job.facts(now), now))
    }

    /// Whether a job meets every condition but `before`.
    #[must_use]
    pub fn matches(&self, job: &StoredJob, now: Wall) -> bool {
        let options = &job.spec.options;
        self.admits_state(job.state)
            && self.queue.as_ref().is_none_or(|queue| *queue == job.spec.queue)
            && self.kind.as_ref().is_none_or(|kind| *kind == job.spec.kind)
            && self.tag.as_ref().is_none_or(|tag| options.tags.contains(tag))
            && self.unique_key.as_ref().is_none_or(|key| options.unique_key.as_ref() == Some(key))
            && self.admits_created(job.created_at)
            && self.admits(job, now)
    }

    /// Whether jobs of this state are asked for.
    #[must_use]
    pub fn admits_state(&self, state: State) -> bool {
        self.states.is_empty() || self.states.contains(&state)
    }

    /// Whether jobs taken in at this moment are asked for.
    #[must_use]
    pub fn admits_created(&self, at: Wall) -> bool {
        self.created_from.is_none_or(|from| at >= from)
            && self.created_before.is_none_or(|before| at < before)
    }
}

/// Where a live job is.
#[must_use]
pub fn live_state(leased: bool, retrying: bool, due_at: Wall, now: Wall) -> State {
    if leased {
        State::Running
    } else if dependency::is_parked(due_at) {
        State::Blocked
    } else if due_at <= now {
        State::Queued
    } else if retrying {
        State::Retrying
    } else {
        State::Scheduled
    }
}

/// Makes a page from rows that are looked at newest first. It looks for one match more than the page
/// holds, so that `next` is given only where there is a next page.
pub(crate) struct PageBuilder {
    page: Page,
    rows: usize,
    bound: usize,
    last_seen: Option<JobId>,
    more: bool,
}

impl PageBuilder {
    /// An empty page for this query, which looks at no more than `bound` rows.
    pub(crate) fn new(query: &ListQuery, bound: usize) -> PageBuilder {
        let page = Page { complete: true, ..Page::default() };
        PageBuilder { page, rows: query.page_rows(), bound, last_seen: None, more: false }
    }

    /// Takes the next row, which is a match or not. Breaks once the page is settled; then that row
    /// is not part of it.
    pub(crate) fn look_at(&mut self, id: JobId, matching: Option<StoredJob>) -> ControlFlow<()> {
        if self.page.examined == self.bound {
            self.more = true;
            self.page.complete = self.page.jobs.len() == self.rows;
            return ControlFlow::Break(());
        }
        self.page.examined += 1;
        let Some(job) = matching else {
            self.last_seen = Some(id);
            return ControlFlow::Continue(());
        };
        if self.page.jobs.len() == self.rows {
            self.more = true;
            return ControlFlow::Break(());
        }
        self.last_seen = Some(id);
        self.page.jobs.push(job);
        ControlFlow::Continue(())
    }

    /// The page, with where the next begins.
    pub(crate) fn finish(mut self) -> Page {
        if self.more {
            // A full page ends with its last job; one that met the bound goes on from where it stopped.
            let full = self.page.jobs.len() == self.rows;
            self.page.next = if full { self.page.jobs.last().map(|job| job.id) } else { self.last_seen };
        }
        self.page
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ganger_core::rules::Standing;

    fn job(number: u64) -> StoredJob {
        StoredJob {
            id: JobId::new(number, [0; 10]),
            spec: JobSpec::new("noop".parse().unwrap()),
            state: State::Queued,
            seq: number,
            created_at: Wall(0),
            due_at: Wall(0),
            standing: Standing::default(),
            cancel_wanted: false,
            lease: None,
            last_attempt: None,
            end: None,
        }
    }

    /// Rows from 10 down to 1, of which the even ones match.
    fn page(rows: usize, bound: usize, before: Option<JobId>) -> Page {
        let query = ListQuery { limit: rows, before, ..ListQuery::default() };
        let mut page = PageBuilder::new(&query, bound);
        for number in (1..=10).rev() {
            let job = job(number);
            if before.is_some_and(|before| job.id >= before) {
                continue;
            }
            if page.look_at(job.id, (number % 2 == 0).then_some(job)).is_break() {
                break;
            }
        }
        page.finish()
    }

    fn seqs(page: &Page) -> Vec<u64> {
        page.jobs.iter().map(|job| job.seq).collect()
    }

    #[test]
    fn a_scan_that_meets_its_bound_says_so_and_goes_on_from_there() {
        let first = page(5, 4, None);
        assert_eq!((seqs(&first), first.examined, first.complete), (vec![10, 8], 4, false));
        assert_eq!(first.next, Some(job(7).id));
        let second = page(5, 4, first.next);
        assert_eq!((seqs(&second), second.complete), (vec![6, 4], false));
        let third = page(5, 4, second.next);
        assert_eq!((seqs(&third), third.next, third.complete), (vec![2], None, true));
    }

    #[test]
    fn a_scan_exactly_as_long_as_its_bound_is_complete() {
        let whole = page(5, 10, None);
        assert_eq!((seqs(&whole), whole.next, whole.complete), (vec![10, 8, 6, 4, 2], None, true));
        assert!(!page(5, 9, None).complete || page(5, 9, None).next.is_some());
    }

    #[test]
    fn a_full_page_is_complete_even_where_the_bound_hides_whether_another_follows() {
        let full = page(2, 4, None);
        assert_eq!((seqs(&full), full.complete), (vec![10, 8], true));
        assert_eq!(full.next, Some(job(8).id));
    }

    #[test]
    fn a_page_holds_at_least_one_row_and_at_most_the_bound() {
        let rows = |limit| ListQuery { limit, ..ListQuery::default() }.page_rows();
        assert_eq!(
            (rows(0), rows(limits::PAGE_MAX), rows(limits::PAGE_MAX + 1)),
            (1, limits::PAGE_MAX, limits::PAGE_MAX)
        );
    }
}
