//! A server inside this process: opening its data, starting it, and saying why it does not start.

use std::error::Error as _;
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use ganger_core::SessionId;
use ganger_core::access::{Bound, Bounds};
use ganger_core::network::Proxies;
use ganger_server::http::{CompatOptions, ExecToken};
use ganger_server::listener::ListenerOptions;
use ganger_server::{
    About, AuthOptions, Exposure, LateStore, Server, ServerError, ServerHandle, ServerOptions, TlsPem,
};
use ganger_store::postgres::{PgOptions, PgStore};
use ganger_store::redis::Redis;
use ganger_store::sqlite::{SqliteOptions, SqliteStore};
use ganger_store::{Store, StoreError};
use tracing::{debug, warn};

use crate::config::{Place, Secret, TokenPlaces, private_dir};
use crate::exit::Exit;
use crate::failure::{Failure, Fallible};
use crate::{descriptors, output, port_owner, secret_check};

/// What distinguishes one server from another.
#[derive(Clone)]
pub(crate) struct Serving<'a> {
    /// Where to listen.
    pub(crate) listen: Vec<SocketAddr>,
    /// Where its tokens are.
    pub(crate) tokens: &'a TokenPlaces,
    /// The directory of those that this server keeps.
    pub(crate) tokens_in: &'a Path,
    /// Where its jobs are kept.
    pub(crate) store: &'a Place,
    /// Its place among others.
    pub(crate) member: Member,
    /// Asks who calls.
    pub(crate) auth: Option<Asking<'a>>,
    /// What it shows to its clients.
    pub(crate) tls: Option<TlsPem>,
    /// Authorities that vouch for other servers.
    pub(crate) ca: Option<Vec<u8>>,
    /// What access tokens of other issuers are signed with.
    pub(crate) jwt_secret: &'a Secret,
    /// An address that others can reach is fine.
    pub(crate) insecure_no_auth: bool,
    /// `exec` jobs are accepted from whoever can read the token file.
    pub(crate) allow_exec: bool,
    /// Redis in front of its store.
    pub(crate) accelerated: Accelerated,
    /// Sessions of workers in this process.
    pub(crate) local_sessions: Vec<SessionId>,
    /// The compatible doors.
    pub(crate) compat: CompatOptions,
    /// What it tells people about itself.
    pub(crate) about: About,
    /// Names that a proxy in front of it is reached by.
    pub(crate) allowed_hosts: Vec<String>,
    /// Proxies that say who is behind them.
    pub(crate) proxies: &'a Proxies,
    /// How much one caller may have at a time.
    pub(crate) bounds: Bounds,
    /// How often memory is compared with the store, if not as often as by default.
    pub(crate) reconcile_every: Option<Duration>,
}

/// How a server asks who calls.
#[derive(Clone, Debug)]
pub(crate) struct Asking<'a> {
    /// Where the first token is written.
    pub(crate) first_token: &'a Path,
}

/// How a server finds out who calls, or that it does not.
fn auth_options(asking: Option<&Asking<'_>>, secret: &Secret) -> Fallible<AuthOptions> {
    let jwt_secret = secret.0.clone();
    if let Some(secret) = &jwt_secret {
        secret_check::check("jwt_secret", "GANGER_JWT_SECRET", secret)?;
    }
    let Some(asking) = asking else { return Ok(AuthOptions::Open { jwt_secret }) };
    let path = asking.first_token.to_owned();
    let keep = move |token: &str| keep_first(&path, token);
    Ok(AuthOptions::Required { jwt_secret, first_token: Arc::new(keep) })
}

/// A person who may read the data directory may be the administrator.
fn keep_first(path: &Path, token: &str) -> Result<(), String> {
    let kept = path.parent().map_or(Ok(()), private_dir).and_then(|()| set_aside(path));
    let kept = kept.and_then(|()| crate::exec_token::keep(path, token));
    kept.map_err(|error| format!("cannot write the first token to {}: {error}", path.display()))?;
    warn!("nobody is known yet: the first token, which may do everything, is in {}", path.display());
    // To a person, once. What is not a terminal may be a log that others read.
    if output::stderr_is_terminal() {
        let shown = writeln!(io::stderr(), "  first token   {token}   (shown once)");
        shown.map_err(|error| format!("cannot show the first token: {error}"))?;
    }
    Ok(())
}

/// A token that is there may be one that still works elsewhere: it gets another name, and is never overwritten.
fn set_aside(path: &Path) -> io::Result<()> {
    if std::fs::symlink_metadata(path).is_err() {
        return Ok(());
    }
    let other = path.with_extension(format!("before-{:08x}", rand::random::<u32>()));
    std::fs::rename(path, &other)?;
    warn!("there was another token in {}: it is in {} now", path.display(), other.display());
    Ok(())
}

/// What a server has in front of its store.
#[derive(Clone, Debug, Default)]
pub(crate) struct Accelerated {
    /// Redis, if there is one.
    pub(crate) redis: Option<Redis>,
    /// Jobs may be kept by it alone until they are in the store.
    pub(crate) allow_buffered: bool,
}

