//! What a worker's certificate says: who it is, and which queues it may serve.
//!
//! The name is the first DNS name among the subject's alternative names, or else the first URI (`spiffe://…`). URIs
//! `ganger-queue:GLOB` confine the worker to queues; without one it may serve all. Whoever signs certificates decides
//! both, so a worker needs no token.

use super::{Caller, QueueScope, Role, Who};
use crate::{Wall, limits};

/// Begins the URI of a queue.
const QUEUE: &str = "ganger-queue:";

/// A client's certificate that an authority of ours has signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// Who shows it.
    pub name: String,
    /// The queues that it names.
    pub queues: QueueScope,
    /// It is not believed any more from then on.
    pub until: Wall,
}

impl Certificate {
    /// What the alternative names of a certificate say; `None` if they name nobody, or queues that cannot be.
    #[must_use]
    pub fn of(dns: &[String], uris: &[String], until: Wall) -> Option<Certificate> {
        let queues: Vec<&str> = uris.iter().filter_map(|uri| uri.strip_prefix(QUEUE)).collect();
        let queues = if queues.is_empty() { QueueScope::all() } else { QueueScope::parse(queues).ok()? };
        let name = dns.first().or_else(|| uris.iter().find(|uri| !uri.starts_with(QUEUE)))?;
        // A wildcard is the name of a server, not of one worker.
        let plain = name.bytes().all(|b| b.is_ascii_graphic() && b != b'*' && b != b';');
        let fine = plain && !name.is_empty() && name.len() <= limits::CERTIFICATE_NAME_BYTES;
        fine.then(|| Certificate { name: name.clone(), queues, until })
    }

    /// Who that is, unless it has expired.
    #[must_use]
    pub fn caller(&self, now: Wall) -> Option<Caller> {
        (now < self.until).then(|| Caller {
            who: Who::Certificate(self.name.clone()),
            may: Role::Worker.permissions(),
            queues: self.queues.clone(),
            also_enqueue: None,
            until: Some(self.until),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::Permission;

    fn of(dns: &[&str], uris: &[&str]) -> Option<Certificate> {
        let owned = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        Certificate::of(&owned(dns), &owned(uris), Wall(100))
    }

    #[test]
    fn the_first_name_counts_and_queues_are_named_by_uris() {
        let certificate = of(&["gpu-1.lan", "other"], &["ganger-queue:gpu*", "ganger-queue:mail"]).unwrap();
        assert_eq!(certificate.name, "gpu-1.lan");
        assert_eq!(certificate.queues.globs(), ["gpu*", "mail"]);
        let spiffe = of(&[], &["ganger-queue:a", "spiffe://lan/gpu"]).unwrap();
        assert_eq!(spiffe.name, "spiffe://lan/gpu");
        assert!(of(&["a"], &[]).unwrap().queues.is_all());
    }

    #[test]
    fn whoever_is_not_named_is_nobody() {
        for (dns, uris) in [(&[][..], &[][..]), (&["*.lan"], &[]), (&[""], &[]), (&["a b"], &[])] {
            assert_eq!(of(dns, uris), None, "{dns:?} {uris:?}");
        }
        assert_eq!(of(&["a"], &["ganger-queue:no good"]), None);
        let long = "x".repeat(limits::CERTIFICATE_NAME_BYTES);
        assert!(of(&[&long], &[]).is_some());
        assert!(of(&[&format!("{long}x")], &[]).is_none());
    }

    #[test]
    fn it_makes_a_worker_until_it_expires() {
        let certificate = of(&["gpu-1"], &["ganger-queue:gpu"]).unwrap();
        let caller = certificate.caller(Wall(99)).unwrap();
        assert_eq!(caller.who.to_string(), "certificate:gpu-1");
        assert!(caller.may.contains(Permission::Work) && !caller.may.contains(Permission::Purge));
        assert!(!caller.sees(&"mail".parse().unwrap()) && caller.sees(&"gpu".parse().unwrap()));
        assert_eq!(certificate.caller(Wall(100)), None);
    }
}
