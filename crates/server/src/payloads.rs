//! Payloads on their way to workers.
//!
//! The coordinator never sees a payload. Some are kept here, up to a number of bytes, from the
//! commit of their submission until they are handed on to a worker. Of the others a store may bring along what it sees when it writes their
//! leases; what is then still missing, and the payloads of a lease that is told again, are read from the store, one call for a whole assignment.

mod kept;

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ganger_core::change::{Applied, Batch, Change, Intake, Replayed, Snapshot};
use ganger_core::message::Work;
use ganger_core::schedule::ledger::ScheduleChange;
use ganger_core::{JobId, Wall};
use ganger_proto::Parcel;
use ganger_store::read::StoredJob;
use ganger_store::{Store, StoreError};

pub(crate) use self::kept::TRACE_BYTES;
use self::kept::{Carried, Entry, Kept};
use crate::waiters::ends;

/// Payloads that are wanted with the leases of one batch, at the most. Of 2 KiB each, the largest that PostgreSQL keeps in a row, they fit into the
/// memory that it gives a statement; more are read in parts, as they are sent.
const WANTED: usize = 1_500;

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

impl Payloads {
    /// Nothing is kept yet.
    #[must_use]
    pub fn new(store: Arc<dyn Store>) -> Payloads {
        Payloads { store, kept: Mutex::default(), traced: AtomicBool::new(false) }
    }

    /// A leader begins with these jobs.
    pub fn loaded(&self, snapshot: &Snapshot) {
        if snapshot.jobs.iter().any(|job| job.options.traceparent.is_some()) {
            self.traced.store(true, Ordering::Relaxed);
        }
        self.kept().given_way = !snapshot.jobs.is_empty();
    }

    /// The leader has ended: what is kept may end under another one, and would stay here for ever.
    pub fn forget(&self) {
        self.kept().clear();
    }

    /// Some of the jobs that this batch leases whose payloads are not here: a store that sees their rows may bring them along. None if
    /// their traces are needed as well.
    pub fn wanted(&self, batch: &Batch) -> Vec<JobId> {
        let kept = self.kept();
        if !kept.given_way || self.traced.load(Ordering::Relaxed) {
            return Vec::new();
        }
        let leased = batch.changes.iter().flat_map(Change::leases).map(|lease| lease.job);
        leased.filter(|job| !kept.contains(*job)).take(WANTED).collect()
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
            if revives_a_trace(change, applied) {
                self.traced.store(true, Ordering::Relaxed);
            }
            let (Change::Submit(submission), intakes) = (change, applied.intakes()) else { continue };
            // Its job is dead already.
            if submission.is_refused() {
                continue;
            }
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

/// Whether a change makes a job live that carries a trace, and whose payload is not kept.
fn revives_a_trace(change: &Change, applied: &Applied) -> bool {
    match (change, applied) {
        (Change::Schedule(change), _) => match &**change {
            ScheduleChange::Fire(firing) => {
                firing.jobs.iter().any(|job| job.spec.options.traceparent.is_some())
            }
            ScheduleChange::Put(..) | ScheduleChange::Delete(..) => false,
        },
        (_, Applied::Replayed(Replayed::Live(job, _))) => job.options.traceparent.is_some(),
        _ => false,
    }
}

impl fmt::Debug for Payloads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (jobs, bytes) = self.kept().size();
        f.debug_struct("Payloads").field("jobs", &jobs).field("bytes", &bytes).finish()
    }
}

#[cfg(test)]
mod tests {
    use ganger_core::change::{Assignment, Lease, LiveJob, NewJob, Replay};
    use ganger_core::ids::ScheduleId;
    use ganger_core::job::{JobSpec, State};
    use ganger_core::schedule::Standing;
    use ganger_core::schedule::ledger::Firing;
    use ganger_core::{Fence, SessionId, Term};
    use ganger_store::MemoryStore;

    use super::*;

    fn job(n: u64) -> JobId {
        JobId::new(n, [0; 10])
    }

    fn entry(payload: &str) -> Entry {
        Entry { payload: payload.into(), trace: None }
    }

    fn leasing(jobs: &[JobId]) -> Batch {
        let leases = jobs.iter().map(|job| Lease { job: *job, attempt: 1, threads: 1, transactional: false });
        let (session, first) = (SessionId::new(1, [0; 10]), Fence { term: Term::default(), seq: 1 });
        let assignment = Assignment { session, first, at: Wall(1), leases: leases.collect() };
        Batch::new(1, vec![Change::Assign(assignment)])
    }

