//! The coordinator: the pure scheduling state machine of the leader.
//!
//! `handle(now, input)` decides, [`Coordinator::settle`] fires what is due, dispatches, and gives the
//! next batch to the writer. Nothing is announced before it is committed: every change that waits for
//! its commit carries an *effect*, and the effects run when [`port::Input::Committed`] comes back. One batch is
//! outstanding at a time, and the next one forms meanwhile: group commit without a timer.
//!
//! The parts, each with its own invariant: [`ready`] (who is next in a class), [`fleet`] (which worker
//! fits), [`wheel`] (timers), [`counters`], `table` (the jobs), `chunks` (where they are kept), `classes` (gates), `lines` (who waits
//! for whom), `roster`, `holdings` and `sessions` (the leader's side of the protocol), `attempts`, `dispatch`, `joint` (a
//! submission and its first lease in one commit), `intake` (what was submitted inside the store), `elsewhere` (what
//! ended there), `marks` (what must not be repeated), `strands`, `levels`, `turns`, `fair`, `flow`, `keyed`, `bucket` (keys, tenants and limits), `depth` (submissions to
//! a full queue), `dependencies` (who is blocked by whom), `schedules`, `commits`, [`reconcile`] (memory against the store). The README beside this file lists the properties
//! that must hold.

mod asks;
mod attempts;
mod bucket;
mod chatter;
mod chunks;
mod classes;
mod commits;
pub mod counters;
mod counting;
mod dependencies;
mod depth;
mod dispatch;
mod effect;
mod elsewhere;
mod estimate;
mod explain;
mod fair;
pub mod fleet;
mod flow;
pub mod gauges;
mod head;
mod holdings;
mod intake;
mod joint;
mod keyed;
mod keys;
mod known;
mod levels;
mod limited;
mod lines;
mod load;
mod marks;
mod pace;
mod place;
pub mod port;
mod portions;
pub mod ready;
pub mod reconcile;
mod roster;
mod scaling;
pub mod schedules;
mod sessions;
mod strands;
mod table;
mod ticking;
mod told;
mod turns;
mod verdict;
pub mod view;
pub mod wheel;

use std::collections::VecDeque;

use foldhash::{HashMap, HashMapExt as _, HashSet};

use crate::change::{Snapshot, WorkerInfo};
use crate::coordinator::classes::{ClassId, Classes, QueueEntry};
use crate::coordinator::commits::Commits;
use crate::coordinator::counters::Counters;
use crate::coordinator::dependencies::Dependencies;
use crate::coordinator::fleet::Fleet;
use crate::coordinator::keys::Keys;
use crate::coordinator::lines::Lines;
use crate::coordinator::port::{Input, Options, Output};
use crate::coordinator::ready::Ready;
use crate::coordinator::reconcile::Reconciler;
use crate::coordinator::roster::Sessions;
use crate::coordinator::schedules::Schedules;
use crate::coordinator::strands::Strands;
use crate::coordinator::table::Table;
use crate::coordinator::wheel::{TimerId, Wheel};
use crate::event::{Event, WorkerState};
use crate::ids::{JobId, SessionId};
use crate::kind::KindSettings;
use crate::leadership::Reign;
use crate::lease::{Fence, Term};
use crate::message::{CancelWhy, ToWorker};
use crate::name::{Kind, QueueName};
use crate::time::{Mono, Now, Wall};

/// Fences of recorded results that are remembered, so that a repeated result is not taken for a lost lease.
const RECORDED_REMEMBERED: usize = 16_384;

/// What a timer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Timer {
    /// A waiting job becomes due, or a ready one expires.
    Job(u32),
    /// A lease ran into its timeout, or its grace is over.
    Lease(u32),
    /// A session may have expired.
    Session(u32),
    /// A wide head was overtaken for too long.
    Patience(ClassId),
    /// The rate, the ageing or the held submissions of a queue, by its number among those that have a flow.
    Flow(u32),
    /// A key opens again, or its rate allows the next start.
    Key(u32),
    /// Retention.
    Prune,
    /// The next step of comparing memory with the store.
    Reconcile,
}

