//! `ganger dev`: a server and its workers in one process, on one SQLite file.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::thread::available_parallelism;

use clap::Args;
use ganger_core::{SessionId, limits};
use ganger_server::ServerHandle;
use ganger_server::http::CompatOptions;
use ganger_server::http::cors::Origins;
use ganger_worker::{Worker, WorkerHandle};
use serde_json::json;
use uuid::Uuid;

use super::compat::{self, CompatFlags};
use super::demo::Inside;
use crate::config::{
    Config, EXEC_TOKEN_FILE, Grace, Key, Layer, Listens, Origin, OtlpChoice, Place, ServerUrl,
};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Fallible;
use crate::local_worker::{abandon_all, registry, stop_all, worker_failure};
use crate::page;
use crate::serving::{Accelerated, Member, Serving, server_failure};
use crate::signals::Stops;

/// Even a small machine should run a few jobs at once: most of them wait for something.
const LEAST_THREADS: usize = 4;
/// Where the schedulers that it stands in for listened: a submitter, a coordinator's metrics, a scheduler.
const COMPAT_PORTS: [u16; 3] = [8000, 9000, 8081];

/// Start a server with local workers: everything in one process, no database to install.
#[derive(Args, Debug)]
#[command(after_help = "\
Jobs survive a restart: they are kept in the data directory. Commands (`ganger run`) are accepted only
from the user who started it.

Examples:
  ganger dev
  ganger dev --listen 127.0.0.1:9090 --data ./ganger-data
  ganger dev --worker 8 --worker 1
  ganger dev --compat-ports
  ganger dev --demo --data ./demo-data     something to look at, at once")]
pub(crate) struct Dev {
    /// Where to listen; may be repeated, and the first is the one that is shown [default: 127.0.0.1:8080] [env:
    /// GANGER_LISTEN]
    #[arg(long, value_name = "ADDRESS")]
    listen: Vec<Listens>,
    /// Listen on the ports of the schedulers it stands in for as well: 8000, 9000 and 8081
    #[arg(long)]
    compat_ports: bool,
    #[command(flatten)]
    compat: CompatFlags,
    /// Where the data is kept [default: ~/.local/share/ganger/dev] [env: GANGER_DATA]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// A worker with so many threads; may be repeated [default: one, with a thread per core, at least 4]
    #[arg(long = "worker", value_name = "THREADS", value_parser = clap::value_parser!(u16).range(1..=i64::from(limits::THREADS)))]
    workers: Vec<u16>,
    /// Run the traffic of `ganger demo` as well, for as long as it runs: failures, retries, schedules, dependencies,
    /// tenants
    #[arg(long)]
    demo: bool,
    /// Run no commands, not even for this user
    #[arg(long)]
    no_exec: bool,
    /// Send spans to the OpenTelemetry collector at this address, over gRPC; `off` overrides the environment [env:
    /// GANGER_OTLP, OTEL_EXPORTER_OTLP_ENDPOINT]
    #[arg(long, value_name = "URL")]
    otlp: Option<OtlpChoice>,
    /// How long running jobs may finish when it stops [default: 30s] [env: GANGER_GRACE]
    #[arg(long, value_name = "DURATION")]
    grace: Option<Grace>,
}

