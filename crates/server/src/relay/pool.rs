//! Connections to the leader: HTTP/2, inside TLS if its address says so, shared by many calls, opened as needed.
//!
//! A stream of a worker lasts for days, so what counts is how many calls are under way: a connection carries
//! so many, the next one is opened when all are full, and one that carries none for a while is closed. The
//! window of a connection is as large as those of all its streams together: a client that does not
//! read fills the window of its own stream and never holds up another's.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::Body;
use axum::http::Uri;
use ganger_core::Mono;
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tracing::debug;

use super::measures::{OneMore, RelayMeasures};
use crate::clock::Clock;
use crate::tls::Trust;

/// Calls at the same time on one connection.
pub const STREAMS: usize = 200;
/// Connections to a leader.
pub const CONNECTIONS: usize = 64;
/// A leader that cannot be reached within this is not there.
const CONNECT_WITHIN: Duration = Duration::from_secs(2);
/// What one stream may have on its way.
const STREAM_WINDOW: u32 = 256 << 10;
const CONNECTION_WINDOW: u32 = STREAM_WINDOW * STREAMS as u32;
/// Headers of an answer.
const HEADER_LIST_BYTES: u32 = 64 << 10;
/// A leader that vanished is noticed by unanswered pings.
const KEEP_ALIVE_EVERY: Duration = Duration::from_secs(5);
const KEEP_ALIVE_WITHIN: Duration = Duration::from_secs(10);

/// The connections to one leader.
pub(super) struct Pool {
    address: String,
    /// Without a secret nothing is sent to other machines.
    loopback_only: bool,
    /// Whose certificates are believed.
    trust: Trust,
    connections: Mutex<Vec<Arc<Connection>>>,
    /// One is opened at a time; whoever waits for it finds room on it.
    opening: tokio::sync::Mutex<()>,
    /// Connections that could not be opened.
    failures: AtomicU64,
    clock: Clock,
    measures: RelayMeasures,
}

struct Connection {
    sender: http2::SendRequest<Body>,
    streams: AtomicUsize,
    /// When its last stream ended.
    idle_since: AtomicU64,
}

/// Room for one call on a connection, until it is dropped.
pub(super) struct Room {
    connection: Arc<Connection>,
    clock: Clock,
    _counted: OneMore,
}

/// Why there is no room.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum NoRoom {
    /// The bounds are reached.
    #[error("{CONNECTIONS} connections to the leader carry {STREAMS} calls each")]
    Full,
    /// The leader is not there.
    #[error("the leader at {address} cannot be reached: {reason}")]
    Unreachable {
        /// Where it should be.
        address: String,
        /// Why it is not.
        reason: String,
    },
}

impl Pool {
    /// No connections yet.
    pub(super) fn new(
        address: &str,
        loopback_only: bool,
        trust: Trust,
        (clock, measures): (Clock, RelayMeasures),
    ) -> Pool {
        Pool {
            address: address.into(),
            loopback_only,
            trust,
            connections: Mutex::default(),
            opening: tokio::sync::Mutex::new(()),
            failures: AtomicU64::new(0),
            clock,
            measures,
        }
    }

    /// Room for one call.
    pub(super) async fn room(&self) -> Result<Room, NoRoom> {
        if let Some(room) = self.free() {
            return Ok(room);
        }
        let failures = self.failures.load(Ordering::Relaxed);
        let _one_at_a_time = self.opening.lock().await;
        if let Some(room) = self.free() {
            return Ok(room);
        }
        // Whoever waited while another failed would fail too, one after the other.
        if self.failures.load(Ordering::Relaxed) != failures {
            return Err(self.unreachable("it could not be a moment ago"));
        }
        if self.connections().len() >= CONNECTIONS {
            return Err(NoRoom::Full);
        }
        match tokio::time::timeout(CONNECT_WITHIN, self.open()).await {
            Ok(Ok(connection)) => {
                let room = self.room_on(&connection);
                self.connections().push(connection);
                Ok(room)
            }
            Ok(Err(reason)) => Err(self.failed(&reason)),
            Err(_) => Err(self.failed(&format!("no connection within {} s", CONNECT_WITHIN.as_secs()))),
        }
    }

    /// Closes what was not used for so long.
    pub(super) fn close_idle(&self, unused: Duration) {
        let now = self.clock.now().mono;
        self.connections().retain(|connection| {
            let idle = now.since(Mono(connection.idle_since.load(Ordering::Relaxed)));
            connection.streams.load(Ordering::Relaxed) > 0 || idle < unused
        });
    }

    /// Opens no more, and lets every connection end with its last call.
    pub(super) fn let_go(&self) {
        self.connections().clear();
    }

    fn free(&self) -> Option<Room> {
        let mut connections = self.connections();
        connections.retain(|connection| !connection.sender.is_closed());
        // The first that has room: so the later ones become idle when there is less to do.
        let free = connections.iter().find(|c| c.streams.load(Ordering::Relaxed) < STREAMS)?;
        Some(self.room_on(free))
    }

    /// Called under the lock of the connections, or for one that nobody else knows yet.
    fn room_on(&self, connection: &Arc<Connection>) -> Room {
        connection.streams.fetch_add(1, Ordering::Relaxed);
        Room { connection: connection.clone(), clock: self.clock.clone(), _counted: self.measures.streams() }
    }

