//! `ganger.v1.Jobs`: what REST offers under `/v1/jobs`, for programs.

use std::collections::HashSet;
use std::time::Duration;

use ganger_core::access::Permission;
use ganger_core::change::{Intake, Submitted};
use ganger_core::coordinator::port::Refusal;
use ganger_core::dependency;
use ganger_core::job::JobSpec;
use ganger_core::name::QueueName;
use ganger_core::trace::TraceContext;
use ganger_core::{JobId, limits};
use ganger_proto::v1;
use ganger_proto::v1::jobs_server::Jobs;
use ganger_store::read::{Related, StoredJob};
use tonic::metadata::MetadataMap;
use tonic::{Request, Response, Status};

use super::intake::Key;
use super::status::{item, status};
use super::{exec_allowed, intake, read, shown};
use crate::accelerator::Taken;
use crate::api::{Durability, JobEventsBody};
use crate::auth::{self, Asking};
use crate::http::exec_token::may_replay;
use crate::http::problem::{Code, Problem};
use crate::http::{ExecToken, buffered, cursor, parents};
use crate::service::{JobView, RELATED_MAX, Service, ServiceError, WAIT_MAX};

/// The door for programs.
#[derive(Clone, Debug)]
pub(super) struct JobsDoor {
    pub(super) service: Service,
    pub(super) exec_token: Option<ExecToken>,
}

#[tonic::async_trait]
impl Jobs for JobsDoor {
    async fn enqueue(
        &self,
        request: Request<v1::EnqueueRequest>,
    ) -> Result<Response<v1::EnqueueResponse>, Status> {
        let asked = self.asked(request.metadata());
        let key = Key::of(&request.get_ref().idempotency_key, request.metadata());
        let request = request.into_inner();
        let wire = request.job.ok_or_else(|| missing("job"))?;
        let spec = intake::job(wire, asked.exec_allowed, asked.queues.as_deref())?;
        if spec.depends_on.iter().any(|parent| dependency::referenced(parent.job).is_some()) {
            let detail = "field `depends_on` names a job of the same batch, and this is none";
            return Err(status(Problem::new(Code::ValidationFailed, detail)));
        }
        let submission = Submission::new("Enqueue", key, request.buffered, asked);
        let taken = self.submit(submission, vec![spec]).await?;
        let intake = taken.intakes.first().copied().ok_or_else(unanswered)?;
        Ok(Response::new(taken.answer(intake)))
    }

    async fn enqueue_batch(
        &self,
        request: Request<v1::EnqueueBatchRequest>,
    ) -> Result<Response<v1::EnqueueBatchResponse>, Status> {
        let asked = self.asked(request.metadata());
        let key = Key::of(&request.get_ref().idempotency_key, request.metadata());
        let request = request.into_inner();
        bounded(&request.jobs)?;
        let jobs = with_callback(request.jobs, request.callback)?;
        let linked = jobs.iter().flat_map(|job| &job.depends_on).any(|parent| parent.job.starts_with('#'));
        // Who refers to others cannot do without them.
        let atomic = request.atomic || linked;
        // Buffered jobs wait in the buffer while their queue drains, and may come while nobody leads.
        let draining = if atomic || request.buffered { HashSet::new() } else { self.draining().await? };
        let mut specs = Vec::with_capacity(jobs.len());
        let mut items: Vec<Option<Problem>> = Vec::with_capacity(jobs.len());
        for wire in jobs {
            match intake::job(wire, asked.exec_allowed, asked.queues.as_deref()) {
                Ok(spec) if draining.contains(&spec.queue) => {
                    items.push(Some(Refusal::QueueDraining(spec.queue).into()));
                }
                Ok(spec) => {
                    specs.push(spec);
                    items.push(None);
                }
                Err(problem) if atomic => {
                    let detail = format!("jobs[{}]: {}", items.len(), problem.detail);
                    return Err(status(Problem::new(problem.code, detail)));
                }
                Err(problem) => items.push(Some(problem)),
            }
        }
        let taken = match specs.is_empty() {
            true => TakenIn::default(),
            false => {
                let submission = Submission::new("EnqueueBatch", key, request.buffered, asked);
                self.submit(submission, specs).await?
            }
        };
        let mut intakes = taken.intakes.iter();
        let mut answers = Vec::with_capacity(items.len());
        for problem in items {
            let answer = match problem {
                Some(problem) => v1::batch_item::Answer::Problem(item(problem)),
                None => {
                    let intake = intakes.next().copied().ok_or_else(unanswered)?;
                    v1::batch_item::Answer::Job(taken.answer(intake))
                }
            };
            answers.push(v1::BatchItem { answer: Some(answer) });
        }
        Ok(Response::new(v1::EnqueueBatchResponse { items: answers, replayed: taken.replayed }))
    }

