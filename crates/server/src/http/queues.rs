//! Queues: list, get, set, and the verbs pause, resume, drain, purge.

use axum::Json;
use axum::extract::{Request, State};
use axum::response::{IntoResponse as _, Response};
use ganger_core::name::QueueName;
use ganger_core::queue::{Ageing, Keep, QueueSettings};
use tower::ServiceExt as _;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::App;
use super::fields::{self, Object};
use super::intake;
use super::observe::RouteLabel;
use super::problem::{Code, Problem};
use super::request::{self, Answer, Params, SMALL_BODY, Segment};
use crate::api::{
    AgeingBody, FieldProblem, KeepBody, OrNone, ProblemBody, PurgeBody, QueueBody, QueueLimitsPut, QueuePut,
    QueuesBody,
};

/// Verbs of a queue, as in `POST /v1/queues/{queue}:pause`.
pub(super) const VERBS: [&str; 4] = ["pause", "resume", "drain", "purge"];

/// Longest time that final jobs can be kept for, other than for ever.
const LONGEST_KEPT_DAYS: u64 = 3_660;

/// What can be set.
const FIELDS: &[&str] =
    &["paused", "draining", "policy", "retention", "limits", "key_limits", "block", "ageing"];

#[derive(OpenApi)]
#[openapi(paths(pause, resume, drain, purge))]
struct Verbs;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(Verbs::openapi())
        .routes(routes!(list))
        .routes(routes!(get, put))
        .route("/v1/queues/{queue}", axum::routing::post(verb))
}

/// List queues
///
/// Every queue that was ever set or holds a job.
#[utoipa::path(get, path = "/v1/queues", tag = "queues", responses((status = 200, body = QueuesBody)))]
async fn list(State(app): State<App>, params: Params) -> Answer {
    params.only(&[])?;
    let items = app.service.queues().await?.into_iter().map(QueueBody::from).collect();
    Ok(Json(QueuesBody { items }).into_response())
}

/// Get a queue
///
/// A queue that was never used has the default settings.
#[utoipa::path(get, path = "/v1/queues/{queue}", tag = "queues", params(("queue" = String, Path)),
    responses((status = 200, body = QueueBody)))]
async fn get(State(app): State<App>, Segment(queue): Segment, params: Params) -> Answer {
    params.only(&[])?;
    show(&app, name(&queue)?).await
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
    try_change(&app, queue, |settings| apply(settings, wanted)).await
}

async fn verb(
    State(app): State<App>,
    Segment(segment): Segment,
    params: Params,
    request: Request,
) -> Response {
    // A queue's name may itself contain colons: the verb follows the last one.
    let (queue, verb) = segment.rsplit_once(':').unwrap_or((&segment, ""));
    let (label, answer) = match verb {
        "pause" => ("/v1/queues/{queue}:pause", pause(&app, queue, &params, request).await),
        "resume" => ("/v1/queues/{queue}:resume", resume(&app, queue, &params, request).await),
        "drain" => ("/v1/queues/{queue}:drain", drain(&app, queue, &params, request).await),
        "purge" => ("/v1/queues/{queue}:purge", purge(&app, queue, &params, request).await),
        "claim" => ("/v1/queues/{queue}:claim", Ok(to_claim(State(app.clone()), request).await)),
        _ => {
            let known = VERBS.join(", ");
            let detail = format!("a queue has the verbs {known}: POST /v1/queues/{{queue}}:pause");
            return Problem::new(Code::MethodNotAllowed, detail).into_response();
        }
    };
    RouteLabel(label).on(answer)
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

/// The request as it came: what our own router captured from its path would mix with what the next one
/// captures.
fn unrouted(request: Request) -> Request {
    let (mut parts, body) = request.into_parts();
    parts.extensions.clear();
    Request::from_parts(parts, body)
}

/// Pause a queue
///
/// Nothing of it starts; submissions are accepted and running jobs go on.
#[utoipa::path(post, path = "/v1/queues/{queue}:pause", tag = "queues", params(("queue" = String, Path)),
    responses((status = 200, body = QueueBody)))]
async fn pause(app: &App, queue: &str, params: &Params, request: Request) -> Answer {
    let queue = prepare(queue, params, request).await?;
    change(app, queue, |settings| settings.paused = true).await
}

/// Resume a queue that was paused or drained
#[utoipa::path(post, path = "/v1/queues/{queue}:resume", tag = "queues", params(("queue" = String, Path)),
    responses((status = 200, body = QueueBody)))]
async fn resume(app: &App, queue: &str, params: &Params, request: Request) -> Answer {
    let queue = prepare(queue, params, request).await?;
    change(app, queue, |settings| {
        settings.paused = false;
        settings.draining = false;
    })
    .await
}

/// Drain a queue
///
/// Submissions are refused; what is there runs.
#[utoipa::path(post, path = "/v1/queues/{queue}:drain", tag = "queues", params(("queue" = String, Path)),
    responses((status = 200, body = QueueBody)))]
