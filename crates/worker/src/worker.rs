//! The worker: options in, a running service behind a cheap handle out.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use ganger_core::SessionId;
use ganger_core::change::WorkerInfo;
use ganger_core::limits;
use ganger_core::name::{Labels, NameError, QueueName};
use ganger_core::session::{OnLapse, Session};
use ganger_proto::convert::{TTL_DEFAULT, TTL_LONGEST, TTL_SHORTEST};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::{mpsc, watch};

use crate::addresses::Addresses;
use crate::client::Client;
use crate::clock;
use crate::context::Ctx;
use crate::credential::Credential;
use crate::error::{JobError, WorkerError};
use crate::handle::WorkerHandle;
use crate::health;
use crate::job::Job;
use crate::registry::Registry;
use crate::session::{Driver, Finish, Setup, Ways};
use crate::status::Status;

/// How long a handler that was told to stop may take. The leader waits as long.
const CANCEL_GRACE: Duration = Duration::from_secs(10);
/// How long running handlers may go on after a drain began.
const DRAIN_GRACE: Duration = Duration::from_secs(30);
/// Commands of handles that wait for the session.
const COMMANDS: usize = 16;

/// A worker that is to be: who it is, what it can do, where its server is.
#[must_use = "a worker does nothing until it runs"]
pub struct Worker {
    url: String,
    credential: Credential,
    name: String,
    threads: u16,
    queues: Vec<String>,
    labels: Labels,
    ttl: Duration,
    on_lapse: OnLapse,
    cancel_grace: Duration,
    drain_grace: Duration,
    session: Option<SessionId>,
    session_file: Option<PathBuf>,
    health: Option<SocketAddr>,
    registry: Registry,
}

impl Worker {
    /// A worker for the server at this address, or for those at several between commas. Nothing happens before
    /// [`Worker::run`] or [`Worker::start`], and a server that is not there yet is waited for.
    pub fn connect(url: impl Into<String>) -> Worker {
        Worker {
            url: url.into(),
            credential: Credential::default(),
            name: format!("worker-{}", std::process::id()),
            threads: std::thread::available_parallelism().map_or(1, |n| n.get().min(64) as u16),
            queues: Vec::new(),
            labels: Labels::new(),
            ttl: TTL_DEFAULT,
            on_lapse: OnLapse::Cancel,
            cancel_grace: CANCEL_GRACE,
            drain_grace: DRAIN_GRACE,
            session: None,
            session_file: None,
            health: None,
            registry: Registry::new(),
        }
    }

    /// What it shows to a server that asks who it is.
    pub fn credential(mut self, credential: Credential) -> Worker {
        self.credential = credential;
        self
    }

    /// A name for people; several workers may share one.
    pub fn name(mut self, name: impl Into<String>) -> Worker {
        self.name = name.into();
        self
    }

    /// Its capacity: so many jobs of one thread at once.
    pub fn threads(mut self, threads: u16) -> Worker {
        self.threads = threads;
        self
    }

    /// Serves only these queues; without any, all.
    pub fn queues<Q: Into<String>>(mut self, queues: impl IntoIterator<Item = Q>) -> Worker {
        self.queues.extend(queues.into_iter().map(Into::into));
        self
    }

    /// Labels that jobs may require.
    pub fn labels<N: Into<String>, V: Into<String>>(
        mut self,
        labels: impl IntoIterator<Item = (N, V)>,
    ) -> Worker {
        self.labels.extend(labels.into_iter().map(|(name, value)| (name.into(), value.into())));
        self
    }

    /// Runs jobs of this kind with an async function. Long computations belong into
    /// [`Worker::handle_blocking`]: they cannot be stopped here, and hold up the other handlers.
    pub fn handle<P, R, F, Fut>(mut self, job: &Job<P, R>, handler: F) -> Worker
    where
        P: DeserializeOwned + Send + 'static,
        R: Serialize,
        F: Fn(Ctx, P) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<R, JobError>> + Send + 'static,
    {
        self.registry = self.registry.handle(job, handler);
        self
    }

    /// Runs jobs of this kind with a function that blocks or computes, on a blocking thread of the
    /// present runtime (which has 512 of them unless told otherwise). It cannot be made to stop: one
    /// that outlives its timeout keeps its threads until it ends.
    pub fn handle_blocking<P, R, F>(mut self, job: &Job<P, R>, handler: F) -> Worker
    where
        P: DeserializeOwned + 'static,
        R: Serialize,
        F: Fn(Ctx, P) -> Result<R, JobError> + Send + Sync + 'static,
    {
        self.registry = self.registry.handle_blocking(job, handler);
        self
    }

    /// Adds handlers that were collected elsewhere, as `kinds::builtin` does.
    pub fn with(mut self, registry: Registry) -> Worker {
        self.registry = self.registry.with(registry);
        self
    }

    /// How long its leases last without a sign of life; the server has the last word.
    pub fn ttl(mut self, ttl: Duration) -> Worker {
        self.ttl = ttl;
        self
    }

