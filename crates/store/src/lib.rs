//! Where Ganger keeps jobs. The store is the truth; memory is only the speed.
//!
//! [`Store`] is the whole contract: one write method, batch-shaped, and narrow reads. [`memory`] is the
//! shortest correct one.

pub mod conformance;
pub mod memory;
pub mod read;

mod log;
mod refusal;
mod retention;
mod store;
mod tallies;

pub use memory::{MemoryState, MemoryStore};
pub use store::{CommitError, Store, StoreError};
