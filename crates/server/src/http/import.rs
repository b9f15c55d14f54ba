//! Submitting any number of jobs as a stream of lines, in bounded memory.
//!
//! Lines are gathered into chunks of at most a thousand jobs or a mebibyte and submitted in order;
//! while one chunk is being written the next is read. A line that is not valid is counted and skipped.
//! With an `Idempotency-Key` each chunk has its own key (chunks depend on the content alone), so an
//! import that broke off can simply be sent again.

use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, header};
use axum::response::IntoResponse as _;
use bytes::Bytes;
use ganger_core::change::{Idempotency, Intake, Submitted};
use ganger_core::coordinator::port::Refusal;
use ganger_core::job::JobSpec;
use ganger_core::limits;
use ganger_core::name::QueueName;
use http_body_util::BodyExt as _;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::lines::{Line, Lines};
use super::problem::{Code, Problem};
use super::request::{self, Answer, Params};
use super::{App, fields, intake, jobs, parents};
use crate::api::{ImportBody, ImportError, ProblemBody};
use crate::auth;
use crate::service::ServiceError;

/// A chunk is submitted once it holds this many bytes.
const CHUNK_BYTES: usize = 1 << 20;
/// Refusals that the answer tells in full.
const TOLD: usize = 100;
/// Longest silence of the client.
const SILENCE: Duration = Duration::from_secs(60);
/// How often a chunk waits for an overloaded server: a tenth of a second at first, then twice as long.
const WAITS: u32 = 8;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(import))
}

/// Import jobs
///
/// One job per line (`application/x-ndjson`), any number of lines. Lines that are not valid are
/// skipped and counted.
#[utoipa::path(post, path = "/v1/jobs:import", tag = "jobs",
    request_body(content = Option<String>, content_type = "application/x-ndjson"),
    params(
        ("Idempotency-Key" = Option<String>, Header, description = "Makes it safe to send the same import again"),
        ("X-Ganger-Exec-Token" = Option<String>, Header, description = "Needed for jobs of kind exec"),
    ),
    responses((status = 200, body = ImportBody),
        (status = 503, body = ProblemBody, description = "It broke off; the detail says after which line")))]
async fn import(State(app): State<App>, params: Params, request: Request) -> Answer {
    params.only(&[])?;
    is_ndjson(request.headers())?;
    let headers = request.headers().clone();
    let mut reader = Reader::new(request::stream(request));
    let mut tally = Tally::default();
    let mut chunk = reader.chunk(&app, &headers).await?;
    let mut number = 0;
    loop {
        tally.refused(&mut chunk.refused);
        if chunk.jobs.is_empty() && chunk.last {
            break;
        }
        let last = chunk.last;
        let through = chunk.through;
        let key = chunk_key(&app, &headers, number, &chunk)?;
        if auth::queues(&headers).is_some() {
            let specs: Vec<JobSpec> = chunk.jobs.iter().map(|(_, spec)| spec.clone()).collect();
            let seen = auth::parents(&app.service, auth::queues(&headers), &specs, "").await;
            seen.map_err(|problem| broke_off(problem, through, &tally))?;
        }
        let submitted = submit(&app, key, chunk.jobs, &mut tally);
        if last {
            submitted.await.map_err(|problem| broke_off(problem, through, &tally))?;
            break;
        }
        let (written, next) = tokio::join!(submitted, reader.chunk(&app, &headers));
        written.map_err(|problem| broke_off(problem, through, &tally))?;
        chunk = next.map_err(|problem| broke_off(problem, through + 1, &tally))?;
        number += 1;
    }
    Ok(Json(tally.0).into_response())
}

fn is_ndjson(headers: &HeaderMap) -> Result<(), Problem> {
    let Some(value) = headers.get(header::CONTENT_TYPE) else { return Ok(()) };
    let text = value.to_str().unwrap_or_default().to_ascii_lowercase();
    let media = text.split(';').next().unwrap_or_default().trim();
    let known = ["application/x-ndjson", "application/ndjson", "application/jsonl", "application/json-lines"];
    if known.contains(&media) || ["application/x-www-form-urlencoded", "text/plain"].contains(&media) {
        Ok(())
    } else {
        Err(Problem::new(Code::UnsupportedMediaType, "an import is application/x-ndjson: one job per line"))
    }
}