    /// What losing touch with the server for a TTL does to running handlers.
    pub fn on_lapse(mut self, on_lapse: OnLapse) -> Worker {
        self.on_lapse = on_lapse;
        self
    }

    /// How long a handler that was told to stop may take before it is dropped.
    pub fn cancel_grace(mut self, grace: Duration) -> Worker {
        self.cancel_grace = grace;
        self
    }

    /// How long running handlers may go on after a drain began.
    pub fn drain_grace(mut self, grace: Duration) -> Worker {
        self.drain_grace = grace;
        self
    }

    /// The id of its first session, chosen by whoever watches this process. Must never have been used.
    pub fn session_id(mut self, session: SessionId) -> Worker {
        self.session = Some(session);
        self
    }

    /// Writes the id of its present session here, for a supervisor.
    pub fn session_file(mut self, path: impl Into<PathBuf>) -> Worker {
        self.session_file = Some(path.into());
        self
    }

    /// Answers `/livez`, `/readyz`, `/metrics` and `/jobs` on this address.
    pub fn health(mut self, address: SocketAddr) -> Worker {
        self.health = Some(address);
        self
    }

    /// Works until drained.
    ///
    /// # Errors
    /// What [`Worker::start`] and [`WorkerHandle::finished`] say.
    pub async fn run(self) -> Result<Finish, WorkerError> {
        self.start().await?.finished().await
    }

    /// Begins to work. Handlers run on the present runtime, the session on a thread of its own.
    ///
    /// # Errors
    /// An option that cannot be used, or a health address that is taken. A server that cannot be
    /// reached is not an error: the worker goes on trying.
    #[expect(clippy::unused_async, reason = "needs a runtime around it, and says so by being async")]
    pub async fn start(self) -> Result<WorkerHandle, WorkerError> {
        let info = self.info()?;
        let addresses = Addresses::parse(&self.url, &self.credential)
            .map_err(|cause| WorkerError::Url { url: self.url.clone(), cause })?;
        let client = Client::lazy(&self.url, &self.credential)
            .map_err(|cause| WorkerError::Url { url: self.url.clone(), cause })?;
        let health = self.health.map(health::bind).transpose()?;
        let health_address = health.as_ref().and_then(|listener| listener.local_addr().ok());
        let id = self.session.unwrap_or_else(clock::fresh_session);
        let status = Status::new(id, self.threads);
        let (sending, commands) = mpsc::channel(COMMANDS);
        let (finishing, finished) = watch::channel(None);
        let setup = Setup {
            session: Session::new(id, info, self.on_lapse),
            threads: self.threads,
            registry: self.registry.checked()?,
            status: status.clone(),
            client: Some(client.clone()),
            ways: Ways {
                addresses,
                credential: self.credential,
                runtime: tokio::runtime::Handle::current(),
                commands,
                cancel_grace: self.cancel_grace,
                drain_grace: self.drain_grace,
                session_file: self.session_file,
            },
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(WorkerError::Thread)?;
        let shared = status.clone();
        let session = move || {
            let finish = runtime.block_on(async move {
                if let Some(listener) = health {
                    tokio::spawn(health::serve(listener, shared, client));
                }
                Driver::new(setup).drive().await
            });
            finishing.send_replace(Some(finish));
        };
        std::thread::Builder::new()
            .name("ganger-session".into())
            .spawn(session)
            .map_err(WorkerError::Thread)?;
        Ok(WorkerHandle::new(sending, status, finished, health_address))
    }

    fn info(&self) -> Result<WorkerInfo, WorkerError> {
        within("threads", self.threads.into(), 1, limits::THREADS.into())?;
        within("number of queues", self.queues.len(), 0, limits::WORKER_NAMES)?;
        within("number of labels", self.labels.len(), 0, limits::LABELS)?;
        within("length of the name", self.name.len(), 1, limits::NAME_BYTES)?;
        if self.name.chars().any(char::is_control) {
            return Err(WorkerError::ControlCharacter("name"));
        }
        for (name, value) in &self.labels {
            within("length of a label's name", name.len(), 1, limits::LABEL_BYTES)?;
            within("length of a label's value", value.len(), 0, limits::LABEL_BYTES)?;
        }
        let queue = |text: &String| {
            let wrong = |cause: NameError| WorkerError::Name { what: "queue", text: text.clone(), cause };
            text.parse::<QueueName>().map_err(wrong)
        };
        Ok(WorkerInfo {
            name: self.name.clone(),
            queues: self.queues.iter().map(queue).collect::<Result<_, _>>()?,
            kinds: self.registry.kinds().cloned().collect(),
            threads: self.threads,
            labels: self.labels.clone(),
            version: env!("CARGO_PKG_VERSION").into(),
            // The server knows which workers live inside it.
            local: false,
            claim: false,
            ttl: self.ttl.clamp(TTL_SHORTEST, TTL_LONGEST),
        })
    }
}

fn within(what: &'static str, value: usize, low: usize, high: usize) -> Result<(), WorkerError> {
    if (low..=high).contains(&value) { Ok(()) } else { Err(WorkerError::Bound { what, value, low, high }) }
}
