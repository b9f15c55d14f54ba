//! Logging in and out, and telling callers who they are.

use std::net::IpAddr;

use axum::Json;
use axum::extract::{Extension, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use ganger_core::limits;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::App;
use super::cookies;
use super::fields::{self, Object};
use super::problem::Problem;
use super::request::{self, Answer, Params, SMALL_BODY};
use crate::api::{
    LoggedInBody, LoginRequest, LogoutRequest, PasswordRequest, ProblemBody, RefreshRequest, WhoBody,
};
use crate::auth::{self, Asking};
use crate::listener::Peer;
use crate::service::LoggedIn;
use crate::tls::Secured;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(login))
        .routes(routes!(refresh))
        .routes(routes!(logout))
        .routes(routes!(password))
        .routes(routes!(whoami))
}

/// Where the client is, if it is known.
type From = Option<Extension<Peer>>;

/// Log in
///
/// Gives an access token for a quarter of an hour, and a refresh token for the next one. A user has five logins at a time. With `cookie` both are
/// set as cookies that no script sees, and are left out of the answer.
#[utoipa::path(post, path = "/v1/auth:login", tag = "access", request_body = LoginRequest,
    responses((status = 200, body = LoggedInBody), (status = 401, body = ProblemBody),
        (status = 429, body = ProblemBody, description = "Too many failed before")))]
async fn login(State(app): State<App>, params: Params, from: From, request: Request) -> Answer {
    params.only(&[])?;
    let secured = is_secured(&request);
    let bytes = request::body(request, SMALL_BODY).await?;
    let mut object = Object::parse(fields::text(&bytes)?, &["name", "password", "cookie"], "")?;
    let cookie = object.take::<bool>("cookie").unwrap_or_default();
    let name = needed(&mut object, "name");
    let password = needed(&mut object, "password");
    object.finish().map_err(Problem::fields)?;
    let login = app.service.login(&name, password, address(&from)).await?;
    Ok(logged_in(login, cookie.then_some(secured)))
}

/// Get the next access token
///
/// A refresh token is good for one use. Using one twice ends its login: one of the two users is a thief. Without a body it is the one in the cookie.
#[utoipa::path(post, path = "/v1/auth:refresh", tag = "access", request_body = RefreshRequest,
    responses((status = 200, body = LoggedInBody), (status = 401, body = ProblemBody)))]
async fn refresh(State(app): State<App>, params: Params, request: Request) -> Answer {
    params.only(&[])?;
    let secured = is_secured(&request);
    let kept = auth::refresh_cookie(request.headers(), request.uri());
    let bytes = request::body(request, SMALL_BODY).await?;
    let text = fields::text(&bytes)?;
    if let (Some(token), true) = (kept, text.trim().is_empty()) {
        return Ok(logged_in(app.service.refresh(&token?).await?, Some(secured)));
    }
    let mut object = Object::parse(text, &["refresh_token"], "")?;
    let token = needed(&mut object, "refresh_token");
    object.finish().map_err(Problem::fields)?;
    Ok(logged_in(app.service.refresh(&token).await?, None))
}

/// Log out
///
/// Ends the login that the access token belongs to, or with `everywhere` all logins of the user. Its tokens hold no more.
#[utoipa::path(post, path = "/v1/auth:logout", tag = "access", request_body = LogoutRequest,
    responses((status = 204, description = "It has ended"), (status = 403, body = ProblemBody)))]
async fn logout(State(app): State<App>, asking: Asking, params: Params, request: Request) -> Answer {
    params.only(&[])?;
    let secured = is_secured(&request);
    let bytes = request::body(request, SMALL_BODY).await?;
    let text = fields::text(&bytes)?;
    let mut object = Object::parse(if text.trim().is_empty() { "{}" } else { text }, &["everywhere"], "")?;
    let everywhere = object.take::<bool>("everywhere").unwrap_or_default();
    object.finish().map_err(Problem::fields)?;
    app.service.logout(&asking.0, everywhere).await?;
    let mut response = StatusCode::NO_CONTENT.into_response();
    cookies::clear(&mut response, secured);
    Ok(response)
}

/// Change the own password
///
/// Ends all other logins of the user.
#[utoipa::path(post, path = "/v1/auth:password", tag = "access", request_body = PasswordRequest,
    responses((status = 204, description = "It holds now"), (status = 401, body = ProblemBody)))]
async fn password(
    State(app): State<App>,
    asking: Asking,
    params: Params,
    from: From,
    request: Request,
) -> Answer {
    params.only(&[])?;
    let bytes = request::body(request, SMALL_BODY).await?;
    let mut object = Object::parse(fields::text(&bytes)?, &["present", "next"], "")?;
    let present = needed(&mut object, "present");
    let next = needed(&mut object, "next");
    check_password(&mut object, "next", &next);
    object.finish().map_err(Problem::fields)?;
    app.service.change_password(&asking.0, address(&from), present, next).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Tell who asks
///
/// And what he may do.
#[utoipa::path(get, path = "/v1/whoami", tag = "access", responses((status = 200, body = WhoBody)))]
async fn whoami(State(app): State<App>, asking: Asking, params: Params) -> Answer {
    params.only(&[])?;
    let caller = &asking.0;
    let body = WhoBody {
        who: caller.who.to_string(),
        permissions: caller.may.each().collect(),
        queues: caller.queues.globs().to_vec(),
        until: caller.until,
        authentication: app.service.auth().is_required(),
    };
    Ok(Json(body).into_response())
}

/// The tokens of a login, in the answer or as cookies, which are `Secure` if so.
fn logged_in(login: LoggedIn, cookies: Option<bool>) -> Response {
    let shown = |token: &str| if cookies.is_some() { String::new() } else { token.to_owned() };
    let mut response = Json(LoggedInBody {
        access_token: shown(&login.access),
        token_type: "Bearer".into(),
        expires_in: limits::ACCESS_LASTS.as_secs(),
        refresh_token: shown(&login.refresh),
        name: login.name.clone(),
        role: login.role,
    })
    .into_response();
    if let Some(secured) = cookies {
        cookies::set(&mut response, &login, secured);
    }
    response
}

/// Whether the client speaks TLS with us.
fn is_secured(request: &Request) -> bool {
    request.extensions().get::<Secured>().is_some()
}

fn needed(object: &mut Object<'_>, field: &str) -> String {
    match object.take::<String>(field) {
        Some(text) => text,
        None => {
            if object.raw(field).is_none() {
                object.refuse(field, "is missing");
            }
            String::new()
        }
    }
}

/// A password that is to be one.
pub(super) fn check_password(object: &mut Object<'_>, field: &str, password: &str) {
    let (least, most) = (limits::PASSWORD_BYTES.start(), limits::PASSWORD_BYTES.end());
    if !limits::PASSWORD_BYTES.contains(&password.len()) && !object.is_refused() {
        object.refuse(field, format!("has {} bytes, allowed are {least} to {most}", password.len()));
    }
}

fn address(from: &From) -> Option<IpAddr> {
    from.as_ref().map(|Extension(Peer(address))| address.ip().to_canonical())
}