/// Jobs that go in together.
#[derive(Default)]
struct Chunk {
    /// Each with its line.
    jobs: Vec<(u64, JobSpec)>,
    refused: Vec<(u64, Problem)>,
    /// Hash input of the idempotency key: the lines as they came.
    text: Vec<u8>,
    /// The last line that it covers.
    through: u64,
    /// The stream has ended.
    last: bool,
}

/// Reads chunks from a body.
struct Reader {
    body: Body,
    lines: Lines,
    /// What came after the last chunk.
    pending: Bytes,
    number: u64,
}

impl Reader {
    fn new(body: Body) -> Reader {
        Reader { body, lines: Lines::new(jobs::JOB_BODY), pending: Bytes::new(), number: 0 }
    }

    async fn chunk(&mut self, app: &App, headers: &HeaderMap) -> Result<Chunk, Problem> {
        let context = jobs::context(app, headers, app.now().wall);
        let mut chunk = Chunk::default();
        loop {
            while let Some(line) = self.lines.next(&mut self.pending) {
                self.number += 1;
                chunk.add(self.number, line, context);
                if chunk.is_full() {
                    return Ok(chunk);
                }
            }
            let frame = tokio::time::timeout(SILENCE, self.body.frame()).await;
            match frame {
                Err(_) => {
                    return Err(Problem::new(
                        Code::RequestTimeout,
                        format!("nothing came for a minute after line {}", self.number),
                    ));
                }
                Ok(Some(Err(error))) => {
                    let detail = format!("the body broke off after line {}: {error}", self.number);
                    return Err(Problem::new(Code::InvalidParameter, detail));
                }
                Ok(Some(Ok(frame))) => self.pending = frame.into_data().unwrap_or_default(),
                Ok(None) => {
                    if let Some(line) = self.lines.last() {
                        self.number += 1;
                        chunk.add(self.number, line, context);
                    }
                    chunk.last = true;
                    return Ok(chunk);
                }
            }
        }
    }
}

impl Chunk {
    fn is_full(&self) -> bool {
        self.jobs.len() >= limits::BATCH_JOBS
            || self.refused.len() >= limits::BATCH_JOBS
            || self.text.len() >= CHUNK_BYTES
    }

    fn add(&mut self, number: u64, line: Line, context: intake::Context<'_>) {
        self.through = number;
        let read = match line {
            Line::TooLong => Err(Problem::new(
                Code::BodyTooLarge,
                format!("the line has more than {} bytes", jobs::JOB_BODY),
            )),
            Line::Whole(bytes) if bytes.iter().all(u8::is_ascii_whitespace) => return,
            Line::Whole(bytes) => {
                self.text.extend_from_slice(&bytes);
                self.text.push(b'\n');
                fields::text(&bytes).and_then(|text| intake::job(text, "", context))
            }
        };
        match read {
            Ok(spec) => self.jobs.push((number, spec)),
            Err(problem) => self.refused.push((number, problem)),
        }
    }
}

/// What became of the lines so far.
#[derive(Default)]
struct Tally(ImportBody);

impl Tally {
    fn refused(&mut self, refused: &mut Vec<(u64, Problem)>) {
        for (line, problem) in refused.drain(..) {
            self.0.rejected += 1;
            if self.0.errors.len() < TOLD {
                let code = problem.code.as_str().to_string();
                self.0.errors.push(ImportError {
                    line,
                    code,
                    detail: problem.detail,
                    errors: problem.errors,
                });
            }
        }
    }

    /// Takes the jobs of a draining queue out.
    fn draining(&mut self, jobs: &mut Vec<(u64, JobSpec)>, queue: &QueueName) {
        let problem = Problem::from(Refusal::QueueDraining(queue.clone()));
        let out = jobs.extract_if(.., |(_, spec)| spec.queue == *queue);
        let mut refused: Vec<(u64, Problem)> = out.map(|(line, _)| (line, problem.clone())).collect();
        self.refused(&mut refused);
    }

    fn taken(&mut self, intakes: &[Intake]) {
        for intake in intakes {
            match intake {
                Intake::Created(_) => self.0.accepted += 1,
                Intake::Duplicate(_) => self.0.deduplicated += 1,
            }
        }
    }
}

