//! Dispatch: matching queued jobs to workers.
//!
//! After a pass no class has a head that a worker could take. So news touches one side only: a new
//! head asks for a worker, a freed thread asks for the best head.
//!
//! *Wide jobs.* A head that needs more threads than any worker has free is overtaken by narrow ones.
//! After so many overtakes, or so long, it reserves the roomiest worker that could hold it, which
//! then takes nothing else until the wide one fits, but for jobs that go before it anyway: those of its queue with a
//! higher priority, and those of queues with a larger precedence. One reservation per group.
//!
//! *Several queues* take turns ([`super::lines`]).
//!
//! How much a worker is given at once and ahead is in [`super::portions`].

use std::collections::BTreeMap;

use crate::change::{Assignment, Change, Lease};
use crate::coordinator::classes::ClassId;
use crate::coordinator::classes::{demand, eligible, gates, widest};
use crate::coordinator::effect::Effect;
use crate::coordinator::fair::NOBODY;
use crate::coordinator::fleet::GroupId;
use crate::coordinator::lines::Place;
use crate::coordinator::marks::Mark;
use crate::coordinator::port::Output;
use crate::coordinator::portions::Portions;
use crate::coordinator::table::Phase;
use crate::coordinator::{Coordinator, LeaseEntry, Timer};
use crate::ids::SessionId;
use crate::job::State;
use crate::lease::Fence;
use crate::limits;
use crate::message::{CancelWhy, ToWorker, Work};
use crate::name::QueueName;
use crate::queue::Policy;
use crate::sabotage::{self, Bug};
use crate::time::Now;

/// Most leases decided in one pass; the rest follow with the next batch.
const PASS_LEASES: usize = 4_096;

/// Jobs and their threads, by the worker that gets them.
pub(crate) type Given = BTreeMap<u32, Vec<(u32, u16)>>;

/// A head and the worker capacity it may be placed on.
pub(super) struct Pick {
    pub(super) class: ClassId,
    place: Place,
    /// Free threads that the worker must have; below the demand when prefetching.
    at_least: i32,
    /// The group whose turn it is.
    group: GroupId,
    /// The worker that was kept free for it.
    pub(super) reserved: Option<u32>,
}

impl Coordinator {
    pub(crate) fn dispatch(&mut self, now: Now, out: &mut Vec<Output>) {
        let mut given = Given::new();
        self.match_up(now, &mut given);
        self.give(now, given, out);
    }

    /// Matches heads with workers until no head is left that a worker could take.
    pub(crate) fn match_up(&mut self, now: Now, given: &mut Given) {
        let mut count = 0;
        while count < PASS_LEASES && self.lines.has_news() {
            let Some(group) = self.lines.pop_dirty() else { break };
            let mut portions = Portions::default();
            while let Some(pick) = self.pick(group) {
                if count == PASS_LEASES {
                    self.lines.touch(group);
                    break;
                }
                self.note_overtakes(now, group, &pick);
                let Some(worker) = self.next_of_portion(&pick, &mut portions) else { break };
                let job = self.take(pick.class, worker);
                given.entry(worker).or_default().push(job);
                // Whoever claimed so many jobs has no use for more.
                if self.fleet.free(worker) <= 0 && self.sessions.get(worker).worker.claim {
                    self.fleet.hide(worker);
                }
                count += 1;
            }
        }
    }

    /// Gives what was matched to the workers. Provisional jobs have assignments of their own, which stand or
    /// fall with their submissions.
    pub(crate) fn give(&mut self, now: Now, given: Given, out: &mut Vec<Output>) {
        for (worker, jobs) in given {
            let joint = |(job, _): &(u32, u16)| self.jobs.get(*job).provisional;
            // Few passes have any provisional ones, and most of those have nothing else.
            let (provisional, ordinary): (Vec<_>, Vec<_>) =
                if jobs.iter().any(joint) { jobs.into_iter().partition(joint) } else { (Vec::new(), jobs) };
            for (jobs, joint) in [(ordinary, false), (provisional, true)] {
                for chunk in jobs.chunks(limits::ASSIGN_LEASES) {
                    self.assign(now, worker, chunk, joint, out);
                }
            }
            self.update_visibility(worker);
        }
    }

