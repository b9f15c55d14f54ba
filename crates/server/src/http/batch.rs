//! Submitting up to a thousand jobs in one request.
//!
//! Jobs that are not valid are answered one by one and do not hold up the others, unless the batch is
//! `atomic`. All valid jobs go in with one commit.

use axum::Json;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse as _, Response};
use ganger_core::change::{Idempotency, Intake, Submitted};
use ganger_core::coordinator::port::Refusal;
use ganger_core::dependency::{self, Dependency, OnDead, Place};
use ganger_core::job::JobSpec;
use ganger_core::limits;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::fields::{self, Object, elements};
use super::problem::{Code, Problem};
use super::request::{self, Answer, Params};
use super::{App, buffered, intake, jobs, parents};
use crate::api::{BatchBody, BatchRequest, BatchResult, BatchSummary, Durability, FieldProblem, ProblemBody};
use crate::auth;
use crate::relay;
use crate::service::ServiceError;

/// Where a batch is submitted.
pub(super) const PATH: &str = "/v1/jobs:batch";

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(batch))
}

/// Submit many jobs
///
/// Up to 1,000 jobs or 4 MiB. Each is answered on its own; with `atomic` all are taken in, or none. Jobs may wait for each
/// other (`depends_on: ["#0"]`), and a `callback` for all of them.
#[utoipa::path(post, path = "/v1/jobs:batch", tag = "jobs", request_body = BatchRequest,
    params(
        ("Idempotency-Key" = Option<String>, Header, description = "Same key and body: the same answer, for 24 h"),
        ("X-Ganger-Exec-Token" = Option<String>, Header, description = "Needed for jobs of kind exec"),
    ),
    responses((status = 200, body = BatchBody),
        (status = 422, body = ProblemBody, description = "An atomic batch with a job that is not valid")))]
async fn batch(State(app): State<App>, params: Params, request: Request) -> Answer {
    params.only(&[])?;
    let headers = request.headers().clone();
    let bytes = request::body(request, limits::BATCH_BYTES).await?;
    let now = app.now().wall;
    let (specs, atomic, durability) = read(fields::text(&bytes)?, jobs::context(&app, &headers, now))?;
    let idempotency = request::idempotency(&headers, now, "POST /v1/jobs:batch", &bytes)?;
    let mut items: Vec<Item> = specs.into_iter().map(Item::from).collect();
    if atomic {
        refuse_whole(&items)?;
    }
    let (waiting, specs) = waiting(&items);
    auth::parents(&app.service, auth::queues(&headers), &specs, "/jobs").await?;
    let taken = buffered::take_batch(&app, durability, idempotency.is_some(), specs).await?;
    if let Some((intakes, durability)) = taken {
        settle(&mut items, &waiting, &intakes);
        return Ok(Json(answer(items, durability)).into_response());
    }
    let replayed = submit(&app, idempotency, &mut items, atomic).await?;
    let mut response = Json(answer(items, Durability::Durable)).into_response();
    if replayed {
        response.headers_mut().insert("idempotency-replayed", HeaderValue::from_static("true"));
    }
    Ok(response)
}

/// Buffers the jobs of a batch that asks for it and is not refused as a whole.
///
/// # Errors
/// It is not known whether they were buffered.
pub(super) async fn buffered(
    app: &App,
    headers: &HeaderMap,
    bytes: &[u8],
) -> Result<Option<Response>, Problem> {
    let now = app.now().wall;
    let read = fields::text(bytes).and_then(|text| read(text, jobs::context(app, headers, now)));
    let Ok((specs, atomic, durability)) = read else { return Ok(None) };
    let mut items: Vec<Item> = specs.into_iter().map(Item::from).collect();
    if atomic && refuse_whole(&items).is_err() {
        return Ok(None);
    }
    let (waiting, specs) = waiting(&items);
    let has_key = buffered::has_key(headers);
    let taken = buffered::take_batch(app, durability, has_key, specs).await?;
    Ok(taken.map(|(intakes, durability)| {
        settle(&mut items, &waiting, &intakes);
        Json(answer(items, durability)).into_response()
    }))
}

