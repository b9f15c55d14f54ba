//! Profile C: tokens, jobs that are done once, and those that failed.
//!
//! Its users are Ganger's, its tokens those of a login. Unlike the other doors it always wants a token, also where nobody is
//! asked otherwise; signing up is for where that is so ([`super::CompatOptions::signup`]). `/addJob` welcomes a person by mail,
//! and never twice: its unique key names address and name, and is held for ever once the mail was, or may have been, sent.

mod body;

use axum::Json;
use axum::extract::{Extension, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use ganger_core::access::Role;
use ganger_core::change::Intake;
use ganger_core::job::State as JobState;
use ganger_core::name::{Kind, QueueName};
use ganger_core::rules::Death;
use ganger_core::{JobId, limits, mail};
use ganger_store::read::ListQuery;
use serde::de::DeserializeOwned;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{link_next, name_job, taken_in};
use crate::http::problem::{Code, Problem};
use crate::http::request::{self, Answer, Params, SMALL_BODY};
use crate::http::{App, cursor, fields};
use crate::listener::Peer;
use crate::service::{LoggedIn, ServiceError, UserChange};
use body::{Credentials, FailedJob, Message, NewMail, RefreshToken, Tokens};

/// The kind of its jobs.
const WELCOME: &str = "welcome_email";
/// A refusal for want of a token, in its words.
const NO_TOKEN: &str = "No token provided";
const INVALID_TOKEN: &str = "Invalid token";
/// Jobs of one answer.
const MOST: usize = limits::PAGE_MAX;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(signup))
        .routes(routes!(login))
        .routes(routes!(refresh))
        .routes(routes!(add_job))
        .routes(routes!(failed_jobs))
        .routes(routes!(health))
}

/// Sign up (profile C)
///
/// Makes a user who may submit jobs, and logs him in. Only where it is enabled, as in `ganger dev`.
#[utoipa::path(post, path = "/signup", tag = "compat", request_body = Credentials,
    responses((status = 201, body = Tokens), (status = 400, body = Message), (status = 403, body = Message),
        (status = 409, body = Message, description = "There is a user of that name")))]
async fn signup(State(app): State<App>, from: Option<Extension<Peer>>, request: Request) -> Answer {
    let given = match read::<Credentials>(request).await? {
        Ok(given) => given,
        Err(refused) => return Ok(refused),
    };
    if !app.options.compat.signup {
        return Ok(message(StatusCode::FORBIDDEN, "Signing up is not enabled on this server"));
    }
    if let Err(error) = given.username.parse::<QueueName>() {
        return Ok(message(StatusCode::BAD_REQUEST, format!("username {error}")));
    }
    let most = *limits::PASSWORD_BYTES.end();
    // The original took any. Where this is open, nobody is asked for a password to do more.
    if given.password.is_empty() || given.password.len() > most {
        return Ok(message(StatusCode::BAD_REQUEST, format!("password must have 1 to {most} bytes")));
    }
    let password = Some(given.password.clone());
    let change = UserChange { password, role: Some(Role::Submitter), ..UserChange::default() };
    match app.service.create_user(&given.username, change).await {
        Ok(_) => {}
        Err(problem) if problem.code == Code::UserExists => {
            return Ok(message(StatusCode::CONFLICT, "Username already exists"));
        }
        Err(problem) => return Err(problem),
    }
    let address = from.map(|Extension(Peer(address))| address.ip().to_canonical());
    let tokens = app.service.login(&given.username, given.password, address).await?;
    Ok(logged_in(StatusCode::CREATED, tokens))
}

/// Log in (profile C)
#[utoipa::path(post, path = "/login", tag = "compat", request_body = Credentials,
    responses((status = 200, body = Tokens), (status = 400, body = Message), (status = 401, body = Message)))]