    async fn get(&self, request: Request<v1::GetRequest>) -> Result<Response<v1::Job>, Status> {
        let id = self.his(&request, &request.get_ref().id).await?;
        let request = request.into_inner();
        let wait = match request.wait.map(Duration::try_from) {
            None => Duration::ZERO,
            Some(Ok(wait)) if wait <= WAIT_MAX => wait,
            Some(_) => {
                let most = WAIT_MAX.as_secs();
                return Err(status(Problem::parameter("wait", format!("must be from 0 to {most} s"))));
            }
        };
        let view = self.service.wait(id, wait).await?;
        Ok(Response::new(shown::job(view)))
    }

    async fn list(&self, request: Request<v1::ListRequest>) -> Result<Response<v1::ListResponse>, Status> {
        let asking = read::asking(&request)?;
        let query = shown::query(request.into_inner(), &asking)?;
        let page = self.service.list(query.clone()).await?;
        let names = self.service.names_of_workers(&page.jobs).await;
        let shown = |stored: StoredJob| {
            let worker = stored.lease.and_then(|lease| names.get(&lease.session).cloned());
            shown::hidden(shown::job(JobView { stored, worker, progress: None }))
        };
        let next_cursor = page.next.map(|id| cursor::encode(&query, id)).unwrap_or_default();
        Ok(Response::new(v1::ListResponse {
            jobs: page.jobs.into_iter().map(shown).collect(),
            next_cursor,
            complete: page.complete,
            examined: page.examined as u64,
        }))
    }

    async fn cancel(&self, request: Request<v1::CancelRequest>) -> Result<Response<v1::Job>, Status> {
        let id = self.his(&request, &request.get_ref().id).await?;
        self.service.cancel(id).await?;
        self.shown(id, request.extensions().get()).await
    }

    async fn replay(&self, request: Request<v1::ReplayRequest>) -> Result<Response<v1::Job>, Status> {
        let id = self.his(&request, &request.get_ref().id).await?;
        let exec = exec_allowed(self.exec_token.as_ref(), request.metadata());
        may_replay(&self.service, id, exec).await?;
        self.service.replay(id).await?;
        self.shown(id, request.extensions().get()).await
    }

    async fn run_now(&self, request: Request<v1::RunNowRequest>) -> Result<Response<v1::Job>, Status> {
        let id = self.his(&request, &request.get_ref().id).await?;
        self.service.run_now(id).await?;
        self.shown(id, request.extensions().get()).await
    }

    async fn attempts(
        &self,
        request: Request<v1::AttemptsRequest>,
    ) -> Result<Response<v1::AttemptsResponse>, Status> {
        let id = self.his(&request, &request.get_ref().id).await?;
        let attempts = self.service.attempts(id).await?;
        let attempts = attempts.into_iter().map(shown::attempt).collect();
        Ok(Response::new(v1::AttemptsResponse { attempts }))
    }

    async fn events(
        &self,
        request: Request<v1::JobEventsRequest>,
    ) -> Result<Response<v1::JobEventsResponse>, Status> {
        let asking = request.extensions().get::<Asking>();
        let audited = asking.is_some_and(|asking| asking.0.may.contains(Permission::Audit));
        let id = self.his(&request, &request.get_ref().id).await?;
        let events = self.service.job_events(id, audited).await?;
        let events = JobEventsBody::from(events).items.into_iter().map(shown::event).collect();
        Ok(Response::new(v1::JobEventsResponse { events }))
    }

    async fn related(
        &self,
        request: Request<v1::RelatedRequest>,
    ) -> Result<Response<v1::RelatedResponse>, Status> {
        let request = request.into_inner();
        let id = job_id(&request.id)?;
        let of = if request.children { Related::Children } else { Related::Parents };
        let after = match request.cursor.as_str() {
            "" => None,
            text => {
                let after =
                    text.parse().map_err(|_| status(Problem::parameter("cursor", "is not a job id")))?;
                Some(after)
            }
        };
        let limit = read::limit(request.limit, RELATED_MAX)?;
        let page = self.service.related(id, of, after, limit).await?;
        Ok(Response::new(v1::RelatedResponse {
            jobs: page.jobs.into_iter().map(|(edge, job)| shown::related(of.far(&edge), edge, job)).collect(),
            next_cursor: page.next.map(|id| id.to_string()).unwrap_or_default(),
        }))
    }

