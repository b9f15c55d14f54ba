//! Queues: list, get, set, and the verbs pause, resume, drain, purge.

use axum::Json;
use axum::extract::{Request, State};
use axum::response::{IntoResponse as _, Response};
use ganger_core::coordinator::view::QueueView;
use ganger_core::limits;
use ganger_core::name::QueueName;
use tower::ServiceExt as _;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::App;
use super::fields::{self, Object};
use super::problem::{Code, Problem};
use super::request::{self, Answer, Params, SMALL_BODY, Segment, Verbs};
use crate::api::{
    AgeingBody, HeadBody, OrNone, ProblemBody, PurgeBody, QueueBody, QueueLimitsPut, QueuePut, QueuesBody,
    RetentionPut,
};
use crate::auth::Asking;

/// What can be done with a queue.
pub(super) const VERBS: Verbs = Verbs {
    of: "a queue",
    routes: &[
        "/v1/queues/{queue}:pause",
        "/v1/queues/{queue}:resume",
        "/v1/queues/{queue}:drain",
        "/v1/queues/{queue}:purge",
        "/v1/queues/{queue}:claim",
    ],
};

/// What can be set.
const FIELDS: &[&str] = &[
    "paused",
    "draining",
    "policy",
    "retention",
    "limits",
    "key_limits",
    "block",
    "ageing",
    "weight",
    "precedence",
];

#[derive(OpenApi)]
#[openapi(paths(pause, resume, drain, purge))]
struct Described;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(Described::openapi())
        .routes(routes!(list))
        .routes(routes!(get, put))
        .routes(routes!(head))
        .route("/v1/queues/{queue}", axum::routing::post(verb))
}

/// List queues
///
/// Every queue that was ever set or holds a job.
#[utoipa::path(get, path = "/v1/queues", tag = "queues", responses((status = 200, body = QueuesBody)))]
async fn list(State(app): State<App>, asking: Asking, params: Params) -> Answer {
    params.only(&[])?;
    let seen = app.service.queues().await?.into_iter().filter(|view| asking.0.sees(&view.queue));
    let items = seen.map(QueueBody::from).collect();
    Ok(Json(QueuesBody { items }).into_response())
}

/// Get a queue
///
/// A queue that was never used has the default settings.
#[utoipa::path(get, path = "/v1/queues/{queue}", tag = "queues", params(("queue" = String, Path)),
    responses((status = 200, body = QueueBody)))]
async fn get(State(app): State<App>, Segment(queue): Segment, params: Params) -> Answer {
    params.only(&[])?;
    show(app.service.queue(name(&queue)?).await?)
}

/// Get the head of a queue
///
/// The jobs that are next, in the order in which they would start if nothing held them back, and what holds each of them back: the
/// first closed gate, as `/v1/jobs/{id}/explain` tells it.
#[utoipa::path(get, path = "/v1/queues/{queue}/head", tag = "queues",
    params(("queue" = String, Path), ("limit" = Option<usize>, Query, description = "1 to 100, 20 if not given")),
    responses((status = 200, body = HeadBody), (status = 400, body = ProblemBody)))]
async fn head(State(app): State<App>, Segment(queue): Segment, asking: Asking, params: Params) -> Answer {
    params.only(&["limit"])?;
    let limit = request::limit_or(&params, limits::HEAD_DEFAULT, limits::HEAD_MAX)?;
    let mut head = app.service.head(name(&queue)?, limit).await?;
    asking.hide_queues(Some(&mut head.others));
    Ok(Json(HeadBody::from(head)).into_response())
}

/// Set a queue
///
/// What is left out stays as it is.
#[utoipa::path(put, path = "/v1/queues/{queue}", tag = "queues", params(("queue" = String, Path)),
    request_body = QueuePut,
    responses((status = 200, body = QueueBody), (status = 422, body = ProblemBody)))]
async fn put(State(app): State<App>, Segment(queue): Segment, params: Params, request: Request) -> Answer {
    params.only(&[])?;
    let queue = name(&queue)?;
    let bytes = request::body(request, SMALL_BODY).await?;
    let wanted = read(fields::text(&bytes)?)?;
    show(app.service.change_queue(queue, |settings| wanted.apply(settings)).await?)
}

