//! The client: enqueues jobs and waits for their results.
//!
//! Every submission carries an idempotency key, so that one whose answer was lost can be sent again
//! and makes no second job. The client does that by itself while the server is away, for a while.

use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use futures::future::BoxFuture;
use ganger_core::dependency::{Dependency, OnDead};
use ganger_core::job::{JobSpec, State};
use ganger_core::name::NameError;
use ganger_core::retry::RetryPolicy;
use ganger_core::trace::TraceContext;
use ganger_core::{JobId, Wall, limits};
use ganger_proto::v1::{self, jobs_client::JobsClient};
use ganger_proto::{DecodeError, MESSAGE_BYTES};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::Channel;
use tonic::{Code, Status};

use crate::addresses;
use crate::backoff::Backoff;
use crate::clock;
use crate::credential::Credential;
use crate::job::Job;
use crate::trace;

/// Delays between tries while the server is away.
const RETRY: Backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(2));
/// Tries before the server counts as gone: about half a minute.
const TRIES: u32 = 20;
/// How long the server holds one question for a result.
const HOLD: prost_types::Duration = prost_types::Duration { seconds: 30, nanos: 0 };

/// Jobs at one server.
pub(crate) type Jobs = JobsClient<InterceptedService<Channel, Credential>>;

/// A connection to a server, for programs that enqueue. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Client(Arc<Servers>);

/// The servers that will do, and which of them is asked at present.
#[derive(Debug)]
struct Servers {
    each: Vec<Jobs>,
    asked: AtomicUsize,
}

/// Why a client's wish was not fulfilled.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// No connection.
    #[error("cannot connect to {url}")]
    Connect {
        /// Where to.
        url: String,
        /// What went wrong.
        #[source]
        cause: tonic::transport::Error,
    },
    /// A name cannot be used.
    #[error("{what} `{text}` {cause}")]
    Name {
        /// What it was to name.
        what: &'static str,
        /// As it was given.
        text: String,
        /// What is wrong with it.
        #[source]
        cause: NameError,
    },
    /// A field is out of bounds.
    #[error("cannot enqueue: `{field}` {problem}")]
    Bounds {
        /// Which.
        field: &'static str,
        /// What is wrong with it.
        problem: String,
    },
    /// The payload cannot be written as JSON, or the result cannot be read as what it should be.
    #[error("{what} does not fit")]
    Json {
        /// Which of the two.
        what: &'static str,
        /// What is wrong with it.
        #[source]
        cause: serde_json::Error,
    },
    /// The server refused, or was away for too long.
    #[error("the server refused: {}", .0.message())]
    Refused(#[source] Box<Status>),
    /// The server's answer makes no sense.
    #[error("cannot understand the server's answer: {0}")]
    Answer(String),
    /// The job died.
    #[error("job {id} is dead: {reason}")]
    Dead {
        /// Which.
        id: JobId,
        /// Its last error, or why it died.
        reason: String,
    },
    /// The job was cancelled.
    #[error("job {0} was cancelled")]
    Cancelled(JobId),
}

impl From<DecodeError> for ClientError {
    fn from(error: DecodeError) -> ClientError {
        ClientError::Answer(error.to_string())
    }
}

impl Client {
    /// Connects to the server at this address, or to the first that answers of several between commas.
    ///
    /// # Errors
    /// There is none, or an address is not one.
    pub async fn connect(url: impl Into<String>) -> Result<Client, ClientError> {
        Client::connect_with(url, Credential::default()).await
    }

    /// The same, showing a token.
    ///
    /// # Errors
    /// As [`Client::connect`].
    pub async fn connect_with(url: impl Into<String>, credential: Credential) -> Result<Client, ClientError> {
        let url = url.into();
        let failed = |cause| ClientError::Connect { url: url.clone(), cause };
        let addresses = addresses::parse(&url, &credential).map_err(failed)?;
        let mut asked = 0;
        let mut tried = addresses[asked].endpoint.connect().await;
        while tried.is_err() && asked + 1 < addresses.len() {
            asked += 1;
            tried = addresses[asked].endpoint.connect().await;
        }
        let mut each: Vec<_> = addresses.iter().map(|address| address.endpoint.connect_lazy()).collect();
        each[asked] = tried.map_err(failed)?;
        Ok(Client::of(each, asked, &credential))
    }

    /// Connects to one of these servers when it is first asked for something. Must be called within a runtime.
    pub(crate) fn lazy(urls: &str, credential: &Credential) -> Result<Client, tonic::transport::Error> {
        let each = addresses::parse(urls, credential)?
            .iter()
            .map(|address| address.endpoint.connect_lazy())
            .collect();
        Ok(Client::of(each, 0, credential))
    }

    fn of(each: Vec<Channel>, asked: usize, credential: &Credential) -> Client {
        let jobs = |channel| {
            JobsClient::with_interceptor(channel, credential.clone())
                .max_decoding_message_size(MESSAGE_BYTES)
                .max_encoding_message_size(MESSAGE_BYTES)
        };
        let each = each.into_iter().map(jobs).collect();
        Client(Arc::new(Servers { each, asked: AtomicUsize::new(asked) }))
    }

