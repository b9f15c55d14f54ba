//! The payloads that are kept in memory: which, and up to how many bytes.
//!
//! Where a worker is free, the job that came last runs at once; where none is, the one that came first is next. So the
//! last ones are kept, and of those before them the first. What is in between gives way. What a store brings along with leases is handed on
//! next, and has room of its own.

use std::collections::BTreeMap;

use ganger_core::job::JobOptions;
use ganger_core::message::Work;
use ganger_core::trace::TraceContext;
use ganger_core::{JobId, Wall};
use ganger_proto::{Parcel, Trace};

/// Bytes of payloads that came last.
const LATEST_BYTES: usize = 16 << 20;
/// Bytes of payloads that came first, of those that are not the last any more.
const FIRST_BYTES: usize = 48 << 20;
/// Bytes of payloads that came along with leases, and are about to be handed on.
const BROUGHT_BYTES: usize = 16 << 20;
/// What an entry costs besides its texts.
const ENTRY_BYTES: usize = 128;
/// What a trace context costs, about, here and on the wire.
pub(crate) const TRACE_BYTES: usize = 128;

/// A payload, and the trace that belongs to it.
pub(super) struct Entry {
    pub(super) payload: String,
    pub(super) trace: Option<Box<Carried>>,
}

/// The trace of a job, until it is known when its lease is sent.
pub(super) struct Carried {
    context: TraceContext,
    submitted: Wall,
    occurrence: bool,
}

impl Carried {
    pub(super) fn of(options: &JobOptions, submitted: Wall) -> Option<Box<Carried>> {
        // Most carry none, and are not looked at further.
        options.traceparent.as_ref()?;
        let occurrence = options.schedule.is_some();
        options.trace().map(|context| Box::new(Carried { context, submitted, occurrence }))
    }
}

/// The payloads that are kept.
pub(super) struct Kept {
    latest: Share,
    first: Share,
    brought: Share,
    /// Some waiting job has its payload in the store only. Until then nobody is asked to bring one along: what is then missing as well, a retry or
    /// the job of a schedule, is rare.
    pub(super) given_way: bool,
}

/// Payloads up to a number of bytes.
struct Share {
    bytes: usize,
    limit: usize,
    /// Ids begin with the time of their making, so the first is the oldest.
    entries: BTreeMap<JobId, Entry>,
}

impl Entry {
    fn bytes(&self) -> usize {
        ENTRY_BYTES + self.payload.len() + self.trace.as_ref().map_or(0, |_| TRACE_BYTES)
    }

    pub(super) fn parcel(self, work: Work, now: Wall) -> Parcel {
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

    /// Nothing stays.
    pub(super) fn clear(&mut self) {
        self.shares().into_iter().for_each(Share::clear);
    }

    /// How many there are, and how large they are together.
    pub(super) fn size(&mut self) -> (usize, usize) {
        let shares = self.shares();
        shares.iter().fold((0, 0), |(jobs, bytes), share| (jobs + share.entries.len(), bytes + share.bytes))
    }

    fn shares(&mut self) -> [&mut Share; 3] {
        [&mut self.latest, &mut self.first, &mut self.brought]
    }

    pub(super) fn contains(&self, job: JobId) -> bool {
        [&self.latest, &self.first, &self.brought].iter().any(|share| share.entries.contains_key(&job))
    }

    pub(super) fn insert(&mut self, job: JobId, entry: Entry) {
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

    pub(super) fn bring(&mut self, job: JobId, entry: Entry) {
        self.brought.insert(job, entry);
        // Those that were never handed on are among the first.
        while self.brought.bytes > self.brought.limit && self.brought.pop_oldest().is_some() {}
    }

    pub(super) fn remove(&mut self, job: JobId) -> Option<Entry> {
        self.shares().into_iter().find_map(|share| share.remove(job))
    }
}

impl Default for Kept {
    fn default() -> Kept {
        Kept::new(LATEST_BYTES, FIRST_BYTES, BROUGHT_BYTES)
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

#[cfg(test)]
mod tests {
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

    /// What came along and was never handed on must not fill the room of others for ever.
    #[test]
    fn what_came_along_is_bounded() {
        let mut kept = Kept::new(1_000, 1_000, 2_000);
        for n in 0..3 {
            kept.bring(job(n), entry(1_000));
        }
        assert_eq!((numbers(&kept, 3), kept.brought.bytes), (vec![1, 2], 2_000));
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
