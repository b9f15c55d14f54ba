//! `durability: buffered`: whether it is allowed, and what becomes of it.

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, Method};
use axum::response::{IntoResponse as _, Response};
use ganger_core::change::Intake;
use ganger_core::job::JobSpec;
use ganger_core::limits;

use super::problem::Problem;
use super::{App, batch, jobs, request};
use crate::accelerator::Taken;
use crate::api::{Durability, FieldProblem};
use crate::relay;
use crate::service::Service;

/// What every request that asks for a buffer contains, however it is written.
const WORD: &[u8] = b"buffered";

/// Buffers jobs that ask for it and may be. A request under an idempotency key never is: only the ledger in the store can
/// promise the same answer.
///
/// # Errors
/// This server does not allow it, or it is not known whether they were taken in.
pub(crate) async fn take(
    service: &Service,
    durability: Durability,
    has_key: bool,
    specs: Vec<JobSpec>,
) -> Result<Taken, Problem> {
    match durability {
        Durability::Durable => return Ok(Taken::Not(specs)),
        Durability::Buffered => {}
    }
    let Some(accelerator) = service.accelerator().filter(|a| a.allows_buffered()) else {
        let detail =
            "cannot be `buffered` on this server: it was not started with --redis and --allow-buffered";
        return Err(Problem::fields(vec![FieldProblem::new("/durability", detail)]));
    };
    if has_key {
        return Ok(Taken::Not(specs));
    }
    Ok(accelerator.buffer(service, specs).await?)
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
    Ok(match take(&app.service, durability, has_key, specs).await? {
        Taken::Not(_) => None,
        Taken::Buffered(ids) => Some((created(ids), Durability::Buffered)),
        Taken::Durable(ids) => Some((created(ids), Durability::Durable)),
    })
}

/// A server that does not lead buffers by itself what asks for it, before anyone looks for a leader: that there is none is
/// what a buffer is for. What it does not buffer goes on as it came.
pub(super) async fn without_a_leader(
    app: &App,
    request: Request,
    next: impl AsyncFnOnce(Request) -> Response,
) -> Response {
    let limit = match (request.method(), request.uri().path()) {
        (&Method::POST, jobs::PATH) => jobs::JOB_BODY,
        (&Method::POST, batch::PATH) => limits::BATCH_BYTES,
        _ => return next(request).await,
    };
    let allowed = app.service.accelerator().is_some_and(|accelerator| accelerator.allows_buffered());
    if !allowed || app.service.leads() {
        return next(request).await;
    }
    let (parts, body) = request.into_parts();
    let bytes = match request::body(Request::from_parts(parts.clone(), body), limit).await {
        Ok(bytes) => bytes,
        Err(problem) => return problem.into_response(),
    };
    if bytes.windows(WORD.len()).any(|word| word == WORD) {
        match answer(app, parts.uri.path(), &parts.headers, &bytes).await {
            Ok(Some(response)) => return response,
            Ok(None) => {}
            Err(problem) => return problem.into_response(),
        }
    }
    next(Request::from_parts(parts, Body::from(bytes))).await
}

/// Whether a request came under a key, be it one that a standby made: it may send the request again, and only the ledger
/// would notice.
pub(super) fn has_key(headers: &HeaderMap) -> bool {
    headers.contains_key("idempotency-key") || relay::key::given(headers).is_some()
}

/// The answer to a request that was buffered. `None` for one that was not, also because something is wrong with it.
async fn answer(
    app: &App,
    path: &str,
    headers: &HeaderMap,
    bytes: &Bytes,
) -> Result<Option<Response>, Problem> {
    if path == jobs::PATH {
        jobs::buffered(app, headers, bytes).await
    } else {
        batch::buffered(app, headers, bytes).await
    }
}
