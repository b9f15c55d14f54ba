//! How many jobs match, over time.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse as _;
use ganger_core::limits;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::App;
use super::list::{self, FILTERS};
use super::problem::Problem;
use super::request::{Answer, Params};
use crate::api::{HistogramBody, ProblemBody};
use crate::auth::Asking;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(histogram))
}

/// Count jobs over time
///
/// By when they were taken in, in intervals of equal length from the oldest match, or `created_from`, to now, or
/// `created_before`. Of many jobs the newest 100,000 rows are looked at.
#[utoipa::path(get, path = "/v1/jobs:histogram", tag = "jobs",
    params(
        ("q" = Option<String>, Query, description = "A filter, as for the list; its other filters are taken too"),
        ("buckets" = Option<usize>, Query, description = "1 to 500 intervals, 60 if not given"),
        ("created_from" = Option<String>, Query, description = "RFC 3339; this moment or later"),
        ("created_before" = Option<String>, Query, description = "RFC 3339; before this moment"),
    ),
    responses((status = 200, body = HistogramBody), (status = 400, body = ProblemBody)))]
async fn histogram(State(app): State<App>, asking: Asking, params: Params) -> Answer {
    params.only(&[&FILTERS[..], &["buckets"]].concat())?;
    let query = asking.confine(list::query(&params)?)?;
    let buckets = match params.parsed::<usize>("buckets")? {
        None => limits::HISTOGRAM_BUCKETS_DEFAULT,
        Some(buckets) if (1..=limits::HISTOGRAM_BUCKETS).contains(&buckets) => buckets,
        Some(buckets) => {
            let detail = format!("is {buckets}, allowed are 1 to {}", limits::HISTOGRAM_BUCKETS);
            return Err(Problem::parameter("buckets", detail));
        }
    };
    let histogram = app.service.histogram(query, buckets).await?;
    Ok(Json(HistogramBody::from(histogram)).into_response())
}
