//! One port for everything: HTTP/1 and HTTP/2, REST and gRPC, inside TLS or not.
//!
//! Connections are bounded in number (`places`), in the time a client may take to send its first request, and in
//! what they may buffer. An accept loop must survive anything, running out of file descriptors above all: silent
//! connections are closed, and then there is room again.

mod calls;
mod places;

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::{HeaderMap, Request};
use ganger_core::network::Proxies;
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::{debug, warn};

use calls::Counted;
pub(crate) use places::Place;
use places::Places;

use crate::tls::{Handshakes, Secured, Tls};

/// Connections at the same time, if the process may have as many file descriptors.
pub const CONNECTIONS: usize = 24_000;
/// File descriptors that a server needs besides: its store, other servers, files.
pub const OTHER_DESCRIPTORS: usize = 192;
/// A client must send its first request within this, after the TLS handshake if there is one, and finish the headers
/// of every request.
const HEADERS_WITHIN: Duration = Duration::from_secs(10);
/// And so long after that until a connection without one is cut.
const FAREWELL: Duration = Duration::from_secs(2);
/// A connection that was just opened has this long to bring its first call: cut off in the middle of the greeting, its client could
/// not tell whether that was carried out.
const GREETING: Duration = Duration::from_millis(100);
/// Pause after a failed accept.
const ACCEPT_AGAIN: Duration = Duration::from_millis(100);
/// Room for the headers of an HTTP/1 request.
const HEADER_BYTES: usize = 64 << 10;
/// The same for HTTP/2.
const HEADER_LIST_BYTES: u32 = 64 << 10;
/// Requests and streams at the same time on one HTTP/2 connection.
const CONCURRENT_STREAMS: u32 = 1_024;
/// The defaults of HTTP/2 would cap a distant worker at a few jobs per round trip.
const STREAM_WINDOW: u32 = 4 << 20;
const CONNECTION_WINDOW: u32 = 16 << 20;
/// A peer that vanished is noticed by unanswered HTTP/2 pings.
const KEEP_ALIVE_EVERY: Duration = Duration::from_secs(20);
const KEEP_ALIVE_WITHIN: Duration = Duration::from_secs(20);

/// Where the client of a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer(pub SocketAddr);

/// How connections are accepted.
#[derive(Clone, Debug)]
pub struct ListenerOptions {
    /// Connections at the same time.
    pub connections: usize,
    /// Proxies that say who is behind them.
    pub proxies: Proxies,
}

impl Default for ListenerOptions {
    fn default() -> ListenerOptions {
        ListenerOptions { connections: CONNECTIONS, proxies: Proxies::default() }
    }
}

/// Serves a router on any number of listeners.
#[derive(Debug)]
pub struct Listeners {
    tasks: TaskTracker,
    /// No new connections.
    closing: CancellationToken,
    /// No connections at all.
    ended: CancellationToken,
}

/// What every connection shares.
struct Shared {
    router: Router,
    builder: auto::Builder<TokioExecutor>,
    places: Arc<Places>,
    proxies: Proxies,
    /// Without, nothing is protected.
    handshakes: Option<Handshakes>,
    tasks: TaskTracker,
    closing: CancellationToken,
    ended: CancellationToken,
}

impl Shared {
    /// Resolves when listeners are to be closed and connections to be told to finish: a moment after the server began to
    /// stop, for some may just have been opened.
    async fn closing_gently(&self) {
        self.closing.cancelled().await;
        tokio::time::sleep(GREETING).await;
    }
}

impl Listeners {
    /// Starts to accept, with TLS if there is a certificate.
    #[must_use]
    pub fn start(
        listeners: Vec<TcpListener>,
        router: Router,
        tls: Option<Tls>,
        options: &ListenerOptions,
    ) -> Listeners {
        let (tasks, closing, ended) =
            (TaskTracker::new(), CancellationToken::new(), CancellationToken::new());
        let shared = Arc::new(Shared {
            router,
            builder: builder(),
            places: Places::new(options.connections),
            proxies: options.proxies.clone(),
            handshakes: tls.map(Handshakes::new),
            tasks: tasks.clone(),
            closing: closing.clone(),
            ended: ended.clone(),
        });
        for listener in listeners {
            tasks.spawn(accept_all(shared.clone(), listener));
        }
        Listeners { tasks, closing, ended }
    }

    /// Accepts nothing new after a moment, and tells every client to finish.
    pub fn close(&self) {
        self.closing.cancel();
    }

    /// Waits for connections to end by themselves, then ends the others.
    pub async fn stop(&self, within: Duration) {
        self.close();
        self.tasks.close();
        if tokio::time::timeout(within, self.tasks.wait()).await.is_err() {
            debug!("cut {} connections that did not end", self.tasks.len());
            self.ended.cancel();
            self.tasks.wait().await;
        }
    }
}

fn builder() -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADERS_WITHIN)
        .max_buf_size(HEADER_BYTES)
        .half_close(false)
        .http2()
        .timer(TokioTimer::new())
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_concurrent_streams(CONCURRENT_STREAMS)
        .max_header_list_size(HEADER_LIST_BYTES)
        .keep_alive_interval(KEEP_ALIVE_EVERY)
        .keep_alive_timeout(KEEP_ALIVE_WITHIN);
    builder
}

