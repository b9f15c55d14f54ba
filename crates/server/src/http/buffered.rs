//! `durability: buffered`: whether it is allowed, and what becomes of it.

use ganger_core::change::Intake;
use ganger_core::job::JobSpec;

use super::App;
use super::problem::Problem;
use crate::accelerator::Taken;
use crate::api::{Durability, FieldProblem};

/// Buffers jobs that ask for it and may be. A request under an idempotency key never is: only the ledger in the store can
/// promise the same answer.
///
/// # Errors
/// This server does not allow it, or it is not known whether they were taken in.
pub(super) async fn take(
    app: &App,
    durability: Durability,
    has_key: bool,
    specs: Vec<JobSpec>,
) -> Result<Taken, Problem> {
    match durability {
        Durability::Durable => return Ok(Taken::Not(specs)),
        Durability::Buffered => {}
    }
    let Some(accelerator) = app.service.accelerator().filter(|a| a.allows_buffered()) else {
        let detail =
            "cannot be `buffered` on this server: it was not started with --redis and --allow-buffered";
        return Err(Problem::fields(vec![FieldProblem::new("/durability", detail)]));
    };
    if has_key {
        return Ok(Taken::Not(specs));
    }
    Ok(accelerator.buffer(&app.service, specs).await?)
}

/// The same for a batch: its jobs one by one, and how safe they are now. `None`: submit them the durable way.
///
/// # Errors
/// As [`take`].
pub(super) async fn take_batch(
    app: &App,
    durability: Durability,
    has_key: bool,
    specs: Vec<JobSpec>,
) -> Result<Option<(Vec<Intake>, Durability)>, Problem> {
    let created = |ids: Vec<_>| ids.into_iter().map(Intake::Created).collect();
    Ok(match take(app, durability, has_key, specs).await? {
        Taken::Not(_) => None,
        Taken::Buffered(ids) => Some((created(ids), Durability::Buffered)),
        Taken::Durable(ids) => Some((created(ids), Durability::Durable)),
    })
}
