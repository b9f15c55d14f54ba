//! The roster: every session that the leader knows, and those that left lately.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use foldhash::HashMap;

use crate::change::{SessionRecord, WorkerInfo};
use crate::coordinator::Slab;
use crate::coordinator::holdings::Holdings;
use crate::coordinator::view::Left;
use crate::coordinator::wheel::TimerId;
use crate::event::WorkerState;
use crate::ids::{JobId, SessionId};
use crate::lease::Fence;
use crate::time::{Mono, Wall};

/// Where a session stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Its beginning is being committed.
    Opening,
    /// Known, but its first ping on the present stream has not come.
    Unresumed,
    /// It answers.
    Resumed,
    /// Its end is being committed.
    Closing,
}

/// A session as the leader knows it.
#[derive(Clone, Debug)]
pub(crate) struct SessionEntry {
    pub(crate) id: SessionId,
    pub(crate) worker: WorkerInfo,
    /// Its worker's name, for everything that is told of it.
    pub(crate) name: Arc<str>,
    pub(crate) opened_at: Wall,
    pub(crate) stream: u64,
    pub(crate) standing: Standing,
    pub(crate) draining: bool,
    /// Whether it counts in the fleet: neither draining nor closing.
    pub(crate) enlisted: bool,
    /// Kept free for a wide job.
    pub(crate) reserved: bool,
    /// Never moved earlier.
    pub(crate) deadline: Mono,
    pub(crate) heard_at: Mono,
    pub(crate) used: i32,
    pub(crate) timer: Option<TimerId>,
    /// Its leases, until their ends are written.
    pub(crate) holds: Holdings,
    /// Handlers whose attempt is recorded but that still occupy threads.
    pub(crate) stuck: BTreeMap<Fence, (JobId, u16)>,
    /// How it leaves, while its end is being committed.
    pub(crate) leaves: Option<Left>,
}

impl SessionEntry {
    /// A session that has nothing yet and takes nothing yet.
    pub(crate) fn new(
        record: SessionRecord,
        standing: Standing,
        heard_at: Mono,
        deadline: Mono,
    ) -> SessionEntry {
        SessionEntry {
            id: record.id,
            name: record.worker.name.as_str().into(),
            worker: record.worker,
            opened_at: record.opened_at,
            stream: 0,
            standing,
            draining: false,
            enlisted: false,
            reserved: false,
            deadline,
            heard_at,
            used: 0,
            timer: None,
            holds: Holdings::default(),
            stuck: BTreeMap::new(),
            leaves: None,
        }
    }

    pub(crate) fn state(&self) -> WorkerState {
        match self.standing {
            Standing::Opening | Standing::Unresumed | Standing::Closing => WorkerState::Unavailable,
            Standing::Resumed if self.draining => WorkerState::Draining,
            Standing::Resumed if self.used >= i32::from(self.worker.threads) => WorkerState::Busy,
            Standing::Resumed => WorkerState::Available,
        }
    }
}

/// A worker that is no longer there.
#[derive(Clone, Debug)]
pub(crate) struct Departed {
    pub(crate) id: SessionId,
    pub(crate) worker: WorkerInfo,
    pub(crate) opened_at: Wall,
    pub(crate) left_at: Mono,
    /// When it was last heard, which is before it was taken for lost.
    pub(crate) heard_at: Mono,
    pub(crate) lost: bool,
    pub(crate) left: Left,
}

/// Every session the leader knows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sessions {
    slab: Slab<SessionEntry>,
    by_id: HashMap<SessionId, u32>,
    pub(crate) departed: VecDeque<Departed>,
}

impl Sessions {
    pub(crate) fn slot(&self, id: SessionId) -> Option<u32> {
        self.by_id.get(&id).copied()
    }

    pub(crate) fn get(&self, slot: u32) -> &SessionEntry {
        self.slab.get(slot)
    }

    pub(crate) fn find(&self, slot: u32) -> Option<&SessionEntry> {
        self.slab.find(slot)
    }

    pub(crate) fn get_mut(&mut self, slot: u32) -> &mut SessionEntry {
        self.slab.get_mut(slot)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &SessionEntry)> + '_ {
        self.slab.iter()
    }

    pub(crate) fn insert(&mut self, entry: SessionEntry) -> u32 {
        let id = entry.id;
        let slot = self.slab.insert(entry);
        self.by_id.insert(id, slot);
        slot
    }

    pub(crate) fn remove(&mut self, slot: u32) -> SessionEntry {
        let entry = self.slab.remove(slot);
        self.by_id.remove(&entry.id);
        entry
    }
}
