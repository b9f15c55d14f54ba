//! Payloads on their way to workers.
//!
//! The coordinator never sees a payload. Fresh ones are kept here, up to a number of bytes, from the
//! commit of their submission until they are handed on to a worker; the others, and those of a lease that is
//! told again, are read from the store, one call for a whole assignment.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ganger_core::change::{Applied, Batch, Change, Intake, Snapshot};
use ganger_core::job::JobOptions;
use ganger_core::message::Work;
use ganger_core::trace::TraceContext;
use ganger_core::{JobId, Wall};
use ganger_proto::{Parcel, Trace};
use ganger_store::read::StoredJob;
use ganger_store::{Store, StoreError};

use crate::waiters::ends;

/// Bytes of fresh payloads that are kept.
pub const CACHE_BYTES: usize = 64 << 20;
/// What an entry costs besides its texts.
const ENTRY_BYTES: usize = 128;
/// What a trace context costs, about, here and on the wire.
pub(crate) const TRACE_BYTES: usize = 128;

/// Finds the payload of a lease.
pub struct Payloads {
    store: Arc<dyn Store>,
    fresh: Mutex<Fresh>,
    /// Some live job carries a trace context, so a look into the store must ask for that too.
    traced: AtomicBool,
}

/// An assignment with its payloads.
#[derive(Debug, Default)]
pub struct Found {
    /// What can be sent.
    pub parcels: Vec<Parcel>,
    /// Leases of jobs that are no longer live: nobody needs to run them.
    pub ended: Vec<Work>,
}

struct Entry {
    payload: String,
    trace: Option<Box<Carried>>,
}

/// The trace of a job, until it is known when its lease is sent.
struct Carried {
    context: TraceContext,
    submitted: Wall,
    occurrence: bool,
}

impl Carried {
    fn of(options: &JobOptions, submitted: Wall) -> Option<Box<Carried>> {
        // Most carry none, and are not looked at further.
        options.traceparent.as_ref()?;
        let occurrence = options.schedule.is_some();
        options.trace().map(|context| Box::new(Carried { context, submitted, occurrence }))
    }
}

#[derive(Default)]
struct Fresh {
    bytes: usize,
    limit: usize,
    /// Ids begin with the time of their making, so the first is the oldest.
    entries: BTreeMap<JobId, Entry>,
}

impl Payloads {
    /// Nothing is fresh yet.
    #[must_use]
    pub fn new(store: Arc<dyn Store>) -> Payloads {
        let fresh = Mutex::new(Fresh { limit: CACHE_BYTES, ..Fresh::default() });
        Payloads { store, fresh, traced: AtomicBool::new(false) }
    }

    /// A leader begins with these jobs.
    pub fn loaded(&self, snapshot: &Snapshot) {
        if snapshot.jobs.iter().any(|job| job.options.traceparent.is_some()) {
            self.traced.store(true, Ordering::Relaxed);
        }
    }

    /// A batch is durable: its new jobs will soon be assigned. Must be told before the coordinator is.
    pub fn submitted(&self, batch: &Batch, applied: &[Applied]) {
        for (change, applied) in batch.changes.iter().zip(applied) {
            let (Change::Submit(submission), intakes) = (change, applied.intakes()) else { continue };
            let mut fresh = self.fresh();
            for (job, intake) in submission.jobs.iter().zip(intakes) {
                if *intake == Intake::Created(job.id) {
                    let trace = Carried::of(&job.spec.options, job.created_at);
                    if trace.is_some() {
                        self.traced.store(true, Ordering::Relaxed);
                    }
                    fresh.insert(job.id, Entry { payload: job.spec.payload.clone(), trace });
                }
            }
        }
    }

    /// A batch is durable: what ended in it needs its payload no more.
    pub fn ended(&self, batch: &Batch, applied: &[Applied]) {
        let mut fresh = self.fresh();
        for (job, _) in ends(batch, applied) {
            fresh.remove(job);
        }
    }

    /// The parcels of an assignment if every payload is at hand, else the assignment. A payload leaves with
    /// its parcel: most jobs are assigned once.
    ///
    /// # Errors
    /// The assignment itself, for [`Payloads::read`].
    pub fn at_hand(&self, works: Vec<Work>, now: Wall) -> Result<Vec<Parcel>, Vec<Work>> {
        let mut fresh = self.fresh();
        if works.iter().any(|work| !fresh.entries.contains_key(&work.job)) {
            return Err(works);
        }
        let found = |work: Work| fresh.remove(work.job).map(|entry| entry.parcel(work, now));
        Ok(works.into_iter().filter_map(found).collect())
    }

