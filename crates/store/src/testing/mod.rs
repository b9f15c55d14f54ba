//! Real servers for tests: a private PostgreSQL and a private Redis, each on a free port in a directory of its
//! own. Nothing on the standard ports is touched, and nothing outlives the test process.
//!
//! These block while they start and stop, for tests begin and end with them. Whatever does not work is a panic:
//! a test that cannot have its server has failed.

mod janitor;
pub mod peek;
mod postgres;
mod redis;
mod server;

pub use self::postgres::{Durability, Postgres};
pub use self::redis::Redis;