/// One job of the batch on its way.
enum Item {
    Waiting(Box<JobSpec>),
    Taken(Intake),
    Refused(Problem),
}

impl From<Result<JobSpec, Problem>> for Item {
    fn from(read: Result<JobSpec, Problem>) -> Item {
        match read {
            Ok(spec) => Item::Waiting(Box::new(spec)),
            Err(problem) => Item::Refused(problem),
        }
    }
}

type Specs = Vec<Result<JobSpec, Problem>>;

fn read(text: &str, context: intake::Context<'_>) -> Result<(Specs, bool, Durability), Problem> {
    let mut object = Object::parse(text, &["jobs", "atomic", "durability", "callback"], "")?;
    let durability = object.take("durability").unwrap_or_default();
    let mut atomic = object.take::<bool>("atomic").unwrap_or(false);
    let mut specs = Vec::new();
    match object.raw("jobs").map(|raw| elements(raw, limits::BATCH_JOBS)) {
        None => object.refuse("jobs", "is missing"),
        Some(Err(detail)) => object.refuse("jobs", detail),
        Some(Ok(jobs)) if jobs.is_empty() => object.refuse("jobs", "is empty"),
        Some(Ok(jobs)) => {
            let context = intake::Context { items: Some(jobs.len()), ..context };
            for (index, raw) in jobs.into_iter().enumerate() {
                specs.push(element(raw.get(), index, context));
            }
        }
    }
    if let Some(raw) = object.raw("callback") {
        match callback(raw.get(), specs.len(), context) {
            Ok(spec) => specs.push(Ok(spec)),
            Err(problem) => object.refuse_all(problem.errors),
        }
    }
    object.finish().map_err(Problem::fields)?;
    // Who refers to others cannot do without them.
    atomic |= specs.iter().flatten().any(|spec| spec.depends_on.iter().any(is_reference));
    Ok((specs, atomic, durability))
}

fn element(text: &str, index: usize, context: intake::Context<'_>) -> Result<JobSpec, Problem> {
    let base = format!("/jobs/{index}");
    // The body as a whole is JSON: what is malformed here is an element that is not an object.
    intake::job(text, &base, context).map_err(|problem| {
        if problem.code == Code::MalformedJson {
            Problem::fields(vec![FieldProblem::new(base, "must be an object")])
        } else {
            problem
        }
    })
}

/// A job that waits for all the others, however they end. It may name more parents.
fn callback(text: &str, jobs: usize, context: intake::Context<'_>) -> Result<JobSpec, Problem> {
    let base = "/callback";
    let context = intake::Context { items: Some(jobs), ..context };
    let at_base = |problem: Problem| {
        if problem.code == Code::MalformedJson {
            Problem::fields(vec![FieldProblem::new(base, "must be an object")])
        } else if problem.errors.is_empty() {
            Problem::fields(vec![FieldProblem::new(base, problem.detail)])
        } else {
            problem
        }
    };
    let mut spec = intake::job(text, base, context).map_err(at_base)?;
    let all = (0..jobs).map(|nth| Dependency { job: dependency::reference(nth), on_dead: OnDead::Run });
    spec.depends_on.extend(all);
    if spec.depends_on.len() > limits::DEPENDENCIES {
        let detail = format!(
            "waits for {} jobs, those of the batch and its own parents; the limit is {}",
            spec.depends_on.len(),
            limits::DEPENDENCIES
        );
        return Err(Problem::fields(vec![FieldProblem::new(format!("{base}/depends_on"), detail)]));
    }
    Ok(spec)
}

fn is_reference(parent: &Dependency) -> bool {
    dependency::referenced(parent.job).is_some()
}