async fn drain(app: &App, queue: &str, params: &Params, request: Request) -> Answer {
    let queue = prepare(queue, params, request).await?;
    change(app, queue, |settings| settings.draining = true).await
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

fn name(text: &str) -> Result<QueueName, Problem> {
    text.parse()
        .map_err(|error| Problem::new(Code::InvalidParameter, format!("the name of the queue {error}")))
}

/// Changes are read, made and written under one lock, so that two of them never undo each other.
async fn change(app: &App, queue: QueueName, edit: impl FnOnce(&mut QueueSettings)) -> Answer {
    try_change(app, queue, |settings| {
        edit(settings);
        Ok(())
    })
    .await
}

async fn try_change(
    app: &App,
    queue: QueueName,
    edit: impl FnOnce(&mut QueueSettings) -> Result<(), Problem>,
) -> Answer {
    let _one_at_a_time = app.queue_changes.lock().await;
    let mut settings = app.service.queue(queue.clone()).await?.settings;
    edit(&mut settings)?;
    settings.check().map_err(|error| Problem::fields(vec![intake::at_field("", &error)]))?;
    app.service.put_queue(queue.clone(), settings).await?;
    show(app, queue).await
}

async fn show(app: &App, queue: QueueName) -> Answer {
    Ok(Json(QueueBody::from(app.service.queue(queue).await?)).into_response())
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
    };
    if let Some(raw) = object.raw("retention") {
        match Object::parse(raw.get(), &["finished", "dead"], "/retention") {
            Err(_) => object.refuse("retention", "must be an object with `finished`, `dead`"),
            Ok(mut inner) => {
                let finished = keep(&mut inner, "finished");
                let dead = keep(&mut inner, "dead");
                if dead == Some(KeepBody(Keep::None)) {
                    inner.refuse("dead", "cannot be `none`: a dead job is never dropped unseen");
                }
                put.retention = Some(crate::api::RetentionPut { finished, dead });
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

fn keep(object: &mut Object<'_>, field: &str) -> Option<KeepBody> {
    let kept: KeepBody = object.take(field)?;
    match kept.0 {
        Keep::For(time) if time.is_zero() => {
            object.refuse(field, "must be longer than 0; \"none\" keeps nothing");
            None
        }
        Keep::For(time) if time.as_secs() > LONGEST_KEPT_DAYS * 86_400 => {
            object.refuse(field, format!("is longer than {LONGEST_KEPT_DAYS} days; \"forever\" has no end"));
            None
        }
        Keep::For(_) | Keep::None | Keep::Forever => Some(kept),
    }
}

fn apply(settings: &mut QueueSettings, put: QueuePut) -> Result<(), Problem> {
    settings.paused = put.paused.unwrap_or(settings.paused);
    settings.draining = put.draining.unwrap_or(settings.draining);
    settings.policy = put.policy.unwrap_or(settings.policy);
    if let Some(retention) = put.retention {
        settings.retention.finished = retention.finished.map_or(settings.retention.finished, |k| k.0);
        settings.retention.dead = retention.dead.map_or(settings.retention.dead, |k| k.0);
    }
    let changes =
        [("/limits", put.limits, &mut settings.limits), ("/key_limits", put.key_limits, &mut settings.keys)];
    for (pointer, put, limits) in changes {
        let Some(put) = put else { continue };
        *limits = put.apply(*limits).ok_or_else(|| {
            let detail = "is given, but there is no rate that it could be the burst of";
            Problem::fields(vec![FieldProblem::new(format!("{pointer}/burst"), detail)])
        })?;
    }
    settings.block = put.block.map_or(settings.block, |block| block.0);
    if let Some(ageing) = put.ageing {
        settings.ageing =
            ageing.into_option().map(|ageing| Ageing { every: ageing.every.0, at_most: ageing.at_most });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ganger_core::queue::Policy;
    use std::time::Duration;

    #[test]
    fn what_is_left_out_stays_as_it_is() {
        let mut settings = QueueSettings { paused: true, policy: Policy::Spread, ..QueueSettings::default() };
        apply(&mut settings, read(r#"{"draining": true, "retention": {"finished": "none"}}"#).unwrap())
            .unwrap();
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
            (r#"{"limits": {"max_runing": 1}}"#, "/limits/max_runing"),
            (r#"{"key_limits": {"rate": "fast"}}"#, "/key_limits/rate"),
            (r#"{"block": "soon"}"#, "/block"),
            (r#"{"ageing": {"at_most": 3}}"#, "/ageing/every"),
            (r#"{"ageing": {"every": "1m", "at_most": 256}}"#, "/ageing/at_most"),
        ] {
            let problem = read(json).unwrap_err();
            assert_eq!(problem.errors[0].pointer, pointer, "{json}");
        }
    }
}
