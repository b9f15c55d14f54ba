//! The client against a server that answers from a script.

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use ganger_core::job::{JobSpec, State};
use ganger_core::{JobId, limits};
use ganger_proto::v1::batch_item::Answer;
use ganger_proto::v1::jobs_server::{Jobs, JobsServer};
use ganger_proto::v1::{self, EnqueueRequest};
use ganger_worker::{Client, ClientError, Job, RetryPolicy};
use support::soon;
use tokio::sync::mpsc;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::{Request, Response, Status};

const ADD: Job<(u32, u32), u32> = Job::new("add").queue("sums").max_attempts(8);

/// Takes every job, after having been away once, and says what became of it.
struct Script {
    heard: mpsc::Sender<EnqueueRequest>,
    calls: Arc<AtomicUsize>,
    end: v1::Job,
}

#[tonic::async_trait]
impl Jobs for Script {
    async fn enqueue(
        &self,
        request: Request<EnqueueRequest>,
    ) -> Result<Response<v1::EnqueueResponse>, Status> {
        self.heard.send(request.into_inner()).await.map_err(|_| Status::internal("the test is over"))?;
        if self.calls.fetch_add(1, Ordering::SeqCst) == 0 {
            return Err(Status::unavailable("starting"));
        }
        let id = JobId::new(1, [1; 10]).to_string();
        Ok(Response::new(v1::EnqueueResponse { id, deduplicated: true, ..Default::default() }))
    }

    async fn get(&self, _: Request<v1::GetRequest>) -> Result<Response<v1::Job>, Status> {
        let running = self.calls.fetch_add(1, Ordering::SeqCst) < 3;
        let state = if running { "running".to_owned() } else { self.end.state.clone() };
        Ok(Response::new(v1::Job { state, ..self.end.clone() }))
    }

    /// Takes all but jobs of priority 9.
    async fn enqueue_batch(
        &self,
        request: Request<v1::EnqueueBatchRequest>,
    ) -> Result<Response<v1::EnqueueBatchResponse>, Status> {
        let item = |(n, job): (usize, v1::NewJob)| {
            let id = JobId::new(n as u64, [1; 10]).to_string();
            let taken = v1::EnqueueResponse { id, ..Default::default() };
            let refused = v1::Problem { detail: "the queue is draining".into(), ..Default::default() };
            let answer = if job.priority == 9 { Answer::Problem(refused) } else { Answer::Job(taken) };
            v1::BatchItem { answer: Some(answer) }
        };
        let items = request.into_inner().jobs.into_iter().enumerate().map(item).collect();
        Ok(Response::new(v1::EnqueueBatchResponse { items, replayed: false }))
    }

    async fn list(&self, _: Request<v1::ListRequest>) -> Result<Response<v1::ListResponse>, Status> {
        Err(Status::unimplemented("not in the script"))
    }

    async fn cancel(&self, _: Request<v1::CancelRequest>) -> Result<Response<v1::Job>, Status> {
        Err(Status::unimplemented("not in the script"))
    }

    async fn replay(&self, _: Request<v1::ReplayRequest>) -> Result<Response<v1::Job>, Status> {
        Err(Status::unimplemented("not in the script"))
    }

    async fn run_now(&self, _: Request<v1::RunNowRequest>) -> Result<Response<v1::Job>, Status> {
        Err(Status::unimplemented("not in the script"))
    }

    async fn events(
        &self,
        _: Request<v1::JobEventsRequest>,
    ) -> Result<Response<v1::JobEventsResponse>, Status> {
        Err(Status::unimplemented("not in the script"))
    }

    async fn attempts(
        &self,
        _: Request<v1::AttemptsRequest>,
    ) -> Result<Response<v1::AttemptsResponse>, Status> {
        Err(Status::unimplemented("not in the script"))
    }

    async fn explain(&self, _: Request<v1::ExplainRequest>) -> Result<Response<v1::ExplainResponse>, Status> {
        Err(Status::unimplemented("not in the script"))
    }

