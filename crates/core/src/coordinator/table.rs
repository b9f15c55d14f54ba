//! The live jobs in memory, and what they have in common.
//!
//! A queued job costs one [`Entry`], one node of the ready index and one slot of the id map. What
//! many jobs share is interned: the **class** (what a worker must offer) and the **profile** (what
//! happens after an attempt).

use std::hash::BuildHasher;
use std::time::Duration;

use foldhash::HashMap;
use foldhash::fast::RandomState;
use hashbrown::HashTable;

use crate::change::{LiveJob, NewJob};
use crate::coordinator::chunks::Chunks;
use crate::coordinator::classes::ClassId;
use crate::coordinator::ready::Order;
use crate::coordinator::wheel::TimerId;
use crate::ids::JobId;
use crate::job::{JobOptions, State};
use crate::name::{Kind, QueueName};
use crate::rules::{Allowance, Standing};
use crate::sabotage::{self, Bug};
use crate::time::Wall;

/// A job that comes to memory, from the store or from its submission. It is looked at where it is: little of it is kept, and
/// copies of the rest would cost more than all else that is done with it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Newcomer<'a> {
    pub(crate) id: JobId,
    pub(crate) kind: &'a Kind,
    pub(crate) queue: &'a QueueName,
    pub(crate) options: &'a JobOptions,
    priority: i8,
    seq: u64,
    created_at: Wall,
    due_at: Wall,
    retrying: bool,
    cancel_wanted: bool,
    standing: Standing,
}

impl<'a> From<&'a LiveJob> for Newcomer<'a> {
    fn from(job: &'a LiveJob) -> Newcomer<'a> {
        Newcomer {
            id: job.id,
            kind: &job.kind,
            queue: &job.queue,
            options: &job.options,
            priority: job.priority,
            seq: job.seq,
            created_at: job.created_at,
            due_at: job.due_at,
            retrying: job.retrying,
            cancel_wanted: job.cancel_wanted,
            standing: job.standing,
        }
    }
}

impl<'a> From<&'a NewJob> for Newcomer<'a> {
    fn from(job: &'a NewJob) -> Newcomer<'a> {
        Newcomer {
            id: job.id,
            kind: &job.spec.kind,
            queue: &job.spec.queue,
            options: &job.spec.options,
            priority: job.spec.priority,
            seq: job.seq,
            created_at: job.created_at,
            due_at: job.due_at,
            retrying: false,
            cancel_wanted: false,
            standing: Standing::default(),
        }
    }
}

/// Where a live job is in memory. Its durable state follows one commit behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Waits for its parents. The timer of its expiry is kept with its edges: here it would cost every job four bytes.
    Blocked,
    /// Waits for its due time.
    Waiting(TimerId),
    /// In the ready index; the timer is its expiry.
    Ready(Option<TimerId>),
    /// A session has its lease, or will have once the assignment is committed.
    Leased(u32),
    /// The end of its attempt is being committed.
    Ending,
    /// Its cancellation or expiry is being committed.
    Leaving,
}

/// A live job.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) id: JobId,
    pub(crate) class: ClassId,
    pub(crate) profile: u32,
    pub(crate) seq: u64,
    pub(crate) created_at: Wall,
    pub(crate) due_at: Wall,
    /// [`NEVER`] if it does not; read with [`Entry::expires_at`].
    expires_at: Wall,
    pub(crate) standing: Standing,
    pub(crate) priority: i8,
    pub(crate) retrying: bool,
    pub(crate) cancel_wanted: bool,
    pub(crate) phase: Phase,
    /// The state that the counters count it in, once it counts.
    pub(crate) counted: State,
    /// Its submission is being committed: nobody knows it by its id, and it does not count.
    pub(crate) provisional: bool,
    /// Whether it has keys: see [`Table::keys`].
    pub(crate) keyed: bool,
}

/// The keys of a job; few jobs have any.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JobKeys {
    /// Its `concurrency_key`.
    pub(crate) key: Option<u32>,
    /// Its tenant, [`crate::coordinator::fair::NOBODY`] if it has none.
    pub(crate) tenant: u32,
    pub(crate) weight: u16,
}

/// When a job that does not expire expires: an option would cost eight bytes of every queued job.
const NEVER: Wall = Wall(i64::MAX);

impl Entry {
    /// When it expires unless it has begun.
    pub(crate) fn expires_at(&self) -> Option<Wall> {
        (self.expires_at != NEVER).then_some(self.expires_at)
    }

    pub(crate) fn order(&self) -> Order {
        Order { priority: self.priority, arrival: self.due_at, seq: self.seq }
    }
}

/// What happens after an attempt; shared by many jobs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Profile {
    pub(crate) allowance: Allowance,
    pub(crate) timeout: Option<Duration>,
}

/// A profile as a key: floats by their bits.
type ProfileKey = (u32, u32, Duration, u64, Duration, u64, Option<Duration>);

fn profile_key(p: &Profile) -> ProfileKey {
    let r = &p.allowance.retry;
    (
        p.allowance.max_attempts,
        p.allowance.max_lost,
        r.base,
        r.factor.to_bits(),
        r.max,
        r.jitter.to_bits(),
        p.timeout,
    )
}

/// The slots of jobs that are known by their ids. The ids themselves are in the entries: here they would cost every job another
/// forty bytes.
#[derive(Clone, Debug, Default)]
struct Named {
    slots: HashTable<u32>,
    hasher: RandomState,
}

impl Named {
    fn slot(&self, entries: &Chunks<Option<Entry>>, id: JobId) -> Option<u32> {
        self.slots.find(self.hasher.hash_one(id), |slot| has_id(entries, *slot, id)).copied()
    }

