//! The Ganger server: it takes in jobs, keeps them safe and hands each to the right worker.
//!
//! [`Server`] starts everything and [`Service`] is what it can do, for every door. Inside, one thread
//! owns the coordinator ([`coordinator_thread`]), one writer makes its decisions durable ([`writer`]),
//! and the [`gateway`] knows the streams of workers. Where several servers share a store one of them leads
//! ([`election`]), each tells the others that it is there ([`cluster`]), and what only the leader can answer is
//! passed on to it ([`relay`]). Who asks is found out in [`auth`].

pub mod about;
pub mod accelerator;
pub mod api;
mod audit;
pub mod auth;
pub mod claims;
pub mod clock;
pub mod cluster;
pub mod coordinator_thread;
pub mod election;
pub mod gateway;
pub mod grpc;
pub mod http;
pub mod ids;
pub mod inbox;
pub mod late;
pub mod listener;
pub mod metrics;
pub mod operations;
pub mod outbox;
mod owners;
pub mod payloads;
pub mod reader;
pub mod relay;
pub mod releasable;
pub mod server;
pub mod service;
mod sql_intake;
pub mod store_health;
mod story;
pub mod testing;
pub mod tls;
mod trace;
pub mod waiters;
pub mod writer;

pub use about::About;
pub use auth::{AuthOptions, recovery_token};
pub use late::LateStore;
pub use server::{Exposure, Server, ServerError, ServerHandle, ServerOptions};
pub use service::Service;
pub use tls::{Tls, TlsError, TlsPem};