async fn accept_all(shared: Arc<Shared>, listener: TcpListener) {
    let (mut failing, mut full) = (false, false);
    loop {
        let accepted = tokio::select! {
            accepted = accept(&listener) => accepted,
            // Whoever is in the backlog by then has sent its first call, and would not know what became of it.
            () = shared.closing_gently() => return,
        };
        match accepted {
            Ok((stream, from)) => {
                failing = false;
                let place = shared.places.enter(from);
                if place.is_none() && !full {
                    warn!("too many connections: new ones are closed until others end");
                }
                full = place.is_none();
                if let Some(place) = place {
                    shared.tasks.spawn(serve(shared.clone(), stream, place));
                }
            }
            // The client went away before we looked.
            Err(error) if one_client_only(&error) => {}
            Err(error) => {
                if !failing {
                    warn!("cannot accept connections: {error}");
                }
                failing = true;
                shared.places.make_room();
                tokio::time::sleep(ACCEPT_AGAIN).await;
            }
        }
    }
}

async fn accept(listener: &TcpListener) -> io::Result<(TcpStream, IpAddr)> {
    let (stream, peer) = listener.accept().await?;
    // Without this, messages larger than a segment wait for the acknowledgement of the one before.
    stream.set_nodelay(true)?;
    Ok((stream, peer.ip()))
}

fn one_client_only(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::Interrupted
            | io::ErrorKind::InvalidInput
    )
}

async fn serve(shared: Arc<Shared>, stream: TcpStream, place: Arc<Place>) {
    // The protocol is told by the first bytes; whoever sends none must not occupy a place.
    let begun = tokio::select! {
        begun = tokio::time::timeout(HEADERS_WITHIN, stream.readable()) => matches!(begun, Ok(Ok(()))),
        () = place.evicted() => false,
        () = shared.closing_gently() => false,
    };
    if !begun {
        return;
    }
    let peer = stream.peer_addr().ok();
    let Some(handshakes) = &shared.handshakes else { return speak(&shared, stream, place, peer, None).await };
    let secured = tokio::select! {
        secured = handshakes.secure(stream) => secured,
        () = place.evicted() => return,
        () = shared.closing.cancelled() => return,
    };
    match secured {
        Ok((stream, certificate)) => speak(&shared, stream, place, peer, Some(Secured(certificate))).await,
        Err(error) => debug!("a connection was not secured: {error}"),
    }
}

/// Speaks HTTP until the connection ends.
async fn speak(
    shared: &Shared,
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    place: Arc<Place>,
    peer: Option<SocketAddr>,
    secured: Option<Secured>,
) {
    let (proxies, of_request) = (shared.proxies.clone(), place.clone());
    let with_peer =
        tower::util::MapRequest::new(shared.router.clone(), move |mut request: Request<Incoming>| {
            if let Some(peer) = peer {
                let peer = client(&proxies, peer, request.headers());
                request.extensions_mut().insert(Peer(peer));
            }
            if let Some(secured) = &secured {
                request.extensions_mut().insert(secured.clone());
            }
            request.extensions_mut().insert(of_request.clone());
            request
        });
    let service = TowerToHyperService::new(Counted::new(with_peer, place.clone()));
    let mut connection = pin!(shared.builder.serve_connection(TokioIo::new(stream), service));
    let mut first = pin!(tokio::time::sleep(HEADERS_WITHIN));
    let mut last = pin!(tokio::time::sleep(HEADERS_WITHIN + FAREWELL));
    let (mut told, mut waited, mut called) = (false, false, false);
    loop {
        tokio::select! {
            end = connection.as_mut() => {
                if let Err(error) = end {
                    debug!("a connection ended: {error}");
                }
                return;
            }
            () = shared.closing_gently(), if !told => {
                told = true;
                connection.as_mut().graceful_shutdown();
            }
            () = shared.ended.cancelled() => return,
            () = place.evicted() => return,
            () = first.as_mut(), if !waited => {
                waited = true;
                // A request may be on its way: whoever can be told to take another connection is told.
                if !place.was_called() {
                    connection.as_mut().graceful_shutdown();
                }
            }
            () = last.as_mut(), if !called => {
                called = place.was_called();
                if !called {
                    return;
                }
            }
        }
    }
}

/// Who is at the other end, or behind a proxy that is trusted. Of somebody behind one the port is not known.
fn client(proxies: &Proxies, peer: SocketAddr, headers: &HeaderMap) -> SocketAddr {
    if proxies.is_empty() {
        return peer;
    }
    let forwarded: Vec<&str> =
        headers.get_all("x-forwarded-for").iter().filter_map(|value| value.to_str().ok()).collect();
    match proxies.client(peer.ip(), forwarded.into_iter()) {
        client if client == peer.ip().to_canonical() => peer,
        client => SocketAddr::new(client, 0),
    }
}