    fn pick(&self, group: GroupId) -> Option<Pick> {
        if let Some((worker, class)) = self.lines.reservation(group) {
            let needed = i32::from(self.classes.get(class).demand);
            if self.fleet.free(worker) >= needed
                && let Some(place) = self.classes.get(class).lined_up
            {
                return Some(Pick { class, place, at_least: needed, group, reserved: Some(worker) });
            }
        }
        let shown = self.fleet.max_free(group).and_then(|free| self.pick_shown(group, free));
        shown.or_else(|| self.pick_above_reservation(group))
    }

    fn pick_shown(&self, group: GroupId, free: i32) -> Option<Pick> {
        if let Some((place, class)) = self.lines.best(group, free) {
            let (place, class) = self.fair_sibling(group, free, place, class);
            let at_least = i32::from(self.classes.get(class).demand);
            return Some(Pick { class, place, at_least, group, reserved: None });
        }
        let (place, class) = self.lines.top(group)?;
        let demand = i32::from(self.classes.get(class).demand);
        if self.runs_elsewhere(class, group) {
            return Some(Pick { class, place, at_least: demand, group, reserved: None });
        }
        let at_least = demand - self.prefetch(group, class);
        (free >= at_least).then_some(Pick { class, place, at_least, group, reserved: None })
    }

    /// Whether a worker of another group has the threads that a class asks for, and nothing better to do.
    fn runs_elsewhere(&self, class: ClassId, group: GroupId) -> bool {
        let mut groups = self.classes.get(class).groups.iter().copied();
        groups.any(|other| other != group && self.is_best_for(other, class))
    }

    /// Whether a class has the best head that the roomiest worker of a group could run.
    fn is_best_for(&self, group: GroupId, class: ClassId) -> bool {
        let best = self.fleet.max_free(group).and_then(|free| self.lines.best(group, free));
        best.is_some_and(|(_, best)| best == class)
    }

    /// The class of the same queue, and of the same priority, whose tenant's turn it is. The lines know arrivals alone.
    fn fair_sibling(&self, group: GroupId, free: i32, place: Place, class: ClassId) -> (Place, ClassId) {
        let Some(flow) = self.flow_of(class).filter(|flow| flow.fair.is_used()) else {
            return (place, class);
        };
        let turn = |class: ClassId| {
            let turn = self.class_head(class).and_then(|head| head.turn);
            turn.unwrap_or_else(|| flow.fair.turn(NOBODY))
        };
        let siblings = self.classes.of_queue(&self.classes.get(class).key.queue).into_iter();
        let could = siblings.filter_map(|id| {
            let class = self.classes.get(id);
            let fits = class.groups.contains(&group) && i32::from(class.demand) <= free;
            let same_priority = |other: &Place| other.order.priority == place.order.priority;
            class.lined_up.filter(|other| fits && same_priority(other)).map(|other| (other, id))
        });
        could.min_by_key(|(other, id)| (turn(*id), other.order)).unwrap_or((place, class))
    }

    /// What a worker that is kept free for a wide head runs all the same: jobs of queues with a larger precedence; and, while
    /// jobs of the wide one's own queue have a higher priority than it, whoever's turn it is. They keep the wide one from
    /// starting in any case, and other queues must not wait for them.
    fn pick_above_reservation(&self, group: GroupId) -> Option<Pick> {
        let (worker, kept_for) = self.lines.reservation(group)?;
        let (waiting, queue) = (self.classes.get(kept_for).lined_up?, self.classes.get(kept_for).queue);
        let free = self.fleet.free(worker);
        let (place, class) = self.lines.best(group, free)?;
        let own = || self.lines.best_of(group, free, waiting.precedence, queue);
        let is_above = place.precedence > waiting.precedence
            || own().is_some_and(|order| order.priority > waiting.order.priority);
        let at_least = i32::from(self.classes.get(class).demand);
        is_above.then_some(Pick { class, place, at_least, group, reserved: Some(worker) })
    }