impl Dev {
    pub(super) async fn run(self, context: &Context) -> Fallible<Exit> {
        let mut stops = Stops::listen()?;
        let config = &context.config;
        let threads = Dev::threads(config);
        let sessions: Vec<SessionId> = threads.iter().map(|_| SessionId::from_uuid(Uuid::now_v7())).collect();
        let server = self.serve(config, sessions.clone()).await?;
        let url = ServerUrl::of(server.addresses(), false);
        let mut workers = Vec::with_capacity(threads.len());
        for (i, (threads, session)) in threads.iter().zip(sessions).enumerate() {
            workers.push(self.start_worker(context, &url, i + 1, *threads, session).await?);
        }
        for worker in &workers {
            worker.opened().await.map_err(|error| worker_failure(&error))?;
        }
        let demo = if self.demo { Some(Inside::new(&url)?) } else { None };
        if let Some(demo) = &demo {
            workers.extend(demo.workers().await?);
        }
        self.tell(context, &url, &threads)?;
        let shown = async {
            if let Some(demo) = &demo {
                demo.traffic(context).await;
            }
            std::future::pending().await
        };
        let nobody_left = async {
            futures::future::join_all(workers.iter().map(WorkerHandle::finished)).await;
            context.out.note(
                "every local worker was drained; the server goes on without them until it is started again",
            );
            std::future::pending().await
        };
        tokio::select! {
            () = stops.next() => {}
            () = nobody_left => {}
            () = shown => {}
            error = server.failed() => {
                abandon_all(&workers).await;
                return Err(server_failure(&error));
            }
        }
        let grace = Grace(config.grace.value);
        context
            .out
            .note(&format!("stopping: running jobs have {grace} to finish; ctrl-C again stops at once"));
        let orderly = async {
            if let Some(demo) = &demo {
                demo.retire(context).await;
            }
            let left = stop_all(&workers, config.grace.value).await?;
            server.stop().await;
            Fallible::Ok(left)
        };
        tokio::select! {
            left = orderly => {
                context.out.note(&handed_back(left?));
                Ok(Exit::Success)
            }
            () = stops.next() => {
                abandon_all(&workers).await;
                context.out.note("stopped at once; unfinished jobs run again at the next start");
                Ok(Exit::Interrupted)
            }
        }
    }

    /// Starts the server, for this machine alone.
    async fn serve(&self, config: &Config, sessions: Vec<SessionId>) -> Fallible<ServerHandle> {
        // Whatever store other commands are told to use: this one is for one machine.
        let place = Place::Sqlite(config.data.value.clone());
        let serving = Serving {
            listen: addresses(config.listen.value.each(), self.compat_ports),
            tokens: &config.tokens,
            tokens_in: &config.data.value,
            store: &place,
            member: Member::default(),
            tls: None,
            ca: None,
            insecure_no_auth: false,
            auth: None,
            jwt_secret: &config.jwt_secret.value,
            allow_exec: !self.no_exec,
            accelerated: Accelerated::default(),
            local_sessions: sessions,
            compat: self.doors(config),
            about: page::about(config),
            allowed_hosts: Vec::new(),
            proxies: &config.trusted_proxy.value,
            bounds: config.limits.value,
            reconcile_every: None,
        };
        serving.start().await.map_err(|mut failure| {
            if self.compat_ports && failure.what.starts_with("cannot listen") {
                failure.fix.push_str(", or leave out --compat-ports");
            }
            failure
        })
    }

    pub(super) fn settings(&self, layer: &mut Layer) -> Option<&Path> {
        layer.set(Key::Listen, Listens::joined(&self.listen));
        self.compat.settings(layer);
        let workers: Vec<String> = self.workers.iter().map(ToString::to_string).collect();
        layer.set(Key::Workers, (!workers.is_empty()).then(|| workers.join(",")));
        layer.set(Key::Grace, self.grace);
        layer.set(Key::Otlp, self.otlp.as_ref());
        self.data.as_deref()
    }

    /// A page that is being written on this machine may use the doors, and everybody on it may sign up, and run commands by way of
    /// profile D. A page cannot: browsers do not speak gRPC.
    fn doors(&self, config: &Config) -> CompatOptions {
        CompatOptions {
            signup: true,
            open_commands: !self.no_exec,
            door_origins: Origins::of_development(),
            ..compat::options(config, !self.no_exec)
        }
    }

    fn threads(config: &Config) -> Vec<u16> {
        if let Some(workers) = &config.workers.value {
            return workers.each().to_vec();
        }
        let cores = available_parallelism().map_or(LEAST_THREADS, std::num::NonZero::get).max(LEAST_THREADS);
        vec![u16::try_from(cores).unwrap_or(limits::THREADS).min(limits::THREADS)]
    }

