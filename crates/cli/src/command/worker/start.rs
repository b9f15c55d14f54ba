//! `ganger worker start`: run the built-in kinds until told to stop.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use ganger_core::SessionId;
use ganger_core::limits;
use ganger_core::name::{Kind, QueueName};
use ganger_worker::supervisor::drain_when_orphaned;
use ganger_worker::{OnLapse, WorkerHandle};

use super::supervise;

use crate::config::{Grace, Key, Layer, OtlpChoice};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Fallible};
use crate::local_worker::{abandon_all, registry, unfinished, worker_failure};
use crate::manager::Manager;
use crate::signals::Stops;

/// A session that has not turned for so long hangs.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);

/// How the worker is to be.
#[derive(Args, Clone, Debug)]
pub(super) struct Start {
    /// Serve only these queues; may be repeated [default: all]
    #[arg(short, long = "queue", value_name = "QUEUE", value_delimiter = ',')]
    pub(super) queues: Vec<QueueName>,
    /// Run only these kinds; may be repeated [default: all that are built in]
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    pub(super) kinds: Vec<Kind>,
    /// Its capacity: so many jobs of one thread at once [default: one per core]
    #[arg(short, long, value_parser = clap::value_parser!(u16).range(1..=i64::from(limits::THREADS)))]
    pub(super) threads: Option<u16>,
    /// A label that jobs may require; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = crate::command::pair, value_delimiter = ',')]
    pub(super) labels: Vec<(String, String)>,
    /// A name for people [default: the host's name and the process id]
    #[arg(long)]
    pub(super) name: Option<String>,
    /// Run commands (`exec` jobs) as this user
    #[arg(long)]
    pub(super) allow_exec: bool,
    /// Start so many processes and restart those that die
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..=256))]
    processes: Option<u16>,
    /// Answer /livez, /readyz, /metrics and /jobs on this address; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS")]
    pub(super) health: Option<SocketAddr>,
    /// What happens to running jobs when the server was not heard of for too long
    #[arg(long, value_enum, default_value_t = Lapse::Cancel)]
    pub(super) on_lapse: Lapse,
    /// Its jobs run elsewhere when the server has not heard of it for this long [default: 15s]
    #[arg(long, value_name = "DURATION")]
    pub(super) ttl: Option<Grace>,
    /// Send spans to the OpenTelemetry collector at this address, over gRPC; `off` overrides the environment [env:
    /// GANGER_OTLP, OTEL_EXPORTER_OTLP_ENDPOINT]
    #[arg(long, value_name = "URL")]
    otlp: Option<OtlpChoice>,
    /// How long running jobs may finish when it stops [default: 30s] [env: GANGER_GRACE]
    #[arg(long, value_name = "DURATION")]
    grace: Option<Grace>,
    /// Show this certificate instead of a token (PEM) [env: GANGER_CLIENT_CERT]
    #[arg(long, value_name = "FILE")]
    client_cert: Option<PathBuf>,
    /// The key of that certificate (PEM) [env: GANGER_CLIENT_KEY]
    #[arg(long, value_name = "FILE")]
    client_key: Option<PathBuf>,
    /// The id of its first session, chosen by its supervisor
    #[arg(long, hide = true)]
    session: Option<SessionId>,
    /// Where it writes the id of its present session, for its supervisor
    #[arg(long, hide = true)]
    session_file: Option<PathBuf>,
    /// Drain when standard input closes: the supervisor is gone
    #[arg(long, hide = true)]
    until_stdin_closes: bool,
}

/// What happens to running jobs when the server was not heard of for too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Lapse {
    /// They are told to stop
    Cancel,
    /// They may finish, and the server decides whether their result still counts
    Continue,
}

impl Lapse {
    /// The word for it on the command line.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Lapse::Cancel => "cancel",
            Lapse::Continue => "continue",
        }
    }
}

impl From<Lapse> for OnLapse {
    fn from(lapse: Lapse) -> OnLapse {
        match lapse {
            Lapse::Cancel => OnLapse::Cancel,
            Lapse::Continue => OnLapse::Continue,
        }
    }
}

