//! What is measured: the embedded store, or databases of our own beside one that is given.

use ganger_store::inspect::Clocks;
use ganger_store::postgres::{self, Scratch};
use tokio::process::Command;

use crate::clock::{self, Stopwatch};
use crate::config::{Place, RawStore};
use crate::failure::{Failure, Fallible};
use crate::port_owner;
use crate::serving::database_failure;

/// Where they listen unless an address says otherwise.
const POSTGRES_PORT: u16 = 5432;
const REDIS_PORT: u16 = 6379;

/// Where the jobs of the benchmark are kept.
#[derive(Debug)]
pub(super) enum Target {
    /// In the directory of the benchmark.
    Embedded,
    /// In databases that are made for it.
    Postgres(Box<Cluster>),
}

/// Databases of the benchmark, and Redis in front of them.
#[derive(Debug)]
pub(super) struct Cluster {
    /// The one that is given.
    beside: String,
    /// For the server.
    server: Scratch,
    redis: Option<RawStore>,
    database_pid: Option<u32>,
    redis_pid: Option<u32>,
    /// Redis is shared with the workloads before, whose servers are gone: each has names of its own.
    namespace: String,
}

impl Cluster {
    /// Makes a database for something that wants an empty one, and removes it afterwards in any case.
    pub(super) async fn apart<T>(&self, measure: impl AsyncFnOnce(&Scratch) -> Fallible<T>) -> Fallible<T> {
        let scratch = scratch(&self.beside, &format!("{}_ceiling", bench_name())).await?;
        let measured = measure(&scratch).await;
        let removed = scratch.remove().await.map_err(|error| database_failure(NOT_CLEARED, &error));
        measured.and_then(|found| removed.map(|()| found))
    }
}

const NOT_CLEARED: &str = "cannot clear up after the benchmark";

impl Target {
    /// Makes databases beside the one that is given. Nothing else there is read or written.
    pub(super) async fn make(store: Option<&RawStore>, redis: Option<&RawStore>) -> Fallible<Target> {
        let Some(store) = store else { return Target::embedded(redis) };
        let url = match store.text().parse::<Place>() {
            Ok(Place::Postgres(url)) => url,
            Ok(Place::Sqlite(_)) => {
                let fix = "leave out --store, and name the disk with --dir";
                return Err(Failure::usage(
                    "cannot measure that store",
                    "SQLite is what is measured without it",
                    fix,
                ));
            }
            Err(why) => {
                let fix = "an example is --store postgres://ganger@127.0.0.1:5432/postgres";
                return Err(Failure::usage("cannot measure that store", why, fix));
            }
        };
        let server = scratch(&url, &bench_name()).await?;
        let database_pid = postgres::is_local(&url).then(|| listener(&url, POSTGRES_PORT)).flatten();
        let redis_pid = redis.and_then(|redis| listener(redis.text(), REDIS_PORT));
        let namespace = format!("{}_{}", bench_name(), clock::now().0);
        let redis = redis.cloned();
        let cluster = Cluster { beside: url, server, redis, database_pid, redis_pid, namespace };
        Ok(Target::Postgres(Box::new(cluster)))
    }

    fn embedded(redis: Option<&RawStore>) -> Fallible<Target> {
        match redis {
            None => Ok(Target::Embedded),
            Some(_) => Err(Failure::usage(
                "cannot measure Redis alone",
                "it is measured in front of PostgreSQL",
                "add --store postgres://USER@HOST/DATABASE",
            )),
        }
    }