    /// A job to be enqueued: say more about it, then `.await` it.
    pub fn enqueue<P: Serialize, R>(&self, job: &Job<P, R>, payload: P) -> Enqueue<R> {
        let spec = job
            .spec()
            .map_err(|(what, text, cause)| ClientError::Name { what, text: text.into(), cause })
            .and_then(|mut spec| {
                spec.options.carry(trace::current());
                spec.payload = serde_json::to_string(&payload)
                    .map_err(|cause| ClientError::Json { what: "payload", cause })?;
                Ok(spec)
            });
        Enqueue {
            client: self.clone(),
            spec,
            idempotency_key: uuid::Uuid::new_v4().to_string(),
            result: PhantomData,
        }
    }
}

impl Client {
    /// Stops a job: one that waits at once, one that runs by telling its worker.
    ///
    /// # Errors
    /// There is no such job, it is final, or the server is away for too long.
    pub async fn cancel(&self, job: JobId) -> Result<(), ClientError> {
        let request = v1::CancelRequest { id: job.to_string() };
        let cancel = |mut jobs: Jobs| {
            let request = request.clone();
            async move { jobs.cancel(request).await }
        };
        self.patiently(cancel).await.map(|_| ())
    }

    /// Asks again while the server is away, a bounded number of times, and each time another one if there are
    /// several.
    pub(crate) async fn patiently<T, F>(&self, ask: impl Fn(Jobs) -> F) -> Result<T, ClientError>
    where
        F: Future<Output = Result<tonic::Response<T>, Status>>,
    {
        let mut delays = RETRY;
        for _ in 1..TRIES {
            let asked = self.0.asked.load(Ordering::Relaxed);
            match ask(self.0.each[asked].clone()).await {
                Ok(answer) => return Ok(answer.into_inner()),
                // Code `Unknown` is what a connection that broke underneath reads as.
                Err(status) if matches!(status.code(), Code::Unavailable | Code::Unknown) => {
                    tracing::debug!("the server is away: {}", status.message());
                    self.0.asked.store((asked + 1) % self.0.each.len(), Ordering::Relaxed);
                    tokio::time::sleep(delays.next()).await;
                }
                Err(status) => return Err(ClientError::Refused(Box::new(status))),
            }
        }
        let last = ask(self.0.each[self.0.asked.load(Ordering::Relaxed)].clone()).await;
        last.map(tonic::Response::into_inner).map_err(|status| ClientError::Refused(Box::new(status)))
    }
}

/// A submission that is being put together.
#[must_use = "nothing is enqueued before it is awaited"]
pub struct Enqueue<R> {
    client: Client,
    spec: Result<JobSpec, ClientError>,
    idempotency_key: String,
    result: PhantomData<fn() -> R>,
}

impl<R> Enqueue<R> {
    /// At most one live job of its kind with this key.
    pub fn key(self, key: impl Into<String>) -> Enqueue<R> {
        self.with(|spec| spec.options.unique_key = Some(key.into()))
    }

    /// Jobs of its queue with the same key share the limits of the queue's keys, and wait while the key is closed.
    pub fn concurrency_key(self, key: impl Into<String>) -> Enqueue<R> {
        self.with(|spec| spec.options.concurrency_key = Some(key.into()))
    }

    /// Whose job it is: within equal priority the owners of a queue's jobs take turns, by weight (from 1).
    pub fn fair_key(self, key: impl Into<String>, weight: u16) -> Enqueue<R> {
        self.with(|spec| {
            spec.options.fair_key = Some(key.into());
            spec.options.fair_weight = weight;
        })
    }

    /// Another queue than its kind's.
    pub fn queue(mut self, queue: &str) -> Enqueue<R> {
        match (&mut self.spec, queue.parse()) {
            (Ok(spec), Ok(name)) => spec.queue = name,
            (Ok(_), Err(cause)) => {
                self.spec = Err(ClientError::Name { what: "queue", text: queue.into(), cause });
            }
            // The first mistake is the one that is told.
            (Err(_), _) => {}
        }
        self
    }

    /// Larger runs first.
    pub fn priority(self, priority: i8) -> Enqueue<R> {
        self.with(|spec| spec.priority = priority)
    }

    /// Not before this long from now.
    pub fn delay(self, delay: Duration) -> Enqueue<R> {
        self.with(|spec| spec.run_at = Some(clock::wall() + delay))
    }

    /// Not before this moment.
    pub fn run_at(self, at: SystemTime) -> Enqueue<R> {
        self.with(|spec| spec.run_at = Some(wall(at)))
    }

    /// It dies if it has not started by this moment.
    pub fn expires_at(self, at: SystemTime) -> Enqueue<R> {
        self.with(|spec| spec.options.expires_at = Some(wall(at)))
    }

    /// Delays between attempts.
    pub fn retry(self, policy: RetryPolicy) -> Enqueue<R> {
        self.with(|spec| spec.options.retry = policy)
    }

