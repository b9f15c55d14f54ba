//! `ganger server`: API and scheduling, without workers.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use ganger_core::access::Bounds;
use ganger_core::network::Proxies;
use ganger_server::Service;
use serde_json::json;

use super::compat::{self, CompatFlags};
use super::redis::RedisFlags;
use super::tls::{self, TlsFlags};
use crate::config::{Config, HostNames, Key, Layer, Listens, OtlpChoice, Place, RawStore, ServerUrl, Switch};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Fallible;
use crate::humane;
use crate::manager::Manager;
use crate::page;
use crate::serving::{Asking, Member, Serving, server_failure};
use crate::signals::Stops;

/// How often memory is compared with the store, at the most and at the least.
const RECONCILE_EVERY: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_secs(24 * 3600);
/// How long a leader may be silent, at the least and at the most.
const LEADER_TTL: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_secs(60);

/// Start a server: API and scheduling, without workers.
#[derive(Args, Debug)]
#[command(after_help = "\
Jobs wait until a worker connects: ganger worker --url http://HOST:PORT

With a PostgreSQL database any number of servers share the work: one leads, the others pass on what they are asked
and take over when it is gone. They know each other by GANGER_CLUSTER_SECRET.

Examples:
  ganger server --data /var/lib/ganger
  ganger server --store postgres://ganger@db/ganger --advertise http://10.0.0.7:8080
  ganger server --store postgres://ganger@db/ganger --redis redis://cache:6379
  ganger server --data ./data --allow-host jobs.example.com
  ganger server --listen 0.0.0.0:8443 --tls-cert server.pem --tls-key server.key
  ganger server --data ./data --listen 127.0.0.1:9090 --log json")]
pub(crate) struct Serve {
    /// Where to listen; may be repeated, and the first is the one it is known by [default: 127.0.0.1:8080] [env:
    /// GANGER_LISTEN]
    #[arg(long, value_name = "ADDRESS")]
    listen: Vec<Listens>,
    /// Where the data is kept [default: ~/.local/share/ganger/dev] [env: GANGER_DATA]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Where jobs are kept: sqlite:DIR, or postgres://USER:PASSWORD@HOST:PORT/DATABASE [default: sqlite: and the data
    /// directory] [env: GANGER_STORE]
    #[arg(long, value_name = "URL", conflicts_with = "data")]
    store: Option<RawStore>,
    /// Where other servers and workers reach this one [default: where it listens] [env: GANGER_ADVERTISE]
    #[arg(long, value_name = "URL")]
    advertise: Option<ServerUrl>,
    /// Its name among the servers, which is made unique [default: the name of this machine]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Others take over from a leader that was not heard for so long [default: 5s]
    #[arg(long, value_name = "DURATION", value_parser = leader_ttl)]
    leader_ttl: Option<Duration>,
    /// How often the leader compares its memory with the store [default: 10m]
    #[arg(long, value_name = "DURATION", value_parser = reconcile_every)]
    reconcile_every: Option<Duration>,
    /// Send spans to the OpenTelemetry collector at this address, over gRPC; `off` overrides the environment [env:
    /// GANGER_OTLP, OTEL_EXPORTER_OTLP_ENDPOINT]
    #[arg(long, value_name = "URL")]
    otlp: Option<OtlpChoice>,
    #[command(flatten)]
    tls: TlsFlags,
    #[command(flatten)]
    redis: RedisFlags,
    #[command(flatten)]
    compat: CompatFlags,
    /// A name that a proxy on this machine is reached by, for a server that listens on loopback; may be repeated. It then asks
    /// for tokens [env: GANGER_ALLOW_HOST]
    #[arg(long, value_name = "NAME")]
    allow_host: Vec<HostNames>,
    /// A proxy, or a block of them, whose X-Forwarded-For says where a caller comes from; may be repeated [env:
    /// GANGER_TRUSTED_PROXY]
    #[arg(long, value_name = "ADDRESS|BLOCK")]
    trusted_proxy: Vec<Proxies>,
    /// How much one caller may have at a time: event-streams, waits, imports, sessions, enqueue-bytes (per second), and
    /// how many connections there are at all; may be repeated [env: GANGER_LIMITS]
    #[arg(long, value_name = "NAME=NUMBER", value_parser = limit)]
    limit: Vec<String>,
    /// Whether callers are asked for a token [default: on, unless it listens on loopback only] [env: GANGER_AUTH]
    #[arg(long, value_name = "on|off")]
    auth: Option<Switch>,
    /// Ask nobody for a token, also on an address that other machines can reach
    #[arg(long)]
    insecure_no_auth: bool,
    /// Accept `exec` jobs from whoever can read the token file in the data directory
    #[arg(long)]
    allow_exec: bool,
}

