//! Which connections there are, and which of them give way when there are too many.
//!
//! Opening a connection needs no token, so anyone who reaches the port can open as many as the process has file
//! descriptors. A connection is therefore a *stranger's* until a request on it was authenticated; strangers have a part of
//! the places only, one address a part of that. Where there is no room, the newcomer takes the place of a stranger that has
//! no request under way: the oldest of its own address if that has too many, else the oldest of the address that has
//! most. So a flood of silent connections closes itself, and health checks and callers who authenticate still get in.

use std::collections::{BTreeSet, HashMap};
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ganger_core::network;
use tokio_util::sync::CancellationToken;

/// Fewest connections that a server makes do with.
const FEWEST: usize = 32;

/// How many connections there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bounds {
    all: usize,
    /// Callers who are known leave room for health checks and for those who are about to authenticate.
    known: usize,
    strangers: usize,
    strangers_of_address: usize,
}

impl Bounds {
    fn of(all: usize) -> Bounds {
        let all = all.max(FEWEST);
        Bounds { all, known: all - all / 8, strangers: all / 2, strangers_of_address: all / 4 }
    }
}

/// Every connection.
#[derive(Debug)]
pub(super) struct Places {
    bounds: Bounds,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    next: u64,
    known: usize,
    connections: HashMap<u64, Connection>,
    addresses: HashMap<IpAddr, Address>,
    /// Addresses by how many silent strangers they have.
    crowds: BTreeSet<(usize, IpAddr)>,
}

#[derive(Debug)]
struct Connection {
    address: IpAddr,
    known: bool,
    /// Requests under way.
    calls: usize,
    evicted: CancellationToken,
}

#[derive(Debug, Default)]
struct Address {
    strangers: usize,
    /// Strangers without a request under way, oldest first.
    silent: BTreeSet<u64>,
}

/// The place of one connection, until it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    places: Arc<Places>,
    id: u64,
    evicted: CancellationToken,
    called: AtomicBool,
    known: AtomicBool,
}

/// A request under way, until it is dropped.
#[derive(Debug)]
pub(super) struct Call(Option<Arc<Place>>);

impl Places {
    /// Room for so many.
    pub(super) fn new(connections: usize) -> Arc<Places> {
        Arc::new(Places { bounds: Bounds::of(connections), table: Mutex::default() })
    }

    /// A place for a newcomer from there; `None` if nobody gives way.
    pub(super) fn enter(self: &Arc<Places>, from: IpAddr) -> Option<Arc<Place>> {
        let address = network::client_group(from);
        let mut table = self.locked();
        let own = table.addresses.get(&address).map_or(0, |own| own.strangers);
        if own >= self.bounds.strangers_of_address {
            table.evict_of(address)?;
        }
        let strangers = table.connections.len() - table.known;
        if strangers >= self.bounds.strangers || table.connections.len() >= self.bounds.all {
            table.evict()?;
        }
        let (id, evicted) = (table.next, CancellationToken::new());
        table.next += 1;
        let connection = Connection { address, known: false, calls: 0, evicted: evicted.clone() };
        table.connections.insert(id, connection);
        table.addresses.entry(address).or_default().strangers += 1;
        table.silence(id);
        let (called, known) = (AtomicBool::new(false), AtomicBool::new(false));
        Some(Arc::new(Place { places: self.clone(), id, evicted, called, known }))
    }

    /// The process has no file descriptor left: one that is silent gives way.
    pub(super) fn make_room(&self) {
        let _ = self.locked().evict();
    }

    /// A panic while the lock is held leaves whole numbers.
    fn locked(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    /// A stranger's connection has no request under way.
    fn silence(&mut self, id: u64) {
        let Some(connection) = self.connections.get(&id).filter(|c| !c.known && c.calls == 0) else { return };
        let address = connection.address;
        self.change(address, |of| {
            of.silent.insert(id);
        });
    }

    /// It has one, or is known, or gone.
    fn unsilence(&mut self, id: u64) {
        let Some(address) = self.connections.get(&id).map(|connection| connection.address) else { return };
        self.change(address, |of| {
            of.silent.remove(&id);
        });
    }

    fn change(&mut self, address: IpAddr, change: impl FnOnce(&mut Address)) {
        let Some(of) = self.addresses.get_mut(&address) else { return };
        let before = of.silent.len();
        change(of);
        let (after, empty) = (of.silent.len(), of.strangers == 0);
        if before != after {
            self.crowds.remove(&(before, address));
            if after > 0 {
                self.crowds.insert((after, address));
            }
        }
        if empty {
            self.addresses.remove(&address);
        }
    }

    fn evict(&mut self) -> Option<()> {
        let (_, address) = *self.crowds.last()?;
        self.evict_of(address)
    }

    fn evict_of(&mut self, address: IpAddr) -> Option<()> {
        let oldest = *self.addresses.get(&address)?.silent.first()?;
        self.remove(oldest)?.evicted.cancel();
        Some(())
    }

    fn remove(&mut self, id: u64) -> Option<Connection> {
        self.unsilence(id);
        let connection = self.connections.remove(&id)?;
        match connection.known {
            true => self.known -= 1,
            false => self.change(connection.address, |of| of.strangers -= 1),
        }
        Some(connection)
    }
}

impl Place {
    /// Resolves when it must give way.
    pub(super) async fn evicted(&self) {
        self.evicted.cancelled().await;
    }

