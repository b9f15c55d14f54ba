//! Finding jobs: pages of a filter, walks over all of them in bounded memory, and removal by name.

use std::collections::HashSet;

use ganger_core::coordinator::port::{Ask, Reply};
use ganger_core::{JobId, limits};
use ganger_store::read::{ListQuery, Page, StoredJob};

use super::ask::misplaced;
use super::{Answer, Service, ServiceError};

/// Jobs of the first page of a walk.
const FIRST_ROWS: usize = 50;
/// Bytes that a page of a walk should hold; the next one has fewer or more jobs accordingly.
const PAGE_BYTES: usize = 4 << 20;

/// How much a survey looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// Rows that were looked at.
    pub examined: usize,
    /// Whether every row that could match was.
    pub complete: bool,
}

/// A walk over every job of a query, newest first, page by page. It holds one page at a time, and pages of large jobs are
/// short.
#[derive(Debug)]
pub struct Pages {
    query: ListQuery,
    over: bool,
}

impl Pages {
    /// Begins at the newest job.
    #[must_use]
    pub fn of(query: ListQuery) -> Pages {
        Pages { query: ListQuery { limit: FIRST_ROWS, ..query }, over: false }
    }

    /// The next page; `None` at the end. A page may be empty where much was looked at in vain.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn next(&mut self, service: &Service) -> Answer<Option<Page>> {
        if self.over {
            return Ok(None);
        }
        let page = service.search(self.query.clone()).await?;
        self.over = page.next.is_none();
        self.query.before = page.next;
        let bytes: usize = page.jobs.iter().map(size).sum();
        if let Some(each) = bytes.checked_div(page.jobs.len()) {
            self.query.limit = (PAGE_BYTES / each.max(1)).clamp(1, limits::PAGE_MAX);
        }
        Ok(Some(page))
    }
}

/// Roughly.
fn size(job: &StoredJob) -> usize {
    let result = job.end.as_ref().and_then(|end| end.result.as_ref()).map_or(0, String::len);
    let error = job.last_attempt.as_ref().and_then(|last| last.error.as_ref()).map_or(0, String::len);
    512 + job.spec.payload.len() + result + error
}

impl Service {
    pub(super) async fn search(&self, mut query: ListQuery) -> Answer<Page> {
        let now = self.0.clock.now().wall;
        let nothing = Page { complete: true, ..Page::default() };
        if let Some(filter) = query.filter.take() {
            let ids = filter.narrowed(now).ids;
            let Some(narrow) = query.and(filter, now) else { return Ok(nothing) };
            if let Some(ids) = ids {
                return Ok(narrow.page_of(self.0.store.jobs(&ids, now).await?, now));
            }
            query = narrow;
        }
        Ok(self.0.store.list(&query, now).await?)
    }

    /// Shows every job of a query, newest first, until about [`limits::SCAN_ROWS`] rows were looked at.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn survey(&self, query: ListQuery, mut each: impl FnMut(&StoredJob)) -> Answer<Survey> {
        let mut pages = Pages::of(query);
        let mut survey = Survey { examined: 0, complete: true };
        while let Some(page) = pages.next(self).await? {
            page.jobs.iter().for_each(&mut each);
            // The row after a full page is looked at again as the first of the next.
            let again = page.complete && page.next.is_some();
            survey.examined += page.examined.saturating_sub(usize::from(again));
            if survey.examined >= limits::SCAN_ROWS {
                survey.complete = pages.over;
                break;
            }
        }
        Ok(survey)
    }

    /// These jobs as they are, without those that do not exist.
    pub(crate) async fn jobs_by_id(&self, ids: &[JobId]) -> Answer<Vec<StoredJob>> {
        Ok(self.0.store.jobs(ids, self.0.clock.now().wall).await?)
    }

    /// Which of these jobs are in the store, live or final.
    pub(crate) async fn exist(&self, ids: &[JobId]) -> Answer<HashSet<JobId>> {
        let found = self.0.store.jobs(ids, self.0.clock.now().wall).await?;
        Ok(found.into_iter().map(|job| job.id).collect())
    }

    pub(crate) async fn stored(&self, id: JobId) -> Answer<StoredJob> {
        let found = self.0.store.jobs(&[id], self.0.clock.now().wall).await?;
        found.into_iter().next().ok_or(ServiceError::NoSuchJob(id))
    }

    /// Removes a final job for ever.
    ///
    /// # Errors
    /// There is no such job, it is live, or the write fails.
    pub async fn delete(&self, id: JobId) -> Answer<()> {
        let state = self.stored(id).await?.state;
        if !state.is_final() {
            return Err(ServiceError::WrongState(id, state));
        }
        match self.delete_final(vec![id]).await? {
            // It was replayed, or removed, at this moment.
            0 => Err(ServiceError::WrongState(id, self.stored(id).await?.state)),
            _ => Ok(()),
        }
    }

    /// Removes those of these jobs that are final, at most [`limits::DELETED_AT_ONCE`]; returns how many.
    pub(crate) async fn delete_final(&self, ids: Vec<JobId>) -> Answer<u64> {
        let answer = match self.ask(Ask::Delete(ids.clone())).await {
            Ok(Reply::Purged(removed)) => Ok(removed),
            Ok(_) => Err(misplaced()),
            Err(error) => Err(error),
        };
        if let Some(accelerator) = &self.0.accelerator {
            accelerator.deleted(&ids, &answer).await;
        }
        answer
    }
}
