//! The compatible doors: the HTTP contracts of small schedulers, at the root of the port, so that what was written
//! for them works unchanged.
//!
//! `/v1` is the real API. Every route here is a translation onto it, one file per profile, and goes through the same
//! bounds and checks: [`taken_in`] submits a job exactly as `POST /v1/jobs` would. What the original promised is
//! answered in its words; everything that it never spoke of (a store that is away, a queue that drains) is answered with a
//! problem document, as everywhere.

mod a;
pub(super) mod b;
mod c;
mod profile;

use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use ganger_core::JobId;
use ganger_core::change::{Intake, Submitted};
use ganger_store::read::ListQuery;
use utoipa_axum::router::OpenApiRouter;

pub(crate) use c::{complete_token, unauthenticated};
pub use profile::{Profile, Profiles};

use super::jobs::JOB_BODY;
use super::problem::{Code, Problem};
use super::{App, cors, cursor, intake, jobs, parents, request};
use crate::api::NewJobRequest;

/// The header that names the job of an answer whose body does not.
const JOB_ID: &str = "x-job-id";

/// Which doors are open, and to whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompatOptions {
    /// The doors that are served.
    pub profiles: Profiles,
    /// Those that ask nobody who he is, where others do.
    pub open: Profiles,
    /// Whether profile D runs commands for callers who do not have the token for commands.
    pub open_commands: bool,
    /// Whether anybody may sign up at profile C.
    pub signup: bool,
    /// Origins whose pages may use every route.
    pub origins: cors::Origins,
    /// Origins whose pages may use the compatible doors, and nothing else.
    pub door_origins: cors::Origins,
}

impl Default for CompatOptions {
    fn default() -> CompatOptions {
        CompatOptions {
            profiles: Profiles::ALL,
            open: Profiles::NONE,
            open_commands: false,
            signup: false,
            origins: cors::Origins::default(),
            door_origins: cors::Origins::default(),
        }
    }
}

/// The routes of these profiles, with their descriptions.
pub(super) fn routes(profiles: Profiles) -> OpenApiRouter<App> {
    profiles.each().fold(OpenApiRouter::new(), |routes, profile| {
        routes.merge(match profile {
            Profile::A => a::routes(),
            Profile::B => b::routes(),
            Profile::C => c::routes(),
            // Spoken over gRPC alone: see `grpc/dts.rs`.
            Profile::D => OpenApiRouter::new(),
        })
    })
}

/// Takes in one job, checked as `POST /v1/jobs` checks it. `route` and `bytes` are what an `Idempotency-Key` is bound to.
///
/// # Errors
/// Whatever `/v1/jobs` would refuse.
async fn taken_in(
    app: &App,
    headers: &HeaderMap,
    route: &str,
    bytes: &[u8],
    job: &NewJobRequest,
) -> Result<Intake, Problem> {
    let now = app.now().wall;
    // Written and read again, so that there is one reader with one set of bounds.
    let text = serde_json::to_string(job)
        .map_err(|error| Problem::new(Code::Internal, format!("the job could not be written: {error}")))?;
    let (spec, _) = intake::job_alone(&text, "", jobs::context(app, headers, now))?;
    let idempotency = request::idempotency(headers, now, route, bytes)?;
    let intakes = match app.service.submit(idempotency, vec![spec]).await? {
        Submitted::Accepted(intakes) | Submitted::Replayed(intakes) => intakes,
        Submitted::KeyReused => return Err(jobs::key_reused()),
        Submitted::NoParent(parent, place) => return Err(parents::missing(parent, place, "")),
    };
    let intake = intakes.first().copied();
    intake.ok_or_else(|| Problem::new(Code::Internal, "the submission was not answered"))
}

/// Says where the page after that job is.
fn link_next(response: &mut Response, path: &str, query: &ListQuery, after: JobId) {
    let (limit, next) = (query.limit, cursor::encode(query, after));
    if let Ok(link) = HeaderValue::from_str(&format!("<{path}?limit={limit}&cursor={next}>; rel=\"next\"")) {
        response.headers_mut().insert(header::LINK, link);
    }
}

/// Names the job in the headers of an answer.
fn name_job(response: &mut Response, id: JobId) {
    if let Ok(location) = HeaderValue::from_str(&format!("/v1/jobs/{id}")) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    if let Ok(id) = HeaderValue::from_str(&id.to_string()) {
        response.headers_mut().insert(JOB_ID, id);
    }
}