    /// Whether any request came on it.
    pub(super) fn was_called(&self) -> bool {
        self.called.load(Ordering::Relaxed)
    }

    /// A request begins.
    pub(super) fn call(self: &Arc<Place>) -> Call {
        self.called.store(true, Ordering::Relaxed);
        if self.known.load(Ordering::Relaxed) {
            return Call(None);
        }
        let mut table = self.places.locked();
        if let Some(connection) = table.connections.get_mut(&self.id) {
            connection.calls += 1;
        }
        table.unsilence(self.id);
        Call(Some(self.clone()))
    }

    /// A request on it was authenticated.
    pub(crate) fn is_known(&self) {
        if self.known.load(Ordering::Relaxed) {
            return;
        }
        let bound = self.places.bounds.known;
        let mut table = self.places.locked();
        if table.known >= bound {
            return;
        }
        table.unsilence(self.id);
        let Some(connection) = table.connections.get_mut(&self.id).filter(|connection| !connection.known)
        else {
            return;
        };
        connection.known = true;
        let address = connection.address;
        table.known += 1;
        table.change(address, |of| of.strangers -= 1);
        self.known.store(true, Ordering::Relaxed);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.locked().remove(self.id);
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        let Some(place) = &self.0 else { return };
        let mut table = place.places.locked();
        if let Some(connection) = table.connections.get_mut(&place.id) {
            connection.calls -= 1;
        }
        table.silence(place.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(n: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, n])
    }

    fn is_evicted(place: &Place) -> bool {
        place.evicted.is_cancelled()
    }

    #[test]
    fn one_address_evicts_its_own_oldest_silent_connection() {
        let places = Places::new(FEWEST);
        let bound = places.bounds.strangers_of_address;
        let other = places.enter(address(2)).unwrap();
        let held: Vec<_> = (0..bound).map(|_| places.enter(address(1)).unwrap()).collect();
        assert!(held.iter().all(|place| !is_evicted(place)), "at the bound");
        let newest = places.enter(address(1)).unwrap();
        assert!(is_evicted(&held[0]) && !is_evicted(&held[1]) && !is_evicted(&newest), "one past it");
        assert!(!is_evicted(&other));
    }

    #[test]
    fn the_address_with_most_silent_connections_gives_way() {
        let places = Places::new(FEWEST);
        let per_address = places.bounds.strangers_of_address;
        let lone = places.enter(address(9)).unwrap();
        let most: Vec<_> = (0..per_address).map(|_| places.enter(address(1)).unwrap()).collect();
        let rest = places.bounds.strangers - per_address - 1;
        let few: Vec<_> = (0..rest).map(|_| places.enter(address(2)).unwrap()).collect();
        let newcomer = places.enter(address(3)).unwrap();
        assert!(is_evicted(&most[0]) && !is_evicted(&lone) && !is_evicted(&newcomer));
        assert!(few.iter().all(|place| !is_evicted(place)));
    }

    #[test]
    fn requests_under_way_are_never_cut_and_a_newcomer_is_refused_instead() {
        let places = Places::new(FEWEST);
        let held: Vec<_> =
            (0..places.bounds.strangers_of_address).map(|_| places.enter(address(1)).unwrap()).collect();
        let mut calls: Vec<_> = held.iter().map(Place::call).collect();
        assert!(places.enter(address(1)).is_none());
        assert!(places.enter(address(2)).is_some(), "others still get in");
        calls.remove(3);
        assert!(places.enter(address(1)).is_some());
        assert!(is_evicted(&held[3]), "its request was over");
    }

    #[test]
    fn known_callers_take_no_strangers_place_and_leave_a_reserve() {
        let places = Places::new(FEWEST);
        let known: Vec<_> = (0..places.bounds.known)
            .map(|_| {
                let place = places.enter(address(1)).unwrap();
                place.is_known();
                place
            })
            .collect();
        let reserve = places.bounds.all - places.bounds.known;
        let strangers: Vec<_> = (0..reserve).map(|_| places.enter(address(1)).unwrap()).collect();
        strangers[0].is_known();
        assert!(places.enter(address(2)).is_some(), "a health check");
        assert!(is_evicted(&strangers[0]), "one past the bound of the known stays a stranger");
        assert!(known.iter().all(|place| !is_evicted(place)));
    }

    #[test]
    fn nothing_is_kept_of_who_was_here() {
        let places = Places::new(FEWEST);
        let held: Vec<_> = (0..4).map(|n| places.enter(address(n)).unwrap()).collect();
        held[0].is_known();
        drop(held[1].call());
        drop(held);
        let table = places.locked();
        assert!(table.connections.is_empty() && table.addresses.is_empty() && table.crowds.is_empty());
        assert_eq!(table.known, 0);
    }
}
