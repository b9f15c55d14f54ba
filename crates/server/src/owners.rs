//! Whose sessions they are: a session belongs to the token, or certificate, that opened it.
//!
//! The id of a session is known to whoever may list workers. Without this, another worker with a token of its own could greet under
//! it, be told the leases, and report on them, or say that the worker is dead. The leader remembers who greeted first since it leads.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use ganger_core::SessionId;
use ganger_core::access::{Caller, Who};

/// Sessions whose owners are remembered; the oldest are forgotten.
const REMEMBERED: usize = 65_536;

/// The owners of sessions. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Owners(Arc<Mutex<Known>>);

#[derive(Debug, Default)]
struct Known {
    /// Each with its place in the order.
    owners: HashMap<SessionId, (u64, String)>,
    order: BTreeMap<u64, SessionId>,
    next: u64,
}

impl Owners {
    /// Whether the session is that caller's; it is from now on if it was nobody's.
    pub(crate) fn take(&self, session: SessionId, caller: &Caller) -> bool {
        if caller.who == Who::Anyone {
            return true;
        }
        let who = caller.who.to_string();
        // A panic while the lock is held leaves an owner without a place in the order, who is remembered longer.
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, owner)) = known.owners.get(&session) {
            return *owner == who;
        }
        if known.order.len() >= REMEMBERED
            && let Some((_, oldest)) = known.order.pop_first()
        {
            known.owners.remove(&oldest);
        }
        let place = known.next;
        known.next += 1;
        known.owners.insert(session, (place, who));
        known.order.insert(place, session);
        true
    }

    /// A session is over that nobody can come back to: it takes no room from others.
    pub(crate) fn forget(&self, session: SessionId) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((place, _)) = known.owners.remove(&session) {
            known.order.remove(&place);
        }
    }

    /// Whether the session is that caller's, or nobody's.
    pub(crate) fn allow(&self, session: SessionId, caller: &Caller) -> bool {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let owner = known.owners.get(&session);
        owner.is_none_or(|(_, owner)| caller.who == Who::Anyone || *owner == caller.who.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ganger_core::access::Role;

    fn worker(name: &str) -> Caller {
        let who = Who::Certificate(name.into());
        Caller { who, may: Role::Worker.permissions(), ..Caller::anyone() }
    }

    #[test]
    fn a_session_is_of_who_greeted_first() {
        let (owners, session) = (Owners::default(), SessionId::new(1, [1; 10]));
        assert!(owners.allow(session, &worker("a")), "it is nobody's");
        assert!(owners.take(session, &worker("a")) && owners.take(session, &worker("a")));
        assert!(!owners.take(session, &worker("b")) && !owners.allow(session, &worker("b")));
        assert!(owners.allow(session, &worker("a")) && owners.take(session, &Caller::anyone()));
    }

    #[test]
    fn the_oldest_are_forgotten_at_the_bound() {
        let owners = Owners::default();
        let session = |n: usize| SessionId::new(n as u64, [0; 10]);
        (0..REMEMBERED).for_each(|n| assert!(owners.take(session(n), &worker("a"))));
        assert!(!owners.allow(session(0), &worker("b")));
        assert!(owners.take(session(REMEMBERED), &worker("a")));
        assert!(owners.allow(session(0), &worker("b")) && !owners.allow(session(1), &worker("b")));
    }

    /// Otherwise whoever claims in vain often enough would make the owners of others forgotten.
    #[test]
    fn sessions_that_are_over_take_no_room() {
        let (owners, lasting) = (Owners::default(), SessionId::new(0, [9; 10]));
        assert!(owners.take(lasting, &worker("a")));
        for n in 0..=REMEMBERED {
            let session = SessionId::new(n as u64, [0; 10]);
            assert!(owners.take(session, &worker("b")));
            owners.forget(session);
        }
        assert!(!owners.allow(lasting, &worker("b")));
    }
}