    /// Longest run of one attempt; `None` for as long as it likes.
    pub fn timeout(self, timeout: Option<Duration>) -> Enqueue<R> {
        self.with(|spec| spec.options.timeout = timeout)
    }

    /// How long the unique key is held after success; `None` for good.
    pub fn unique_for(self, held: Option<Duration>) -> Enqueue<R> {
        self.with(|spec| spec.options.unique_for = held.unwrap_or(limits::FOREVER))
    }

    /// Attempts allowed in all, the first included.
    pub fn max_attempts(self, attempts: u32) -> Enqueue<R> {
        self.with(|spec| spec.options.max_attempts = attempts)
    }

    /// For finding it again.
    pub fn tag(self, tag: impl Into<String>) -> Enqueue<R> {
        self.with(|spec| spec.options.tags.push(tag.into()))
    }

    /// Not before this job is final; and what to do if it dies or is cancelled. May be said several times.
    pub fn after(self, job: JobId, on_dead: OnDead) -> Enqueue<R> {
        self.with(|spec| spec.depends_on.push(Dependency { job, on_dead }))
    }

    /// W3C trace context to hand to the handler, instead of the one of the present span.
    pub fn traceparent(self, traceparent: impl Into<String>) -> Enqueue<R> {
        let trace = TraceContext::read(Some(&traceparent.into()), None);
        self.with(|spec| spec.options.carry(trace))
    }

    /// Same key, same job, for 24 hours; a fresh one if not given.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Enqueue<R> {
        self.idempotency_key = key.into();
        self
    }

    fn with(mut self, change: impl FnOnce(&mut JobSpec)) -> Enqueue<R> {
        if let Ok(spec) = &mut self.spec {
            change(spec);
        }
        self
    }

    /// The job as the server is asked for it, if there is no mistake in it.
    pub(crate) fn checked(self) -> Result<JobSpec, ClientError> {
        let spec = self.spec?;
        spec.check().map_err(|e| ClientError::Bounds { field: e.field, problem: e.problem })?;
        Ok(spec)
    }

    async fn send(self) -> Result<Enqueued<R>, ClientError> {
        let (client, idempotency_key) = (self.client.clone(), self.idempotency_key.clone());
        let request =
            v1::EnqueueRequest { job: Some(self.checked()?.into()), idempotency_key, buffered: false };
        let enqueue = |mut jobs: Jobs| {
            let request = request.clone();
            async move { jobs.enqueue(request).await }
        };
        let answer = client.patiently(enqueue).await?;
        Enqueued::read(&client, &answer)
    }
}

/// A moment as the server counts it; before 1970 is 1970.
fn wall(at: SystemTime) -> Wall {
    let since = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Wall(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}

impl<R: 'static> IntoFuture for Enqueue<R> {
    type Output = Result<Enqueued<R>, ClientError>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.send())
    }
}

/// A job that the server has taken, durably.
#[derive(Debug)]
pub struct Enqueued<R> {
    client: Client,
    id: JobId,
    deduplicated: bool,
    result: PhantomData<fn() -> R>,
}

impl<R> Enqueued<R> {
    pub(crate) fn read(client: &Client, answer: &v1::EnqueueResponse) -> Result<Enqueued<R>, ClientError> {
        let id = answer.id.parse();
        let id = id.map_err(|e: ganger_core::ids::ParseIdError| ClientError::Answer(e.to_string()))?;
        Ok(Enqueued { client: client.clone(), id, deduplicated: answer.deduplicated, result: PhantomData })
    }
}

impl<R: DeserializeOwned> Enqueued<R> {
    /// Its identity.
    #[must_use]
    pub fn id(&self) -> JobId {
        self.id
    }

    /// The unique key was held: this is the job that holds it, not a new one.
    #[must_use]
    pub fn deduplicated(&self) -> bool {
        self.deduplicated
    }

    /// Waits until the job is final, as long as that takes and the server can be asked.
    ///
    /// # Errors
    /// The job died or was cancelled, its result is not an `R`, or the server is away for too long.
    pub async fn wait(&self) -> Result<R, ClientError> {
        let request = v1::GetRequest { id: self.id.to_string(), wait: Some(HOLD) };
        loop {
            let get = |mut jobs: Jobs| {
                let request = request.clone();
                async move { jobs.get(request).await }
            };
            let job = self.client.patiently(get).await?;
            let state = State::parse(&job.state)
                .ok_or_else(|| ClientError::Answer(format!("unknown state `{}`", job.state)))?;
            match state {
                State::Succeeded => {
                    let result = if job.result.is_empty() { "null" } else { &job.result };
                    return serde_json::from_str(result)
                        .map_err(|cause| ClientError::Json { what: "result", cause });
                }
                State::Dead => {
                    let reason = if job.last_error.is_empty() { job.reason } else { job.last_error };
                    return Err(ClientError::Dead { id: self.id, reason });
                }
                State::Cancelled => return Err(ClientError::Cancelled(self.id)),
                State::Scheduled | State::Blocked | State::Queued | State::Running | State::Retrying => {}
            }
        }
    }
}
