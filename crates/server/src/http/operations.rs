//! Bulk operations: start, look at beforehand, list, get, cancel.

use axum::Json;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use ganger_core::operation::Action;
use ganger_core::{JobId, OperationId, limits};
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::fields::{self, Object};
use super::problem::{Code, Problem};
use super::request::{self, Answer, Params, SMALL_BODY, Segment, Verbs};
use super::{App, exec_token};
use crate::api::{OperationBody, OperationRequest, OperationsBody, PreviewBody, ProblemBody};
use crate::auth::Asking;
use crate::service::{Begun, NewOperation, NewTarget, ServiceError};

/// What can be done with an operation.
pub(super) const VERBS: Verbs = Verbs { of: "an operation", routes: &["/v1/operations/{id}:cancel"] };

const FIELDS: &[&str] = &["action", "filter", "ids", "all", "dry_run", "rate", "reason"];

#[derive(OpenApi)]
#[openapi(paths(cancel))]
struct Described;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(Described::openapi())
        .routes(routes!(list, start))
        .routes(routes!(get))
        .route("/v1/operations/{id}", axum::routing::post(verb))
}

/// List bulk operations
///
/// Those under way and the last 200 that are over, the newest first.
#[utoipa::path(get, path = "/v1/operations", tag = "operations",
    responses((status = 200, body = OperationsBody)))]
async fn list(State(app): State<App>, params: Params) -> Answer {
    params.only(&[])?;
    let items = app.service.operations().await?.into_iter().map(OperationBody::from).collect();
    Ok(Json(OperationsBody { items }).into_response())
}

/// Start a bulk operation
///
/// Replays, cancels or deletes every job that the filter means, or those named. It concerns jobs as they are at this moment, keeps to
/// its rate, and goes on after a restart. With `dry_run` it only tells what it would do.
#[utoipa::path(post, path = "/v1/operations", tag = "operations", request_body = OperationRequest,
    params(("Idempotency-Key" = Option<String>, Header, description = "Same key and body: the same operation"),
        ("X-Ganger-Exec-Token" = Option<String>, Header, description = "Without it a replay leaves jobs of kind exec alone")),
    responses((status = 202, body = OperationBody, description = "It is under way"),
        (status = 200, body = PreviewBody, description = "What it would do"),
        (status = 400, body = ProblemBody, description = "Its filter cannot be understood"),
        (status = 409, body = ProblemBody, description = "Too many are under way"),
        (status = 422, body = ProblemBody)))]
async fn start(State(app): State<App>, asking: Asking, params: Params, request: Request) -> Answer {
    params.only(&[])?;
    let headers = request.headers().clone();
    let bytes = request::body(request, SMALL_BODY).await?;
    let wanted = read(fields::text(&bytes)?)?;
    asking.may_begin(&wanted.new)?;
    begin(&app, &asking, wanted, &headers, "POST /v1/operations", &bytes).await
}

/// Get a bulk operation
#[utoipa::path(get, path = "/v1/operations/{id}", tag = "operations", params(("id" = String, Path)),
    responses((status = 200, body = OperationBody), (status = 404, body = ProblemBody)))]
async fn get(State(app): State<App>, Segment(id): Segment, params: Params) -> Answer {
    params.only(&[])?;
    let operation = app.service.operation(operation_id(&id)?).await?;
    Ok(Json(OperationBody::from(operation)).into_response())
}

async fn verb(
    State(app): State<App>,
    Segment(segment): Segment,
    params: Params,
    request: Request,
) -> Response {
    let handler = |id, verb| async move {
        match verb {
            "cancel" => cancel(&app, id, &params, request).await,
            _ => Err(VERBS.unknown()),
        }
    };
    VERBS.dispatch(&segment, handler).await
}

