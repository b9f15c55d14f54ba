//! Payloads on their way to workers.
//!
//! The coordinator never sees a payload. Some are kept here, up to a number of bytes, from the
//! commit of their submission until they are handed on to a worker. Of the others a store may bring along what it sees when it writes their
//! leases; what is then still missing, and the payloads of a lease that is told again, are read from the store, one call for a whole assignment.
//!
//! Which are kept: where a worker is free, the job that came last runs at once; where none is, the one that came first is next. So the
//! last ones are, and of those before them the first. What is in between gives way.

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

/// Bytes of payloads that came last.
pub const LATEST_BYTES: usize = 16 << 20;
/// Bytes of payloads that came first, of those that are not the last any more.
pub const FIRST_BYTES: usize = 48 << 20;
/// Bytes of payloads that came along with leases, and are about to be handed on.
pub const BROUGHT_BYTES: usize = 16 << 20;
/// What an entry costs besides its texts.
const ENTRY_BYTES: usize = 128;
/// What a trace context costs, about, here and on the wire.
pub(crate) const TRACE_BYTES: usize = 128;

/// Finds the payload of a lease.
pub struct Payloads {
    store: Arc<dyn Store>,
    kept: Mutex<Kept>,
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

/// The payloads that are kept.
struct Kept {
    latest: Share,
    first: Share,
    brought: Share,
    /// Some live job has its payload in the store only. Until then nobody is asked to bring one along.
    given_way: bool,
}

/// Payloads up to a number of bytes.
struct Share {
    bytes: usize,
    limit: usize,
    /// Ids begin with the time of their making, so the first is the oldest.
    entries: BTreeMap<JobId, Entry>,
}

impl Payloads {
    /// Nothing is kept yet.
    #[must_use]
    pub fn new(store: Arc<dyn Store>) -> Payloads {
        let kept = Mutex::new(Kept::new(LATEST_BYTES, FIRST_BYTES, BROUGHT_BYTES));
        Payloads { store, kept, traced: AtomicBool::new(false) }
    }

    /// A leader begins with these jobs.
    pub fn loaded(&self, snapshot: &Snapshot) {
        let traced = snapshot.jobs.iter().any(|job| job.options.traceparent.is_some());
        self.traced.store(traced, Ordering::Relaxed);
        // What is here may have ended under another leader.
        let mut kept = self.kept();
        kept.shares().into_iter().for_each(Share::clear);
        kept.given_way = !snapshot.jobs.is_empty();
    }

    /// Jobs that this batch leases whose payloads are not here: a store that sees their rows may bring them along. None if their
    /// traces are needed as well.
    pub fn wanted(&self, batch: &Batch) -> Vec<JobId> {
        let mut wanted = Vec::new();
        let kept = self.kept();
        if !kept.given_way || self.traced.load(Ordering::Relaxed) {
            return wanted;
        }
        for change in &batch.changes {
            if let Change::Assign(assignment) = change {
                let leased = assignment.leases.iter().map(|lease| lease.job);
                wanted.extend(leased.filter(|job| !kept.contains(*job)));
            }
        }
        wanted
    }

    /// These came along with leases that are durable now, and will be handed on next.
    pub fn brought(&self, payloads: Vec<(JobId, String)>) {
        if payloads.is_empty() {
            return;
        }
        let mut kept = self.kept();
        for (job, payload) in payloads {
            kept.bring(job, Entry { payload, trace: None });
        }
    }

    /// A batch is durable: its new jobs will soon be assigned. Must be told before the coordinator is.
    pub fn submitted(&self, batch: &Batch, applied: &[Applied]) {
        for (change, applied) in batch.changes.iter().zip(applied) {
            let (Change::Submit(submission), intakes) = (change, applied.intakes()) else { continue };
            let mut kept = self.kept();
            for (job, intake) in submission.jobs.iter().zip(intakes) {
                if *intake == Intake::Created(job.id) {
                    let trace = Carried::of(&job.spec.options, job.created_at);
                    if trace.is_some() {
                        self.traced.store(true, Ordering::Relaxed);
                    }
                    kept.insert(job.id, Entry { payload: job.spec.payload.clone(), trace });
                }
            }
        }
    }

    /// A batch is durable: what ended in it needs its payload no more.
    pub fn ended(&self, batch: &Batch, applied: &[Applied]) {
        let mut kept = self.kept();
        for (job, _) in ends(batch, applied) {
            kept.remove(job);
        }
    }

