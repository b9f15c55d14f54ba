//! The rules of Ganger: what a job is, who may run it, when, and what happens next.
//!
//! Everything here is a pure function of state, time and event. There is no I/O, no clock, no
//! async and no randomness but an injected seed, so the simulator runs exactly the code that ships.
//!
//! Start with [`job`] (the model), then [`lease`] (terms, fences), [`session`] (the worker's side of
//! the protocol) and [`coordinator`] (the leader's side).

pub mod access;
pub mod audit;
pub mod change;
pub mod coordinator;
pub mod dependency;
pub mod disk;
pub mod document;
pub mod event;
pub mod filter;
pub mod fingerprint;
pub mod ids;
pub mod job;
pub mod kind;
pub mod leadership;
pub mod lease;
pub mod limits;
pub mod mail;
pub mod message;
pub mod minutes;
pub mod name;
pub mod network;
pub mod operation;
pub mod outcome;
pub mod queue;
pub mod reason;
pub mod redact;
pub mod retry;
pub mod rules;
pub mod sabotage;
pub mod scaling;
pub mod schedule;
pub mod sending;
pub mod session;
pub mod time;
pub mod timeline;
pub mod trace;
pub mod verdict;

pub use ids::{JobId, OperationId, SessionId};
pub use lease::{Fence, Term};
pub use time::{Mono, Now, Wall};
