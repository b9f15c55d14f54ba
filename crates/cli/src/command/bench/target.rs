//! What is measured: the embedded store, or databases of our own beside one that is given.

use ganger_store::postgres::Scratch;
use tokio::process::Command;

use crate::config::{Place, RawStore};
use crate::failure::{Failure, Fallible};
use crate::serving::database_failure;

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
        Ok(Target::Postgres(Box::new(Cluster { beside: url, server, redis: redis.cloned() })))
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

    /// What it is called in the report.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Target::Embedded => "SQLite",
            Target::Postgres(cluster) if cluster.redis.is_some() => "PostgreSQL + Redis",
            Target::Postgres(_) => "PostgreSQL",
        }
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
                vec!["--allow-buffered".into(), "--redis-namespace".into(), bench_name()]
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

async fn scratch(url: &str, name: &str) -> Fallible<Scratch> {
    let made = Scratch::make(url, name).await;
    made.map_err(|error| database_failure("cannot make a database for the benchmark", &error))
}