    async fn open(&self) -> Result<Arc<Connection>, String> {
        let Place { host, port, secured } = place(&self.address)?;
        let stream = TcpStream::connect((host.as_str(), port)).await.map_err(|error| error.to_string())?;
        let peer = stream.peer_addr().map_err(|error| error.to_string())?;
        if self.loopback_only && !peer.ip().to_canonical().is_loopback() {
            return Err("without a cluster secret nothing is relayed to another machine".into());
        }
        stream.set_nodelay(true).map_err(|error| error.to_string())?;
        let sender = match secured {
            false => converse(stream).await?,
            true => converse(self.trust.secure(&host, stream).await?).await?,
        };
        let idle_since = AtomicU64::new(self.clock.now().mono.0);
        Ok(Arc::new(Connection { sender, streams: AtomicUsize::new(0), idle_since }))
    }

    fn failed(&self, reason: &str) -> NoRoom {
        self.failures.fetch_add(1, Ordering::Relaxed);
        debug!("cannot connect to the leader at {}: {reason}", self.address);
        self.unreachable(reason)
    }

    fn unreachable(&self, reason: &str) -> NoRoom {
        NoRoom::Unreachable { address: self.address.clone(), reason: reason.into() }
    }

    fn connections(&self) -> MutexGuard<'_, Vec<Arc<Connection>>> {
        // Every change is one insertion or removal: a panic leaves the list whole.
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Room {
    /// Where a request can be sent.
    pub(super) fn sender(&self) -> http2::SendRequest<Body> {
        self.connection.sender.clone()
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.connection.idle_since.store(self.clock.now().mono.0, Ordering::Relaxed);
        self.connection.streams.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Speaks HTTP/2 until the connection ends.
async fn converse(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
) -> Result<http2::SendRequest<Body>, String> {
    let begun = builder().handshake(TokioIo::new(stream)).await;
    let (sender, connection) = begun.map_err(|error| error.to_string())?;
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            debug!("a connection to the leader ended: {error}");
        }
    });
    Ok(sender)
}

fn builder() -> http2::Builder<TokioExecutor> {
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder
        .timer(TokioTimer::new())
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .initial_max_send_streams(STREAMS)
        .max_header_list_size(HEADER_LIST_BYTES)
        .keep_alive_interval(KEEP_ALIVE_EVERY)
        .keep_alive_timeout(KEEP_ALIVE_WITHIN)
        .keep_alive_while_idle(true);
    builder
}

/// Where a server is.
#[derive(Debug, PartialEq, Eq)]
struct Place {
    host: String,
    port: u16,
    /// By TLS.
    secured: bool,
}

/// What an address such as `https://10.0.0.7:8080` says.
fn place(address: &str) -> Result<Place, String> {
    let uri: Uri = address.parse().map_err(|_| "its address cannot be read".to_owned())?;
    let secured = match uri.scheme_str() {
        Some("http") | None => false,
        Some("https") => true,
        Some(_) => return Err("only http:// and https:// addresses are relayed to".into()),
    };
    let host = uri.host().ok_or("its address names no host")?;
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let port = uri.port_u16().unwrap_or(if secured { 443 } else { 80 });
    Ok(Place { host: bare.to_owned(), port, secured })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_taken_apart_or_refused_with_a_reason() {
        let at = |host: &str, port, secured| Ok(Place { host: host.into(), port, secured });
        assert_eq!(place("http://10.0.0.7:8080"), at("10.0.0.7", 8080, false));
        assert_eq!(place("http://[::1]:9"), at("::1", 9, false));
        assert_eq!(place("http://ganger.lan"), at("ganger.lan", 80, false));
        assert_eq!(place("https://ganger.lan"), at("ganger.lan", 443, true));
        assert_eq!(place("127.0.0.1:80"), at("127.0.0.1", 80, false));
        for bad in ["", "ftp://a:1", "/x", "http://"] {
            assert!(place(bad).is_err(), "{bad}");
        }
    }

    async fn pool_to_a_listener() -> (Pool, tokio::net::TcpListener) {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        (Pool::new(&address, true, Trust::default(), (Clock::start(), RelayMeasures::default())), listener)
    }

    #[tokio::test]
    async fn connections_are_opened_as_needed_and_bounded() {
        let (pool, _listener) = pool_to_a_listener().await;
        let mut rooms = Vec::new();
        for _ in 0..STREAMS {
            rooms.push(pool.room().await.unwrap());
        }
        assert_eq!(pool.connections().len(), 1);
        rooms.push(pool.room().await.unwrap());
        assert_eq!(pool.connections().len(), 2);
        for _ in rooms.len()..STREAMS * CONNECTIONS {
            rooms.push(pool.room().await.unwrap());
        }
        assert_eq!(pool.room().await.err(), Some(NoRoom::Full));
        rooms.truncate(STREAMS + 1);
        assert!(pool.room().await.is_ok());
        pool.close_idle(Duration::from_secs(60));
        assert_eq!(pool.connections().len(), CONNECTIONS, "not yet");
        pool.close_idle(Duration::ZERO);
        assert_eq!(pool.connections().len(), 2, "what carries something stays");
    }

    #[tokio::test]
    async fn a_leader_that_is_not_there_is_named() {
        let (pool, listener) = pool_to_a_listener().await;
        drop(listener);
        let error = pool.room().await.err().unwrap().to_string();
        assert!(error.contains("cannot be reached") && error.contains("127.0.0.1"), "{error}");
    }
}
