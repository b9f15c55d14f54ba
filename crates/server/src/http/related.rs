//! The jobs that a job waits for, and those that wait for it.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse as _;
use ganger_core::{JobId, limits};
use ganger_store::read::Related;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::App;
use super::jobs::job_id;
use super::problem::Problem;
use super::request::{self, Answer, Params, Segment};
use crate::api::{ProblemBody, RelatedBody, RelatedPage, RelationsBody};
use crate::service::RELATED_MAX;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(relations)).routes(routes!(parents)).routes(routes!(children))
}

/// List what a job waits for and what waits for it
///
/// The first fifty of each; the rest is at `/parents` and `/children`.
#[utoipa::path(get, path = "/v1/jobs/{id}/related", tag = "jobs", params(("id" = String, Path)),
    responses((status = 200, body = RelationsBody), (status = 404, body = ProblemBody)))]
async fn relations(State(app): State<App>, Segment(id): Segment, params: Params) -> Answer {
    params.only(&[])?;
    let id = job_id(&id)?;
    let parents = page(&app, id, Related::Parents, None, limits::PAGE_DEFAULT).await?;
    let children = page(&app, id, Related::Children, None, limits::PAGE_DEFAULT).await?;
    Ok(Json(RelationsBody { parents, children }).into_response())
}

/// List a job's parents
///
/// The jobs that it waits for, or waited for, oldest first. Their results are at `/v1/jobs/{id}/result`.
#[utoipa::path(get, path = "/v1/jobs/{id}/parents", tag = "jobs",
    params(("id" = String, Path),
        ("limit" = Option<usize>, Query, description = "1 to 100, 50 if not given"),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the page before")),
    responses((status = 200, body = RelatedPage), (status = 404, body = ProblemBody)))]
async fn parents(State(app): State<App>, Segment(id): Segment, params: Params) -> Answer {
    related(&app, &id, &params, Related::Parents).await
}

/// List a job's children
///
/// The jobs that wait for it, or waited, oldest first.
#[utoipa::path(get, path = "/v1/jobs/{id}/children", tag = "jobs",
    params(("id" = String, Path),
        ("limit" = Option<usize>, Query, description = "1 to 100, 50 if not given"),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the page before")),
    responses((status = 200, body = RelatedPage), (status = 404, body = ProblemBody)))]
async fn children(State(app): State<App>, Segment(id): Segment, params: Params) -> Answer {
    related(&app, &id, &params, Related::Children).await
}

async fn related(app: &App, id: &str, params: &Params, of: Related) -> Answer {
    params.only(&["limit", "cursor"])?;
    let id = job_id(id)?;
    let limit = request::limit(params, RELATED_MAX)?;
    let after = match params.one("cursor")? {
        None => None,
        Some(text) => {
            let after =
                text.parse().map_err(|_| Problem::parameter("cursor", "is not one of these pages"))?;
            Some(after)
        }
    };
    Ok(Json(page(app, id, of, after, limit).await?).into_response())
}

async fn page(
    app: &App,
    id: JobId,
    of: Related,
    after: Option<JobId>,
    limit: usize,
) -> Result<RelatedPage, Problem> {
    let page = app.service.related(id, of, after, limit).await?;
    let items = page.jobs.into_iter().map(|(edge, job)| {
        let (state, spec) = job.map(|job| (job.state, job.spec)).unzip();
        let (kind, queue) = spec.map(|spec| (spec.kind, spec.queue)).unzip();
        RelatedBody { id: of.far(&edge), state, kind, queue, on_dead: edge.on_dead, settled: edge.ended }
    });
    Ok(RelatedPage { items: items.collect(), next_cursor: page.next.map(|id| id.to_string()) })
}
