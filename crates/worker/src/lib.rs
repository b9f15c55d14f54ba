//! Ganger for Rust programs: handlers, the worker that runs them, and the client that enqueues.
//!
//! ```no_run
//! use ganger_worker::{Ctx, Job, JobError, Worker};
//!
//! const GREET: Job<String, String> = Job::new("greet");
//!
//! async fn greet(ctx: Ctx, name: String) -> Result<String, JobError> {
//!     ctx.log(format!("greeting {name}"));
//!     Ok(format!("hello, {name}"))
//! }
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! Worker::connect("http://127.0.0.1:8080").threads(8).handle(&GREET, greet).run().await?;
//! # Ok(())
//! # }
//! ```
//! The feature `kinds` adds the built-in kinds, with what they need: images, SMTP, an HTTP client.
//!
//! Start with [`Job`], [`Worker`] and [`Ctx`]; then [`JobError`] for how a handler fails. Inside, `session`
//! drives the protocol of `ganger-core` on its own thread, and `attempt` runs one handler.

mod addresses;
mod attempt;
mod backoff;
mod batch;
mod chatter;
mod client;
mod clock;
mod context;
mod credential;
mod desk;
mod drain;
mod error;
mod handle;
mod handler;
mod health;
mod job;
#[cfg(feature = "kinds")]
pub mod kinds;
mod outbox;
mod parents;
mod registry;
mod running;
mod session;
mod status;
pub mod supervisor;
pub mod testing;
mod threads;
mod trace;
mod view;
mod wire;
mod worker;

pub use client::{Client, ClientError, Enqueue, Enqueued};
pub use context::Ctx;
pub use credential::Credential;
pub use error::{Fatal, JobError, WorkerError};
pub use ganger_core::dependency::OnDead;
pub use ganger_core::job::State;
pub use ganger_core::message::CancelWhy;
pub use ganger_core::retry::RetryPolicy;
pub use ganger_core::session::OnLapse;
pub use ganger_core::{Fence, JobId, SessionId};
pub use handle::WorkerHandle;
pub use job::Job;
pub use parents::Parent;
pub use registry::Registry;
pub use session::Finish;
pub use status::Standing;
pub use view::JobView;
pub use worker::Worker;