async fn login(State(app): State<App>, from: Option<Extension<Peer>>, request: Request) -> Answer {
    let given = match read::<Credentials>(request).await? {
        Ok(given) => given,
        Err(refused) => return Ok(refused),
    };
    let address = from.map(|Extension(Peer(address))| address.ip().to_canonical());
    match app.service.login(&given.username, given.password, address).await {
        Ok(tokens) => Ok(logged_in(StatusCode::OK, tokens)),
        Err(problem) if problem.code == Code::LoginRefused => {
            Ok(message(StatusCode::UNAUTHORIZED, "Invalid username or password"))
        }
        Err(problem) => Err(problem),
    }
}

/// Get the next access token (profile C)
///
/// A refresh token is good for one use; using one twice ends its login.
#[utoipa::path(post, path = "/refreshToken", tag = "compat", request_body = RefreshToken,
    responses((status = 200, body = Tokens), (status = 400, body = Message), (status = 401, body = Message)))]
async fn refresh(State(app): State<App>, request: Request) -> Answer {
    let given = match read::<RefreshToken>(request).await? {
        Ok(given) => given,
        Err(refused) => return Ok(refused),
    };
    match app.service.refresh(&given.refresh_token).await {
        Ok(tokens) => Ok(logged_in(StatusCode::OK, tokens)),
        Err(problem) if problem.code == Code::LoginRefused => {
            Ok(message(StatusCode::UNAUTHORIZED, "Invalid refresh token"))
        }
        Err(problem) => Err(problem),
    }
}

/// Welcome a person by mail, once (profile C)
///
/// The same address and name again is the same job, for ever.
#[utoipa::path(post, path = "/addJob", tag = "compat", request_body = NewMail,
    responses((status = 200, body = Message, description = "`Job added to queue`",
            headers(("Location" = String), ("X-Job-Id" = String))),
        (status = 400, body = Message),
        (status = 409, body = Message, description = "Nobody knows whether an earlier mail to this person was sent"),
        (status = 401, body = String, content_type = "text/plain", description = "`No token provided` or `Invalid token`")))]
async fn add_job(State(app): State<App>, request: Request) -> Answer {
    let headers = request.headers().clone();
    let given = match read::<NewMail>(request).await? {
        Ok(given) => given,
        Err(refused) => return Ok(refused),
    };
    if !mail::is_address(&given.email) {
        return Ok(message(StatusCode::BAD_REQUEST, "email must be a plain address such as ada@example.com"));
    }
    if !mail::is_name(&given.name) {
        let most = limits::MAIL_NAME_BYTES;
        return Ok(message(StatusCode::BAD_REQUEST, format!("name must have 1 to {most} bytes in one line")));
    }
    let job = given.job().map_err(|error| Problem::new(Code::Internal, error.to_string()))?;
    let intake = taken_in(
        &app,
        &headers,
        "POST /addJob",
        job.unique_key.as_deref().unwrap_or_default().as_bytes(),
        &job,
    )
    .await?;
    let mut response = match intake {
        Intake::Duplicate(holder) if is_delivery_unknown(&app, holder).await? => {
            let detail = format!(
                "Job not added: nobody knows whether the mail of {holder} was sent; replay that job to send it again"
            );
            message(StatusCode::CONFLICT, detail)
        }
        Intake::Created(_) | Intake::Duplicate(_) => message(StatusCode::OK, "Job added to queue"),
    };
    name_job(&mut response, intake.job());
    Ok(response)
}

/// Whether a job is dead because nobody knows whether its mail was sent.
async fn is_delivery_unknown(app: &App, id: JobId) -> Result<bool, Problem> {
    match app.service.job(id).await {
        Ok(view) => {
            let end = view.stored.end.as_ref();
            Ok(view.stored.state == JobState::Dead
                && end.is_some_and(|end| end.reason.as_deref() == Some(Death::Unknown.reason())))
        }
        Err(ServiceError::NoSuchJob(_)) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// List failed jobs (profile C)
///
/// Mails that will not be tried again by themselves, newest first.
#[utoipa::path(get, path = "/failedJobs", tag = "compat",
    params(("limit" = Option<usize>, Query, description = "1 to 500, 50 if not given"),
        ("cursor" = Option<String>, Query, description = "Where the `Link` of the page before points to")),
    responses((status = 200, body = Vec<FailedJob>, headers(("Link" = String))), (status = 400, body = Message),
        (status = 401, body = String, content_type = "text/plain", description = "`No token provided` or `Invalid token`")))]