fn chunk_key(
    app: &App,
    headers: &HeaderMap,
    number: u64,
    chunk: &Chunk,
) -> Result<Option<Idempotency>, Problem> {
    let key = request::idempotency(headers, app.now().wall, "POST /v1/jobs:import", &chunk.text)?;
    Ok(key.map(|key| Idempotency { key: format!("{}#{number}", key.key), ..key }))
}

/// Submits a chunk. A queue that drains refuses its own jobs only, unless the chunk has a key, which must
/// always stand for the same jobs; an overloaded server is given time; anything else ends the import.
async fn submit(
    app: &App,
    key: Option<Idempotency>,
    mut jobs: Vec<(u64, JobSpec)>,
    tally: &mut Tally,
) -> Result<(), Problem> {
    let mut wait = Duration::from_millis(100);
    let mut waits = 0;
    while !jobs.is_empty() {
        let specs: Vec<JobSpec> = jobs.iter().map(|(_, spec)| spec.clone()).collect();
        match app.service.submit(key.clone(), specs).await {
            Ok(Submitted::Accepted(intakes)) => {
                tally.taken(&intakes);
                return Ok(());
            }
            Ok(Submitted::Replayed(intakes)) if intakes.len() == jobs.len() => {
                tally.taken(&intakes);
                return Ok(());
            }
            Ok(Submitted::Replayed(_) | Submitted::KeyReused) => return Err(jobs::key_reused()),
            Ok(Submitted::NoParent(parent, place)) => {
                let problem = parents::missing(parent, place, "");
                if key.is_some() {
                    return Err(problem);
                }
                let (line, _) = jobs.remove(place.job.min(jobs.len() - 1));
                tally.refused(&mut vec![(line, problem)]);
            }
            Err(ServiceError::Refused(Refusal::Overloaded | Refusal::QueueFull { .. })) if waits < WAITS => {
                waits += 1;
                tokio::time::sleep(wait).await;
                wait *= 2;
            }
            Err(ServiceError::Refused(Refusal::QueueDraining(queue))) if key.is_none() => {
                let before = jobs.len();
                tally.draining(&mut jobs, &queue);
                if jobs.len() == before {
                    return Err(Refusal::QueueDraining(queue).into());
                }
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

fn broke_off(problem: Problem, through: u64, tally: &Tally) -> Problem {
    let done = tally.0.accepted + tally.0.deduplicated;
    let detail = format!("{} (within the lines up to {through}; {done} jobs are in)", problem.detail);
    Problem { detail, ..problem }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ganger_core::Wall;

    const CONTEXT: intake::Context<'_> = intake::Context {
        now: Wall(0),
        traceparent: None,
        tracestate: None,
        exec_allowed: false,
        queues: None,
        items: None,
    };

    #[test]
    fn bad_lines_are_counted_and_skipped() {
        let mut chunk = Chunk::default();
        let lines = ["{\"kind\":\"a\"}", "", "nonsense", "{}", "  "];
        for (number, line) in (1..).zip(lines) {
            chunk.add(number, Line::Whole(line.into()), CONTEXT);
        }
        chunk.add(6, Line::TooLong, CONTEXT);
        assert_eq!((chunk.jobs.len(), chunk.through), (1, 6));
        let mut tally = Tally::default();
        tally.refused(&mut chunk.refused);
        let told: Vec<(u64, &str)> = tally.0.errors.iter().map(|e| (e.line, e.code.as_str())).collect();
        assert_eq!(told, [(3, "malformed_json"), (4, "validation_failed"), (6, "body_too_large")]);
    }

    #[test]
    fn a_chunk_is_full_at_its_bound_and_the_told_refusals_are_bounded() {
        let mut chunk = Chunk::default();
        for number in 1..limits::BATCH_JOBS as u64 {
            chunk.add(number, Line::Whole(b"{\"kind\":\"a\"}".to_vec()), CONTEXT);
            assert!(!chunk.is_full());
        }
        chunk.add(1000, Line::Whole(b"{\"kind\":\"a\"}".to_vec()), CONTEXT);
        assert!(chunk.is_full());

        let mut refused: Vec<(u64, Problem)> = (0..500).map(|n| (n, jobs::key_reused())).collect();
        let mut tally = Tally::default();
        tally.refused(&mut refused);
        assert_eq!((tally.0.rejected, tally.0.errors.len()), (500, TOLD));
    }
}
