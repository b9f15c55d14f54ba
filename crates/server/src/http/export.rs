//! Every job that matches, as a stream: NDJSON for programs, CSV for spreadsheets. One page is held at a time.

use std::fmt::Write as _;
use std::io;

use axum::body::Body;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse as _;
use bytes::Bytes;
use ganger_core::Wall;
use ganger_store::read::StoredJob;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::App;
use super::list::{self, FILTERS};
use super::problem::Problem;
use super::request::{Answer, Params};
use super::shown::{self, Include};
use crate::api::{JobBody, ProblemBody};
use crate::auth::Asking;
use crate::service::{Pages, Service};

/// The columns of a CSV, in order.
const COLUMNS: [&str; 20] = [
    "id",
    "kind",
    "queue",
    "state",
    "priority",
    "attempt",
    "max_attempts",
    "created_at",
    "run_at",
    "started_at",
    "finished_at",
    "queue_time_ms",
    "execution_time_ms",
    "worker",
    "unique_key",
    "tags",
    "last_error",
    "reason",
    "payload",
    "result",
];

/// How jobs are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Csv,
    Ndjson,
}

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(export))
}

/// Export jobs
///
/// Every job that matches, newest first, as it is when its turn comes. Jobs that come meanwhile are not part of it. Cells of a CSV
/// that a spreadsheet would take for a formula begin with an apostrophe.
#[utoipa::path(get, path = "/v1/jobs:export", tag = "jobs",
    params(
        ("q" = Option<String>, Query, description = "A filter, as for the list; its other filters are taken too"),
        ("format" = Option<String>, Query, description = "ndjson (if not given) or csv"),
        ("include" = Option<String>, Query, description = "payload, result or both (if not given)"),
    ),
    responses((status = 200, content((String = "application/x-ndjson"), (String = "text/csv"))),
        (status = 400, body = ProblemBody)))]
async fn export(State(app): State<App>, asking: Asking, params: Params) -> Answer {
    params.only(&[&FILTERS[..], &["format", "include"]].concat())?;
    let query = asking.confine(list::query(&params)?)?;
    let format = match params.one("format")? {
        None | Some("ndjson") => Format::Ndjson,
        Some("csv") => Format::Csv,
        Some(_) => return Err(Problem::parameter("format", "can be ndjson or csv")),
    };
    let include = if params.one("include")?.is_some() { list::include(&params)? } else { Include::ALL };
    let mut walk =
        Walk { service: app.service.clone(), app, pages: Pages::of(query), format, include, begun: false };
    // What is wrong with the first page is told as a problem; later nothing but breaking off is left.
    let first = walk.next().await?;
    let rest = futures::stream::unfold(Some(walk), |walk| async {
        let mut walk = walk?;
        match walk.next().await {
            Ok(Some(text)) => Some((Ok(text), Some(walk))),
            Ok(None) => None,
            Err(problem) => {
                tracing::warn!("an export broke off: {}", problem.detail);
                Some((Err(io::Error::other(problem.detail)), None))
            }
        }
    });
    let first = futures::stream::iter(first.map(Ok));
    let (media, name) = match format {
        Format::Csv => ("text/csv; charset=utf-8; header=present", "attachment; filename=\"jobs.csv\""),
        Format::Ndjson => ("application/x-ndjson", "attachment; filename=\"jobs.ndjson\""),
    };
    let headers = [(header::CONTENT_TYPE, media), (header::CONTENT_DISPOSITION, name)];
    Ok((headers, Body::from_stream(futures::StreamExt::chain(first, rest))).into_response())
}

/// An export under way.
struct Walk {
    app: App,
    service: Service,
    pages: Pages,
    format: Format,
    include: Include,
    begun: bool,
}