/// Cancel a bulk operation
///
/// What it has done stays done.
#[utoipa::path(post, path = "/v1/operations/{id}:cancel", tag = "operations", params(("id" = String, Path)),
    responses((status = 200, body = OperationBody), (status = 404, body = ProblemBody),
        (status = 409, body = ProblemBody, description = "It is over")))]
async fn cancel(app: &App, id: &str, params: &Params, request: Request) -> Answer {
    params.only(&[])?;
    let id = operation_id(id)?;
    request::no_fields(request).await?;
    let operation = app.service.cancel_operation(id).await?;
    Ok(Json(OperationBody::from(operation)).into_response())
}

/// An operation that is asked for, or only a look at it.
pub(super) struct Wanted {
    pub(super) new: NewOperation,
    pub(super) dry_run: bool,
}

/// Begins an operation, or tells what it would do. The key of the request, if it has one, names the operation.
pub(super) async fn begin(
    app: &App,
    asking: &Asking,
    wanted: Wanted,
    headers: &HeaderMap,
    route: &str,
    bytes: &[u8],
) -> Answer {
    let key = request::idempotency(headers, app.now().wall, route, bytes)?;
    let mut new = wanted.new.asked_by(&asking.0.who).keyed(key);
    new.exec_allowed = exec_token::allows(app.options.exec_token.as_ref(), headers);
    let started = match app.service.begin_operation(new, wanted.dry_run).await? {
        Begun::Preview(preview) => return Ok(Json(PreviewBody::from(preview)).into_response()),
        Begun::Started(started) => started,
    };
    let location = HeaderValue::from_str(&format!("/v1/operations/{}", started.operation.id));
    let mut response = (StatusCode::ACCEPTED, Json(OperationBody::from(started.operation))).into_response();
    if let Ok(location) = location {
        response.headers_mut().insert(header::LOCATION, location);
    }
    if started.replayed {
        response.headers_mut().insert("idempotency-replayed", HeaderValue::from_static("true"));
    }
    Ok(response)
}

fn read(text: &str) -> Result<Wanted, Problem> {
    let mut object = Object::parse(text, FIELDS, "")?;
    let action = action(&mut object);
    let filter = object.take::<String>("filter");
    let ids = ids(&mut object);
    let all = object.take::<bool>("all").unwrap_or(false);
    let (dry_run, rate, reason) = manner(&mut object);
    let given = usize::from(object.raw("filter").is_some())
        + usize::from(object.raw("ids").is_some())
        + usize::from(all);
    if given != 1 && !object.is_refused() {
        object.refuse("filter", "exactly one of `filter`, `ids` and `\"all\": true` says which jobs");
    }
    object.finish().map_err(Problem::fields)?;
    let target = match (filter, ids) {
        (Some(text), _) => NewTarget::filter(text)?,
        (None, Some(ids)) => NewTarget::ids(ids).map_err(ServiceError::from)?,
        (None, None) => NewTarget::All,
    };
    // Whatever is missing was refused above.
    let action = action.unwrap_or(Action::Cancel);
    let new = NewOperation::new(action, target, rate, reason).map_err(ServiceError::from)?;
    Ok(Wanted { new, dry_run })
}

/// How an operation is carried out: only looked at, at which rate, why.
pub(super) fn manner(object: &mut Object<'_>) -> (bool, Option<u32>, Option<String>) {
    let dry_run = object.take::<bool>("dry_run").unwrap_or(false);
    let rate = object.integer("rate", 1..=i64::from(limits::OPERATION_RATE));
    let reason = object.take::<String>("reason");
    if reason.as_ref().is_some_and(|reason| reason.len() > limits::REMARK_BYTES) {
        object.refuse("reason", format!("is longer than {} bytes", limits::REMARK_BYTES));
    }
    (dry_run, rate.and_then(|rate| u32::try_from(rate).ok()), reason)
}