/// A server's place among others that share its store.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    /// Its name, which is made unique.
    pub(crate) name: String,
    /// Where others reach it, if not where it listens.
    pub(crate) advertise: Option<String>,
    /// Without a renewal for so long others may take over.
    pub(crate) leader_ttl: Option<Duration>,
    /// What only the servers of the cluster know.
    pub(crate) secret: Secret,
}

impl Default for Member {
    fn default() -> Member {
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        Member { name: host, advertise: None, leader_ttl: None, secret: Secret(None) }
    }
}

impl Serving<'_> {
    /// Starts the server. Only one process uses a data directory at a time.
    pub(crate) async fn start(&self) -> Fallible<ServerHandle> {
        // A server that must not start leaves the store as it is: opening it would migrate it.
        self.exposure().check().map_err(|error| server_failure(&error))?;
        let store = match self.store {
            Place::Sqlite(dir) => open_sqlite(dir).await?,
            Place::Postgres(url) => open_postgres(url, self.store).await?,
        };
        let mut options = ServerOptions::new(self.listen.clone(), store);
        // Another one at each start: a leader that came back must not be taken for the one that it was.
        options.name = format!("{}-{:08x}", self.member.name, rand::random::<u32>());
        options.advertise.clone_from(&self.member.advertise);
        options.cluster_secret.clone_from(&self.member.secret.0);
        if let Some(ttl) = self.member.leader_ttl {
            options.leader_ttl = ttl;
        }
        options.redis.clone_from(&self.accelerated.redis);
        options.allow_buffered = self.accelerated.allow_buffered;
        options.compat.clone_from(&self.compat);
        options.about.clone_from(&self.about);
        options.allowed_hosts.clone_from(&self.allowed_hosts);
        options.tls.clone_from(&self.tls);
        options.ca.clone_from(&self.ca);
        options.insecure_no_auth = self.insecure_no_auth;
        options.auth = auth_options(self.auth.as_ref(), self.jwt_secret)?;
        options.local_sessions = self.local_sessions.clone();
        options.bounds = self.bounds;
        options.listener = ListenerOptions {
            connections: descriptors::raise(self.bounds.of(Bound::Connections)),
            proxies: self.proxies.clone(),
        };
        if self.reconcile_every.is_some() {
            options.coordinator.reconcile_every = self.reconcile_every;
        }
        if self.allow_exec {
            let dir = self.tokens_in.to_owned();
            let keep = move |token: &str| {
                let kept = crate::exec_token::place(&dir, token);
                kept.map_err(|error| format!("cannot write the exec token into {}: {error}", dir.display()))
            };
            options.exec_token = Some(ExecToken::default());
            options.keep_exec_token = Some(Arc::new(keep));
        }
        let server = Server::start(options).await.map_err(|error| server_failure(&error))?;
        for address in server.addresses() {
            if let Err(error) = self.tokens.note(address.port(), self.tokens_in) {
                debug!("commands on this machine may not find the tokens of this server: {error}");
            }
        }
        Ok(server)
    }

    fn exposure(&self) -> Exposure<'_> {
        Exposure {
            listen: &self.listen,
            shared: matches!(self.store, Place::Postgres(_)),
            cluster_secret: self.member.secret.0.as_deref(),
            advertise: self.member.advertise.as_deref(),
            insecure_no_auth: self.insecure_no_auth,
            auth: self.auth.is_some(),
        }
    }
}

async fn open_sqlite(dir: &Path) -> Fallible<Arc<dyn Store>> {
    let data = dir.to_owned();
    let store = tokio::task::spawn_blocking(move || SqliteStore::open(&data, SqliteOptions::default()))
        .await
        .map_err(|error| Failure::new(Exit::Failure, "cannot open the data", error, ""))?
        .map_err(|error| store_failure(&format!("cannot open the data in {}", dir.display()), &error))?;
    Ok(Arc::new(store))
}

/// Opens the database; one that is away is opened later, by a server that says so meanwhile.
async fn open_postgres(url: &str, place: &Place) -> Fallible<Arc<dyn Store>> {
    let options = PgOptions::new(url);
    match PgStore::connect(&options).await {
        Ok(store) => Ok(Arc::new(store)),
        Err(cause @ StoreError::Unavailable(_)) => {
            warn!("cannot open {place} yet: {cause}; starts without it and goes on trying");
            let open = move || {
                let options = options.clone();
                async move { PgStore::connect(&options).await.map(|store| Arc::new(store) as Arc<dyn Store>) }
                    .boxed()
            };
            Ok(Arc::new(LateStore::new(Box::new(open))))
        }
        Err(cause @ (StoreError::Failed(_) | StoreError::Full(_))) => {
            Err(database_failure(&format!("cannot open {place}"), &cause))
        }
    }
}

/// What a database said, in three lines.
pub(crate) fn database_failure(what: &str, error: &StoreError) -> Box<Failure> {
    let text = error.to_string();
    // The store's own texts end with what to do, after a semicolon.
    let (why, fix) = text.split_once("; ").unwrap_or((&text, ""));
    let fix = match error {
        StoreError::Full(_) => "free some space on the disk of the database",
        StoreError::Unavailable(_) | StoreError::Failed(_) if fix.is_empty() => {
            "check the address in --store or GANGER_STORE, and that the database runs"
        }
        StoreError::Unavailable(_) | StoreError::Failed(_) => fix,
    };
    Failure::new(Exit::Failure, what, why, fix)
}

