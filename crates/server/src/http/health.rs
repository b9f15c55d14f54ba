//! `/livez` and `/readyz`.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::IntoResponse as _;
use ganger_core::Wall;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::App;
use super::request::{Answer, Params};
use crate::api::{CheckBody, ReadyBody};
use crate::service::Check;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(livez)).routes(routes!(readyz))
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
        return Ok((status, Json(body(ready, &checks, app.service.clock().now().wall))).into_response());
    }
    // A failed check is always told in full: whoever asks needs to know which.
    // So is a warning: it is about what may be lost.
    let plain = ready && checks.iter().all(|check| check.warning.is_none());
    let text = if plain && !params.flag("verbose") { "ok\n".into() } else { listed(ready, &checks) };
    Ok((status, text).into_response())
}

fn body(ready: bool, checks: &[Check], now: Wall) -> ReadyBody {
    ReadyBody { ready, checks: checks.iter().map(CheckBody::from).collect(), now: Some(now) }
}

/// As Kubernetes lists its checks.
fn listed(ready: bool, checks: &[Check]) -> String {
    let mut text = String::new();
    for check in checks {
        let name = check.name;
        let line = match (&check.trouble, &check.warning) {
            (Some(trouble), None) => format!("[-]{name} failed: {trouble}\n"),
            (Some(trouble), Some(warning)) => format!("[-]{name} failed: {trouble}; {warning}\n"),
            // It serves, but "ok" is not what to say of it.
            (None, Some(warning)) => format!("[!]{name} warning: {warning}\n"),
            (None, None) if check.detail.is_empty() => format!("[+]{name} ok\n"),
            (None, None) => format!("[+]{name} ok: {}\n", check.detail),
        };
        text.push_str(&line);
    }
    text.push_str(if ready { "readyz check passed\n" } else { "readyz check failed\n" });
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_check_is_one_line_as_kubernetes_lists_them() {
        let checks = [
            Check { name: "store", warning: Some("it forgets".into()), ..Check::default() },
            Check { name: "leader", trouble: Some("taking over".into()), ..Check::default() },
        ];
        assert_eq!(
            listed(false, &checks),
            "[!]store warning: it forgets\n[-]leader failed: taking over\nreadyz check failed\n"
        );
        assert_eq!(body(false, &checks, Wall(0)).checks[1].detail, "taking over");
    }
}