fn action(object: &mut Object<'_>) -> Option<Action> {
    let known = || Action::ALL.map(Action::as_str).join(", ");
    if object.raw("action").is_none() {
        object.refuse("action", format!("is missing; it can be {}", known()));
        return None;
    }
    let text = object.take::<String>("action")?;
    let action = Action::parse(&text);
    if action.is_none() {
        object.refuse("action", format!("is not known; it can be {}", known()));
    }
    action
}

/// The jobs that are named.
fn ids(object: &mut Object<'_>) -> Option<Vec<JobId>> {
    let raw = object.raw("ids")?;
    let elements = match fields::elements(raw, limits::OPERATION_IDS) {
        Ok(elements) => elements,
        Err(detail) => {
            object.refuse("ids", detail);
            return None;
        }
    };
    let mut ids: Vec<JobId> = Vec::with_capacity(elements.len());
    for (place, element) in elements.into_iter().enumerate() {
        match serde_json::from_str::<JobId>(element.get()) {
            Ok(id) => ids.push(id),
            Err(error) => {
                object.refuse(&format!("ids.{place}"), fields::without_place(&error));
                return None;
            }
        }
    }
    Some(ids)
}

fn operation_id(text: &str) -> Result<OperationId, Problem> {
    text.parse().map_err(|error| Problem::new(Code::InvalidParameter, format!("{error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_an_operation_is_named() {
        let many = format!(r#"{{"action":"replay","ids":[{}]}}"#, vec!["\"x\""; 1_001].join(","));
        for (json, pointer) in [
            ("{}", "/action"),
            (r#"{"action":"drop","all":true}"#, "/action"),
            (r#"{"action":1,"all":true}"#, "/action"),
            (r#"{"action":"replay"}"#, "/filter"),
            (r#"{"action":"replay","all":false}"#, "/filter"),
            (r#"{"action":"replay","all":true,"filter":"state:dead"}"#, "/filter"),
            (r#"{"action":"replay","filter":""}"#, "/filter"),
            (r#"{"action":"replay","filter":"  "}"#, "/filter"),
            (r#"{"action":"replay","filter":"colour:red"}"#, "/filter"),
            (r#"{"action":"replay","filter":7}"#, "/filter"),
            (r#"{"action":"replay","ids":[]}"#, "/ids"),
            (r#"{"action":"replay","ids":["x"]}"#, "/ids/0"),
            (r#"{"action":"replay","ids":"x"}"#, "/ids"),
            (&many, "/ids"),
            (r#"{"action":"replay","all":true,"rate":0}"#, "/rate"),
            (r#"{"action":"replay","all":true,"rate":10001}"#, "/rate"),
            (r#"{"action":"replay","all":true,"dry_run":"yes"}"#, "/dry_run"),
            (r#"{"action":"replay","all":true,"reson":"x"}"#, "/reson"),
        ] {
            let Err(problem) = read(json) else { panic!("{json} was taken") };
            assert_eq!(problem.errors[0].pointer, pointer, "{json}");
        }
    }

    #[test]
    fn an_operation_is_taken_at_each_bound() {
        let ids: Vec<String> = (0..1_000).map(|n| format!("\"{}\"", JobId::new(n, [0; 10]))).collect();
        let wanted =
            read(&format!(r#"{{"action":"delete","ids":[{}],"rate":10000}}"#, ids.join(","))).unwrap();
        assert!(matches!(&wanted.new.target, NewTarget::Ids(ids) if ids.len() == 1_000));
        let reason = |bytes| format!(r#"{{"action":"cancel","all":true,"reason":"{}"}}"#, "x".repeat(bytes));
        assert!(
            read(&reason(limits::REMARK_BYTES)).is_ok() && read(&reason(limits::REMARK_BYTES + 1)).is_err()
        );
        let twice = format!(r#"{{"action":"delete","ids":[{0},{0}]}}"#, ids[0]);
        assert!(matches!(read(&twice).unwrap().new.target, NewTarget::Ids(ids) if ids.len() == 1));
    }
}
