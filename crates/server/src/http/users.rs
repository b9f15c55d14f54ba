//! Users: list, make, look at, change, forget.

use axum::Json;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use ganger_core::access::{QueueScope, Role};
use ganger_core::name::QueueName;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::App;
use super::auth::check_password;
use super::fields::{self, Object};
use super::problem::{Code, Problem};
use super::request::{self, Answer, Params, SMALL_BODY, Segment};
use crate::api::{ProblemBody, UserBody, UserRequest, UsersBody};
use crate::service::UserChange;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list, create)).routes(routes!(get, put, delete))
}

/// List users
#[utoipa::path(get, path = "/v1/users", tag = "access", responses((status = 200, body = UsersBody)))]
async fn list(State(app): State<App>, params: Params) -> Answer {
    params.only(&[])?;
    let users = app.service.users().await?;
    let items = users.into_iter().map(|(name, user)| UserBody::new(name, &user)).collect();
    Ok(Json(UsersBody { items }).into_response())
}

/// Make a user
#[utoipa::path(post, path = "/v1/users", tag = "access", request_body = UserRequest,
    responses((status = 201, body = UserBody), (status = 409, body = ProblemBody), (status = 422, body = ProblemBody)))]
async fn create(State(app): State<App>, params: Params, request: Request) -> Answer {
    params.only(&[])?;
    let bytes = request::body(request, SMALL_BODY).await?;
    let known = &["name", "password", "role", "queues", "disabled"];
    let mut object = Object::parse(fields::text(&bytes)?, known, "")?;
    let name = object.take::<String>("name").unwrap_or_default();
    if let Err(error) = checked(&name)
        && !object.is_refused()
    {
        object.refuse("name", error);
    }
    if object.raw("password").is_none() {
        object.refuse("password", "is missing");
    }
    let change = change(&mut object);
    object.finish().map_err(Problem::fields)?;
    let user = app.service.create_user(&name, change).await?;
    Ok((StatusCode::CREATED, Json(UserBody::new(name, &user))).into_response())
}

/// Get a user
#[utoipa::path(get, path = "/v1/users/{name}", tag = "access", params(("name" = String, Path)),
    responses((status = 200, body = UserBody), (status = 404, body = ProblemBody)))]
async fn get(State(app): State<App>, Segment(segment): Segment, params: Params) -> Answer {
    params.only(&[])?;
    let name = name(&segment)?;
    let found = app.service.users().await?.into_iter().find(|(known, _)| *known == name);
    let (name, user) =
        found.ok_or_else(|| Problem::new(Code::NoSuchUser, format!("there is no user `{name}`")))?;
    Ok(Json(UserBody::new(name, &user)).into_response())
}

/// Change a user
///
/// What is not given stays as it is. All logins of the user end.
#[utoipa::path(put, path = "/v1/users/{name}", tag = "access", params(("name" = String, Path)),
    request_body = UserRequest,
    responses((status = 200, body = UserBody), (status = 404, body = ProblemBody), (status = 422, body = ProblemBody)))]
async fn put(State(app): State<App>, Segment(segment): Segment, params: Params, request: Request) -> Answer {
    params.only(&[])?;
    let name = name(&segment)?;
    let bytes = request::body(request, SMALL_BODY).await?;
    let mut object = Object::parse(fields::text(&bytes)?, &["password", "role", "queues", "disabled"], "")?;
    let change = change(&mut object);
    object.finish().map_err(Problem::fields)?;
    let user = app.service.put_user(&name, change).await?;
    Ok(Json(UserBody::new(name, &user)).into_response())
}

/// Forget a user
#[utoipa::path(delete, path = "/v1/users/{name}", tag = "access", params(("name" = String, Path)),
    responses((status = 204, description = "He is forgotten"), (status = 404, body = ProblemBody)))]
async fn delete(
    State(app): State<App>,
    Segment(segment): Segment,
    params: Params,
    request: Request,
) -> Answer {
    params.only(&[])?;
    let name = name(&segment)?;
    request::no_fields(request).await?;
    app.service.delete_user(&name).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

fn change(object: &mut Object<'_>) -> UserChange {
    let password = object.take::<String>("password");
    if let Some(password) = &password {
        check_password(object, "password", password);
    }
    let role = role(object);
    let queues = queues(object, "queues");
    let disabled = object.take::<bool>("disabled");
    UserChange { password, role, queues, disabled }
}

pub(super) fn role(object: &mut Object<'_>) -> Option<Role> {
    let text = object.take::<String>("role")?;
    let role = Role::parse(&text);
    if role.is_none() {
        let known: Vec<&str> = Role::ALL.iter().map(|role| role.as_str()).collect();
        object.refuse("role", format!("is none of {}", known.join(", ")));
    }
    role
}

pub(super) fn queues(object: &mut Object<'_>, field: &'static str) -> Option<QueueScope> {
    let globs = object.take::<Vec<String>>(field)?;
    match QueueScope::parse(globs) {
        Ok(scope) => Some(scope),
        Err(error) => {
            object.refuse(field, error.to_string());
            None
        }
    }
}

/// Users have names like queues.
fn checked(text: &str) -> Result<(), String> {
    text.parse::<QueueName>().map(drop).map_err(|error| error.to_string())
}

fn name(text: &str) -> Result<String, Problem> {
    match checked(text) {
        Ok(()) => Ok(text.to_owned()),
        Err(error) => Err(Problem::new(Code::InvalidParameter, format!("the name of the user {error}"))),
    }
}