async fn verb(
    State(app): State<App>,
    Segment(segment): Segment,
    params: Params,
    request: Request,
) -> Response {
    let handler = |queue, verb| async move {
        match verb {
            "pause" => pause(&app, queue, &params, request).await,
            "resume" => resume(&app, queue, &params, request).await,
            "drain" => drain(&app, queue, &params, request).await,
            "purge" => purge(&app, queue, &params, request).await,
            "claim" => Ok(to_claim(State(app), request).await),
            _ => Err(VERBS.unknown()),
        }
    };
    VERBS.dispatch(&segment, handler).await
}

/// Hands a request to the worker protocol over HTTP.
pub(super) async fn to_claim(State(app): State<App>, request: Request) -> Response {
    match &app.options.claim {
        None => super::no_route(request.uri().path()).into_response(),
        Some(router) => match router.clone().oneshot(unrouted(request)).await {
            Ok(response) => response,
            Err(never) => match never {},
        },
    }
}

/// The request as it came, with who asks: what our own router captured from its path would mix with what the next one
/// captures.
fn unrouted(request: Request) -> Request {
    let (mut parts, body) = request.into_parts();
    let asking = parts.extensions.remove::<Asking>();
    parts.extensions.clear();
    asking.map(|asking| parts.extensions.insert(asking));
    Request::from_parts(parts, body)
}

/// Pause a queue
///
/// Nothing of it starts; submissions are accepted and running jobs go on.
#[utoipa::path(post, path = "/v1/queues/{queue}:pause", tag = "queues", params(("queue" = String, Path)),
    responses((status = 200, body = QueueBody)))]
async fn pause(app: &App, queue: &str, params: &Params, request: Request) -> Answer {
    let queue = prepare(queue, params, request).await?;
    show(app.service.pause_queue(queue).await?)
}

/// Resume a queue that was paused or drained
#[utoipa::path(post, path = "/v1/queues/{queue}:resume", tag = "queues", params(("queue" = String, Path)),
    responses((status = 200, body = QueueBody)))]
async fn resume(app: &App, queue: &str, params: &Params, request: Request) -> Answer {
    let queue = prepare(queue, params, request).await?;
    show(app.service.resume_queue(queue).await?)
}

/// Drain a queue
///
/// Submissions are refused; what is there runs.
#[utoipa::path(post, path = "/v1/queues/{queue}:drain", tag = "queues", params(("queue" = String, Path)),
    responses((status = 200, body = QueueBody)))]
async fn drain(app: &App, queue: &str, params: &Params, request: Request) -> Answer {
    let queue = prepare(queue, params, request).await?;
    show(app.service.drain_queue(queue).await?)
}

/// Remove the dead jobs of a queue, for ever
#[utoipa::path(post, path = "/v1/queues/{queue}:purge", tag = "queues", params(("queue" = String, Path)),
    responses((status = 200, body = PurgeBody)))]
async fn purge(app: &App, queue: &str, params: &Params, request: Request) -> Answer {
    let queue = prepare(queue, params, request).await?;
    let purged = app.service.purge_dead(queue).await?;
    Ok(Json(PurgeBody { purged }).into_response())
}

async fn prepare(queue: &str, params: &Params, request: Request) -> Result<QueueName, Problem> {
    params.only(&[])?;
    let queue = name(queue)?;
    request::no_fields(request).await?;
    Ok(queue)
}

pub(super) fn name(text: &str) -> Result<QueueName, Problem> {
    text.parse()
        .map_err(|error| Problem::new(Code::InvalidParameter, format!("the name of the queue {error}")))
}

fn show(view: QueueView) -> Answer {
    Ok(Json(QueueBody::from(view)).into_response())
}

fn read(text: &str) -> Result<QueuePut, Problem> {
    let mut object = Object::parse(text, FIELDS, "")?;
    let mut put = QueuePut {
        paused: object.take("paused"),
        draining: object.take("draining"),
        policy: object.take("policy"),
        retention: None,
        limits: limits(&mut object, "limits"),
        key_limits: limits(&mut object, "key_limits"),
        block: object.take("block"),
        ageing: ageing(&mut object),
        weight: object
            .integer("weight", 1..=limits::QUEUE_WEIGHT.into())
            .and_then(|weight| u16::try_from(weight).ok()),
        precedence: object
            .integer("precedence", i8::MIN.into()..=i8::MAX.into())
            .and_then(|precedence| i8::try_from(precedence).ok()),
    };
    if let Some(raw) = object.raw("retention") {
        match Object::parse(raw.get(), &["finished", "dead"], "/retention") {
            Err(_) => object.refuse("retention", "must be an object with `finished`, `dead`"),
            Ok(mut inner) => {
                let (finished, dead) = (inner.take("finished"), inner.take("dead"));
                put.retention = Some(RetentionPut { finished, dead });
                if let Err(errors) = inner.finish() {
                    object.refuse_all(errors);
                }
            }
        }
    }
    object.finish().map_err(Problem::fields)?;
    Ok(put)
}

