//! Real servers for tests: a private PostgreSQL, a private Redis and a private pgbouncer, each on a free port in
//! a directory of its own. Nothing on the standard ports is touched, and nothing outlives the test process.
//!
//! These block while they start and stop, for tests begin and end with them. Whatever does not work is a panic:
//! a test that cannot have its server has failed.

mod janitor;
pub mod peek;
mod pgbouncer;
mod postgres;
mod redis;
mod server;

pub use self::pgbouncer::Pgbouncer;
pub use self::postgres::{Durability, Postgres};
pub use self::redis::Redis;

/// The settings of a connection that writes to PostgreSQL, and the statements that it prepares, each with its name.
#[must_use]
pub fn writer() -> (&'static str, Vec<(&'static str, &'static str)>) {
    crate::postgres::writer_for_tests()
}

/// The settings of a connection that reads from PostgreSQL.
#[must_use]
pub fn reader() -> &'static str {
    crate::postgres::reader_for_tests()
}