impl Walk {
    /// The text of the next page; `None` at the end.
    async fn next(&mut self) -> Result<Option<Bytes>, Problem> {
        let mut text = String::new();
        if !std::mem::replace(&mut self.begun, true) && self.format == Format::Csv {
            text.push_str(&COLUMNS.join(","));
            text.push_str("\r\n");
        }
        // Bounded by the number of jobs: an empty page moves on all the same.
        loop {
            if self.app.options.stopping.is_cancelled() {
                return Err(crate::service::ServiceError::NotReady("it is stopping".into()).into());
            }
            let Some(page) = self.pages.next(&self.service).await? else {
                return Ok((!text.is_empty()).then(|| text.into()));
            };
            let now = self.app.now().wall;
            let names = self.service.names_of_workers(&page.jobs).await;
            for stored in page.jobs {
                let worker = stored.lease.and_then(|lease| names.get(&lease.session).cloned());
                self.write(&mut text, stored, worker, now);
            }
            if !text.is_empty() {
                return Ok(Some(text.into()));
            }
        }
    }

    fn write(&self, text: &mut String, stored: StoredJob, worker: Option<String>, now: Wall) {
        let body = shown::job(stored, None, worker, self.include, now);
        match self.format {
            Format::Csv => line(text, &body),
            Format::Ndjson => {
                // A document of texts and numbers always serialises. A payload may have line ends between its parts.
                let json = serde_json::to_string(&body).unwrap_or_default();
                text.extend(json.chars().map(|c| if c == '\n' || c == '\r' { ' ' } else { c }));
                text.push('\n');
            }
        }
    }
}

fn line(text: &mut String, job: &JobBody) {
    let mut cells: Vec<String> = Vec::with_capacity(COLUMNS.len());
    let moment = |at: Option<Wall>| at.map(|at| at.to_string()).unwrap_or_default();
    let number = |n: Option<u64>| n.map(|n| n.to_string()).unwrap_or_default();
    let json =
        |raw: &Option<Box<serde_json::value::RawValue>>| safe(raw.as_ref().map_or("", |raw| raw.get()));
    cells.push(job.id.to_string());
    cells.push(safe(job.kind.as_str()));
    cells.push(safe(job.queue.as_str()));
    cells.push(job.state.as_str().to_owned());
    cells.push(job.priority.to_string());
    cells.push(job.attempt.to_string());
    cells.push(job.max_attempts.to_string());
    cells.push(job.created_at.to_string());
    cells.push(job.run_at.to_string());
    cells.push(moment(job.started_at));
    cells.push(moment(job.finished_at));
    cells.push(number(job.queue_time_ms));
    cells.push(number(job.execution_time_ms));
    cells.push(safe(job.worker.as_deref().unwrap_or_default()));
    cells.push(safe(job.unique_key.as_deref().unwrap_or_default()));
    cells.push(safe(&job.tags.join(";")));
    cells.push(safe(job.last_error.as_deref().unwrap_or_default()));
    cells.push(safe(job.reason.as_deref().unwrap_or_default()));
    cells.push(json(&job.payload));
    cells.push(json(&job.result));
    for (place, cell) in cells.iter().enumerate() {
        let between = if place == 0 { "" } else { "," };
        // Writing to a text cannot fail.
        let _ = match cell.contains([',', '"', '\n', '\r', ';']) {
            true => write!(text, "{between}\"{}\"", cell.replace('"', "\"\"")),
            false => write!(text, "{between}{cell}"),
        };
    }
    text.push_str("\r\n");
}

/// A text that no spreadsheet takes for a formula. Numbers of our own are not passed through here.
fn safe(text: &str) -> String {
    let formula = text.trim_start().starts_with(['=', '+', '-', '@']) || text.starts_with(['\t', '\r', '\n']);
    if formula { format!("'{text}") } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cell_is_a_formula() {
        for text in ["=1+1", "+1", "-1", "@SUM(A1)", " =1", "\t=1", "\r=1"] {
            assert!(safe(text).starts_with('\''), "{text:?}");
        }
        for text in ["", "a=b", "1-2", "mail@example.org", "{\"a\":-1}"] {
            assert_eq!(safe(text), text);
        }
    }
}