    async fn explain(
        &self,
        request: Request<v1::ExplainRequest>,
    ) -> Result<Response<v1::ExplainResponse>, Status> {
        let id = self.his(&request, &request.get_ref().id).await?;
        let explanation = self.service.explain(id).await?;
        let explanation = read::asking(&request)?.may_know(&self.service, explanation).await?;
        Ok(Response::new(shown::explanation(explanation)))
    }

    async fn histogram(
        &self,
        request: Request<v1::HistogramRequest>,
    ) -> Result<Response<v1::HistogramResponse>, Status> {
        let asking = read::asking(&request)?;
        let request = request.into_inner();
        let (usual, most) = (limits::HISTOGRAM_BUCKETS_DEFAULT, limits::HISTOGRAM_BUCKETS);
        let buckets = read::count("buckets", request.buckets, usual, most)?;
        let jobs = request.jobs.unwrap_or_default();
        let query = shown::query(v1::ListRequest { cursor: String::new(), limit: 0, ..jobs }, &asking)?;
        Ok(Response::new(shown::histogram(self.service.histogram(query, buckets).await?)))
    }

    async fn logs(&self, request: Request<v1::LogsRequest>) -> Result<Response<v1::LogsResponse>, Status> {
        let id = self.his(&request, &request.get_ref().id).await?;
        let attempt = Some(request.get_ref().attempt).filter(|attempt| *attempt != 0);
        let (attempt, text) = self.service.logs(id, attempt).await?;
        Ok(Response::new(v1::LogsResponse { attempt, text }))
    }

    async fn delete(
        &self,
        request: Request<v1::DeleteRequest>,
    ) -> Result<Response<v1::DeleteResponse>, Status> {
        self.service.delete(self.his(&request, &request.get_ref().id).await?).await?;
        Ok(Response::new(v1::DeleteResponse {}))
    }
}

impl JobsDoor {
    /// The job of a request, if it is that of whoever asks. One of another queue is not there for him.
    async fn his<T>(&self, request: &Request<T>, id: &str) -> Result<JobId, Status> {
        let (asking, id) = (read::asking(request)?, job_id(id)?);
        asking.must_see_job(&self.service, id).await?;
        Ok(id)
    }

    fn asked(&self, metadata: &MetadataMap) -> Asked {
        let exec_allowed = exec_allowed(self.exec_token.as_ref(), metadata);
        let queues = auth::queues(metadata.as_ref()).map(Into::into);
        Asked { exec_allowed, queues, trace: intake::trace(metadata) }
    }

    /// Queues that take nothing new: their jobs must not hold up those of other queues.
    async fn draining(&self) -> Result<HashSet<QueueName>, Status> {
        let queues = self.service.queues().await?;
        Ok(queues.into_iter().filter(|view| view.settings.draining).map(|view| view.queue).collect())
    }

    /// Submits one checked job; tells its id.
    pub(super) async fn submit_one(&self, submission: Submission, spec: JobSpec) -> Result<JobId, Status> {
        let taken = self.submit(submission, vec![spec]).await?;
        taken.intakes.first().map(|intake| intake.job()).ok_or_else(unanswered)
    }

    /// Submits checked jobs, and answers each.
    async fn submit(&self, submission: Submission, mut specs: Vec<JobSpec>) -> Result<TakenIn, Status> {
        let now = self.service.clock().now().wall;
        let Submission { call, key, durability, asked } = submission;
        for spec in specs.iter_mut().filter(|spec| spec.options.traceparent.is_none()) {
            spec.options.carry(asked.trace.clone());
        }
        let base = if call == "Enqueue" { "" } else { "/jobs" };
        auth::parents(&self.service, asked.queues.as_deref(), &specs, base).await?;
        let idempotency = match key {
            Key::None => None,
            key @ (Key::OfClient(..) | Key::OfRelay(..)) => {
                intake::keyed(key, intake::fingerprint_of_jobs(call, &specs)?, now)?
            }
        };
        // Also if a standby made it: it may send the call again, and only the ledger would notice.
        let has_key = idempotency.is_some();
        let taken = buffered::take(&self.service, durability, has_key, specs).await?;
        let specs = match taken {
            Taken::Not(specs) => specs,
            Taken::Buffered(ids) => return Ok(TakenIn::new(created(ids), true)),
            Taken::Durable(ids) => return Ok(TakenIn::new(created(ids), false)),
        };
        match self.service.submit(idempotency, specs).await {
            Ok(Submitted::Accepted(intakes)) => Ok(TakenIn::new(intakes, false)),
            Ok(Submitted::Replayed(intakes)) => Ok(TakenIn { intakes, replayed: true, buffered: false }),
            Ok(Submitted::NoParent(parent, place)) => Err(status(parents::missing(parent, place, base))),
            Ok(Submitted::KeyReused) => Err(status(Problem::new(
                Code::IdempotencyKeyReused,
                "this idempotency key came before with another request",
            ))),
            Err(error) => Err(status(error)),
        }
    }