    /// What it is called in reports.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Target::Embedded => "sqlite",
            Target::Postgres(cluster) if cluster.redis.is_some() => "postgres+redis",
            Target::Postgres(_) => "postgres",
        }
    }

    /// What people call it.
    pub(super) fn label(&self) -> &'static str {
        match self {
            Target::Embedded => "SQLite",
            Target::Postgres(cluster) if cluster.redis.is_some() => "PostgreSQL + Redis",
            Target::Postgres(_) => "PostgreSQL",
        }
    }

    /// The version of the database, if it tells.
    pub(super) async fn version(&self) -> Option<String> {
        match self {
            Target::Embedded => Some(ganger_store::sqlite::engine().to_owned()),
            Target::Postgres(cluster) => {
                let watch = Stopwatch::start();
                let clocks = Clocks { elapsed: &|| watch.elapsed(), now: &clock::now };
                postgres::inspect(&cluster.beside, clocks).await.ok().map(|report| report.version)
            }
        }
    }

    /// The process that all others of the database come from, if it is one of this machine.
    pub(super) fn database_pid(&self) -> Option<u32> {
        match self {
            Target::Embedded => None,
            Target::Postgres(cluster) => cluster.database_pid,
        }
    }

    /// The process of Redis, if it is one of this machine.
    pub(super) fn redis_pid(&self) -> Option<u32> {
        match self {
            Target::Embedded => None,
            Target::Postgres(cluster) => cluster.redis_pid,
        }
    }

    /// Whether the server keeps its jobs itself.
    pub(super) fn is_embedded(&self) -> bool {
        matches!(self, Target::Embedded)
    }

    /// What the ceiling is that of.
    pub(super) fn database(&self) -> &'static str {
        match self {
            Target::Embedded => "SQLite",
            Target::Postgres(_) => "PostgreSQL",
        }
    }

    /// Whether jobs can be buffered.
    pub(super) fn buffers(&self) -> bool {
        match self {
            Target::Embedded => false,
            Target::Postgres(cluster) => cluster.redis.is_some(),
        }
    }

    /// The flags of a server that uses it.
    pub(super) fn flags(&self) -> Vec<String> {
        match self {
            Target::Embedded => vec!["--data".into(), "data".into()],
            // Apart from whatever else is in that Redis.
            Target::Postgres(cluster) if cluster.redis.is_some() => {
                vec!["--allow-buffered".into(), "--redis-namespace".into(), cluster.namespace.clone()]
            }
            Target::Postgres(_) => Vec::new(),
        }
    }

    /// Tells a process where the databases are. Not by flags: everyone on this machine can read those.
    pub(super) fn tell(&self, command: &mut Command) {
        command.env_remove("GANGER_STORE").env_remove("GANGER_REDIS").env_remove("GANGER_CLUSTER_SECRET");
        match self {
            Target::Embedded => {}
            Target::Postgres(cluster) => {
                command.env("GANGER_STORE", cluster.server.url()).env("GANGER_DATA", "data");
                if let Some(redis) = &cluster.redis {
                    command.env("GANGER_REDIS", redis.text());
                }
            }
        }
    }

    /// What the database has written to its log so far, where that is known.
    pub(super) async fn wal_bytes(&self) -> Fallible<Option<u64>> {
        match self {
            Target::Embedded => Ok(None),
            Target::Postgres(cluster) => {
                let bytes = cluster.server.wal_bytes().await;
                bytes.map(Some).map_err(|error| database_failure("cannot measure the database", &error))
            }
        }
    }

    /// Writes whatever the database has only in its log, so that what is measured next begins as everything else did: after a checkpoint
    /// PostgreSQL logs whole pages. SQLite does it all the time. Why not, if it was refused.
    pub(super) async fn rest(&self) -> Result<(), String> {
        match self {
            Target::Embedded => Ok(()),
            Target::Postgres(cluster) => cluster.server.checkpoint().await.map_err(|error| error.to_string()),
        }
    }

    /// Removes what was made.
    pub(super) async fn remove(self) -> Fallible<()> {
        match self {
            Target::Embedded => Ok(()),
            Target::Postgres(cluster) => {
                let removed = cluster.server.remove().await;
                removed.map_err(|error| database_failure(NOT_CLEARED, &error))
            }
        }
    }
}

/// What a database or a namespace of this benchmark is called.
fn bench_name() -> String {
    format!("ganger_bench_{}", std::process::id())
}

/// The process that listens at an address, if it is one of this machine.
fn listener(url: &str, usual: u16) -> Option<u32> {
    let url = reqwest::Url::parse(url).ok()?;
    let host = url.host_str()?.trim_matches(['[', ']']);
    let here = host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback());
    here.then(|| port_owner::find(url.port().unwrap_or(usual))).flatten().map(|(pid, _)| pid)
}

async fn scratch(url: &str, name: &str) -> Fallible<Scratch> {
    let made = Scratch::make(url, name).await;
    made.map_err(|error| database_failure("cannot make a database for the benchmark", &error))
}