    /// The parcels of an assignment if every payload is at hand, else the assignment. A payload leaves with
    /// its parcel: most jobs are assigned once.
    ///
    /// # Errors
    /// The assignment itself, for [`Payloads::read`].
    pub fn at_hand(&self, works: Vec<Work>, now: Wall) -> Result<Vec<Parcel>, Vec<Work>> {
        let mut kept = self.kept();
        if works.iter().any(|work| !kept.contains(work.job)) {
            return Err(works);
        }
        let found = |work: Work| kept.remove(work.job).map(|entry| entry.parcel(work, now));
        Ok(works.into_iter().filter_map(found).collect())
    }

    /// The parcels of an assignment, from the store where they are not at hand.
    ///
    /// # Errors
    /// The store cannot be read now.
    pub async fn read(&self, works: &[Work], now: Wall) -> Result<Found, StoreError> {
        let mut entries: Vec<Option<Entry>> = {
            let mut kept = self.kept();
            works.iter().map(|work| kept.remove(work.job)).collect()
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

    fn kept(&self) -> MutexGuard<'_, Kept> {
        // A panic while the lock is held could at worst leave the sum of bytes wrong by one entry.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
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

impl Kept {
    fn new(latest: usize, first: usize, brought: usize) -> Kept {
        let share = |limit| Share { bytes: 0, limit, entries: BTreeMap::new() };
        Kept { latest: share(latest), first: share(first), brought: share(brought), given_way: false }
    }

    fn shares(&mut self) -> [&mut Share; 3] {
        [&mut self.latest, &mut self.first, &mut self.brought]
    }

    fn contains(&self, job: JobId) -> bool {
        [&self.latest, &self.first, &self.brought].iter().any(|share| share.entries.contains_key(&job))
    }

    fn insert(&mut self, job: JobId, entry: Entry) {
        self.latest.insert(job, entry);
        while self.latest.bytes > self.latest.limit {
            let Some((job, entry)) = self.latest.pop_oldest() else { break };
            if self.first.bytes + entry.bytes() <= self.first.limit {
                self.first.insert(job, entry);
            } else {
                self.given_way = true;
            }
        }
    }

    fn bring(&mut self, job: JobId, entry: Entry) {
        if self.brought.bytes + entry.bytes() <= self.brought.limit {
            self.brought.insert(job, entry);
        }
    }

    fn remove(&mut self, job: JobId) -> Option<Entry> {
        self.shares().into_iter().find_map(|share| share.remove(job))
    }
}

impl Share {
    fn insert(&mut self, job: JobId, entry: Entry) {
        self.bytes += entry.bytes();
        if let Some(old) = self.entries.insert(job, entry) {
            self.bytes -= old.bytes();
        }
    }

    fn remove(&mut self, job: JobId) -> Option<Entry> {
        let entry = self.entries.remove(&job)?;
        self.bytes -= entry.bytes();
        Some(entry)
    }

    fn clear(&mut self) {
        (self.bytes, self.entries) = (0, BTreeMap::new());
    }

    fn pop_oldest(&mut self) -> Option<(JobId, Entry)> {
        let (job, entry) = self.entries.pop_first()?;
        self.bytes -= entry.bytes();
        Some((job, entry))
    }
}

impl fmt::Debug for Payloads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut kept = self.kept();
        let shares = kept.shares();
        let (jobs, bytes) = shares
            .iter()
            .fold((0, 0), |(jobs, bytes), share| (jobs + share.entries.len(), bytes + share.bytes));
        f.debug_struct("Payloads").field("jobs", &jobs).field("bytes", &bytes).finish()
    }
}

#[cfg(test)]
mod tests {
    use ganger_core::change::{Assignment, Lease};
    use ganger_core::{Fence, SessionId, Term};
    use ganger_store::MemoryStore;

    use super::*;

    fn job(n: u64) -> JobId {
        JobId::new(n, [0; 10])
    }

    fn entry(bytes: usize) -> Entry {
        Entry { payload: "x".repeat(bytes - ENTRY_BYTES), trace: None }
    }

    /// Which of so many jobs are kept.
    fn numbers(kept: &Kept, jobs: u64) -> Vec<u64> {
        (0..jobs).filter(|n| kept.contains(job(*n))).collect()
    }

    /// The last ones may run at once, the first ones are next; what is between them gives way, at the bound and not before.
    #[test]
    fn the_last_payloads_are_kept_and_the_first_of_those_before() {
        let mut kept = Kept::new(2_000, 3_000, 0);
        for n in 0..5 {
            kept.insert(job(n), entry(1_000));
        }
        assert_eq!(numbers(&kept, 5), [0, 1, 2, 3, 4]);
        for n in 5..10 {
            kept.insert(job(n), entry(1_000));
        }
        assert_eq!(numbers(&kept, 10), [0, 1, 2, 8, 9]);
        assert_eq!((kept.latest.bytes, kept.first.bytes), (2_000, 3_000));
    }