fn limits(object: &mut Object<'_>, field: &str) -> Option<QueueLimitsPut> {
    let raw = object.raw(field)?;
    let fields: &[&str] = &["max_running", "rate", "burst", "max_depth"];
    let Ok(mut inner) = Object::parse(raw.get(), fields, &format!("/{field}")) else {
        object.refuse(field, "must be an object with `max_running`, `rate`, `burst`, `max_depth`");
        return None;
    };
    let put = QueueLimitsPut {
        max_running: inner.take("max_running"),
        rate: inner.take("rate"),
        burst: inner.take("burst"),
        max_depth: inner.take("max_depth"),
    };
    if let Err(errors) = inner.finish() {
        object.refuse_all(errors);
    }
    Some(put)
}

fn ageing(object: &mut Object<'_>) -> Option<OrNone<AgeingBody>> {
    let raw = object.raw("ageing")?;
    if raw.get() == "\"none\"" {
        return Some(OrNone::None);
    }
    let Ok(mut inner) = Object::parse(raw.get(), &["every", "at_most"], "/ageing") else {
        object.refuse("ageing", "must be `none` or an object with `every`, `at_most`");
        return None;
    };
    let every = inner.take("every");
    if inner.raw("every").is_none() {
        inner.refuse("every", "is missing: for example \"1m\"");
    }
    let at_most = inner.integer("at_most", 1..=u8::MAX.into()).and_then(|most| u8::try_from(most).ok());
    if let Err(errors) = inner.finish() {
        object.refuse_all(errors);
        return None;
    }
    Some(OrNone::Some(AgeingBody { every: every?, at_most: at_most.unwrap_or(u8::MAX) }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::ServiceError;
    use ganger_core::queue::{Keep, Policy, QueueSettings};
    use std::time::Duration;

    #[test]
    fn what_is_left_out_stays_as_it_is() {
        let mut settings = QueueSettings { paused: true, policy: Policy::Spread, ..QueueSettings::default() };
        let put = read(r#"{"draining": true, "retention": {"finished": "none"}}"#).unwrap();
        put.apply(&mut settings).unwrap();
        assert!(settings.paused && settings.draining);
        assert_eq!(settings.policy, Policy::Spread);
        assert_eq!(settings.retention.finished, Keep::None);
        assert_eq!(settings.retention.dead, Keep::For(Duration::from_secs(90 * 86_400)));
    }

    #[test]
    fn settings_that_are_not_valid_are_named() {
        for (json, pointer) in [
            (r#"{"paused": "yes"}"#, "/paused"),
            (r#"{"policy": "fastest"}"#, "/policy"),
            (r#"{"retention": 7}"#, "/retention"),
            (r#"{"retention": {"dead": "none"}}"#, "/retention/dead"),
            (r#"{"retention": {"finished": "0s"}}"#, "/retention/finished"),
            (r#"{"retention": {"finished": "999999d"}}"#, "/retention/finished"),
            (r#"{"retention": {"ded": "1d"}}"#, "/retention/ded"),
            (r#"{"pause": true}"#, "/pause"),
            (r#"{"limits": 7}"#, "/limits"),
            (r#"{"limits": {"max_running": "many"}}"#, "/limits/max_running"),
            (r#"{"limits": {"burst": 1}}"#, "/limits/burst"),
            (r#"{"limits": {"max_runing": 1}}"#, "/limits/max_runing"),
            (r#"{"key_limits": {"rate": "fast"}}"#, "/key_limits/rate"),
            (r#"{"block": "soon"}"#, "/block"),
            (r#"{"ageing": {"at_most": 3}}"#, "/ageing/every"),
            (r#"{"ageing": {"every": "1m", "at_most": 256}}"#, "/ageing/at_most"),
            (r#"{"weight": 0}"#, "/weight"),
            (r#"{"weight": 1001}"#, "/weight"),
            (r#"{"precedence": 128}"#, "/precedence"),
        ] {
            let mut settings = QueueSettings::default();
            let set = read(json).and_then(|put| {
                put.apply(&mut settings)
                    .and_then(|()| settings.check())
                    .map_err(|e| ServiceError::from(e).into())
            });
            let problem: Problem = set.unwrap_err();
            assert_eq!(problem.errors[0].pointer, pointer, "{json}");
        }
    }
}
