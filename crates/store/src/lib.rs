//! Where Ganger keeps jobs. The store is the truth; memory is only the speed.
//!
//! [`Store`] is the whole contract: one write method, batch-shaped, and narrow reads. [`memory`] is the
//! shortest correct one, [`sqlite`] the embedded one that a server runs on.

pub mod conformance;
pub mod memory;
pub mod read;
pub mod shared;
#[cfg(feature = "sqlite")]
pub mod sqlite;
#[cfg(feature = "testing")]
pub mod testing;

mod log;
mod refusal;
mod retention;
mod store;
mod tallies;

pub use memory::{MemoryState, MemoryStore};
#[cfg(feature = "sqlite")]
pub use sqlite::{SqliteOptions, SqliteStore};
pub use store::{CommitError, Store, StoreError};