    /// A backlog that is worked off from its front goes on to be found here.
    #[test]
    fn what_is_handed_on_leaves_its_room_to_others() {
        let mut kept = Kept::new(1_000, 1_000, 0);
        kept.insert(job(0), entry(1_000));
        kept.insert(job(1), entry(1_000));
        assert!(kept.remove(job(0)).is_some());
        kept.insert(job(2), entry(1_000));
        assert_eq!(numbers(&kept, 3), [1, 2]);
        for n in 3..10_000 {
            kept.insert(job(n), entry(1_000));
            assert!(kept.remove(job(n)).is_some());
        }
        assert!(kept.remove(job(1)).is_some() && kept.remove(job(2)).is_none());
        assert_eq!((kept.latest.bytes, kept.first.bytes), (0, 0));
    }

    fn leasing(jobs: &[JobId]) -> Batch {
        let leases = jobs.iter().map(|job| Lease { job: *job, attempt: 1, threads: 1, transactional: false });
        let (session, first) = (SessionId::new(1, [0; 10]), Fence { term: Term::default(), seq: 1 });
        let assignment = Assignment { session, first, at: Wall(1), leases: leases.collect() };
        Batch::new(1, vec![Change::Assign(assignment)])
    }

    fn work(job: JobId) -> Work {
        Work {
            job,
            fence: Fence { term: Term::default(), seq: 1 },
            attempt: 1,
            threads: 1,
            kind: "k".parse().unwrap(),
            queue: "q".parse().unwrap(),
            timeout: None,
            max_attempts: 1,
        }
    }

    /// Nobody is asked to bring payloads along while all are here; then those that are not, and they are handed on like any other.
    #[test]
    fn what_gave_way_is_wanted_with_its_lease_and_handed_on() {
        let payloads = Payloads::new(Arc::new(MemoryStore::new()));
        let (here, gone) = (job(1), job(2));
        payloads.kept().insert(here, entry(1_000));
        assert_eq!(payloads.wanted(&leasing(&[here, gone])), []);
        payloads.kept().given_way = true;
        assert_eq!(payloads.wanted(&leasing(&[here, gone])), [gone]);
        payloads.brought(vec![(gone, "brought".into())]);
        assert_eq!(payloads.wanted(&leasing(&[here, gone])), []);
        let parcels = payloads.at_hand(vec![work(gone), work(here)], Wall(2)).unwrap();
        let texts: Vec<&str> = parcels.iter().map(|parcel| parcel.payload.as_str()).collect();
        assert_eq!(texts, ["brought", &"x".repeat(1_000 - ENTRY_BYTES)]);
        assert!(payloads.at_hand(vec![work(gone)], Wall(2)).is_err(), "it left with its parcel");
        // A trace is not in what comes along.
        payloads.traced.store(true, Ordering::Relaxed);
        assert_eq!(payloads.wanted(&leasing(&[gone])), []);
    }

    /// What came along and is never handed on must not fill the room of others for ever, nor what ended elsewhere.
    #[test]
    fn what_came_along_is_bounded_and_a_new_leader_begins_with_nothing() {
        let mut kept = Kept::new(1_000, 1_000, 2_000);
        for n in 0..3 {
            kept.bring(job(n), entry(1_000));
        }
        assert_eq!((numbers(&kept, 3), kept.brought.bytes), (vec![0, 1], 2_000));
        assert!(kept.remove(job(0)).is_some());
        kept.bring(job(2), entry(1_000));
        assert_eq!(numbers(&kept, 3), [1, 2]);
        let payloads = Payloads::new(Arc::new(MemoryStore::new()));
        payloads.kept().insert(job(1), entry(1_000));
        payloads.brought(vec![(job(2), "null".into())]);
        payloads.loaded(&Snapshot::default());
        assert_eq!(numbers(&payloads.kept(), 3), [0; 0]);
        assert_eq!(payloads.wanted(&leasing(&[job(1)])), [], "no live job is in the store only");
    }

    #[test]
    fn a_payload_larger_than_the_whole_cache_is_not_kept() {
        let mut kept = Kept::new(1_000, 1_000, 0);
        kept.insert(job(1), entry(500));
        assert!(!kept.given_way);
        kept.insert(job(2), entry(2_000));
        assert!(kept.given_way);
        assert_eq!(numbers(&kept, 3), [1]);
        assert_eq!((kept.latest.bytes, kept.first.bytes), (0, 500));
    }
}
