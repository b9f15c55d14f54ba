//! A private PostgreSQL cluster.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::process::Signal;
use tokio::sync::OnceCell;

use super::peek;
use super::server::{Server, free_port};

/// Another process may take a free port before the server does; then it tries the next.
const PORTS: usize = 10;

/// Whether the cluster survives the loss of its machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// As in production.
    Full,
    /// `fsync` is off: much faster, and good enough where only processes are killed.
    None,
}

/// A private PostgreSQL cluster. Dropped, it is gone with everything in it.
#[derive(Debug)]
pub struct Postgres {
    server: Server,
    durability: Durability,
    port: u16,
    databases: AtomicUsize,
    /// The name of a database that others are copied from.
    template: OnceCell<String>,
}

impl Postgres {
    /// Starts a cluster as in production.
    #[must_use]
    pub fn start() -> Postgres {
        Postgres::start_with(Durability::Full)
    }

    /// Starts a cluster.
    ///
    /// # Panics
    /// If PostgreSQL is not installed, or does not start.
    #[must_use]
    pub fn start_with(durability: Durability) -> Postgres {
        let server = Server::new("postgres");
        let owner = Owner::find();
        owner.give(server.dir());
        let mut initdb = owner.command(&binary("initdb"));
        initdb.arg("-D").arg(data(server.dir()));
        initdb.args(["-U", "ganger", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"]);
        let made = initdb.output().unwrap_or_else(|error| {
            panic!("cannot run initdb: {error}; install PostgreSQL, or run scripts/setup")
        });
        assert!(made.status.success(), "initdb failed: {}", String::from_utf8_lossy(&made.stderr));
        let mut cluster = Postgres {
            server,
            durability,
            port: 0,
            databases: AtomicUsize::new(0),
            template: OnceCell::new(),
        };
        let started = (0..PORTS).any(|_| {
            cluster.port = free_port();
            cluster.run()
        });
        assert!(started, "PostgreSQL does not start: {}", cluster.server.log());
        cluster
    }

    /// The one of this test process, without durability, started when first asked for.
    pub fn shared() -> &'static Postgres {
        static SHARED: OnceLock<Postgres> = OnceLock::new();
        SHARED.get_or_init(|| Postgres::start_with(Durability::None))
    }

    /// Its maintenance database, where a test may make others.
    #[must_use]
    pub fn url(&self) -> String {
        self.url_of("postgres")
    }

    /// The port it listens on.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// What it logged.
    #[must_use]
    pub fn log(&self) -> String {
        self.server.log()
    }

    /// Logs every statement from now on.
    ///
    /// # Panics
    /// If the cluster refuses.
    pub fn log_statements(&self) {
        peek::log_statements(&self.url());
    }

    /// Changes settings of the cluster that need no restart, such as `autovacuum = off`.
    ///
    /// # Panics
    /// If the cluster refuses.
    pub fn set(&self, settings: &[&str]) {
        peek::set(&self.url(), settings);
    }

    /// Statements that it logged so far, since [`Postgres::log_statements`].
    #[must_use]
    pub fn statements(&self) -> usize {
        let log = self.log();
        ["LOG:  statement: ", "LOG:  execute "].iter().map(|mark| log.matches(mark).count()).sum()
    }

    /// Makes a new, empty database.
    ///
    /// # Panics
    /// If the cluster refuses.
    pub async fn database(&self) -> String {
        self.make_database("").await
    }

    /// Makes a new database with the newest schema, faster than migrating an empty one.
    ///
    /// # Panics
    /// If the cluster refuses.
    pub async fn migrated_database(&self) -> String {
        let template = self.template.get_or_init(|| async {
            let url = self.make_database("").await;
            let migrated = crate::postgres::migrate::up(&url, None).await;
            migrated.unwrap_or_else(|error| panic!("cannot migrate {url}: {error}"));
            url.rsplit('/').next().unwrap_or_default().to_owned()
        });
        self.make_database(&format!("TEMPLATE {}", template.await)).await
    }

    async fn make_database(&self, options: &str) -> String {
        let name = format!("test_{}", self.databases.fetch_add(1, Ordering::Relaxed));
        let config = self.url();
        let (client, connection) = tokio_postgres::connect(&config, tokio_postgres::NoTls)
            .await
            .unwrap_or_else(|error| panic!("cannot connect to {config}: {error}"));
        let connection = tokio::spawn(connection);
        let made = client.batch_execute(&format!("CREATE DATABASE {name} {options}")).await;
        made.unwrap_or_else(|error| panic!("cannot make the database {name}: {error}"));
        drop(client);
        let _ = connection.await;
        self.url_of(&name)
    }

    /// `kill -9` of every process of it.
    pub fn kill(&mut self) {
        self.server.kill();
    }

    /// Stops it in good order, without waiting for its clients.
    pub fn stop(&mut self) {
        self.server.stop(Signal::INT);
    }

    /// Stops it without a checkpoint, as `pg_ctl stop -m immediate` does: it recovers when it starts again.
    pub fn abort(&mut self) {
        self.server.stop(Signal::QUIT);
    }

    /// Starts it again on the same port, after [`Postgres::kill`] or [`Postgres::stop`], or in its stead.
    ///
    /// # Panics
    /// If it does not start.
    pub fn restart(&mut self) {
        self.stop();
        assert!(self.run(), "PostgreSQL does not start again: {}", self.server.log());
    }

    /// Stops every process of it in its tracks: connections stay open, nobody answers.
    pub fn pause(&self) {
        self.server.pause();
    }

    /// Lets them go on.
    pub fn resume(&self) {
        self.server.resume();
    }

    fn url_of(&self, database: &str) -> String {
        format!("postgres://ganger@127.0.0.1:{}/{database}", self.port)
    }

    fn run(&mut self) -> bool {
        let dir = self.server.dir().to_path_buf();
        // What is measured has the memory and the log that `bench/run` gives a database, and is not one of many on its machine.
        let settings = match self.durability {
            Durability::Full => ["fsync=on", "shared_buffers=256MB", "max_wal_size=4GB"],
            Durability::None => ["fsync=off", "shared_buffers=64MB", "max_wal_size=2GB"],
        };
        let mut command = Owner::find().command(&binary("postgres"));
        command.arg("-D").arg(data(&dir)).arg("-k").arg(&dir).args(["-h", "127.0.0.1"]);
        command.args(["-p", &self.port.to_string()]);
        for setting in settings.into_iter().chain(["max_connections=300"]) {
            command.args(["-c", setting]);
        }
        // The file is in a directory of our own and names our child: it is this server, and no other, that has
        // bound the port and is ready.
        let ready = |pid: u32| {
            let file = std::fs::read_to_string(data(&dir).join("postmaster.pid")).unwrap_or_default();
            let mut lines = file.lines();
            lines.next() == Some(&pid.to_string()) && lines.nth(6).is_some_and(|s| s.trim() == "ready")
        };
        self.server.start(command, ready)
    }
}

/// Whom the cluster belongs to: PostgreSQL refuses to run as root.
pub(super) struct Owner {
    /// A user and its number; nobody special if the tests do not run as root.
    user: Option<(&'static str, u32)>,
}

impl Owner {
    pub(super) fn find() -> Owner {
        if !rustix::process::getuid().is_root() {
            return Owner { user: None };
        }
        let user = ["postgres", "nobody"].into_iter().find_map(|user| {
            let id = Command::new("id").args(["-u", user]).output().ok()?;
            Some((user, String::from_utf8(id.stdout).ok()?.trim().parse().ok()?))
        });
        assert!(user.is_some(), "PostgreSQL does not run as root, and there is no user to run it as");
        Owner { user }
    }

    pub(super) fn give(&self, dir: &Path) {
        if let Some((_, id)) = self.user {
            std::os::unix::fs::chown(dir, Some(id), None).expect("root can give a directory away");
        }
    }

    pub(super) fn command(&self, program: &Path) -> Command {
        let Some((user, _)) = self.user else { return Command::new(program) };
        let mut command = Command::new("setpriv");
        command.args([&format!("--reuid={user}"), "--clear-groups", "--"]).arg(program);
        command
    }
}

fn data(dir: &Path) -> PathBuf {
    dir.join("data")
}

/// Where Debian keeps the newest one, or wherever the search path leads.
fn binary(name: &str) -> PathBuf {
    let mut versions: Vec<(u32, PathBuf)> = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path())))
        .collect();
    versions.sort();
    let found = versions.into_iter().rev().map(|(_, path)| path.join("bin").join(name)).find(|b| b.exists());
    found.unwrap_or_else(|| name.into())
}
