//! Redis: an accelerator in front of the database, never the only copy of anything that was promised to be durable.
//!
//! It has four roles, each in its own file and each able to do without it:
//!
//! | role | with Redis | without |
//! |---|---|---|
//! | [`idempotency`] | concurrent duplicates of a request are collapsed, repeated ones answered | the ledger in the database answers |
//! | [`finals`] | final jobs are read from memory | they are read from the database |
//! | [`events`] | standbys hear live events | they relay to the leader |
//! | [`ingest`] | `durability: buffered` is taken in at once, also without a database | it is taken in as durable |
//!
//! Redis may vanish, be emptied or come back with old contents at any moment. What keeps that harmless is said at
//! the head of each role.

mod clock;
pub mod events;
mod facts;
pub mod finals;
pub mod idempotency;
pub mod ingest;
mod link;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use redis::{Client, IntoConnectionInfo, TlsCertificates};

use link::{Health, Link, Trouble};

/// Longest namespace, in bytes.
const NAMESPACE_BYTES: usize = 64;

/// Which Redis, and where in it.
#[derive(Clone)]
pub struct RedisOptions {
    /// `redis://…` or `rediss://…`, with the password if it wants one. Never printed.
    pub url: String,
    /// What every key begins with. Clusters that share a Redis must have different ones.
    pub namespace: String,
    /// Certificates (PEM) that a `rediss` server is trusted by, in place of those of the system.
    pub ca: Option<Vec<u8>>,
    /// The longest that a request waits for Redis before it does without.
    pub answer_within: Duration,
}

impl RedisOptions {
    /// This Redis, under the namespace `ganger`.
    #[must_use]
    pub fn new(url: impl Into<String>) -> RedisOptions {
        let answer_within = Duration::from_millis(250);
        RedisOptions { url: url.into(), namespace: "ganger".into(), ca: None, answer_within }
    }
}

impl fmt::Debug for RedisOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisOptions").field("namespace", &self.namespace).finish_non_exhaustive()
    }
}

/// Redis cannot be used as asked. That it is away at the moment is no error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RedisError {
    /// The address cannot be read. What it was is not told: it may hold a password.
    #[error(
        "the address of redis is not valid: expected redis://[user:password@]host[:port][/database], or rediss:// for TLS"
    )]
    Address,
    /// The certificates cannot be read, or do not go with the address.
    #[error(
        "the certificates for redis cannot be used: they must be PEM, and the address must begin with rediss://"
    )]
    Certificates,
    /// The namespace cannot be part of a key.
    #[error("the namespace for redis must have 1 to {NAMESPACE_BYTES} letters, digits, `_`, `.` or `-`")]
    Namespace,
}

/// What Redis is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// First level of idempotency.
    Idempotency,
    /// Cache of final jobs.
    Finals,
    /// Live events between servers.
    Events,
    /// Buffer for `durability: buffered`.
    Ingest,
}

impl Role {
    /// Every role.
    pub const ALL: [Role; 4] = [Role::Idempotency, Role::Finals, Role::Events, Role::Ingest];

    /// The word for it, everywhere.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Role::Idempotency => "idempotency",
            Role::Finals => "finals",
            Role::Events => "events",
            Role::Ingest => "ingest",
        }
    }
}

/// How a role is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleView {
    /// Which.
    pub role: Role,
    /// Whether it works.
    pub state: RoleState,
    /// Times that Redis did what the database would have had to do.
    pub hits: u64,
    /// Times that it could not, and the fallback was used.
    pub fallbacks: u64,
}

/// Whether a role works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RoleState {
    /// It does.
    Up,
    /// Redis is away, for so long, for this reason.
    Away(Duration, String),
    /// This Redis is not fit for it, for this reason.
    Refused(String),
}

/// A handle on Redis. Cheap to clone; all clones share the connection.
#[derive(Clone)]
pub struct Redis(Arc<Shared>);

struct Shared {
    link: Link,
    namespace: String,
    counts: [Counts; Role::ALL.len()],
    generation: finals::Generation,
}

#[derive(Default)]
struct Counts {
    hits: AtomicU64,
    fallbacks: AtomicU64,
}

impl Redis {
    /// Connects, if Redis is there; otherwise it is looked for once a second. Must be called within a runtime.
    ///
    /// # Errors
    /// The address, the certificates or the namespace cannot be used.
    pub async fn connect(options: RedisOptions) -> Result<Redis, RedisError> {
        let fine = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
        let namespace = options.namespace;
        if namespace.is_empty() || namespace.len() > NAMESPACE_BYTES || !namespace.chars().all(fine) {
            return Err(RedisError::Namespace);
        }
        let address = options.url.as_str().into_connection_info().map_err(|_| RedisError::Address)?;
        let client = match options.ca {
            None => Client::open(address).map_err(|_| RedisError::Address)?,
            Some(ca) => {
                let certificates = TlsCertificates { client_tls: None, root_cert: Some(ca) };
                Client::build_with_tls(address, certificates).map_err(|_| RedisError::Certificates)?
            }
        };
        let link = Link::start(client, options.answer_within).await;
        let (counts, generation) = (Default::default(), finals::Generation::default());
        Ok(Redis(Arc::new(Shared { link, namespace, counts, generation })))
    }

    /// Whether Redis is there at this moment.
    #[must_use]
    pub fn is_up(&self) -> bool {
        matches!(self.0.link.health(), Health::Up(_))
    }

    /// How every role is.
    #[must_use]
    pub fn roles(&self) -> Vec<RoleView> {
        let health = self.0.link.health();
        let view = |role: Role| {
            let counts = &self.0.counts[role as usize];
            RoleView {
                role,
                state: state(role, &health),
                hits: counts.hits.load(Ordering::Relaxed),
                fallbacks: counts.fallbacks.load(Ordering::Relaxed),
            }
        };
        Role::ALL.into_iter().map(view).collect()
    }

    /// Settings of this Redis that people who submit buffered jobs should know of, each in a sentence. Empty
    /// while it is away.
    #[must_use]
    pub fn dangers(&self) -> Vec<String> {
        match self.0.link.health() {
            Health::Up(facts) => facts.dangers(),
            Health::Away(..) => Vec::new(),
        }
    }

    fn link(&self) -> &Link {
        &self.0.link
    }

    fn key(&self, rest: &str) -> String {
        format!("{}:{rest}", self.0.namespace)
    }

    fn hit(&self, role: Role) {
        self.0.counts[role as usize].hits.fetch_add(1, Ordering::Relaxed);
    }

    fn fell_back(&self, role: Role, trouble: &Trouble) {
        self.0.counts[role as usize].fallbacks.fetch_add(1, Ordering::Relaxed);
        // What concerns the whole connection is told once, by the link.
        if let Trouble::Refused(why) = trouble {
            tracing::warn!(role = role.as_str(), "redis refused for {}: {why}", role.as_str());
        }
    }
}

impl fmt::Debug for Redis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redis").field("up", &self.is_up()).finish_non_exhaustive()
    }
}

fn state(role: Role, health: &Health) -> RoleState {
    match health {
        Health::Away(since, why) => RoleState::Away(*since, why.clone()),
        Health::Up(facts) => match (role, facts.unfit_for_jobs()) {
            (Role::Ingest, Some(why)) => RoleState::Refused(why),
            (Role::Ingest | Role::Idempotency | Role::Finals | Role::Events, _) => RoleState::Up,
        },
    }
}
