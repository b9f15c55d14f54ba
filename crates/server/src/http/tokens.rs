//! Tokens: list, make, look at, revoke.

use axum::Json;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use ganger_core::access::{Permission, Permissions, QueueScope, Role};
use ganger_core::limits;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::App;
use super::fields::{self, Object};
use super::problem::{Code, Problem};
use super::request::{self, Answer, Params, SMALL_BODY, Segment};
use super::users::{queues, role};
use crate::api::{HumanDuration, ProblemBody, TokenBody, TokenRequest, TokensBody};
use crate::auth::Asking;
use crate::service::NewToken;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list, create)).routes(routes!(get, delete))
}

/// List tokens
///
/// Without their secrets, which nobody knows any more.
#[utoipa::path(get, path = "/v1/tokens", tag = "access", responses((status = 200, body = TokensBody)))]
async fn list(State(app): State<App>, params: Params) -> Answer {
    params.only(&[])?;
    let tokens = app.service.tokens().await?;
    let items = tokens.into_iter().map(|(id, token)| TokenBody::new(id, token)).collect();
    Ok(Json(TokensBody { items }).into_response())
}

/// Make a token
///
/// The answer has the token itself, which is told this once.
#[utoipa::path(post, path = "/v1/tokens", tag = "access", request_body = TokenRequest,
    responses((status = 201, body = TokenBody), (status = 422, body = ProblemBody)))]
async fn create(State(app): State<App>, asking: Asking, params: Params, request: Request) -> Answer {
    params.only(&[])?;
    let bytes = request::body(request, SMALL_BODY).await?;
    let known = &["name", "role", "scopes", "queues", "enqueue", "expires_in", "rate"];
    let mut object = Object::parse(fields::text(&bytes)?, known, "")?;
    let new = read(&mut object);
    object.finish().map_err(Problem::fields)?;
    let Some(new) = new else {
        return Err(Problem::new(Code::Internal, "a token was read and is not there"));
    };
    let (id, token, text) = app.service.create_token(new, &asking.0).await?;
    let body = TokenBody { token: Some(text), ..TokenBody::new(id, token) };
    Ok((StatusCode::CREATED, Json(body)).into_response())
}

/// Get a token
#[utoipa::path(get, path = "/v1/tokens/{id}", tag = "access", params(("id" = String, Path)),
    responses((status = 200, body = TokenBody), (status = 404, body = ProblemBody)))]
async fn get(State(app): State<App>, Segment(id): Segment, params: Params) -> Answer {
    params.only(&[])?;
    let found = app.service.tokens().await?.into_iter().find(|(known, _)| *known == id);
    let shown: String = id.chars().take(64).collect();
    let (id, token) =
        found.ok_or_else(|| Problem::new(Code::NoSuchToken, format!("there is no token `{shown}`")))?;
    Ok(Json(TokenBody::new(id, token)).into_response())
}

/// Revoke a token
///
/// It is refused from now on, and streams that were opened with it end within seconds.
#[utoipa::path(delete, path = "/v1/tokens/{id}", tag = "access", params(("id" = String, Path)),
    responses((status = 204, description = "It holds no more"), (status = 404, body = ProblemBody)))]
async fn delete(State(app): State<App>, Segment(id): Segment, params: Params, request: Request) -> Answer {
    params.only(&[])?;
    request::no_fields(request).await?;
    app.service.delete_token(&id.chars().take(64).collect::<String>()).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// `None` only if something was refused.
fn read(object: &mut Object<'_>) -> Option<NewToken> {
    let name = object.take::<String>("name").unwrap_or_default();
    if !(1..=limits::NAME_BYTES).contains(&name.len()) && !object.is_refused() {
        object.refuse("name", format!("must have 1 to {} bytes", limits::NAME_BYTES));
    }
    let role = role(object);
    if role.is_none() && object.raw("role").is_none() {
        object.refuse("role", "is missing");
    }
    let scopes = object.take::<Vec<String>>("scopes").map(|words| scopes(object, &words));
    if let (Some(role), Some(Some(scopes))) = (role, scopes) {
        let beyond = scopes.each().find(|scope| !role.permissions().contains(*scope));
        if let Some(beyond) = beyond {
            object
                .refuse("scopes", format!("`{}` is not a permission of {}", beyond.as_str(), role.as_str()));
        }
    }
    let queues = queues(object, "queues");
    let also_enqueue = also_enqueue(object, role, queues.as_ref());
    if role.is_some_and(|role| role.permissions().contains(Permission::Admin))
        && queues.as_ref().is_some_and(|queues| !queues.is_all())
    {
        object.refuse("queues", "an admin cannot be confined to some queues");
    }
    let lasts = object.take::<HumanDuration>("expires_in").map(|lasts| lasts.0);
    if lasts.is_some_and(|lasts| lasts.is_zero() || lasts > 10 * limits::LONGEST) {
        object.refuse("expires_in", "must be longer than nothing and shorter than ten years");
    }
    let rate =
        object.integer("rate", 1..=i64::from(limits::TOKEN_RATE)).and_then(|rate| u32::try_from(rate).ok());
    let role = role?;
    Some(NewToken {
        name,
        role,
        scopes: scopes.flatten().unwrap_or(role.permissions()),
        queues: queues.unwrap_or_else(QueueScope::all),
        also_enqueue,
        lasts,
        rate,
    })
}

/// Queues besides its own into which a token may enqueue.
fn also_enqueue(
    object: &mut Object<'_>,
    role: Option<Role>,
    queues_of_token: Option<&QueueScope>,
) -> Option<QueueScope> {
    let besides = queues(object, "enqueue")?;
    if role.is_some_and(|role| !role.permissions().contains(Permission::Enqueue)) {
        object.refuse("enqueue", "this role may enqueue nothing");
    }
    let own = queues_of_token.map_or(0, |own| own.globs().len());
    if own + besides.globs().len() > limits::SCOPE_GLOBS {
        object.refuse("enqueue", format!("and `queues` have more than {} entries", limits::SCOPE_GLOBS));
    }
    Some(besides)
}

fn scopes(object: &mut Object<'_>, words: &[String]) -> Option<Permissions> {
    match words.iter().find(|word| Permission::parse(word).is_none()) {
        Some(unknown) => {
            let shown: String = unknown.chars().take(64).collect();
            let known: Vec<&str> = Permission::ALL.iter().map(|scope| scope.as_str()).collect();
            object.refuse("scopes", format!("`{shown}` is none of {}", known.join(", ")));
            None
        }
        None if words.is_empty() => {
            object.refuse("scopes", "is empty: such a token could do nothing");
            None
        }
        None => {
            let each: Vec<Permission> = words.iter().filter_map(|word| Permission::parse(word)).collect();
            Some(Permissions::of(&each))
        }
    }
}