    async fn histogram(
        &self,
        _: Request<v1::HistogramRequest>,
    ) -> Result<Response<v1::HistogramResponse>, Status> {
        Err(Status::unimplemented("not in the script"))
    }

    async fn logs(&self, _: Request<v1::LogsRequest>) -> Result<Response<v1::LogsResponse>, Status> {
        Err(Status::unimplemented("not in the script"))
    }

    async fn delete(&self, _: Request<v1::DeleteRequest>) -> Result<Response<v1::DeleteResponse>, Status> {
        Err(Status::unimplemented("not in the script"))
    }

    /// Three parents, in pages of two.
    async fn related(
        &self,
        request: Request<v1::RelatedRequest>,
    ) -> Result<Response<v1::RelatedResponse>, Status> {
        let parent = |n: u8, settled: &str| v1::RelatedJob {
            id: JobId::new(n.into(), [n; 10]).to_string(),
            settled: settled.into(),
            ..Default::default()
        };
        Ok(Response::new(match request.into_inner().cursor.as_str() {
            "" => v1::RelatedResponse {
                jobs: vec![parent(1, "succeeded"), parent(2, "dead")],
                next_cursor: "more".into(),
            },
            _ => v1::RelatedResponse { jobs: vec![parent(3, "")], next_cursor: String::new() },
        }))
    }
}

async fn client(end: v1::Job) -> (Client, mpsc::Receiver<EnqueueRequest>) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (heard, hearing) = mpsc::channel(8);
    let service = JobsServer::new(Script { heard, calls: Arc::default(), end });
    let incoming = TcpListenerStream::new(listener);
    tokio::spawn(tonic::transport::Server::builder().add_service(service).serve_with_incoming(incoming));
    (Client::connect(url).await.unwrap(), hearing)
}

fn ended(state: &str) -> v1::Job {
    v1::Job { state: state.into(), result: "5".into(), last_error: "overflow".into(), ..Default::default() }
}

#[tokio::test]
async fn a_submission_is_sent_again_under_the_same_idempotency_key_and_its_result_is_typed() {
    let (client, mut heard) = client(ended("succeeded")).await;
    let job = client.enqueue(&ADD, (2, 3)).key("two and three").priority(7).delay(Duration::from_secs(60));
    let job = soon(job.into_future()).await.unwrap();
    let (first, second) = (heard.recv().await.unwrap(), heard.recv().await.unwrap());
    assert_eq!(first, second);
    assert!(!first.idempotency_key.is_empty());
    let sent = first.job.unwrap();
    assert_eq!((sent.kind.as_str(), sent.queue.as_str(), sent.payload.as_str()), ("add", "sums", "[2,3]"));
    assert_eq!((sent.unique_key.as_str(), sent.priority, sent.max_attempts), ("two and three", 7, 8));
    assert!(sent.run_at.is_some());
    assert!(job.deduplicated());
    assert_eq!(soon(job.wait()).await.unwrap(), 5);
}

#[tokio::test]
async fn everything_about_a_job_can_be_said() {
    let (client, mut heard) = client(ended("succeeded")).await;
    let at = SystemTime::UNIX_EPOCH + Duration::from_secs(32_472_144_000);
    let policy = RetryPolicy { base: Duration::from_secs(9), ..RetryPolicy::default() };
    let job = client
        .enqueue(&ADD, (2, 3))
        .run_at(at)
        .expires_at(at + Duration::from_secs(1))
        .retry(policy)
        .timeout(None)
        .key("k");
    soon(job.unique_for(None).into_future()).await.unwrap();
    let sent = heard.recv().await.unwrap().job.unwrap();
    assert_eq!(sent.run_at.map(|at| at.seconds), Some(32_472_144_000));
    assert_eq!(sent.expires_at.map(|at| at.seconds), Some(32_472_144_001));
    assert_eq!(sent.retry.as_ref().and_then(|retry| retry.base).map(|base| base.seconds), Some(9));
    let options = JobSpec::try_from(sent).unwrap().options;
    assert_eq!((options.timeout, options.unique_for), (None, limits::FOREVER));
}