fn refuse_whole(items: &[Item]) -> Result<(), Problem> {
    let mut errors = Vec::new();
    for (index, item) in items.iter().enumerate() {
        if let Item::Refused(problem) = item {
            if problem.errors.is_empty() {
                errors.push(FieldProblem::new(format!("/jobs/{index}"), problem.detail.clone()));
            }
            errors.extend(problem.errors.iter().cloned());
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(Problem::fields(errors)) }
}

/// Submits what waits. A queue that drains refuses its own jobs only: they are taken out and the rest is
/// submitted again, at most once per queue. Under an idempotency key it refuses the whole batch instead,
/// because the same request must always stand for the same jobs; a key that a relay made binds only if it
/// was answered before. Returns whether the answer is that of
/// an earlier request.
async fn submit(
    app: &App,
    idempotency: Option<Idempotency>,
    items: &mut [Item],
    atomic: bool,
) -> Result<bool, Problem> {
    let bound = idempotency.as_ref().is_some_and(|key| !relay::key::is_ours(key));
    for _ in 0..=items.len() {
        let (waiting, specs) = waiting(items);
        if specs.is_empty() {
            return Ok(false);
        }
        match app.service.submit(idempotency.clone(), specs).await {
            Ok(Submitted::KeyReused) => return Err(jobs::key_reused()),
            Ok(Submitted::NoParent(parent, place)) => {
                let place = Place { job: waiting[place.job], ..place };
                let problem = parents::missing(parent, place, "/jobs");
                if atomic || bound {
                    return Err(problem);
                }
                items[place.job] = Item::Refused(problem);
            }
            Ok(Submitted::Accepted(intakes)) => {
                settle(items, &waiting, &intakes);
                return Ok(false);
            }
            Ok(Submitted::Replayed(intakes)) if intakes.len() != waiting.len() && !bound => {
                let detail = "some of the jobs are in, but which queues drained has changed since";
                return Err(Problem::new(Code::OutcomeUnknown, detail));
            }
            // The same body with another exec token is another request.
            Ok(Submitted::Replayed(intakes)) if intakes.len() != waiting.len() => {
                return Err(jobs::key_reused());
            }
            Ok(Submitted::Replayed(intakes)) => {
                settle(items, &waiting, &intakes);
                return Ok(true);
            }
            Err(ServiceError::Refused(Refusal::QueueDraining(queue))) if !atomic && !bound => {
                let problem = Problem::from(Refusal::QueueDraining(queue.clone()));
                for item in items.iter_mut() {
                    if matches!(item, Item::Waiting(spec) if spec.queue == queue) {
                        *item = Item::Refused(problem.clone());
                    }
                }
            }
            Err(error) => return Err(error.into()),
        }
    }
    Err(Problem::new(Code::Internal, "the batch could not be divided"))
}

/// What is still to be submitted, and where in the batch it is.
fn waiting(items: &[Item]) -> (Vec<usize>, Vec<JobSpec>) {
    let waiting = items.iter().enumerate().filter_map(|(index, item)| match item {
        Item::Waiting(spec) => Some((index, (**spec).clone())),
        Item::Taken(_) | Item::Refused(_) => None,
    });
    waiting.unzip()
}

fn settle(items: &mut [Item], waiting: &[usize], intakes: &[Intake]) {
    for (index, intake) in waiting.iter().zip(intakes) {
        items[*index] = Item::Taken(*intake);
    }
}

fn answer(items: Vec<Item>, durability: Durability) -> BatchBody {
    let created = match durability {
        Durability::Durable => 201,
        Durability::Buffered => 202,
    };
    let mut summary = BatchSummary::default();
    let mut results = Vec::with_capacity(items.len());
    for (index, item) in items.into_iter().enumerate() {
        let result = match item {
            Item::Taken(Intake::Created(id)) => {
                summary.created += 1;
                BatchResult { index, status: created, id: Some(id), deduplicated: false, problem: None }
            }
            Item::Taken(Intake::Duplicate(id)) => {
                summary.deduplicated += 1;
                BatchResult { index, status: 200, id: Some(id), deduplicated: true, problem: None }
            }
            Item::Refused(problem) => {
                summary.failed += 1;
                refused(index, &problem)
            }
            // A store answers every job of a submission; one that it did not answer was not taken in.
            Item::Waiting(_) => {
                summary.failed += 1;
                refused(index, &Problem::new(Code::Internal, "the job was not answered"))
            }
        };
        results.push(result);
    }
    BatchBody { results, summary, durability }
}

fn refused(index: usize, problem: &Problem) -> BatchResult {
    let status = problem.code.status().as_u16();
    BatchResult { index, status, id: None, deduplicated: false, problem: Some(problem.body(None)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ganger_core::{JobId, Wall};

    const CONTEXT: intake::Context<'_> = intake::Context {
        now: Wall(0),
        traceparent: None,
        tracestate: None,
        exec_allowed: false,
        queues: None,
        items: None,
    };

    #[test]
    fn a_batch_is_taken_at_the_bound_and_refused_one_past_it() {
        let jobs = |n: usize| format!("{{\"jobs\":[{}]}}", vec!["{\"kind\":\"a\"}"; n].join(","));
        assert_eq!(read(&jobs(limits::BATCH_JOBS), CONTEXT).unwrap().0.len(), limits::BATCH_JOBS);
        let problem = read(&jobs(limits::BATCH_JOBS + 1), CONTEXT).unwrap_err();
        assert_eq!(problem.detail, "`jobs` has more than 1000 elements");
        for bad in ["{}", r#"{"jobs":[]}"#, r#"{"jobs":{}}"#, r#"{"jobs":[{}],"atomic":1}"#] {
            assert_eq!(read(bad, CONTEXT).unwrap_err().code, Code::ValidationFailed, "{bad}");
        }
    }

    #[test]
    fn a_callback_waits_for_every_job_and_makes_the_batch_atomic() {
        let text = r##"{"jobs":[{"kind":"a"},{"kind":"b","depends_on":["#0"]}],"callback":{"kind":"c"}}"##;
        let (specs, atomic, _) = read(text, CONTEXT).unwrap();
        assert!(atomic);
        let callback = specs.last().unwrap().as_ref().unwrap();
        let parents: Vec<_> =
            callback.depends_on.iter().map(|d| (dependency::referenced(d.job), d.on_dead)).collect();
        assert_eq!(parents, [(Some(0), OnDead::Run), (Some(1), OnDead::Run)]);
        for (bad, at) in [("7", "/callback"), ("{}", "/callback/kind"), (r#"{"kind":"exec"}"#, "/callback")] {
            let problem =
                read(&format!("{{\"jobs\":[{{\"kind\":\"a\"}}],\"callback\":{bad}}}"), CONTEXT).unwrap_err();
            assert_eq!(problem.errors[0].pointer, at, "{bad}");
        }
        let full = format!(
            "{{\"jobs\":[{}],\"callback\":{{\"kind\":\"c\"}}}}",
            vec!["{\"kind\":\"a\"}"; 1000].join(",")
        );
        assert_eq!(read(&full, CONTEXT).unwrap().0.len(), 1001);
    }

    #[test]
    fn one_bad_job_is_answered_alone_or_refuses_an_atomic_batch() {
        let (specs, ..) =
            read(r#"{"jobs":[{"kind":"a"}, 7, {"kind":"exec"}, {"knd":"a"}]}"#, CONTEXT).unwrap();
        let mut items: Vec<Item> = specs.into_iter().map(Item::from).collect();
        let problem = refuse_whole(&items).unwrap_err();
        let pointers: Vec<&str> = problem.errors.iter().map(|e| e.pointer.as_str()).collect();
        assert_eq!(pointers, ["/jobs/1", "/jobs/2", "/jobs/3/knd", "/jobs/3/kind"]);

        items[0] = Item::Taken(Intake::Created(JobId::new(1, [0; 10])));
        let body = answer(items, Durability::Durable);
        assert_eq!(body.summary, BatchSummary { created: 1, deduplicated: 0, failed: 3 });
        let statuses: Vec<u16> = body.results.iter().map(|r| r.status).collect();
        assert_eq!(statuses, [201, 422, 403, 422]);
    }
}