    fn new(id: JobId, traceparent: Option<String>) -> NewJob {
        let mut spec = JobSpec::new("k".parse().unwrap());
        spec.options.traceparent = traceparent;
        NewJob { id, seq: 1, created_at: Wall(1), due_at: Wall(1), spec }
    }

    fn live(id: JobId, traceparent: Option<String>) -> LiveJob {
        LiveJob::from(&new(id, traceparent))
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
        payloads.kept().insert(here, entry("here"));
        assert_eq!(payloads.wanted(&leasing(&[here, gone])), []);
        payloads.kept().given_way = true;
        assert_eq!(payloads.wanted(&leasing(&[here, gone])), [gone]);
        payloads.brought(vec![(gone, "brought".into())]);
        assert_eq!(payloads.wanted(&leasing(&[here, gone])), []);
        let parcels = payloads.at_hand(vec![work(gone), work(here)], Wall(2)).unwrap();
        let texts: Vec<&str> = parcels.iter().map(|parcel| parcel.payload.as_str()).collect();
        assert_eq!(texts, ["brought", "here"]);
        assert!(payloads.at_hand(vec![work(gone)], Wall(2)).is_err(), "it left with its parcel");
        // A trace is not in what comes along.
        payloads.traced.store(true, Ordering::Relaxed);
        assert_eq!(payloads.wanted(&leasing(&[gone])), []);
    }

    /// What is kept may end under another leader; whoever leads begins with everything in the store.
    #[test]
    fn a_leader_that_ended_keeps_nothing_and_one_that_begins_wants_what_waits() {
        let payloads = Payloads::new(Arc::new(MemoryStore::new()));
        payloads.kept().insert(job(1), entry("here"));
        payloads.brought(vec![(job(2), "null".into())]);
        payloads.forget();
        assert!(!payloads.kept().contains(job(1)) && !payloads.kept().contains(job(2)));
        payloads.loaded(&Snapshot::default());
        assert_eq!(payloads.wanted(&leasing(&[job(1)])), [], "no waiting job is in the store only");
        payloads.loaded(&Snapshot { jobs: vec![live(job(1), None)], ..Snapshot::default() });
        assert_eq!(payloads.wanted(&leasing(&[job(1)])), [job(1)]);
        let many: Vec<JobId> = (0..2_000).map(job).collect();
        assert_eq!(payloads.wanted(&leasing(&many)), many[..WANTED]);
    }

    /// A trace does not come along with a payload, so where one may be needed none is wanted: also where the job was final, or comes from a
    /// schedule.
    #[test]
    fn nothing_comes_along_where_a_job_may_carry_a_trace() {
        let trace = || Some("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".to_owned());
        let asks = |told: &dyn Fn(&Payloads)| {
            let payloads = Payloads::new(Arc::new(MemoryStore::new()));
            payloads.kept().given_way = true;
            told(&payloads);
            !payloads.wanted(&leasing(&[job(1)])).is_empty()
        };
        for (traceparent, asked) in [(None, true), (trace(), false)] {
            let snapshot = Snapshot { jobs: vec![live(job(1), traceparent.clone())], ..Snapshot::default() };
            assert_eq!(asks(&|payloads| payloads.loaded(&snapshot)), asked);
            let replay = Change::Replay(Replay { job: job(1), seq: 1, at: Wall(1) });
            let replayed = Replayed::Live(Box::new(live(job(1), traceparent.clone())), State::Dead);
            let fire = Change::Schedule(Box::new(ScheduleChange::Fire(Firing {
                schedule: ScheduleId::new(1, [0; 10]),
                name: "s".parse().unwrap(),
                standing: Standing::default(),
                occurrences: Vec::new(),
                jobs: vec![new(job(1), traceparent.clone())],
                forget: None,
            })));
            let told = [(replay, Applied::Replayed(replayed)), (fire, Applied::Fired(Vec::new()))];
            for (change, applied) in told {
                let batch = Batch::new(1, vec![change]);
                let submitted =
                    |payloads: &Payloads| payloads.submitted(&batch, std::slice::from_ref(&applied));
                assert_eq!(asks(&submitted), asked, "{batch:?}");
            }
        }
    }
}
