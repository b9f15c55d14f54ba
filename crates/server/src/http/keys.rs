//! Keys of queues: list, and the verbs close and open.

use std::time::Duration;

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
use super::observe::RouteLabel;
use super::problem::{Code, Problem};
use super::request::{self, Answer, Params, SMALL_BODY, Segment};
use crate::api::{HumanDuration, KeyBody, KeyClose, KeysBody, ProblemBody};

#[derive(OpenApi)]
#[openapi(paths(close, open))]
struct Verbs;

/// What can be done with a key.
pub(super) const VERBS: [&str; 2] = ["close", "open"];

type Place = Result<Path<(String, String)>, PathRejection>;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(Verbs::openapi())
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
    let limit = params.parsed::<usize>("limit")?.unwrap_or(limits::PAGE_DEFAULT);
    if !(1..=limits::PAGE_MAX).contains(&limit) {
        return Err(Problem::parameter("limit", format!("must be from 1 to {}", limits::PAGE_MAX)));
    }
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
    // A key may itself contain colons: the verb follows the last one.
    let (key, verb) = segment.rsplit_once(':').unwrap_or((&segment, ""));
    let (label, answer) = match verb {
        "close" => ("/v1/queues/{queue}/keys/{key}:close", close(&app, &queue, key, &params, request).await),
        "open" => ("/v1/queues/{queue}/keys/{key}:open", open(&app, &queue, key, &params, request).await),
        _ => {
            let known = VERBS.join(", ");
            let detail = format!("a key has the verbs {known}: POST /v1/queues/{{queue}}/keys/{{key}}:close");
            return Problem::new(Code::MethodNotAllowed, detail).into_response();
        }
    };
    RouteLabel(label).on(answer)
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
    let wrong = |what: &str| Err(Problem::new(Code::InvalidParameter, format!("the key {what}")));
    match key {
        "" => wrong("is empty"),
        _ if key.len() > limits::KEY_BYTES => wrong(&format!("has more than {} bytes", limits::KEY_BYTES)),
        _ if key.chars().any(char::is_control) => wrong("contains a control character"),
        _ => Ok(key.to_owned()),
    }
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
    let at = long.map(|long| now + long).or(moment).unwrap_or(now);
    let field = if long.is_some() { "for" } else { "until" };
    if !object.is_refused() && at <= now {
        object.refuse(field, "must lie in the future; a key is opened with :open");
    } else if at.since(now) > limits::LONGEST + Duration::from_secs(1) {
        let days = limits::LONGEST.as_secs() / 86_400;
        object.refuse(field, format!("is longer than {days} days"));
    }
    object.finish().map_err(Problem::fields)?;
    Ok(at)
}

#[cfg(test)]
mod tests {
    use super::*;

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