/// What the store said, in three lines.
pub(crate) fn store_failure(what: &str, error: &StoreError) -> Box<Failure> {
    let text = error.to_string();
    // The store's own texts end with what to do, after a semicolon.
    let (why, fix) = text.split_once("; ").unwrap_or((&text, ""));
    let fix = match error {
        StoreError::Full(_) => "free some space on that disk",
        StoreError::Unavailable(_) | StoreError::Failed(_) if fix.is_empty() => {
            "check that the directory is yours and on a working disk, or choose another with --data"
        }
        StoreError::Unavailable(_) | StoreError::Failed(_) => fix,
    };
    Failure::new(Exit::Failure, what, why, fix)
}

/// Ports that are tried when one is to be advised.
const PORTS_TRIED: u16 = 100;

/// An address beside one that is taken, where a server could listen at this moment; port 0 takes any that is free.
fn free_address(taken: SocketAddr) -> SocketAddr {
    let ports = (1..=PORTS_TRIED).filter_map(|further| taken.port().checked_add(further));
    let mut addresses = ports.map(|port| SocketAddr::new(taken.ip(), port));
    addresses
        .find(|address| std::net::TcpListener::bind(address).is_ok())
        .unwrap_or(SocketAddr::new(taken.ip(), 0))
}

/// What the server said, in three lines.
pub(crate) fn server_failure(error: &ServerError) -> Box<Failure> {
    match error {
        ServerError::Bind { address, source } if source.kind() == io::ErrorKind::AddrInUse => {
            let owner = match port_owner::find(address.port()) {
                Some((pid, name)) => format!("port {} is in use by pid {pid} ({name})", address.port()),
                None => format!("port {} is in use by another process", address.port()),
            };
            let next = free_address(*address);
            Failure::new(
                Exit::Failure,
                format!("cannot listen on {address}"),
                owner,
                format!("stop that process, or use another port: --listen {next}"),
            )
        }
        ServerError::NotLoopback(address) => Failure::new(
            Exit::Usage,
            format!("will not listen on {address}"),
            "other machines could reach it and submit jobs, and nobody would be asked for a token",
            "let it ask for tokens (--auth on), or add --insecure-no-auth if the network is trusted",
        ),
        ServerError::Tls(error) => Failure::usage(
            "cannot speak TLS",
            error,
            "correct --tls-cert, --tls-key or --tls-client-ca; `openssl x509 -text -in FILE` shows what is in one",
        ),
        ServerError::NoAdvertise(_) => Failure::usage(
            "will not join other servers",
            error,
            "add --advertise http://HOST:PORT with a name that the others reach this machine by",
        ),
        ServerError::NoClusterSecret(_) | ServerError::ShortClusterSecret(_) => Failure::usage(
            "will not join other servers",
            error,
            "set GANGER_CLUSTER_SECRET to the same random text on every server, such as `openssl rand -hex 32` gives",
        ),
        ServerError::Bind { .. }
        | ServerError::NoAddress
        | ServerError::Thread(_)
        | ServerError::Leader(_) => {
            let why = error.source().map_or_else(|| error.to_string(), ToString::to_string);
            let what =
                if error.source().is_some() { error.to_string() } else { "cannot run the server".into() };
            Failure::new(Exit::Failure, what, why, "correct that and start it again; the data is safe")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_that_is_advised_is_free() {
        let taken: Vec<_> = std::iter::from_fn(|| {
            let first = std::net::TcpListener::bind("127.0.0.1:0").ok()?;
            let next = SocketAddr::new(first.local_addr().ok()?.ip(), first.local_addr().ok()?.port() + 1);
            Some((std::net::TcpListener::bind(next).ok(), first))
        })
        .take(20)
        .collect();
        // Two ports beside each other that are taken.
        let (_, first) = taken.iter().find(|(next, _)| next.is_some()).expect("ports are free in pairs");
        let taken = first.local_addr().unwrap();
        let advised = free_address(taken);
        assert!(advised.port() > taken.port() + 1 || advised.port() == 0, "{taken} and {advised}");
    }

    #[test]
    fn a_busy_port_is_named_with_its_holder_and_another_one() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let source = io::Error::from(io::ErrorKind::AddrInUse);
        let failure = server_failure(&ServerError::Bind { address, source });
        assert!(failure.why.contains(&format!("pid {}", std::process::id())), "{}", failure.why);
        assert!(failure.fix.contains("--listen 127.0.0.1:"), "{}", failure.fix);
    }

    #[test]
    fn what_the_store_advises_becomes_the_third_line() {
        let error = StoreError::Failed("the data directory /d is in use; stop that one".into());
        let failure = store_failure("cannot open", &error);
        assert_eq!(
            (failure.why.as_str(), failure.fix.as_str()),
            ("the data directory /d is in use", "stop that one")
        );
    }
}
