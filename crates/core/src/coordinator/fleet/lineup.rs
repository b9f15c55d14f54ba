//! A line of workers that answers "who is the first from here on with so many free threads".
//!
//! Workers are only added at the end, under keys that grow; so the line is an array in order of key, with a
//! tournament above it: each node of a binary tree holds the largest value below it. Changing a value and
//! finding the first that is large enough both take one path between the root and a leaf. Those who left
//! keep an empty place until the array is full, and then the line closes up. Between two times lie at least half as
//! many additions as there are members, so an addition costs the same on average.

/// Workers in order of a key, each with a value.
#[derive(Debug, Default)]
pub(super) struct Lineup {
    /// In order of key; `None` where somebody left.
    places: Vec<(u64, Option<u32>)>,
    /// The tournament: the root at 1, the places as leaves from `room()` on.
    best: Vec<i32>,
    members: usize,
}

/// The value of a place that is never to be found.
pub(super) const UNSEEN: i32 = i32::MIN;

/// Additions that even a short line takes before it closes up.
const LEAST_SPARE: usize = 16;

impl Lineup {
    /// Whether the next [`Lineup::push`] needs [`Lineup::close_up`] first.
    pub(super) fn is_full(&self) -> bool {
        self.places.len() == self.room()
    }

    /// Removes the empty places and makes room for half as many again. Calls `moved` with every worker and its new
    /// place.
    pub(super) fn close_up(&mut self, mut moved: impl FnMut(u32, usize)) {
        let old = std::mem::take(self);
        let room = (old.members + old.members / 2 + LEAST_SPARE).next_power_of_two();
        self.members = old.members;
        self.best = vec![UNSEEN; 2 * room];
        for (place, (key, worker)) in old.places.iter().enumerate() {
            if let Some(worker) = *worker {
                moved(worker, self.places.len());
                self.best[room + self.places.len()] = old.best[old.room() + place];
                self.places.push((*key, Some(worker)));
            }
        }
        for node in (1..room).rev() {
            self.best[node] = self.best[2 * node].max(self.best[2 * node + 1]);
        }
    }

    /// Gives the last place this key, larger than any here. False, and nothing is changed, if this place is not the last.
    pub(super) fn stamp_last(&mut self, place: usize, key: u64) -> bool {
        let is_last = place + 1 == self.places.len();
        if is_last {
            debug_assert!(self.places[place].0 < key, "keys grow");
            self.places[place].0 = key;
        }
        is_last
    }

    /// Adds a worker at the end, unseen, and returns its place. The key is larger than any here.
    pub(super) fn push(&mut self, key: u64, worker: u32) -> usize {
        debug_assert!(!self.is_full(), "a full line closes up first");
        debug_assert!(self.places.last().is_none_or(|(last, _)| *last < key), "keys grow");
        self.places.push((key, Some(worker)));
        self.members += 1;
        self.places.len() - 1
    }

    /// Empties a place.
    pub(super) fn remove(&mut self, place: usize) {
        self.set(place, UNSEEN);
        self.places[place].1 = None;
        self.members -= 1;
        if self.members == 0 {
            self.places.clear();
        }
    }

    /// Changes the value of a place.
    pub(super) fn set(&mut self, place: usize, value: i32) {
        let mut node = self.room() + place;
        self.best[node] = value;
        while node > 1 {
            let best = self.best[node].max(self.best[node ^ 1]);
            node /= 2;
            if std::mem::replace(&mut self.best[node], best) == best {
                break;
            }
        }
    }

    /// The value of a place.
    pub(super) fn get(&self, place: usize) -> i32 {
        self.best[self.room() + place]
    }

    /// Who stands at a place, with the key.
    pub(super) fn at(&self, place: usize) -> Option<(u64, u32)> {
        let (key, worker) = *self.places.get(place)?;
        worker.map(|worker| (key, worker))
    }

    /// Places in use, empty ones included.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// The largest value.
    pub(super) fn best(&self) -> i32 {
        self.best.get(1).copied().unwrap_or(UNSEEN)
    }

    /// The first worker from `place` on whose value is at least so much, with its key.
    pub(super) fn find(&self, place: usize, at_least: i32) -> Option<(u64, u32)> {
        let room = self.room();
        if place >= self.places.len() {
            return None;
        }
        let at_least = at_least.max(UNSEEN + 1);
        let mut node = room + place;
        while self.best[node] < at_least {
            // Up from right-hand nodes to the first that has a neighbour further right.
            node >>= node.trailing_ones();
            if node == 0 {
                return None;
            }
            node += 1;
        }
        while node < room {
            node = 2 * node + usize::from(self.best[2 * node] < at_least);
        }
        self.at(node - room)
    }

    /// The first place whose key is larger.
    pub(super) fn after(&self, key: u64) -> usize {
        self.places.partition_point(|(of_place, _)| *of_place <= key)
    }

    fn room(&self) -> usize {
        self.best.len() / 2
    }
}