    /// The parcels of an assignment, from the store where they are not at hand.
    ///
    /// # Errors
    /// The store cannot be read now.
    pub async fn read(&self, works: &[Work], now: Wall) -> Result<Found, StoreError> {
        let mut entries: Vec<Option<Entry>> = {
            let mut fresh = self.fresh();
            works.iter().map(|work| fresh.remove(work.job)).collect()
        };
        let missing: Vec<JobId> =
            works.iter().zip(&entries).filter(|(_, e)| e.is_none()).map(|(work, _)| work.job).collect();
        let mut read = self.read_store(&missing, now).await?;
        for (work, entry) in works.iter().zip(&mut entries) {
            if entry.is_none() {
                *entry = read.remove(&work.job);
            }
        }
        let mut found = Found::default();
        for (work, entry) in works.iter().cloned().zip(entries) {
            match entry {
                Some(entry) => found.parcels.push(entry.parcel(work, now)),
                None => found.ended.push(work),
            }
        }
        Ok(found)
    }

    async fn read_store(&self, ids: &[JobId], now: Wall) -> Result<HashMap<JobId, Entry>, StoreError> {
        if ids.is_empty() {
            return Ok(HashMap::new());
        }
        if self.traced.load(Ordering::Relaxed) {
            let live = self.store.jobs(ids, now).await?.into_iter().filter(|job| job.end.is_none());
            let entry = |job: StoredJob| {
                let trace = Carried::of(&job.spec.options, job.created_at);
                (job.id, Entry { payload: job.spec.payload, trace })
            };
            return Ok(live.map(entry).collect());
        }
        let payloads = self.store.payloads(ids).await?;
        let entry = |payload: String| Entry { payload, trace: None };
        Ok(ids.iter().zip(payloads).filter_map(|(id, p)| Some((*id, entry(p?)))).collect())
    }

    fn fresh(&self) -> MutexGuard<'_, Fresh> {
        // A panic while the lock is held could at worst leave the sum of bytes wrong by one entry.
        self.fresh.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entry {
    fn bytes(&self) -> usize {
        ENTRY_BYTES + self.payload.len() + self.trace.as_ref().map_or(0, |_| TRACE_BYTES)
    }

    fn parcel(self, work: Work, now: Wall) -> Parcel {
        let trace = self.trace.map(|carried| {
            let Carried { context, submitted, occurrence } = *carried;
            Box::new(Trace { context, waited: now.since(submitted), occurrence })
        });
        Parcel { work, payload: self.payload, trace }
    }
}

impl Fresh {
    fn insert(&mut self, job: JobId, entry: Entry) {
        self.bytes += entry.bytes();
        if let Some(old) = self.entries.insert(job, entry) {
            self.bytes -= old.bytes();
        }
        while self.bytes > self.limit {
            let Some((_, oldest)) = self.entries.pop_first() else { break };
            self.bytes -= oldest.bytes();
        }
    }

    fn remove(&mut self, job: JobId) -> Option<Entry> {
        let entry = self.entries.remove(&job)?;
        self.bytes -= entry.bytes();
        Some(entry)
    }
}

impl fmt::Debug for Payloads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fresh = self.fresh();
        f.debug_struct("Payloads").field("jobs", &fresh.entries.len()).field("bytes", &fresh.bytes).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(n: u64) -> JobId {
        JobId::new(n, [0; 10])
    }

    fn entry(bytes: usize) -> Entry {
        Entry { payload: "x".repeat(bytes - ENTRY_BYTES), trace: None }
    }

    fn fresh(limit: usize) -> Fresh {
        Fresh { limit, ..Fresh::default() }
    }

    #[test]
    fn the_oldest_payload_gives_way_at_the_bound_and_not_before() {
        let mut fresh = fresh(3_000);
        for n in 0..3 {
            fresh.insert(job(n), entry(1_000));
        }
        assert_eq!((fresh.bytes, fresh.entries.len()), (3_000, 3));
        fresh.insert(job(3), entry(1_000));
        assert_eq!((fresh.bytes, fresh.entries.len()), (3_000, 3));
        assert!(!fresh.entries.contains_key(&job(0)));
    }

    #[test]
    fn what_is_handed_on_leaves_its_room_to_others() {
        let mut fresh = fresh(3_000);
        for n in 0..10_000 {
            fresh.insert(job(n), entry(1_000));
            assert!(fresh.remove(job(n)).is_some());
        }
        assert_eq!((fresh.bytes, fresh.entries.len()), (0, 0));
        assert!(fresh.remove(job(1)).is_none());
    }

    #[test]
    fn a_payload_larger_than_the_whole_cache_is_not_kept() {
        let mut fresh = fresh(1_000);
        fresh.insert(job(1), entry(500));
        fresh.insert(job(2), entry(2_000));
        assert_eq!((fresh.bytes, fresh.entries.len()), (0, 0));
    }
}