    async fn shown(&self, id: JobId, asking: Option<&Asking>) -> Result<Response<v1::Job>, Status> {
        let view = self.service.job(id).await?;
        Ok(Response::new(shown::to(asking, view)))
    }
}

/// How jobs are submitted.
pub(super) struct Submission {
    call: &'static str,
    key: Key,
    durability: Durability,
    asked: Asked,
}

/// What the caller may submit.
#[derive(Default)]
pub(super) struct Asked {
    exec_allowed: bool,
    queues: Option<String>,
    trace: Option<TraceContext>,
}

impl Asked {
    /// Nothing, by someone whose call is part of this trace.
    pub(super) fn within(trace: Option<TraceContext>) -> Asked {
        Asked { trace, ..Asked::default() }
    }
}

impl Submission {
    pub(super) fn new(call: &'static str, key: Key, buffered: bool, asked: Asked) -> Submission {
        let durability = if buffered { Durability::Buffered } else { Durability::Durable };
        Submission { call, key, durability, asked }
    }
}

/// What became of a submission.
#[derive(Default)]
struct TakenIn {
    intakes: Vec<Intake>,
    /// The answers are those of an earlier call.
    replayed: bool,
    /// Only Redis has them so far.
    buffered: bool,
}

impl TakenIn {
    fn new(intakes: Vec<Intake>, buffered: bool) -> TakenIn {
        TakenIn { intakes, replayed: false, buffered }
    }

    fn answer(&self, intake: Intake) -> v1::EnqueueResponse {
        let deduplicated = matches!(intake, Intake::Duplicate(_));
        let (id, replayed, buffered) = (intake.job().to_string(), self.replayed, self.buffered);
        v1::EnqueueResponse { id, deduplicated, replayed, buffered }
    }
}

fn created(ids: Vec<JobId>) -> Vec<Intake> {
    ids.into_iter().map(Intake::Created).collect()
}

fn bounded(jobs: &[v1::NewJob]) -> Result<(), Status> {
    let bytes: usize = jobs.iter().map(|job| job.payload.len()).sum();
    let (most, most_bytes) = (limits::BATCH_JOBS, limits::BATCH_BYTES);
    if jobs.is_empty() {
        return Err(missing("jobs"));
    }
    if jobs.len() > most || bytes > most_bytes {
        let detail = format!(
            "field `jobs` has {} jobs and {bytes} bytes, the limit is {most} jobs or {most_bytes} bytes",
            jobs.len()
        );
        return Err(status(Problem::new(Code::BodyTooLarge, detail)));
    }
    Ok(())
}

/// A job that waits for all the others comes after them.
fn with_callback(mut jobs: Vec<v1::NewJob>, callback: Option<v1::NewJob>) -> Result<Vec<v1::NewJob>, Status> {
    let places = jobs.len();
    if let Some(mut callback) = callback {
        let all = (0..places).map(|nth| v1::Parent { job: format!("#{nth}"), on_dead: "run".into() });
        callback.depends_on.extend(all);
        jobs.push(callback);
    }
    let named = jobs.iter().flat_map(|job| &job.depends_on).filter_map(|parent| parent.job.strip_prefix('#'));
    if named.filter_map(|place| place.parse::<usize>().ok()).any(|place| place >= places) {
        let detail = "field `depends_on` names a place that the batch has not";
        return Err(status(Problem::new(Code::ValidationFailed, detail)));
    }
    Ok(jobs)
}

fn job_id(text: &str) -> Result<JobId, Status> {
    text.parse().map_err(|error| status(Problem::new(Code::InvalidParameter, format!("field `id`: {error}"))))
}

fn missing(field: &str) -> Status {
    status(Problem::new(Code::ValidationFailed, format!("field `{field}` is missing")))
}

/// A store answers every job of a submission.
fn unanswered() -> Status {
    status(ServiceError::Refused(Refusal::Store("a job was not answered".into())))
}
