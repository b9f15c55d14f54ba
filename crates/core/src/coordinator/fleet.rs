//! The fleet: which worker fits.
//!
//! Workers that serve the same queues, kinds and labels form a *group*; a class of jobs is matched against
//! groups, not workers. Within a group the question is always the same, "who has at least `d` free
//! threads, and of those, who comes first in some order", and it must cost the same for ten workers and
//! for ten thousand:
//!
//! - *least recently used* and *round robin* have an order that does not depend on free threads. Each is a
//!   line (`lineup.rs`): an array in that order with a tournament of free threads above it. *Spread* asks the
//!   same line for the most there is.
//! - *best fit* wants the fewest free threads that do: the places of that line by free threads (`shelves.rs`).
//!
//! Workers that were never assigned anything count as the least recently used, in order of joining, so they
//! stand in a line of their own before the others. A hidden worker (not resumed, draining, reserved) keeps
//! its place in every order and is never chosen.

mod group;
mod lineup;
mod shelves;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::limits;
use crate::name::{Kind, Labels, QueueName};
use crate::queue::Policy;

use group::{Group, Used};

/// What a worker serves. An empty set of queues or kinds means all.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Signature {
    /// The queues it takes jobs from.
    pub queues: BTreeSet<QueueName>,
    /// The kinds it has handlers for.
    pub kinds: BTreeSet<Kind>,
    /// The labels it carries.
    pub labels: Labels,
}

/// Workers of one signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupId(pub u32);

/// The workers that are connected, by signature and free threads. Workers are numbers of the caller.
#[derive(Debug, Default)]
pub struct Fleet {
    groups: Vec<Group>,
    by_signature: BTreeMap<Arc<Signature>, GroupId>,
    /// Groups that were forgotten, to be used again.
    vacant: Vec<GroupId>,
    /// Indexed by worker.
    members: Vec<Option<Member>>,
    /// Workers that ever joined.
    joined: u64,
    /// Assignments ever made.
    assignments: u64,
}

/// Where round robin stands: the position in the order of joining that was served last. It outlives the
/// worker.
#[derive(Clone, Debug, Default)]
pub struct Ring {
    last: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Member {
    group: GroupId,
    threads: u16,
    free: i32,
    shown: bool,
    joined: u64,
    used: Used,
    ring_place: usize,
    used_place: usize,
}

impl Member {
    /// Its free threads, if it may be chosen.
    fn on_offer(&self) -> u64 {
        if self.shown { u64::try_from(self.free).unwrap_or(0) } else { 0 }
    }
}

impl Signature {
    /// Whether a worker of this signature may run jobs of that queue and kind that require those labels.
    #[must_use]
    pub fn serves(&self, queue: &QueueName, kind: &Kind, require: &Labels) -> bool {
        (self.queues.is_empty() || self.queues.contains(queue))
            && (self.kinds.is_empty() || self.kinds.contains(kind))
            && require.iter().all(|(name, value)| self.labels.get(name) == Some(value))
    }
}

impl Ring {
    /// This worker is the one served last.
    pub fn served(&mut self, fleet: &Fleet, worker: u32) {
        self.last = Some(fleet.member(worker).joined);
    }
}

impl Fleet {
    /// No workers.
    #[must_use]
    pub fn new() -> Fleet {
        Fleet::default()
    }

    /// A worker arrives, hidden, with all its threads free. Its place in the ring is the order of joining.
    pub fn join(&mut self, worker: u32, signature: Signature, threads: u16) -> GroupId {
        debug_assert!(!self.has(worker), "worker {worker} has joined already");
        self.leave(worker);
        let id = self.group_of(signature);
        let joined = self.joined;
        self.joined += 1;
        let mut member = Member {
            group: id,
            threads,
            free: i32::from(threads),
            shown: false,
            joined,
            used: Used::Never(joined),
            ring_place: 0,
            used_place: 0,
        };
        if self.members.len() <= worker as usize {
            self.members.resize(worker as usize + 1, None);
        }
        self.groups[id.0 as usize].add(&mut member, worker, &mut self.members);
        self.members[worker as usize] = Some(member);
        id
    }

    /// A worker is gone. One that is not here changes nothing.
    pub fn leave(&mut self, worker: u32) {
        if !self.has(worker) {
            return;
        }
        let member = *self.member(worker);
        self.members[worker as usize] = None;
        self.groups[member.group.0 as usize].remove(&member);
    }

    /// The worker may be chosen.
    pub fn show(&mut self, worker: u32) {
        self.change(worker, |member| member.shown = true);
    }

    /// The worker may not be chosen.
    pub fn hide(&mut self, worker: u32) {
        self.change(worker, |member| member.shown = false);
    }

    /// Whether the worker may be chosen.
    #[must_use]
    pub fn is_shown(&self, worker: u32) -> bool {
        self.member(worker).shown
    }

    /// The worker has so many free threads; below zero when it holds work beyond its threads.
    pub fn set_free(&mut self, worker: u32, free: i32) {
        self.change(worker, |member| member.free = free);
    }

    /// Its free threads.
    #[must_use]
    pub fn free(&self, worker: u32) -> i32 {
        self.member(worker).free
    }

    /// All its threads.
    #[must_use]
    pub fn threads(&self, worker: u32) -> u16 {
        self.member(worker).threads
    }

    /// Its group.
    #[must_use]
    pub fn group(&self, worker: u32) -> GroupId {
        self.member(worker).group
    }

    /// Whether the worker has joined and not left.
    #[must_use]
    pub fn has(&self, worker: u32) -> bool {
        self.members.get(worker as usize).is_some_and(Option::is_some)
    }