    /// The job in this slot, and no other, has this id from now on.
    fn name(&mut self, entries: &Chunks<Option<Entry>>, id: JobId, slot: u32) {
        let Named { slots, hasher } = self;
        let same = |other: &u32| has_id(entries, *other, id);
        let hash = |other: &u32| entries[*other].as_ref().map_or(0, |entry| hasher.hash_one(entry.id));
        slots.entry(hasher.hash_one(id), same, hash).and_modify(|present| *present = slot).or_insert(slot);
    }

    /// The job in this slot is not known by its id any more, if it was.
    fn forget(&mut self, id: JobId, slot: u32) {
        if let Ok(named) = self.slots.find_entry(self.hasher.hash_one(id), |other| *other == slot) {
            named.remove();
        }
    }
}

fn has_id(entries: &Chunks<Option<Entry>>, slot: u32, id: JobId) -> bool {
    entries[slot].as_ref().is_some_and(|entry| entry.id == id)
}

/// The table of live jobs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    entries: Chunks<Option<Entry>>,
    free: Vec<u32>,
    named: Named,
    profiles: Vec<Profile>,
    profile_ids: HashMap<ProfileKey, u32>,
    /// By slot.
    keys: HashMap<u32, JobKeys>,
}

impl Table {
    pub(crate) fn slot(&self, id: JobId) -> Option<u32> {
        self.named.slot(&self.entries, id)
    }

    /// The job in a slot, if one is there.
    pub(crate) fn find(&self, slot: u32) -> Option<&Entry> {
        self.entries.get(slot).and_then(Option::as_ref)
    }

    /// The job in a slot that is known to be taken.
    pub(crate) fn get(&self, slot: u32) -> &Entry {
        self.entries[slot].as_ref().expect("a slot in use: slots are freed only with their last reference")
    }

    /// The job in a slot that is known to be taken.
    pub(crate) fn get_mut(&mut self, slot: u32) -> &mut Entry {
        self.entries[slot].as_mut().expect("a slot in use: slots are freed only with their last reference")
    }

    /// Slots there are, taken or free.
    pub(crate) fn slots(&self) -> usize {
        self.entries.len() as usize
    }

    /// Adds a job that is in the store.
    pub(crate) fn insert(&mut self, job: &Newcomer<'_>, class: ClassId, phase: Phase, counted: State) -> u32 {
        let slot = self.place(job, class, phase, counted);
        self.confirm(slot);
        slot
    }

    /// Adds a job whose submission is about to be committed; see [`Table::confirm`].
    pub(crate) fn insert_provisional(&mut self, job: &Newcomer<'_>, class: ClassId, phase: Phase) -> u32 {
        let slot = self.place(job, class, phase, State::Queued);
        if sabotage::active(Bug::ProvisionalIsSeen) {
            self.named.name(&self.entries, job.id, slot);
        }
        slot
    }

    fn place(&mut self, job: &Newcomer<'_>, class: ClassId, phase: Phase, counted: State) -> u32 {
        let entry = Entry {
            id: job.id,
            class,
            profile: self.profile(job.options),
            seq: job.seq,
            created_at: job.created_at,
            due_at: job.due_at,
            expires_at: job.options.expires_at.unwrap_or(NEVER),
            standing: job.standing,
            priority: job.priority,
            retrying: job.retrying,
            cancel_wanted: job.cancel_wanted,
            phase,
            counted,
            provisional: true,
            keyed: false,
        };
        match self.free.pop() {
            Some(slot) => {
                self.entries[slot] = Some(entry);
                slot
            }
            None => self.entries.push(Some(entry)),
        }
    }

    /// The job is in the store: it is known by its id from now on.
    pub(crate) fn confirm(&mut self, slot: u32) {
        let entry = self.get_mut(slot);
        entry.provisional = false;
        let id = entry.id;
        self.named.name(&self.entries, id, slot);
    }

    pub(crate) fn remove(&mut self, slot: u32) -> Entry {
        let entry = self.entries[slot].take().expect("a job is removed once");
        // A provisional job has no name, and its id may be another's.
        self.named.forget(entry.id, slot);
        self.free.push(slot);
        entry
    }

    /// The keys of a job, if it has any.
    pub(crate) fn keys(&self, slot: u32) -> Option<JobKeys> {
        self.get(slot).keyed.then(|| self.keys.get(&slot).copied()).flatten()
    }

    pub(crate) fn set_keys(&mut self, slot: u32, keys: JobKeys) {
        self.get_mut(slot).keyed = true;
        self.keys.insert(slot, keys);
    }

    pub(crate) fn take_keys(&mut self, slot: u32) -> Option<JobKeys> {
        let keyed = std::mem::take(&mut self.get_mut(slot).keyed);
        keyed.then(|| self.keys.remove(&slot)).flatten()
    }

    pub(crate) fn profile_of(&self, entry: &Entry) -> &Profile {
        &self.profiles[entry.profile as usize]
    }

    fn profile(&mut self, options: &JobOptions) -> u32 {
        let profile = Profile { allowance: Allowance::from(options), timeout: options.timeout };
        let next = u32::try_from(self.profiles.len()).expect("profiles are fewer than jobs");
        *self.profile_ids.entry(profile_key(&profile)).or_insert_with(|| {
            self.profiles.push(profile);
            next
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A million queued jobs are kept in memory. The ready index adds 32 bytes, the slots by id 6 to 12.
    #[test]
    fn a_live_job_takes_at_most_88_bytes_of_the_table() {
        assert!(size_of::<Option<Entry>>() <= 88, "{}", size_of::<Option<Entry>>());
    }
}
