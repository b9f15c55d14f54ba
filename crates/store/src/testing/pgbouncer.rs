//! A private pgbouncer in front of a private cluster.

use std::path::Path;
use std::process::Command;

use super::Postgres;
use super::postgres::Owner;
use super::server::{Server, free_port};

/// Another process may take a free port before the pooler does; then it tries the next.
const PORTS: usize = 10;

/// A private pgbouncer. Dropped, it is gone.
#[derive(Debug)]
pub struct Pgbouncer {
    server: Server,
    port: u16,
}

impl Pgbouncer {
    /// Starts one with these settings; `None` if it is not installed here, for it is not needed for anything else.
    ///
    /// # Panics
    /// If it does not start.
    #[must_use]
    pub fn start(before: &Postgres, settings: &[&str]) -> Option<Pgbouncer> {
        let program = binary()?;
        let owner = Owner::find();
        let mut pooler = Pgbouncer { server: Server::new("pgbouncer"), port: 0 };
        let config = pooler.server.dir().join("pgbouncer.ini");
        owner.give(pooler.server.dir());
        let started = (0..PORTS).any(|_| {
            pooler.port = free_port();
            let text = format!(
                "[databases]\n* = host=127.0.0.1 port={} user=ganger\n[pgbouncer]\nlisten_addr = 127.0.0.1\n\
                 listen_port = {}\nunix_socket_dir =\nauth_type = any\n{}\n",
                before.port(),
                pooler.port,
                settings.join("\n")
            );
            std::fs::write(&config, text).expect("a file can be written");
            let mut command = owner.command(program);
            command.arg(&config);
            let log = pooler.server.dir().join("log");
            let listens = format!("listening on 127.0.0.1:{}", pooler.port);
            let ready = |_| {
                let said = std::fs::read_to_string(&log).unwrap_or_default();
                said.split_once(&listens).is_some_and(|(_, after)| after.contains("process up"))
            };
            pooler.server.start(command, ready)
        });
        assert!(started, "pgbouncer does not start: {}", pooler.server.log());
        Some(pooler)
    }

    /// The same database, through the pooler.
    ///
    /// # Panics
    /// If this is not the address of a database of a private cluster.
    #[must_use]
    pub fn url_of(&self, url: &str) -> String {
        let database = url.rsplit('/').next().expect("the address names a database");
        format!("postgres://ganger@127.0.0.1:{}/{database}", self.port)
    }
}

/// Debian keeps it where only root looks for programs.
fn binary() -> Option<&'static Path> {
    let runs = |program: &str| Command::new(program).arg("--version").output().is_ok();
    ["pgbouncer", "/usr/sbin/pgbouncer"].into_iter().find(|program| runs(program)).map(Path::new)
}
