//! The audit log.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse as _;
use ganger_core::limits;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::App;
use super::request::{self, Answer, Params};
use crate::api::{AuditBody, AuditEntryBody, ProblemBody};

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list))
}

/// Read the audit log
///
/// Who changed what, the last first. An entry is written in the same transaction as the change that it tells of; the last 10,000 are kept. Submissions and
/// the work on jobs are not here: they are the history of each job.
#[utoipa::path(get, path = "/v1/audit", tag = "access",
    params(
        ("who" = Option<String>, Query, description = "Only of this caller, such as `user:ada` or `token:4k2m9x7q0b1c`"),
        ("target" = Option<String>, Query, description = "Only what concerns this, such as `queue mail` or a job's id"),
        ("limit" = Option<usize>, Query, description = "1 to 500, 50 if not given"),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the page before"),
    ),
    responses((status = 200, body = AuditBody), (status = 400, body = ProblemBody)))]
async fn list(State(app): State<App>, params: Params) -> Answer {
    params.only(&["who", "target", "limit", "cursor"])?;
    let (who, target, cursor) = (params.one("who")?, params.one("target")?, params.one("cursor")?);
    let limit = request::limit(&params, limits::PAGE_MAX)?;
    let (entries, next_cursor) = app
        .service
        .audit(cursor, limit, |entry| {
            who.is_none_or(|who| entry.who == who) && target.is_none_or(|target| entry.target == target)
        })
        .await?;
    let items = entries.into_iter().map(|(id, entry)| AuditEntryBody::new(id, entry)).collect();
    Ok(Json(AuditBody { items, next_cursor }).into_response())
}