    /// The worker just got an assignment: it is now the most recently used.
    pub fn assigned(&mut self, worker: u32) {
        self.assigned_leaving(worker, self.free(worker));
    }

    /// The worker just got an assignment that leaves it with so many free threads: [`Fleet::assigned`] and
    /// [`Fleet::set_free`] at the cost of one of them.
    pub fn assigned_leaving(&mut self, worker: u32, free: i32) {
        check_free(worker, free);
        let mut member = *self.member(worker);
        let group = &mut self.groups[member.group.0 as usize];
        group.free -= member.on_offer();
        group.stamp(&mut member, worker, self.assignments, &mut self.members);
        self.assignments += 1;
        member.free = free;
        group.free += member.on_offer();
        group.see(&member);
        self.members[worker as usize] = Some(member);
    }

    /// The worker that gets the next assignment, among the shown ones of these groups with enough free threads.
    #[must_use]
    pub fn choose(&self, groups: &[GroupId], at_least: i32, policy: Policy, ring: &Ring) -> Option<u32> {
        let groups = || groups.iter().map(|id| &self.groups[id.0 as usize]);
        match policy {
            Policy::LeastRecentlyUsed => groups()
                .filter_map(|group| group.least_recently_used(at_least))
                .min()
                .map(|(_, worker)| worker),
            Policy::RoundRobin => {
                let later = groups().filter_map(|group| group.next_in_ring(ring.last, at_least)).min();
                later
                    .or_else(|| groups().filter_map(|group| group.next_in_ring(None, at_least)).min())
                    .map(|(_, worker)| worker)
            }
            Policy::BestFit => {
                groups().filter_map(|group| group.best_fit(at_least)).min().map(|(.., worker)| worker)
            }
            Policy::Spread => {
                let most = groups().filter_map(Group::most_free).max().filter(|most| *most >= at_least)?;
                groups().filter_map(|group| group.least_recently_used(most)).min().map(|(_, worker)| worker)
            }
        }
    }

    /// The most free threads of a shown worker of the group.
    #[must_use]
    pub fn max_free(&self, group: GroupId) -> Option<i32> {
        self.groups[group.0 as usize].most_free()
    }

    /// The largest capacity of any member, hidden ones included; 0 if there is none.
    #[must_use]
    pub fn widest(&self, group: GroupId) -> u16 {
        self.groups[group.0 as usize].capacities.last_key_value().map_or(0, |(threads, _)| *threads)
    }

    /// The shown worker of at least this capacity with the most free threads; of equals the least recently used.
    /// It passes over narrower workers one by one, so it is for the rare reservation, not for every job.
    #[must_use]
    pub fn roomiest(&self, group: GroupId, threads: u16) -> Option<u32> {
        self.groups[group.0 as usize].roomiest(|worker| self.member(worker).threads >= threads)
    }

    /// Members of the group.
    #[must_use]
    pub fn members(&self, group: GroupId) -> usize {
        self.groups[group.0 as usize].members
    }

    /// The free threads of shown workers of the group.
    #[must_use]
    pub fn free_threads(&self, group: GroupId) -> u64 {
        self.groups[group.0 as usize].free
    }

    /// The groups that have members.
    pub fn groups(&self) -> impl Iterator<Item = (GroupId, &Signature)> + '_ {
        let all = (0..).map(GroupId).zip(&self.groups);
        all.filter(|(_, group)| group.members > 0).map(|(id, group)| (id, &*group.signature))
    }

    /// What the members of a group serve.
    #[must_use]
    pub fn signature(&self, group: GroupId) -> &Signature {
        &self.groups[group.0 as usize].signature
    }

    /// Gives up a group without members, so that its number may mean another one later; `false` if it has any. For
    /// a caller that no longer keeps the number: labels that are never the same twice would otherwise
    /// leave a group behind for each.
    pub fn forget(&mut self, group: GroupId) -> bool {
        let there = &self.groups[group.0 as usize];
        if there.members > 0 {
            return false;
        }
        // A number given up before no longer stands for its signature, even if nobody took it since.
        if self.by_signature.get(&there.signature) == Some(&group) {
            self.by_signature.remove(&there.signature);
            self.vacant.push(group);
        }
        true
    }

    fn member(&self, worker: u32) -> &Member {
        let member = self.members.get(worker as usize).and_then(Option::as_ref);
        member.expect("the caller names only workers that have joined and not left")
    }

    /// Changes what may be seen of a worker and moves it accordingly.
    fn change(&mut self, worker: u32, change: impl FnOnce(&mut Member)) {
        let mut member = *self.member(worker);
        let before = member.on_offer();
        change(&mut member);
        check_free(worker, member.free);
        let group = &mut self.groups[member.group.0 as usize];
        group.free = group.free - before + member.on_offer();
        group.see(&member);
        self.members[worker as usize] = Some(member);
    }

    fn group_of(&mut self, signature: Signature) -> GroupId {
        if let Some(id) = self.by_signature.get(&signature) {
            return *id;
        }
        let group = Group::new(signature);
        let signature = Arc::clone(&group.signature);
        let id = if let Some(id) = self.vacant.pop() {
            self.groups[id.0 as usize] = group;
            id
        } else {
            self.groups.push(group);
            GroupId(
                u32::try_from(self.groups.len() - 1).expect("memory ends long before four billion groups"),
            )
        };
        self.by_signature.insert(signature, id);
        id
    }
}

fn check_free(worker: u32, free: i32) {
    let bounds = -i32::from(limits::PREFETCH)..=i32::from(limits::THREADS);
    debug_assert!(bounds.contains(&free), "worker {worker} has {free} free threads");
}

#[cfg(test)]
mod tests;