    pub(super) fn worker_for(&self, pick: &Pick) -> Option<u32> {
        if let Some(worker) = pick.reserved {
            return Some(worker);
        }
        let class = self.classes.get(pick.class);
        let queue = &class.key.queue;
        let ring = self.queues.get(queue).map(|q| q.ring.clone()).unwrap_or_default();
        let (at_least, policy) = (pick.at_least, self.policy(queue));
        let is_ahead = at_least < i32::from(class.demand);
        if is_ahead || class.groups.len() == 1 {
            return self.fleet.choose(&[pick.group], at_least, policy, &ring);
        }
        // Workers of another group may have something better to do.
        let groups = class.groups.iter().copied();
        let groups = groups.filter(|other| *other == pick.group || self.is_best_for(*other, pick.class));
        self.fleet.choose(&groups.collect::<Vec<_>>(), at_least, policy, &ring)
    }

    pub(super) fn policy(&self, queue: &QueueName) -> Policy {
        self.queues.get(queue).map_or(Policy::default(), |entry| entry.settings.policy)
    }

    /// Takes the head of a class for a worker.
    fn take(&mut self, class: ClassId, worker: u32) -> (u32, u16) {
        let threads = self.classes.get(class).demand;
        let job = self.class_head(class).expect("a class in line has a head").job;
        self.pull(job);
        if let Phase::Ready(Some(expiry)) = self.jobs.get(job).phase {
            self.timers.cancel(expiry);
        }
        let entry = self.classes.get(class);
        let (queue, id, place) = (&entry.key.queue, entry.queue, entry.lined_up);
        let queue = match self.queues.get_mut(queue) {
            Some(entry) => entry,
            None => self.queues.entry(queue.clone()).or_default(),
        };
        queue.ring.served(&self.fleet, worker);
        let precedence = place.map_or(queue.settings.precedence, |place| place.precedence);
        self.lines.serve(self.fleet.group(worker), precedence, id, queue.settings.weight);
        let session = self.sessions.get_mut(worker);
        session.used += i32::from(threads);
        let free = i32::from(session.worker.threads) - session.used;
        self.fleet.assigned_leaving(worker, free);
        self.no_longer_overtaken(class);
        self.lease_given(job);
        self.line_up(class);
        (job, threads)
    }

    /// Gives leases to one worker: one change, announced when it is committed.
    fn assign(&mut self, now: Now, worker: u32, jobs: &[(u32, u16)], joint: bool, out: &mut Vec<Output>) {
        let first = Fence { term: self.term, seq: self.next_fence };
        let mut leases = Vec::with_capacity(jobs.len());
        let mut slots = Vec::with_capacity(jobs.len());
        for (job, threads) in jobs {
            let fence = Fence { term: self.term, seq: self.next_fence };
            self.next_fence += 1;
            let entry = self.jobs.get(*job);
            let attempt = entry.standing.attempt + 1;
            let transactional = self.is_transactional(entry.class);
            leases.push(Lease { job: entry.id, attempt, threads: *threads, transactional });
            let slot = self.leases.insert(LeaseEntry {
                job: *job,
                fence,
                assignment: first,
                session: worker,
                attempt,
                threads: *threads,
                transactional,
                leased_at: now.wall,
                committed: false,
                mark: Mark::default(),
                stopping: None,
                timer: None,
            });
            slots.push((slot, fence));
            self.jobs.get_mut(*job).phase = Phase::Leased(slot);
            self.sessions.get_mut(worker).holds.insert(fence, slot);
        }
        let session = self.sessions.get(worker).id;
        if tells_early(joint) {
            let early: Vec<u32> = slots.iter().map(|(slot, _)| *slot).collect();
            self.send_assign(worker, &early, out);
        }
        let change = Assignment { session, first, at: now.wall, leases };
        self.commits.push(Change::Assign(change), Effect::Assign { session, leases: slots, joint });
    }

