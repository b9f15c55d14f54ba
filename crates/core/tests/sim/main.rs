//! The deterministic simulator of the session, lease, fence and term protocol.
//!
//! Real coordinators, real worker sessions and the store in memory, in one thread and virtual time. Servers
//! crash, stall, depose each other and lose the store; workers crash, stop and are cut off; messages
//! are late, repeated and arrive on streams that are long dead. After every event the checker compares what
//! is written and what really runs with the promises.
//!
//! - `random.rs`: many seeds, each with its own mixture of faults.
//! - `stories.rs`: the ways in which earlier drafts failed, told one by one.
//! - `doors.rs`: jobs that are submitted and ended in transactions of users, of which the leader learns late.
//! - `limits.rs`: limits and closed keys, which no leader may forget.
//! - `marks.rs`: effects that cannot be repeated, and the marks that say so.
//! - `rates.rs`: rates and depths of queues and keys.
//! - `turns.rs`: queues that take turns.
//! - `parents.rs`: jobs that wait for others.
//! - `reconcile.rs`: memory compared with the store at any moment, and what is repaired.
//! - `operations.rs`: bulk operations, whose leader crashes between any two steps.
//! - `bugs.rs`: deliberate mistakes in the protocol, each of which must be caught.

mod audit;
mod bugs;

mod checker;
mod client;
mod completed;
mod doors;
mod elsewhere;
mod ending;
mod failures;
mod faults;
mod ledger;
mod limits;
mod marks;
mod minutes;
mod net;
mod operations;
mod parents;
mod random;
mod rates;
mod reconcile;
mod rng;
mod schedules;
mod sending;
mod server;
mod setup;
mod stage;
mod store;
mod stories;
mod traps;
mod turns;
mod worker;
mod world;
mod written;
