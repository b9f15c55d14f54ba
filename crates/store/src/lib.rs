//! Where Ganger keeps jobs. The store is the truth; memory is only the speed.
//!
//! [`Store`] is the whole contract: one write method, batch-shaped, and narrow reads. [`memory`] is the
//! shortest correct one, [`sqlite`] the embedded one, [`postgres`] the one that several servers share ([`shared`]).
//! [`redis`] is no store: it speeds one up, and may vanish.

pub mod conformance;
pub mod inspect;
pub mod memory;
#[cfg(feature = "postgres")]
pub mod postgres;
pub mod read;
#[cfg(feature = "redis")]
pub mod redis;
pub mod shared;
#[cfg(feature = "sqlite")]
pub mod sqlite;
#[cfg(feature = "testing")]
pub mod testing;

#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod leased;
mod log;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod occurrence;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod options;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod outcomes;
mod refusal;
mod retention;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod schema;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod seen;
mod store;
mod tallies;

pub use memory::{MemoryState, MemoryStore};
#[cfg(feature = "postgres")]
pub use postgres::{PgOptions, PgStore};
#[cfg(feature = "sqlite")]
pub use sqlite::{SqliteOptions, SqliteStore};
pub use store::{CommitError, Committed, Store, StoreError, Wanted, heard};
