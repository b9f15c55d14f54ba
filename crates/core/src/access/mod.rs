//! Who may do what.
//!
//! ```text
//!  request ─▶ who is it? (token, login, certificate) ─▶ Caller ─▶ policy: may he do this at all? ─▶ each queue it touches
//! ```
//! A door finds out once who asks, and makes a [`Caller`] of it. What is asked for needs one [`Permission`], by the one table in
//! [`policy`]; what is not in the table is refused. A caller may be confined to some queues: then every queue that a request
//! names, or meets, is looked at, wherever in the request it stands ([`Reach`]).
//!
//! Nothing here hashes, signs or reads a clock: doors give what they found, and these are the rules.

mod bounds;
mod certificate;
mod permission;
pub mod policy;
mod scope;
pub mod throttle;
mod token;
mod user;

use std::fmt;

pub use bounds::{Bound, Bounds};
pub use certificate::Certificate;
pub use permission::{Permission, Permissions, Role};
pub use policy::{Access, Reach};
pub use scope::{QueueScope, ScopeError};
pub use token::{Token, TokenText};
pub use user::{Login, Refreshed, User, login_text, parse_login};

use crate::name::QueueName;
use crate::time::Wall;

/// What a secret is known by: its SHA-256. The secrets themselves are random and long, so a slow hash would add nothing.
pub type SecretHash = [u8; 32];

/// Whether two hashes are the same. Takes as long for a near miss as for a far one.
#[must_use]
pub fn same(a: &SecretHash, b: &SecretHash) -> bool {
    let difference = a.iter().zip(b).fold(0u8, |sum, (a, b)| sum | (a ^ b));
    std::hint::black_box(difference) == 0
}

/// Who asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Who {
    /// Whoever reaches a server that asks nobody.
    Anyone,
    /// A person, by this login.
    User {
        /// The user's name.
        name: String,
        /// The login that the request is made under.
        login: String,
    },
    /// A person or program that another issuer vouches for, by its subject. Never the local user of the same name.
    External(String),
    /// A program, by this token.
    Token {
        /// Identifies it.
        id: String,
        /// What it is called.
        name: String,
    },
    /// A worker, by its certificate.
    Certificate(String),
}

/// `user:ada`, `token:3k…`, `certificate:gpu-1`, `anyone`: how the audit log and idempotency keys tell callers apart.
impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Who::Anyone => f.write_str("anyone"),
            Who::User { name, .. } => write!(f, "user:{name}"),
            Who::External(subject) => write!(f, "external:{subject}"),
            Who::Token { id, .. } => write!(f, "token:{id}"),
            Who::Certificate(name) => write!(f, "certificate:{name}"),
        }
    }
}

/// Somebody who was recognised, with what he may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// Who it is.
    pub who: Who,
    /// What he may do.
    pub may: Permissions,
    /// And with which queues.
    pub queues: QueueScope,
    /// Queues besides, into which he may only enqueue.
    pub also_enqueue: Option<QueueScope>,
    /// Until when he is believed; a stream that lives longer is closed then.
    pub until: Option<Wall>,
}

impl Caller {
    /// Whoever reaches a server that asks nobody.
    #[must_use]
    pub fn anyone() -> Caller {
        Caller {
            who: Who::Anyone,
            may: Permissions::ALL,
            queues: QueueScope::all(),
            also_enqueue: None,
            until: None,
        }
    }

    /// Whether he may do what needs this, as far as can be told before a queue is known.
    ///
    /// # Errors
    /// Says what he lacks.
    pub fn allows(&self, access: Access) -> Result<(), Lacking> {
        let Access::Needs(permission, reach) = access else { return Ok(()) };
        if !self.may.contains(permission) {
            return Err(Lacking::Permission(permission));
        }
        if reach == Reach::All && !self.queues.is_all() {
            return Err(Lacking::Queues);
        }
        Ok(())
    }

    /// The queues into which he may enqueue.
    #[must_use]
    pub fn enqueues_into(&self) -> Vec<&str> {
        let besides = self.also_enqueue.iter().flat_map(QueueScope::globs);
        self.queues.globs().iter().chain(besides).map(String::as_str).collect()
    }

    /// Whether a queue is his to see and use.
    #[must_use]
    pub fn sees(&self, queue: &QueueName) -> bool {
        self.queues.contains(queue)
    }
}

/// What a caller lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Lacking {
    /// A permission.
    #[error("it needs the permission `{}`", .0.as_str())]
    Permission(Permission),
    /// It is about every queue, and the caller is confined to some.
    #[error("it is about all queues, and this caller is confined to some")]
    Queues,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(role: Role, queues: &[&str]) -> Caller {
        let queues = QueueScope::parse(queues.iter().copied()).unwrap();
        Caller { may: role.permissions(), queues, ..Caller::anyone() }
    }

    #[test]
    fn a_caller_needs_the_permission_and_all_queues_where_all_are_concerned() {
        let viewer = caller(Role::Viewer, &["*"]);
        assert_eq!(viewer.allows(Access::Open), Ok(()));
        assert_eq!(viewer.allows(Access::Needs(Permission::Read, Reach::All)), Ok(()));
        let lacking = viewer.allows(Access::Needs(Permission::Purge, Reach::Each)).unwrap_err();
        assert_eq!(lacking, Lacking::Permission(Permission::Purge));
        let confined = caller(Role::Operator, &["mail*"]);
        assert_eq!(confined.allows(Access::Needs(Permission::Purge, Reach::Each)), Ok(()));
        assert_eq!(confined.allows(Access::Needs(Permission::Read, Reach::All)), Err(Lacking::Queues));
        assert!(confined.sees(&"mail.out".parse().unwrap()) && !confined.sees(&"pay".parse().unwrap()));
    }

    #[test]
    fn a_hash_is_the_same_only_if_every_byte_is() {
        let hash = [7; 32];
        for i in 0..32 {
            let mut other = hash;
            other[i] ^= 1;
            assert!(!same(&hash, &other));
        }
        assert!(same(&hash, &hash));
    }
}