impl Start {
    pub(super) async fn run(self, context: &Context) -> Fallible<Exit> {
        if let Some(processes) = self.processes {
            return supervise::run(context, &self, processes).await;
        }
        let mut stops = Stops::listen()?;
        let worker = self.start(context).await?;
        if self.until_stdin_closes {
            drain_when_orphaned(worker.clone());
        }
        if let Some(address) = worker.health_address() {
            context.out.note(&format!("health checks on http://{address}"));
        }
        let manager = Manager::of(&context.environment);
        manager.ready(&standing(&worker));
        tokio::select! {
            () = stops.next() => worker.drain(),
            // Drained from afar, or because its supervisor is gone.
            finish = worker.finished() => return ended(context, finish),
            () = manager.watched(async || worker.answers(ANSWER_WITHIN).await, async || Some(standing(&worker))) => {}
        }
        let grace = Grace(context.config.grace.value);
        manager.stopping(&format!("drains: running jobs have {grace} to finish"));
        context
            .out
            .note(&format!("draining: running jobs have {grace} to finish; ctrl-C again stops at once"));
        tokio::select! {
            finish = worker.finished() => ended(context, finish),
            () = stops.next() => {
                abandon_all(&[worker]).await;
                Ok(Exit::Interrupted)
            }
        }
    }

    pub(super) fn settings(&self, layer: &mut Layer) {
        layer.set(Key::Grace, self.grace);
        layer.set(Key::Otlp, self.otlp.as_ref());
        layer.set(Key::ClientCert, self.client_cert.as_ref().map(|path| path.display()));
        layer.set(Key::ClientPrivate, self.client_key.as_ref().map(|path| path.display()));
    }

    async fn start(&self, context: &Context) -> Fallible<WorkerHandle> {
        let config = &context.config;
        let mut worker = ganger_worker::Worker::connect(config.url.value.to_string())
            .credential(crate::token::credential(config)?)
            .name(self.name.clone().unwrap_or_else(default_name))
            .queues(self.queues.iter().map(ToString::to_string))
            .labels(self.labels.clone())
            .on_lapse(self.on_lapse.into())
            .drain_grace(config.grace.value)
            .with(self.registry(context)?);
        if let Some(threads) = self.threads {
            worker = worker.threads(threads);
        }
        if let Some(Grace(ttl)) = self.ttl {
            worker = worker.ttl(ttl);
        }
        if let Some(address) = self.health {
            worker = worker.health(address);
        }
        if let Some(session) = self.session {
            worker = worker.session_id(session);
        }
        if let Some(path) = &self.session_file {
            worker = worker.session_file(path);
        }
        worker.start().await.map_err(|error| worker_failure(&error))
    }

    fn registry(&self, context: &Context) -> Fallible<ganger_worker::Registry> {
        let registry = registry(context, self.allow_exec)?;
        if self.kinds.is_empty() {
            return Ok(registry);
        }
        let known: Vec<String> = registry.kinds().map(ToString::to_string).collect();
        if let Some(unknown) = self.kinds.iter().find(|kind| !known.contains(&kind.to_string())) {
            return Err(Failure::usage(
                format!("cannot run jobs of kind {unknown}"),
                format!("built in are: {}", known.join(", ")),
                "add --allow-exec for exec; other kinds need a worker written with an SDK",
            ));
        }
        Ok(registry.only(&self.kinds))
    }
}

/// How the worker stands, in a line.
fn standing(worker: &WorkerHandle) -> String {
    let standing = worker.standing();
    let running = worker.running().as_array().map_or(0, Vec::len);
    match standing.trouble {
        _ if standing.draining => format!("drains, {running} jobs run"),
        _ if standing.open => format!("works for the server, {running} jobs run"),
        Some(trouble) => format!("waits for the server: {trouble}"),
        None => "waits for the server".into(),
    }
}

fn ended(
    context: &Context,
    finish: Result<ganger_worker::Finish, ganger_worker::WorkerError>,
) -> Fallible<Exit> {
    let left = unfinished(finish.map_err(|error| worker_failure(&error))?);
    context.out.note(&match left {
        0 => "drained; every result was acknowledged".to_owned(),
        n => format!("stopped with {n} jobs unfinished; they run again elsewhere"),
    });
    Ok(Exit::Success)
}

/// A name for people, where the user gave none.
pub(super) fn default_name() -> String {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    format!("{host}-{}", std::process::id())
}
