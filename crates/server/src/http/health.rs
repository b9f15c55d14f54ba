//! `/livez`, `/readyz` and `/metrics`.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::IntoResponse as _;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::App;
use super::problem::{Code, Problem};
use super::request::{Answer, Params};
use crate::api::{CheckBody, ReadyBody};
use crate::metrics::CONTENT_TYPE;
use crate::service::Check;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(livez)).routes(routes!(readyz)).routes(routes!(metrics))
}

/// Tell whether the process lives
///
/// Looks at nothing else: a store that is down is no reason to restart a server.
#[utoipa::path(get, path = "/livez", tag = "health",
    responses((status = 200, body = String, content_type = "text/plain")))]
async fn livez() -> &'static str {
    "ok\n"
}

/// Tell whether the server can serve
///
/// `?verbose` lists every check; with `Accept: application/json`, as JSON.
#[utoipa::path(get, path = "/readyz", tag = "health",
    params(("verbose" = Option<String>, Query, description = "List every check; it needs no value")),
    responses(
        (status = 200, content((ReadyBody = "application/json"), (String = "text/plain"))),
        (status = 503, content((ReadyBody = "application/json"), (String = "text/plain"))),
    ))]
async fn readyz(State(app): State<App>, params: Params, headers: HeaderMap) -> Answer {
    params.only(&["verbose"])?;
    let checks = app.service.readiness().await;
    let ready = checks.iter().all(|check| check.trouble.is_none());
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if accept.contains("application/json") {
        return Ok((status, Json(body(ready, &checks))).into_response());
    }
    // A failed check is always told in full: whoever asks needs to know which.
    // So is a warning: it is about what may be lost.
    let plain = ready && checks.iter().all(|check| check.warning.is_none());
    let text = if plain && !params.flag("verbose") { "ok\n".into() } else { listed(ready, &checks) };
    Ok((status, text).into_response())
}

/// Get the metrics
///
/// In the OpenMetrics text format, for Prometheus.
#[utoipa::path(get, path = "/metrics", tag = "health",
    responses((status = 200, body = String, content_type = "application/openmetrics-text")))]
async fn metrics(State(app): State<App>, params: Params) -> Answer {
    params.only(&[])?;
    let (stats, queues) = tokio::join!(app.service.stats(), app.service.queues());
    let standing = app.service.standing(stats.as_ref().ok());
    app.options.metrics.leadership(standing.leads, standing.term, standing.store_up);
    app.options.metrics.operations(&app.service.operations_running());
    if let Some(accelerator) = app.service.accelerator() {
        app.options.metrics.accelerated(accelerator.seen().await);
    }
    // Without a leader the gauges are unknown, but what was counted is still worth reading.
    let text = app.options.metrics.scrape(stats.ok().as_ref(), queues.ok().as_deref());
    let text = text.map_err(|_| Problem::new(Code::Internal, "the metrics could not be written"))?;
    Ok(([(header::CONTENT_TYPE, CONTENT_TYPE)], text).into_response())
}

fn body(ready: bool, checks: &[Check]) -> ReadyBody {
    ReadyBody { ready, checks: checks.iter().map(CheckBody::from).collect() }
}

/// As Kubernetes lists its checks.
fn listed(ready: bool, checks: &[Check]) -> String {
    let mut text = String::new();
    for check in checks {
        match &check.trouble {
            None if check.detail.is_empty() => text.push_str(&format!("[+]{} ok\n", check.name)),
            None => text.push_str(&format!("[+]{} ok: {}\n", check.name, check.detail)),
            Some(trouble) => text.push_str(&format!("[-]{} failed: {trouble}\n", check.name)),
        }
        if let Some(warning) = &check.warning {
            text.push_str(&format!("[!]{} warning: {warning}\n", check.name));
        }
    }
    text.push_str(if ready { "readyz check passed\n" } else { "readyz check failed\n" });
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_are_listed_as_kubernetes_lists_them() {
        let checks = [
            Check { name: "store", warning: Some("it forgets".into()), ..Check::default() },
            Check { name: "leader", trouble: Some("taking over".into()), ..Check::default() },
        ];
        assert_eq!(
            listed(false, &checks),
            "[+]store ok\n[!]store warning: it forgets\n[-]leader failed: taking over\nreadyz check failed\n"
        );
        assert_eq!(body(false, &checks).checks[1].detail, "taking over");
    }
}
