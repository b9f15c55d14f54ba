//! Keys of queues: list, and the verbs close and open.

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use axum::response::{IntoResponse as _, Response};
use ganger_core::change::KeyClosure;
use ganger_core::name::QueueName;
use ganger_core::{Wall, limits};
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::App;
use super::fields::{self, Object};
use super::problem::{Code, Problem};
use super::request::{self, Answer, Params, SMALL_BODY, Segment, Verbs};
use crate::api::{HumanDuration, KeyBody, KeyClose, KeysBody, ProblemBody};
use crate::service::{ClosedFor, check_key};

#[derive(OpenApi)]
#[openapi(paths(close, open))]
struct Described;

/// What can be done with a key.
pub(super) const VERBS: Verbs = Verbs {
    of: "a key",
    routes: &["/v1/queues/{queue}/keys/{key}:close", "/v1/queues/{queue}/keys/{key}:open"],
};

type Place = Result<Path<(String, String)>, PathRejection>;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(Described::openapi())
        .routes(routes!(list))
        .routes(routes!(list_of_queue))
        .route("/v1/queues/{queue}/keys/{key}", axum::routing::post(verb))
}

/// List keys
///
/// The `concurrency_key`s that have live jobs or are closed, of all queues; the closed ones first.
#[utoipa::path(get, path = "/v1/keys", tag = "keys", params(("limit" = Option<usize>, Query)),
    responses((status = 200, body = KeysBody)))]
async fn list(State(app): State<App>, params: Params) -> Answer {
    show(&app, None, &params).await
}

/// List the keys of a queue
#[utoipa::path(get, path = "/v1/queues/{queue}/keys", tag = "keys",
    params(("queue" = String, Path), ("limit" = Option<usize>, Query)),
    responses((status = 200, body = KeysBody)))]
async fn list_of_queue(State(app): State<App>, Segment(queue): Segment, params: Params) -> Answer {
    show(&app, Some(name(&queue)?), &params).await
}

async fn show(app: &App, queue: Option<QueueName>, params: &Params) -> Answer {
    params.only(&["limit"])?;
    let limit = request::limit(params, limits::PAGE_MAX)?;
    let (keys, total) = app.service.keys(queue, limit).await?;
    Ok(Json(KeysBody { items: keys.into_iter().map(KeyBody::from).collect(), total }).into_response())
}

async fn verb(State(app): State<App>, place: Place, params: Params, request: Request) -> Response {
    let (queue, segment) = match place {
        Ok(Path(place)) => place,
        Err(error) => {
            let detail = format!("the path cannot be read: {error}");
            return Problem::new(Code::InvalidParameter, detail).into_response();
        }
    };
    let handler = |key, verb| async move {
        match verb {
            "close" => close(&app, &queue, key, &params, request).await,
            "open" => open(&app, &queue, key, &params, request).await,
            _ => Err(VERBS.unknown()),
        }
    };
    VERBS.dispatch(&segment, handler).await
}

/// Close a key
///
/// Its jobs wait, no attempt burnt, and all others go on. Jobs that run are not stopped. It opens by itself when the time is over.
#[utoipa::path(post, path = "/v1/queues/{queue}/keys/{key}:close", tag = "keys",
    params(("queue" = String, Path), ("key" = String, Path)), request_body = KeyClose,
    responses((status = 200, body = KeyBody), (status = 422, body = ProblemBody), (status = 429, body = ProblemBody)))]
async fn close(app: &App, queue: &str, key: &str, params: &Params, request: Request) -> Answer {
    params.only(&[])?;
    let (queue, key) = (name(queue)?, valid(key)?);
    let bytes = request::body(request, SMALL_BODY).await?;
    let until = until(fields::text(&bytes)?, app.now().wall)?;
    set(app, KeyClosure { queue, key, until: Some(until) }).await
}

/// Open a key
///
/// Before its time is over; nothing happens if it is open.
#[utoipa::path(post, path = "/v1/queues/{queue}/keys/{key}:open", tag = "keys",
    params(("queue" = String, Path), ("key" = String, Path)),
    responses((status = 200, body = KeyBody)))]
async fn open(app: &App, queue: &str, key: &str, params: &Params, request: Request) -> Answer {
    params.only(&[])?;
    let (queue, key) = (name(queue)?, valid(key)?);
    request::no_fields(request).await?;
    set(app, KeyClosure { queue, key, until: None }).await
}

async fn set(app: &App, closure: KeyClosure) -> Answer {
    Ok(Json(KeyBody::from(app.service.close_key(closure).await?)).into_response())
}

fn name(text: &str) -> Result<QueueName, Problem> {
    text.parse()
        .map_err(|error| Problem::new(Code::InvalidParameter, format!("the name of the queue {error}")))
}

fn valid(key: &str) -> Result<String, Problem> {
    check_key(key)
        .map_err(|error| Problem::new(Code::InvalidParameter, format!("the key {}", error.problem)))?;
    Ok(key.to_owned())
}

/// Until when a key is to be closed.
fn until(text: &str, now: Wall) -> Result<Wall, Problem> {
    let mut object = Object::parse(text, &["for", "until"], "")?;
    let long = object.take::<HumanDuration>("for").map(|long| long.0);
    let moment = object.take::<Wall>("until");
    match (object.raw("for").is_some(), object.raw("until").is_some()) {
        (true, true) => object.refuse("until", "cannot be given together with `for`"),
        (false, false) => object.refuse("for", "is missing: for example \"30s\""),
        (true, false) | (false, true) => {}
    }
    let closed = long.map(ClosedFor::For).or(moment.map(ClosedFor::Until));
    let end = closed.map(|closed| closed.end(now));
    if let Some(Err(error)) = &end {
        object.refuse(error.field, error.problem.clone());
    }
    object.finish().map_err(Problem::fields)?;
    match end {
        Some(Ok(end)) => Ok(end),
        // Whatever is missing was refused above.
        Some(Err(_)) | None => Err(Problem::new(Code::Internal, "the time could not be read")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const NOW: Wall = Wall(1_700_000_000_000_000);

    #[test]
    fn a_key_is_closed_for_a_while_or_until_a_moment() {
        assert_eq!(until(r#"{"for": "30s"}"#, NOW).unwrap(), NOW + Duration::from_secs(30));
        let moment = NOW + Duration::from_secs(7);
        assert_eq!(until(&format!(r#"{{"until": "{moment}"}}"#), NOW).unwrap(), moment);
        assert_eq!(until(r#"{"for": "366d"}"#, NOW).unwrap(), NOW + limits::LONGEST);
        for (json, pointer) in [
            ("{}", "/for"),
            (r#"{"for": "0s"}"#, "/for"),
            (r#"{"for": "367d"}"#, "/for"),
            (r#"{"for": 7, "until": "2030-01-01T00:00:00Z"}"#, "/until"),
            (r#"{"until": "2020-01-01T00:00:00Z"}"#, "/until"),
            (r#"{"until": "soon"}"#, "/until"),
        ] {
            let problem = until(json, NOW).unwrap_err();
            assert!(problem.errors.iter().any(|error| error.pointer == pointer), "{json}: {problem:?}");
        }
    }

    #[test]
    fn a_key_keeps_to_its_bounds() {
        assert!(valid(&"k".repeat(limits::KEY_BYTES)).is_ok());
        assert!(valid(&"k".repeat(limits::KEY_BYTES + 1)).is_err());
        assert!(valid("").is_err() && valid("a\u{7}").is_err());
    }
}
