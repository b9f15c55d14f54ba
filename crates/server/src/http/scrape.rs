//! `/metrics`: what this server counted, and the gauges of the cluster, whichever server is asked.

use axum::extract::{Request, State};
use axum::http::header;
use axum::response::IntoResponse as _;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::App;
use super::problem::{Code, Problem};
use super::request::{Answer, Params};
use crate::metrics::{CONTENT_TYPE, Cluster};
use crate::relay::{LeaderTold, Relayed};

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(metrics))
}

/// Get the metrics
///
/// In the OpenMetrics text format, for Prometheus. Any server answers for the cluster: one that does not lead asks the leader for
/// the gauges, and `ganger_cluster_known` is 0 if it has no answer in time.
#[utoipa::path(get, path = "/metrics", tag = "health",
    responses((status = 200, body = String, content_type = "application/openmetrics-text")))]
async fn metrics(State(app): State<App>, params: Params, request: Request) -> Answer {
    params.only(&[])?;
    let metrics = &app.options.metrics;
    let gauges = app.service.gauges().await;
    let operations = app.service.operations_running();
    let text = if request.extensions().get::<Relayed>().is_some() {
        // Another server asks for what only the leader knows; the rest it counts itself.
        metrics.scrape_cluster(&gauges?, &operations)
    } else {
        let standing = app.service.standing(gauges.as_ref().ok().map(|gauges| &gauges.stats));
        metrics.leadership(standing.leads, standing.term, standing.store_up);
        metrics.stream_clients(app.events.clients());
        metrics.disk(app.service.disk().await);
        if let Some(accelerator) = app.service.accelerator() {
            metrics.accelerated(accelerator.seen().await);
        }
        let told = request.extensions().get::<LeaderTold>();
        // Without a leader the gauges are unknown, but what was counted is still worth reading.
        metrics.scrape(match (&gauges, told) {
            (Ok(gauges), _) => Cluster::Counted(gauges, &operations),
            (Err(_), Some(LeaderTold(Some(text)))) => Cluster::Told(text),
            (Err(_), Some(LeaderTold(None)) | None) => Cluster::Unknown,
        })
    };
    let text = text.map_err(|_| Problem::new(Code::Internal, "the metrics could not be written"))?;
    Ok(([(header::CONTENT_TYPE, CONTENT_TYPE)], text).into_response())
}