    /// The assignment is durable: its worker may hear of it.
    pub(crate) fn assigned(
        &mut self,
        now: Now,
        session: SessionId,
        leases: &[(u32, Fence)],
        joint: bool,
        out: &mut Vec<Output>,
    ) {
        let Some(worker) = self.sessions.slot(session) else { return };
        let mut fresh = Vec::with_capacity(leases.len());
        for (slot, fence) in leases {
            // It may have ended since, with its session, or its job was nothing new: then its slot is free, or
            // another's.
            if self.leases.find(*slot).is_none_or(|lease| lease.fence != *fence) {
                continue;
            }
            self.leases.get_mut(*slot).committed = true;
            let job = self.leases.get(*slot).job;
            if sabotage::active(Bug::LeaseCountedLate) {
                self.count_lease(job);
            }
            self.recount(job, State::Running);
            out.push(self.job_event(job, State::Running, now.wall));
            fresh.push(*slot);
        }
        if self.is_resumed(worker) && !tells_early(joint) {
            self.tell(now, worker, &fresh, out);
        }
    }

    /// The worker hears of leases, and of those among them that it is to stop. Their time runs from here, and
    /// a timeout that could not be told is forgotten: it may begin them only now, and stops them by its own
    /// clock. The leader's is for handlers that do not obey.
    pub(crate) fn tell(&mut self, now: Now, worker: u32, leases: &[u32], out: &mut Vec<Output>) {
        if leases.is_empty() {
            return;
        }
        self.send_assign(worker, leases, out);
        for slot in leases {
            match self.leases.get(*slot).stopping {
                Some(CancelWhy::Timeout) | None => {
                    self.leases.get_mut(*slot).stopping = None;
                    self.arm_timeout(now, *slot);
                }
                Some(why) => self.stop(now, *slot, why, out),
            }
        }
    }

    fn send_assign(&self, worker: u32, leases: &[u32], out: &mut Vec<Output>) {
        let works = leases.iter().map(|slot| {
            let lease = self.leases.get(*slot);
            let entry = self.jobs.get(lease.job);
            let key = &self.classes.get(entry.class).key;
            let profile = self.jobs.profile_of(entry);
            Work {
                job: entry.id,
                fence: lease.fence,
                attempt: lease.attempt,
                threads: lease.threads,
                kind: key.kind.clone(),
                queue: key.queue.clone(),
                timeout: profile.timeout,
                max_attempts: profile.allowance.max_attempts,
            }
        });
        self.send(worker, ToWorker::Assign(works.collect()), out);
    }

    /// Puts a class where it belongs now: into the lines of its groups under its present head, or out
    /// of them if it is empty or a gate is closed.
    pub(crate) fn line_up(&mut self, id: ClassId) {
        let class = self.classes.get(id);
        let queue = self.queues.get(&class.key.queue);
        let head = self.class_head(id).map(|head| head.order);
        let gates = || gates(&class.key, &class.groups, &self.fleet, queue, self.awake_at);
        let open = head.is_some() && gates().is_empty();
        let precedence = queue.map_or(0, |queue| queue.settings.precedence);
        let place = head.filter(|_| open).map(|order| Place { precedence, order });
        if class.flows && head.is_some() && queue.is_some_and(|queue| queue.settings.ageing.is_some()) {
            let queue = class.key.queue.clone();
            self.watch_flow(&queue);
        }
        let class = self.classes.get_mut(id);
        if place == class.lined_up {
            return;
        }
        for group in &class.groups {
            match (class.lined_up, place) {
                (Some(from), Some(to)) => self.lines.shift(*group, class.standing(id, from), to),
                (None, Some(to)) => self.lines.enter(*group, class.standing(id, to)),
                (Some(from), None) => self.lines.leave(*group, class.standing(id, from)),
                (None, None) => {}
            }
        }
        class.lined_up = place;
        if place.is_none() {
            self.no_longer_overtaken(id);
        }
    }