    async fn start_worker(
        &self,
        context: &Context,
        url: &ServerUrl,
        number: usize,
        threads: u16,
        session: SessionId,
    ) -> Fallible<WorkerHandle> {
        Worker::connect(url.to_string())
            .name(format!("local-{number}"))
            .threads(threads)
            .session_id(session)
            .drain_grace(context.config.grace.value)
            .with(registry(context, !self.no_exec)?)
            .start()
            .await
            .map_err(|error| worker_failure(&error))
    }

    /// Says where everything is and how to try it. The commands shown work as they are.
    fn tell(&self, context: &Context, url: &ServerUrl, threads: &[u16]) -> Fallible<()> {
        let config = &context.config;
        let data = config.data.value.display();
        let ready = json!({
            "url": url.to_string(),
            "data": data.to_string(),
            "workers": threads,
            "exec": !self.no_exec,
            "pid": std::process::id(),
        });
        let mut options = String::new();
        if *url != ServerUrl::default() {
            options.push_str(&format!(" --url {url}"));
        }
        if config.data.origin != Origin::Default {
            options.push_str(&format!(" --data {data}"));
        }
        context.out.show_one(&ready.to_string(), &url.to_string(), |_| {
            let count: Vec<String> = threads.iter().map(|n| format!("{n} threads")).collect();
            let exec = if self.no_exec {
                "no commands (exec)".to_owned()
            } else {
                format!("commands (exec) for this user only, by the token in {EXEC_TOKEN_FILE}")
            };
            let attempt = if self.no_exec {
                format!("ganger enqueue echo -p '{{\"hello\":\"world\"}}' --wait{}", options_without_data(url))
            } else {
                format!("ganger run{options} -- echo hello")
            };
            format!(
                "ganger {version} is ready\n  \
                   address  {url}  ({pages})\n  \
                   data     {data}\n  \
                   workers  {count}; {exec}\n  \
                   try      {attempt}\n           \
                   curl -s {url}/v1/jobs -H 'Content-Type: application/json' -d '{{\"kind\":\"echo\",\"payload\":\"hi\"}}'\n  \
                   stop     ctrl-C",
                version = env!("CARGO_PKG_VERSION"),
                count = count.join(" + "),
                pages = pages(),
            )
        })
    }
}

/// What is there to look at.
fn pages() -> &'static str {
    if page::is_there() {
        "web page at /ui/, API documentation at /v1/docs"
    } else {
        "API documentation at /v1/docs; `make ui` builds the web page"
    }
}

fn options_without_data(url: &ServerUrl) -> String {
    if *url == ServerUrl::default() { String::new() } else { format!(" --url {url}") }
}

fn handed_back(left: usize) -> String {
    match left {
        0 => "stopped; no job was left running".into(),
        1 => "stopped; 1 job was handed back and runs again at the next start".into(),
        n => format!("stopped; {n} jobs were handed back and run again at the next start"),
    }
}

/// These addresses, and the compatible ports beside the first of them.
fn addresses(listen: &[SocketAddr], compat_ports: bool) -> Vec<SocketAddr> {
    let mut addresses = listen.to_vec();
    if let (true, Some(first)) = (compat_ports, listen.first()) {
        let more = COMPAT_PORTS.map(|port| SocketAddr::new(first.ip(), port));
        addresses.extend(more.into_iter().filter(|more| !listen.contains(more)));
    }
    addresses
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_compatible_ports_are_beside_the_first_address_and_each_is_taken_once() {
        let all = |listen: &[&str], compat_ports| {
            let listen: Vec<SocketAddr> = listen.iter().map(|address| address.parse().unwrap()).collect();
            let addresses = addresses(&listen, compat_ports);
            addresses.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(all(&["127.0.0.1:8080"], false), "127.0.0.1:8080");
        assert_eq!(
            all(&["127.0.0.1:8080", "[::1]:80"], true),
            "127.0.0.1:8080 [::1]:80 127.0.0.1:8000 127.0.0.1:9000 127.0.0.1:8081"
        );
        assert_eq!(all(&["[::1]:9000"], true), "[::1]:9000 [::1]:8000 [::1]:8081");
    }
}