#[tokio::test]
async fn a_batch_answers_each_of_its_jobs() {
    let (client, _heard) = client(ended("succeeded")).await;
    let jobs = [0, 9, 1].map(|priority| client.enqueue(&ADD, (1, 1)).priority(priority));
    let answers = soon(client.enqueue_batch(jobs)).await.unwrap();
    let ids: Vec<_> = answers.iter().map(|answer| answer.as_ref().map(|job| job.id()).ok()).collect();
    assert_eq!(ids, [Some(JobId::new(0, [1; 10])), None, Some(JobId::new(2, [1; 10]))]);
    let error = answers[1].as_ref().unwrap_err().to_string();
    assert!(error.contains("draining"), "{error}");
    for wrong in [0, 1_001] {
        let jobs = (0..wrong).map(|_| client.enqueue(&ADD, (1, 1)));
        let error = soon(client.enqueue_batch(jobs)).await.unwrap_err();
        assert!(error.to_string().contains("allowed are 1 to 1000"), "{error}");
    }
    let mistaken = [client.enqueue(&ADD, (1, 1)).max_attempts(0)];
    assert!(soon(client.enqueue_batch(mistaken)).await.is_err());
}

#[tokio::test]
async fn a_job_is_shown_as_it_is() {
    let id = JobId::new(9, [9; 10]);
    let end = v1::Job { id: id.to_string(), kind: "add".into(), attempt: 2, ..ended("succeeded") };
    let (client, _heard) = client(end).await;
    let running = soon(client.get(id)).await.unwrap();
    assert_eq!((running.id, running.state, running.result::<u32>().unwrap()), (id, State::Running, None));
    for _ in 0..2 {
        soon(client.get(id)).await.unwrap();
    }
    let done = soon(client.get(id)).await.unwrap();
    assert_eq!((done.state, done.attempt, done.result::<u32>().unwrap()), (State::Succeeded, 2, Some(5)));
    assert!(done.result::<String>().is_err());
}

#[tokio::test]
async fn a_dead_or_cancelled_job_is_an_error_that_says_so() {
    let (dying, _heard) = client(ended("dead")).await;
    let job = dying.enqueue(&ADD, (1, 1)).await.unwrap();
    let error = soon(job.wait()).await.unwrap_err();
    assert_eq!(error.to_string(), format!("job {} is dead: overflow", job.id()));
    let (cancelled, _heard) = client(ended("cancelled")).await;
    let job = cancelled.enqueue(&ADD, (1, 1)).await.unwrap();
    assert!(matches!(soon(job.wait()).await, Err(ClientError::Cancelled(id)) if id == job.id()));
}

#[tokio::test]
async fn a_mistake_is_told_before_anything_is_sent() {
    let (client, mut heard) = client(ended("succeeded")).await;
    let error = client.enqueue(&ADD, (1, 1)).queue("no spaces").await.unwrap_err();
    assert!(error.to_string().starts_with("queue `no spaces` contains"), "{error}");
    let error = client.enqueue(&ADD, (1, 1)).max_attempts(0).await.unwrap_err();
    assert_eq!(error.to_string(), "cannot enqueue: `max_attempts` is 0, allowed are 1 to 1000");
    assert!(heard.try_recv().is_err());
}

#[tokio::test]
async fn the_parents_of_a_job_come_in_pages_and_their_results_when_asked_for() {
    let end = v1::Job { state: "succeeded".into(), result: "[7]".into(), ..Default::default() };
    let (client, _requests) = client(end).await;
    let parents = client.parents(JobId::new(9, [9; 10])).await.unwrap();
    let ended: Vec<_> = parents.iter().map(|parent| parent.ended()).collect();
    assert_eq!(ended, [Some(State::Succeeded), Some(State::Dead), None]);
    // The script says `running` three times before it tells the end.
    for _ in 0..3 {
        assert_eq!(parents[0].result::<Vec<u8>>().await.unwrap(), None);
    }
    assert_eq!(parents[0].result::<Vec<u8>>().await.unwrap(), Some(vec![7]));
}
