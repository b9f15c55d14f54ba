//! What happened over time, from the buckets of minutes. Any server answers it from the store.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse as _;
use ganger_core::timeline::{By, LONGEST_STEP, Span};
use ganger_core::{Wall, limits};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::App;
use super::problem::Problem;
use super::request::{Answer, Params};
use crate::api::{Metric, ProblemBody, TimeseriesBody, duration};

const PARAMS: &[&str] = &["metric", "queue", "kind", "by", "step", "from", "to"];

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(timeseries))
}

/// Get what happened over time
///
/// Counted per minute, queue and kind in the transactions that are counted, and kept for seven days. Steps in which nothing
/// happened are zeros. At most 1,000 points, and 20 lines; the rest is one more line, `_other`.
#[utoipa::path(get, path = "/v1/stats/timeseries", tag = "server",
    params(
        ("metric" = Option<String>, Query,
            description = "throughput (if not given), wait, run, total, failures or enqueued"),
        ("queue" = Option<String>, Query, description = "Only this queue"),
        ("kind" = Option<String>, Query, description = "Only this kind"),
        ("by" = Option<String>, Query, description = "A line for each `queue`, or for each `kind`"),
        ("step" = Option<String>, Query, description = "Whole minutes from `1m` (if not given) to `1d`"),
        ("from" = Option<String>, Query,
            description = "RFC 3339, or how long before the end, such as `6h`; an hour if not given"),
        ("to" = Option<String>, Query, description = "RFC 3339; now if not given"),
    ),
    responses((status = 200, body = TimeseriesBody), (status = 400, body = ProblemBody)))]
async fn timeseries(State(app): State<App>, params: Params) -> Answer {
    params.only(PARAMS)?;
    let metric = match params.one("metric")? {
        None => Metric::default(),
        Some(text) => Metric::parse(text).ok_or_else(|| {
            let known: Vec<&str> = Metric::ALL.iter().map(|metric| metric.as_str()).collect();
            Problem::parameter("metric", format!("must be one of {}", known.join(", ")))
        })?,
    };
    let span = span(&app, &params)?;
    let timeline = app.service.timeline(span).await?;
    Ok(Json(TimeseriesBody::new(metric, timeline)).into_response())
}

fn span(app: &App, params: &Params) -> Result<Span, Problem> {
    let step = params.duration("step", LONGEST_STEP)?;
    let to = params.parsed::<Wall>("to")?;
    let from = match params.one("from")? {
        None => None,
        Some(text) => match text.parse::<Wall>() {
            Ok(from) => Some(from),
            Err(_) => Some(to.unwrap_or(app.now().wall) - ago(text)?),
        },
    };
    let mut span =
        app.service.span(from, to, step).map_err(|error| Problem::parameter(error.field, error.problem))?;
    span.queue = params.parsed("queue")?;
    span.kind = params.parsed("kind")?;
    span.by = match params.one("by")? {
        None => By::Nothing,
        Some("queue") => By::Queue,
        Some("kind") => By::Kind,
        Some(_) => return Err(Problem::parameter("by", "must be `queue` or `kind`")),
    };
    Ok(span)
}

/// How long before the end it begins.
fn ago(text: &str) -> Result<Duration, Problem> {
    let wrong = |detail: String| Problem::parameter("from", detail);
    let ago = duration::parse(text).map_err(|_| {
        wrong("must be a moment (RFC 3339) or a duration before the end, such as `6h`".into())
    })?;
    if ago > limits::LONGEST {
        return Err(wrong(format!("is longer than {}", duration::format(limits::LONGEST))));
    }
    Ok(ago)
}