/// A lease that was given, or is being committed.
#[derive(Clone, Debug)]
struct LeaseEntry {
    job: u32,
    fence: Fence,
    /// First fence of its assignment.
    assignment: Fence,
    session: u32,
    attempt: u32,
    threads: u16,
    /// Its handler may end the job inside its own transaction.
    transactional: bool,
    leased_at: Wall,
    /// Whether the assignment is committed: only then may its worker hear of it.
    committed: bool,
    /// Whether its handler is about to do, or did, what cannot be repeated.
    mark: marks::Mark,
    /// Why the worker was told to stop, if it was.
    stopping: Option<CancelWhy>,
    timer: Option<TimerId>,
}

/// The pure scheduling state machine.
#[derive(Debug)]
pub struct Coordinator {
    options: Options,
    term: Term,
    random: u64,
    next_fence: u64,
    next_seq: u64,
    /// The last moment at which the coordinator ran.
    awake_at: Mono,
    /// The same moment on the wall clock.
    awake_wall: Wall,
    /// Authority lasts until then; `None` while an exclusive lock is held.
    authority: Option<Mono>,
    jobs: Table,
    ready: Ready,
    strands: Strands,
    classes: Classes,
    keys: Keys,
    queues: HashMap<QueueName, QueueEntry>,
    /// The queues that have a flow, in the order in which they got it.
    flows: Vec<QueueName>,
    /// Submissions that wait for room.
    held: usize,
    kinds: HashMap<Kind, KindSettings>,
    schedules: Schedules,
    fleet: Fleet,
    lines: Lines,
    sessions: Sessions,
    leases: Slab<LeaseEntry>,
    timers: Wheel<Timer>,
    counters: Counters,
    commits: Commits,
    dependencies: Dependencies,
    reconciler: Reconciler,
    progress: HashMap<JobId, (f32, String)>,
    recorded: Remembered,
    /// What came and started per queue lately, for estimates and the verdict.
    paces: HashMap<QueueName, pace::Pace>,
    /// What has buckets of its own in the statistics of this minute.
    series: counting::Series,
}

impl Coordinator {
    /// A new leader's coordinator, from what was loaded after its term began.
    #[must_use]
    pub fn new(options: Options, reign: Reign, snapshot: Snapshot, now: Now) -> Coordinator {
        let mut coordinator = Coordinator {
            authority: options.leader_ttl.map(|ttl| reign.authority_from + ttl),
            random: options.seed ^ reign.term.id,
            options,
            term: reign.term,
            next_fence: 1,
            next_seq: snapshot.last_seq + 1,
            awake_at: now.mono,
            awake_wall: now.wall,
            jobs: Table::default(),
            ready: Ready::new(),
            strands: Strands::default(),
            classes: Classes::default(),
            keys: Keys::default(),
            flows: Vec::new(),
            held: 0,
            queues: HashMap::new(),
            kinds: HashMap::new(),
            schedules: Schedules::default(),
            fleet: Fleet::new(),
            lines: Lines::default(),
            sessions: Sessions::default(),
            leases: Slab::default(),
            timers: Wheel::new(now.mono),
            counters: Counters::new(),
            commits: Commits::default(),
            dependencies: Dependencies::default(),
            reconciler: Reconciler::default(),
            progress: HashMap::new(),
            recorded: Remembered::default(),
            paces: HashMap::new(),
            series: counting::Series::default(),
        };
        coordinator.load(snapshot, now, reign.waits_from);
        coordinator
    }