async fn failed_jobs(State(app): State<App>, params: Params) -> Answer {
    match failed_page(&app, &params).await {
        Err(problem) if problem.code.status() == StatusCode::BAD_REQUEST => {
            Ok(message(StatusCode::BAD_REQUEST, problem.detail))
        }
        answer => answer,
    }
}

async fn failed_page(app: &App, params: &Params) -> Answer {
    params.only(&["limit", "cursor"])?;
    let kind: Kind = WELCOME.parse().map_err(|error| Problem::new(Code::Internal, format!("{error}")))?;
    let mut query = ListQuery { states: vec![JobState::Dead], kind: Some(kind), ..ListQuery::default() };
    query.limit = request::limit(params, MOST)?;
    if let Some(text) = params.one("cursor")? {
        query.before = Some(cursor::decode(&query, text)?);
    }
    let page = app.service.list(query.clone()).await?;
    let jobs: Vec<FailedJob> = page.jobs.iter().map(FailedJob::of).collect();
    let mut response = Json(jobs).into_response();
    if let Some(next) = page.next {
        link_next(&mut response, "/failedJobs", &query, next);
    }
    Ok(response)
}

/// Tell that all is well (profile C)
#[utoipa::path(get, path = "/health", tag = "compat",
    responses((status = 200, body = String, content_type = "text/plain", description = "`Good health`"),
        (status = 401, body = String, content_type = "text/plain", description = "`No token provided` or `Invalid token`")))]
async fn health() -> Response {
    plain(StatusCode::OK, "Good health")
}

/// The token as every other door reads it: the original took it with or without `Bearer` before it.
pub(crate) fn complete_token(headers: &mut HeaderMap) {
    let shown = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()).map(str::trim);
    let Some(bare) = shown.filter(|shown| !shown.is_empty() && !shown.contains(' ') && *shown != "Bearer")
    else {
        return;
    };
    if let Ok(whole) = HeaderValue::from_str(&format!("Bearer {bare}")) {
        headers.insert(header::AUTHORIZATION, whole);
    }
}

/// Whoever is not let in is told so in the words of the original.
pub(crate) fn unauthenticated(headers: &HeaderMap) -> Response {
    let shown = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let token = match shown.trim() {
        "Bearer" => "",
        shown => shown.split_once(' ').map_or(shown, |(_, token)| token.trim()),
    };
    let mut response =
        plain(StatusCode::UNAUTHORIZED, if token.is_empty() { NO_TOKEN } else { INVALID_TOKEN });
    let challenge = HeaderValue::from_static("Bearer realm=\"ganger\"");
    response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
    response
}

/// A body with these fields; what else is in it is left aside, as it was there.
///
/// # Errors
/// It is too large, or does not come. What cannot be understood is an answer.
async fn read<T: DeserializeOwned>(request: Request) -> Result<Result<T, Response>, Problem> {
    let bytes = request::body(request, SMALL_BODY).await?;
    let refused = |why: String| Ok(Err(message(StatusCode::BAD_REQUEST, why)));
    // A list would do for the derived reader as well.
    let text = match fields::text(&bytes) {
        Ok(text) if text.trim_start().starts_with('{') => text,
        Ok(_) | Err(_) => return refused("Invalid request body: a JSON object is needed".into()),
    };
    match serde_json::from_str(text) {
        Ok(value) => Ok(Ok(value)),
        Err(error) => refused(format!("Invalid request body: {error}")),
    }
}

fn logged_in(status: StatusCode, login: LoggedIn) -> Response {
    let tokens = Tokens { access_token: login.access, refresh_token: login.refresh };
    (status, Json(tokens)).into_response()
}

fn message(status: StatusCode, text: impl Into<String>) -> Response {
    (status, Json(Message { message: text.into() })).into_response()
}

fn plain(status: StatusCode, text: &'static str) -> Response {
    (status, [(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response()
}