impl Serve {
    pub(super) async fn run(self, context: &Context) -> Fallible<Exit> {
        let mut stops = Stops::listen()?;
        let config = &context.config;
        // Whoever is on this machine may ask a server that nobody else reaches, unless it is told otherwise.
        let beyond = |address: &std::net::SocketAddr| !address.ip().to_canonical().is_loopback();
        let proxied = !config.allow_host.value.each().is_empty();
        let reached = proxied || config.listen.value.each().iter().any(beyond);
        let asks = match config.auth.value {
            Some(auth) => auth == Switch::On,
            None => reached && !self.insecure_no_auth,
        };
        let serving = Serving {
            listen: config.listen.value.each().to_vec(),
            tokens: &config.tokens,
            tokens_in: &config.tokens.dir,
            store: &config.store.value,
            member: self.member(config),
            auth: asks.then_some(Asking { first_token: &config.token_file.value }),
            jwt_secret: &config.jwt_secret.value,
            tls: config.tls.read()?,
            ca: config.client_tls.ca()?,
            insecure_no_auth: self.insecure_no_auth,
            allow_exec: self.allow_exec,
            accelerated: self.redis.connect(config).await?,
            local_sessions: Vec::new(),
            compat: compat::options(config, self.allow_exec),
            about: page::about(config),
            allowed_hosts: config.allow_host.value.each().to_vec(),
            proxies: &config.trusted_proxy.value,
            bounds: config.limits.value,
            reconcile_every: self.reconcile_every,
        };
        let server = serving.start().await?;
        let url = ServerUrl::of(server.addresses(), config.tls.is_on());
        let data = config.data.value.display();
        let store = &config.store.value;
        let ready = json!({
            "url": url.to_string(),
            "data": data.to_string(),
            "store": store.to_string(),
            "pid": std::process::id(),
        });
        context.out.show_one(&ready.to_string(), &url.to_string(), |_| {
            format!(
                "ganger {} listens on {url}\n  {}\n  worker   ganger worker --url {url}",
                env!("CARGO_PKG_VERSION"),
                match store {
                    Place::Sqlite(dir) => format!("data     {}", dir.display()),
                    Place::Postgres(_) => format!("store    {store}"),
                }
            )
        })?;
        let manager = Manager::of(&context.environment);
        let service = server.service();
        manager.ready(&standing(service, &url).await);
        tokio::select! {
            () = stops.next() => {}
            error = server.failed() => return Err(server_failure(&error)),
            () = tls::keep_fresh(config.tls.clone(), server.tls().cloned()) => {}
            () = manager.watched(async || service.is_alive().await, async || Some(standing(service, &url).await)) => {}
        }
        manager.stopping("finishes what it was asked");
        context.out.note("stopping; ctrl-C again stops at once");
        tokio::select! {
            () = server.stop() => Ok(Exit::Success),
            () = stops.next() => Ok(Exit::Interrupted),
        }
    }

    pub(super) fn settings(&self, layer: &mut Layer) -> Option<&Path> {
        layer.set(Key::Listen, Listens::joined(&self.listen));
        self.compat.settings(layer);
        layer.set(Key::Store, self.store.as_ref().map(RawStore::text));
        layer.set(Key::Advertise, self.advertise.as_ref());
        layer.set(Key::Auth, self.auth);
        let hosts: Vec<String> = self.allow_host.iter().map(ToString::to_string).collect();
        layer.set(Key::AllowHost, (!hosts.is_empty()).then(|| hosts.join(",")));
        let proxies: Vec<String> = self.trusted_proxy.iter().map(ToString::to_string).collect();
        layer.set(Key::TrustedProxy, (!proxies.is_empty()).then(|| proxies.join(",")));
        layer.set(Key::Limits, (!self.limit.is_empty()).then(|| self.limit.join(",")));
        layer.set(Key::Otlp, self.otlp.as_ref());
        self.tls.settings(layer);
        self.redis.settings(layer);
        self.data.as_deref()
    }

    fn member(&self, config: &Config) -> Member {
        let mut member = Member {
            advertise: config.advertise.value.as_ref().map(ToString::to_string),
            leader_ttl: self.leader_ttl,
            secret: config.cluster_secret.value.clone(),
            ..Member::default()
        };
        if let Some(name) = &self.name {
            member.name.clone_from(name);
        }
        member
    }
}

/// A leader is renewed five times in this time, and a second is what a loaded database may take for one.
/// How the server stands, in a line: what is wrong, or who leads.
async fn standing(service: &Service, url: &ServerUrl) -> String {
    let checks = service.readiness().await;
    let wrong = checks.iter().find_map(|check| Some((check.name, check.trouble.as_ref()?)));
    let leader = checks.iter().find(|check| check.name == "leader").map_or("", |check| check.detail.as_str());
    match wrong {
        Some((name, trouble)) => format!("listens on {url}, not ready: {name}: {trouble}"),
        None => format!("listens on {url}, {leader}"),
    }
}

fn limit(text: &str) -> Result<String, String> {
    text.parse::<Bounds>().map(|_| text.to_owned())
}

fn leader_ttl(text: &str) -> Result<Duration, String> {
    let ttl = humane::parse(text)?;
    if !LEADER_TTL.contains(&ttl) {
        return Err("it must be from 1s to 1m".into());
    }
    Ok(ttl)
}

fn reconcile_every(text: &str) -> Result<Duration, String> {
    let every = humane::parse(text)?;
    if !RECONCILE_EVERY.contains(&every) {
        return Err("it must be from 1s to 1d".into());
    }
    Ok(every)
}