    /// Takes in one thing that happened. After [`Input::Committed`] the next batch may be among the outputs, and had
    /// better be on its way before the next call, which announces what was committed.
    pub fn handle(&mut self, now: Now, input: Input, out: &mut Vec<Output>) {
        self.wake(now);
        self.announce(now, out);
        match input {
            Input::Tick => {}
            Input::Ask(ticket, ask) => self.ask(now, ticket, ask, out),
            Input::FromWorker { session, stream, message } => {
                self.on_worker_message(now, session, stream, message, out);
            }
            Input::WorkerDied(session) => self.worker_died(now, session),
            Input::Committed { number, applied } => self.committed(now, number, applied, out),
            Input::Refused { number, reason } => self.refused(now, number, &reason, out),
            Input::Renewed { sent_at } => self.renewed(now, sent_at),
            Input::LiveRead(page) => self.live_read(now, page, out),
        }
    }

    /// Fires what is due, dispatches, and hands over the next batch if none is outstanding. Called once
    /// after all waiting inputs were handled.
    pub fn settle(&mut self, now: Now, out: &mut Vec<Output>) {
        self.wake(now);
        self.announce(now, out);
        self.fire(now, out);
        self.admit_held(now, out);
        self.fire_schedules(now, out);
        if self.has_authority(now) && self.commits.trouble().is_none() {
            self.dispatch(now, out);
            self.dispatch_joint(now, out);
        }
        self.hand_over(now, out);
    }

    /// The leader's term.
    #[must_use]
    pub fn term(&self) -> Term {
        self.term
    }

    fn has_authority(&self, now: Now) -> bool {
        self.authority.is_none_or(|until| now.mono < until)
    }

    /// splitmix64: for jitter only.
    fn next_random(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn send(&self, session: u32, message: ToWorker, out: &mut Vec<Output>) {
        let entry = self.sessions.get(session);
        out.push(Output::Send { session: entry.id, stream: entry.stream, message });
    }

    fn announce_worker(
        &self,
        at: Wall,
        id: SessionId,
        worker: &WorkerInfo,
        state: WorkerState,
        out: &mut Vec<Output>,
    ) {
        if !worker.claim {
            out.push(Output::Event(Event::Worker {
                session: id,
                worker: worker.name.as_str().into(),
                state,
                at,
            }));
        }
    }
}

/// A vector with free slots.
#[derive(Clone, Debug)]
struct Slab<T> {
    items: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Slab<T> {
        Slab { items: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    fn insert(&mut self, item: T) -> u32 {
        if let Some(slot) = self.free.pop() {
            self.items[slot as usize] = Some(item);
            return slot;
        }
        self.items.push(Some(item));
        u32::try_from(self.items.len() - 1).expect("fewer than four billion items fit in memory")
    }

    fn find(&self, slot: u32) -> Option<&T> {
        self.items.get(slot as usize).and_then(Option::as_ref)
    }

    fn get(&self, slot: u32) -> &T {
        self.find(slot).expect("a slot in use: slots are freed only with their last reference")
    }

    fn get_mut(&mut self, slot: u32) -> &mut T {
        self.items[slot as usize]
            .as_mut()
            .expect("a slot in use: slots are freed only with their last reference")
    }

    fn remove(&mut self, slot: u32) -> T {
        self.free.push(slot);
        self.items[slot as usize].take().expect("an item is removed once")
    }

    fn iter(&self) -> impl Iterator<Item = (u32, &T)> + '_ {
        self.items
            .iter()
            .enumerate()
            .filter_map(|(i, item)| item.as_ref().map(|item| (u32::try_from(i).unwrap_or(u32::MAX), item)))
    }
}

/// The last so many fences whose results were recorded.
#[derive(Clone, Debug, Default)]
struct Remembered {
    set: HashSet<Fence>,
    order: VecDeque<Fence>,
}

impl Remembered {
    fn insert(&mut self, fence: Fence) {
        if self.order.len() == RECORDED_REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.set.remove(&oldest);
        }
        if self.set.insert(fence) {
            self.order.push_back(fence);
        }
    }

    fn contains(&self, fence: Fence) -> bool {
        self.set.contains(&fence)
    }
}
