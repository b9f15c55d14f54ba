//! Workloads for demonstrations and load tests. The work is real: it keeps processors, disks and sockets busy.
//!
//! | kind | what an attempt does |
//! |---|---|
//! | `cpu_intensive` | 5,000 to 15,000 SHA-256 over 170 kB |
//! | `io_intensive` | writes 1,000 to 9,999 lines to a private temporary file, reads them back, deletes it |
//! | `mixed_workload` | both |
//! | `network_task` | 1 to 5 GETs at a time, of the payload's targets or of an endpoint of the worker itself |
//! | `default` | sleeps: 0.1 to 1 s, 1 to 10 s, or 10 to 50 s |
//!
//! A payload that contains `invalid_job` fails. How much is done is drawn at random and shrunk by [`Scale`].

mod content;
mod cpu_intensive;
mod io_intensive;
mod mixed_workload;
mod nap;
mod network_task;
mod scale;

pub use scale::Scale;

use super::http::Http;
use crate::context::Ctx;
use crate::error::JobError;
use crate::registry::Registry;
use content::Content;

/// The workloads, shrunk by so much.
pub(super) fn registry(scale: Scale, http: Http) -> Registry {
    let network = network_task::Network::new(http);
    Registry::new()
        .handle_blocking(&cpu_intensive::CPU_INTENSIVE, move |ctx, content: Content| {
            content.check()?;
            cpu_intensive::work(&ctx, scale)
        })
        .handle_blocking(&io_intensive::IO_INTENSIVE, move |ctx, content: Content| {
            content.check()?;
            io_intensive::work(&ctx, scale)
        })
        .handle_blocking(&mixed_workload::MIXED_WORKLOAD, move |ctx, content: Content| {
            content.check()?;
            mixed_workload::work(&ctx, scale)
        })
        .handle(&network_task::NETWORK_TASK, move |ctx, content| network.clone().run(ctx, content))
        .handle(&nap::DEFAULT, move |ctx, content| nap::run(ctx, content, scale))
}

/// Between two pieces of work: goes on unless the attempt is to stop.
fn go_on(ctx: &Ctx) -> Result<(), JobError> {
    if ctx.is_cancelled() { Err(JobError::retry("told to stop")) } else { Ok(()) }
}