    /// Workers came or went: who can run what, and with how many threads, is worked out again.
    pub(crate) fn fleet_changed(&mut self) {
        for id in self.classes.ids() {
            self.refit(id);
        }
    }

    /// Works out which groups can run a class and how many threads it is given.
    pub(crate) fn refit(&mut self, id: ClassId) {
        let class = self.classes.get(id);
        let groups = eligible(&class.key, &self.fleet);
        let needed = demand(&class.key, widest(&groups, &self.fleet));
        if groups != class.groups || needed != class.demand {
            if let Some(place) = class.lined_up {
                for group in &class.groups {
                    self.lines.leave(*group, class.standing(id, place));
                }
            }
            self.no_longer_overtaken(id);
            let class = self.classes.get_mut(id);
            class.lined_up = None;
            class.groups = groups;
            class.demand = needed;
        }
        self.line_up(id);
    }

    fn note_overtakes(&mut self, now: Now, group: GroupId, pick: &Pick) {
        let free = self.fleet.max_free(group).unwrap_or(0);
        let queue = self.classes.get(pick.class).queue;
        for id in self.lines.overtaken(group, free, pick.place, queue) {
            let class = self.classes.get_mut(id);
            class.overtakes += 1;
            let impatient = class.overtakes >= self.options.reserve_overtakes;
            if class.patience.is_none() {
                let at = now.mono + self.options.reserve_after;
                class.patience = Some(self.timers.insert(at, Timer::Patience(id)));
            }
            if impatient {
                self.reserve(id);
            }
        }
    }

    /// Keeps the roomiest worker that could hold the class's head free for it.
    pub(crate) fn reserve(&mut self, id: ClassId) {
        let class = self.classes.get(id);
        if class.reserved.is_some() || class.lined_up.is_none() {
            return;
        }
        let free_groups = class.groups.iter().filter(|g| self.lines.reservation(**g).is_none());
        let roomiest = free_groups
            .filter_map(|g| self.fleet.roomiest(*g, class.demand).map(|w| (self.fleet.free(w), *g, w)))
            .max_by_key(|(free, ..)| *free);
        let Some((_, group, worker)) = roomiest else { return };
        self.classes.get_mut(id).reserved = Some(worker);
        self.lines.set_reservation(group, Some((worker, id)));
        self.sessions.get_mut(worker).reserved = true;
        self.update_visibility(worker);
    }

    /// The head of the class started, or left: nothing is kept free for it any more.
    pub(crate) fn no_longer_overtaken(&mut self, id: ClassId) {
        let class = self.classes.get_mut(id);
        class.overtakes = 0;
        if let Some(timer) = class.patience.take() {
            self.timers.cancel(timer);
        }
        if let Some(worker) = self.classes.get(id).reserved {
            self.release_reservation_of(worker);
        }
    }

    pub(crate) fn release_reservation_of(&mut self, worker: u32) {
        if !self.sessions.get(worker).reserved {
            return;
        }
        self.sessions.get_mut(worker).reserved = false;
        let group = self.fleet.group(worker);
        if let Some((kept, class)) = self.lines.reservation(group)
            && kept == worker
        {
            self.lines.set_reservation(group, None);
            self.classes.get_mut(class).reserved = None;
        }
        self.update_visibility(worker);
    }
}

/// Whether the worker hears of a lease before its commit (two seeded bugs).
fn tells_early(joint: bool) -> bool {
    sabotage::active(Bug::AssignBeforeCommit) || (joint && sabotage::active(Bug::JointLeaseToldEarly))
}
