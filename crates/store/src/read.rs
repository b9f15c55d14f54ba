//! What a store tells about jobs.

use std::ops::ControlFlow;

use ganger_core::change::{AttemptRecord, End};
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
    /// When it may run, or last might.
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

    /// Whether a job meets every condition but `before`.
    #[must_use]
    pub fn matches(&self, job: &StoredJob) -> bool {
        let options = &job.spec.options;
        self.admits_state(job.state)
            && self.queue.as_ref().is_none_or(|queue| *queue == job.spec.queue)
            && self.kind.as_ref().is_none_or(|kind| *kind == job.spec.kind)
            && self.tag.as_ref().is_none_or(|tag| options.tags.contains(tag))
            && self.unique_key.as_ref().is_none_or(|key| options.unique_key.as_ref() == Some(key))
            && self.admits_created(job.created_at)
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
