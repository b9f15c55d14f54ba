//! Listing jobs, page by page.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::IntoResponse as _;
use ganger_core::filter::Filter;
use ganger_core::job::State as JobState;
use ganger_core::limits;
use ganger_store::read::{ListQuery, StoredJob};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::problem::Problem;
use super::request::{self, Answer, Params};
use super::shown::{self, Include};
use super::{App, cursor};
use crate::api::{JobPage, ProblemBody, ScanBody};
use crate::auth::Asking;

/// What says which jobs, here and wherever jobs are looked for.
pub(super) const FILTERS: [&str; 8] =
    ["q", "state", "queue", "kind", "tag", "unique_key", "created_from", "created_before"];

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list))
}

/// List jobs
///
/// Newest first. `q` is a filter such as `state:dead kind:mail.* error~timeout age<2h payload.user.id:42`; it and
/// every other filter must hold. A search without a fitting index looks at up to 100,000 rows at a time, and says so. The next page is asked for with `cursor` and the same filters.
#[utoipa::path(get, path = "/v1/jobs", tag = "jobs",
    params(
        ("q" = Option<String>, Query, description = "A filter; docs/search.md has the language"),
        ("state" = Option<String>, Query, description = "Repeat it, or separate several with commas"),
        ("queue" = Option<String>, Query),
        ("kind" = Option<String>, Query),
        ("tag" = Option<String>, Query),
        ("unique_key" = Option<String>, Query),
        ("created_from" = Option<String>, Query, description = "RFC 3339; this moment or later"),
        ("created_before" = Option<String>, Query, description = "RFC 3339; before this moment"),
        ("limit" = Option<usize>, Query, description = "1 to 500, 50 if not given"),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the page before"),
        ("include" = Option<String>, Query, description = "payload, result or both"),
    ),
    responses((status = 200, body = JobPage), (status = 400, body = ProblemBody)))]
async fn list(State(app): State<App>, asking: Asking, params: Params) -> Answer {
    params.only(&[&FILTERS[..], &["limit", "cursor", "include"]].concat())?;
    let limit = request::limit(&params, limits::PAGE_MAX)?;
    let mut query = ListQuery { limit, ..asking.confine(query(&params)?)? };
    if let Some(text) = params.one("cursor")? {
        query.before = Some(cursor::decode(&query, text)?);
    }
    let include = include(&params)?;
    if include.payload || include.result {
        asking.must_read_payloads("to include payloads or results")?;
    }
    let page = app.service.list(query.clone()).await?;
    let now = app.now().wall;
    let next_cursor = page.next.map(|id| cursor::encode(&query, id));
    let link = next_cursor.as_deref().map(|next| next_link(&params, next));
    let names = app.service.names_of_workers(&page.jobs).await;
    let item = |stored: StoredJob| {
        let worker = stored.lease.and_then(|lease| names.get(&lease.session).cloned());
        shown::hidden(shown::job(stored, None, worker, include, now))
    };
    let scan = ScanBody::new(page.examined, page.jobs.len(), page.complete);
    let items = page.jobs.into_iter().map(item).collect();
    let mut response = Json(JobPage { items, next_cursor, scan }).into_response();
    if let Some(value) = link.and_then(|link| HeaderValue::from_str(&link).ok()) {
        response.headers_mut().insert(header::LINK, value);
    }
    Ok(response)
}

/// Which jobs are asked for.
pub(super) fn query(params: &Params) -> Result<ListQuery, Problem> {
    let mut states = Vec::new();
    for text in params.many("state") {
        let state = JobState::parse(text).ok_or_else(|| {
            let known: Vec<&str> = JobState::ALL.iter().map(|s| s.as_str()).collect();
            let shown: String = text.chars().take(64).collect();
            Problem::parameter("state", format!("`{shown}` is not a state; known are {}", known.join(", ")))
        })?;
        if !states.contains(&state) {
            states.push(state);
        }
    }
    let filter = match params.one("q")? {
        Some(text) if !text.trim().is_empty() => {
            Some(Arc::new(Filter::parse(text).map_err(|error| Problem::filter("?q", error))?))
        }
        // An empty search field is no filter.
        Some(_) | None => None,
    };
    Ok(ListQuery {
        states,
        queue: params.parsed("queue")?,
        kind: params.parsed("kind")?,
        tag: bounded(params, "tag", limits::TAG_BYTES)?,
        unique_key: bounded(params, "unique_key", limits::KEY_BYTES)?,
        created_from: params.parsed("created_from")?,
        created_before: params.parsed("created_before")?,
        filter,
        before: None,
        limit: limits::PAGE_DEFAULT,
    })
}

fn bounded(params: &Params, name: &str, most: usize) -> Result<Option<String>, Problem> {
    match params.one(name)? {
        Some("") => Err(Problem::parameter(name, "is empty")),
        Some(text) if text.len() > most => {
            Err(Problem::parameter(name, format!("has {} bytes, the limit is {most}", text.len())))
        }
        other => Ok(other.map(Into::into)),
    }
}

pub(super) fn include(params: &Params) -> Result<Include, Problem> {
    let mut include = Include { payload: false, result: false };
    for part in params.many("include") {
        match part {
            "payload" => include.payload = true,
            "result" => include.result = true,
            _ => return Err(Problem::parameter("include", "can be payload, result, or both")),
        }
    }
    Ok(include)
}

fn next_link(params: &Params, next: &str) -> String {
    let kept = params.pairs().iter().filter(|(name, _)| name != "cursor");
    let mut query: String = kept.map(|(name, value)| format!("{name}={}&", encoded(value))).collect();
    query.push_str(&format!("cursor={next}"));
    format!("</v1/jobs?{query}>; rel=\"next\"")
}

/// Percent-encoding of everything that is not unreserved.
fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(byte.into());
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_encoded_so_that_it_cannot_break_out_of_the_link() {
        assert_eq!(encoded("a b>\"&=é"), "a%20b%3E%22%26%3D%C3%A9");
    }
}
