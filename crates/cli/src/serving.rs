//! A server inside this process: opening its data, starting it, and saying why it does not start.

use std::error::Error as _;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use ganger_core::SessionId;
use ganger_server::{Server, ServerError, ServerHandle, ServerOptions};
use ganger_store::StoreError;
use ganger_store::sqlite::{SqliteOptions, SqliteStore};

use crate::exit::Exit;
use crate::failure::{Failure, Fallible};
use crate::port_owner;

/// What distinguishes one server from another.
#[derive(Clone, Debug)]
pub(crate) struct Serving<'a> {
    /// Where to listen.
    pub(crate) listen: SocketAddr,
    /// Where its data is.
    pub(crate) data: &'a Path,
    /// An address that others can reach is fine.
    pub(crate) insecure_no_auth: bool,
    /// `exec` jobs are accepted from whoever can read the token file.
    pub(crate) allow_exec: bool,
    /// Sessions of workers in this process.
    pub(crate) local_sessions: Vec<SessionId>,
}

impl Serving<'_> {
    /// Starts the server. Only one process uses a data directory at a time.
    pub(crate) async fn start(&self) -> Fallible<ServerHandle> {
        let data = self.data.to_owned();
        let store = tokio::task::spawn_blocking(move || SqliteStore::open(&data, SqliteOptions::default()))
            .await
            .map_err(|error| Failure::new(Exit::Failure, "cannot open the data", error, ""))?
            .map_err(|error| {
                store_failure(&format!("cannot open the data in {}", self.data.display()), &error)
            })?;
        let mut options = ServerOptions::new(vec![self.listen], Arc::new(store));
        options.insecure_no_auth = self.insecure_no_auth;
        options.local_sessions = self.local_sessions.clone();
        if self.allow_exec {
            options.exec_token = Some(crate::exec_token::write(self.data)?);
        }
        Server::start(options).await.map_err(|error| server_failure(&error))
    }
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

/// What the server said, in three lines.
pub(crate) fn server_failure(error: &ServerError) -> Box<Failure> {
    match error {
        ServerError::Bind { address, source } if source.kind() == io::ErrorKind::AddrInUse => {
            let owner = match port_owner::find(address.port()) {
                Some((pid, name)) => format!("port {} is in use by pid {pid} ({name})", address.port()),
                None => format!("port {} is in use by another process", address.port()),
            };
            let next = SocketAddr::new(address.ip(), address.port().checked_add(1).unwrap_or(0));
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
            "listen on 127.0.0.1 and put a proxy in front, or add --insecure-no-auth if the network is trusted",
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
