//! One connection and one stream to the server.
//!
//! A task dials, opens the stream and reads it; what it meets comes out as [`WireEvent`]s, in order.
//! Dropping the wire ends the task and the connection with it.

use std::time::Duration;

use ganger_proto::v1::{self, worker_client::WorkerClient};
use ganger_proto::{DecodeError, Down, MESSAGE_BYTES};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::task::AbortOnDropHandle;
use tonic::transport::{Channel, Endpoint};

use crate::credential::Credential;

/// How long one try to connect may take.
const DIAL: Duration = Duration::from_secs(5);
/// How long the leader has to answer before a worker stays where it is.
const PROBE: Duration = Duration::from_secs(2);
/// How often a silent connection is checked. A leader that stands still keeps its connections open; whoever waits on one
/// has left it by the time another leads (five seconds by default). A little more than half of
/// the time between two pings of a session by default: one check falls between them and not two, for ten thousand idle workers are not to keep a leader busy.
const KEEP_ALIVE_EVERY: Duration = Duration::from_millis(2_600);
/// How long the answer to such a check may take. One that is late costs a reconnection, and no lease.
const KEEP_ALIVE_WITHIN: Duration = Duration::from_millis(2_400);
/// HTTP/2 windows: the default of 64 KiB would slow down a worker far away.
const STREAM_WINDOW: u32 = 4 << 20;
const CONNECTION_WINDOW: u32 = 16 << 20;
/// Messages in either direction between the session and the connection.
const BUFFERED: usize = 16;
/// How long the server may take to close its side after a goodbye.
const CLOSING: Duration = Duration::from_secs(1);

/// How long a server that has too many is left alone, at least and at most.
const THROTTLED: Duration = Duration::from_secs(5);
const LONGEST_THROTTLED: Duration = Duration::from_secs(300);

/// What happens on a wire.
pub(crate) enum WireEvent {
    /// Connected: the stream opens with the first message sent, a hello.
    Dialled,
    /// The server said something.
    Message(Down),
    /// The welcome that was just told names the leader, and where it can be reached.
    Leader(String),
    /// There is a place for a message to the server.
    Room,
    /// It is over; a new wire is needed.
    Broken(Broken),
}

/// Why a wire is over.
pub(crate) enum Broken {
    /// The server is not there, or went away.
    Away(String),
    /// The server is there, and does not let this worker in.
    Denied(String),
    /// The server has too many, or has been asked too often: it is asked again after so long, and not before.
    Throttled(String, Duration),
}

/// One connection, from dialling to its end.
pub(crate) struct Wire {
    outbound: mpsc::Sender<v1::FromWorker>,
    events: mpsc::Receiver<WireEvent>,
    task: AbortOnDropHandle<()>,
}

impl Wire {
    /// Begins to connect. Must be called on the session's runtime.
    pub(crate) fn dial(endpoint: Endpoint, credential: Credential) -> Wire {
        let (outbound, sending) = mpsc::channel(BUFFERED);
        let (telling, events) = mpsc::channel(BUFFERED);
        let task = tokio::spawn(async move {
            let ended = converse(endpoint, credential, sending, &telling).await;
            let broken = ended.err().unwrap_or_else(|| Broken::Away("the server closed the stream".into()));
            let _ = telling.send(WireEvent::Broken(broken)).await;
        });
        Wire { outbound, events, task: AbortOnDropHandle::new(task) }
    }

    /// What happens next; room for a message counts only if it is wanted. Can be dropped at any point
    /// without losing anything.
    pub(crate) async fn next(&mut self, room_wanted: bool) -> WireEvent {
        tokio::select! {
            event = self.events.recv() => {
                event.unwrap_or_else(|| WireEvent::Broken(Broken::Away("the connection's task ended".into())))
            }
            // When the stream is over, an event says so.
            Ok(_) = self.outbound.reserve(), if room_wanted => WireEvent::Room,
        }
    }

    /// Another event, if one is there already.
    pub(crate) fn try_next(&mut self) -> Option<WireEvent> {
        self.events.try_recv().ok()
    }

    /// A place for one message, if there is one now.
    pub(crate) fn try_reserve(&self) -> Option<mpsc::Permit<'_, v1::FromWorker>> {
        self.outbound.try_reserve().ok()
    }

    /// Sends the last messages and ends the stream in order: the server hears them, then closes its
    /// side.
    pub(crate) async fn close(self, last: impl Iterator<Item = v1::FromWorker>) {
        let Wire { outbound, mut events, task } = self;
        let leave = async {
            for message in last {
                if outbound.send(message).await.is_err() {
                    return;
                }
            }
            drop(outbound);
            while events.recv().await.is_some() {}
        };
        // A server that does not close its side has heard the goodbye all the same.
        let _ = tokio::time::timeout(CLOSING, leave).await;
        drop(task);
    }
}

/// Settings of a connection to that server.
pub(crate) fn endpoint(url: &str, credential: &Credential) -> Result<Endpoint, tonic::transport::Error> {
    let mut endpoint = Endpoint::from_shared(url.to_owned())?;
    if endpoint.uri().scheme_str() == Some("https") {
        endpoint = endpoint.tls_config(credential.tls())?;
    }
    Ok(endpoint
        .connect_timeout(DIAL)
        .tcp_nodelay(true)
        .http2_keep_alive_interval(KEEP_ALIVE_EVERY)
        .keep_alive_timeout(KEEP_ALIVE_WITHIN)
        .keep_alive_while_idle(true)
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW))
}

/// What a refusal of the server means for the next try.
#[expect(clippy::wildcard_enum_match_arm, reason = "the other codes of gRPC are not ours to list")]
fn refused(status: tonic::Status) -> Broken {
    let reason = format!("{}: {}", status.code().description(), status.message());
    match status.code() {
        tonic::Code::Unauthenticated | tonic::Code::PermissionDenied => Broken::Denied(reason),
        tonic::Code::ResourceExhausted => {
            let told = status.metadata().get("retry-after").and_then(|value| value.to_str().ok());
            let after = told.and_then(|text| text.parse().ok()).map_or(THROTTLED, Duration::from_secs);
            Broken::Throttled(reason, after.clamp(THROTTLED, LONGEST_THROTTLED))
        }
        _ => Broken::Away(reason),
    }
}

async fn converse(
    endpoint: Endpoint,
    credential: Credential,
    sending: mpsc::Receiver<v1::FromWorker>,
    telling: &mpsc::Sender<WireEvent>,
) -> Result<(), Broken> {
    let connected = endpoint.connect().await;
    let channel: Channel = connected.map_err(|e| Broken::Away(chain("cannot connect", &e)))?;
    let mut client = WorkerClient::with_interceptor(channel, credential)
        .max_decoding_message_size(MESSAGE_BYTES)
        .max_encoding_message_size(MESSAGE_BYTES);
    if telling.send(WireEvent::Dialled).await.is_err() {
        return Ok(());
    }
    let mut stream = client.session(ReceiverStream::new(sending)).await.map_err(refused)?.into_inner();
    while let Some(message) = stream.message().await.map_err(refused)? {
        let leader = leader_named(&message);
        let down = match Down::try_from(message) {
            Ok(down) => down,
            Err(DecodeError::Missing("message")) => {
                tracing::debug!("ignored a message of a later version of the protocol");
                continue;
            }
            Err(error) => return Err(Broken::Away(format!("cannot read a message of the server: {error}"))),
        };
        if telling.send(WireEvent::Message(down)).await.is_err() {
            break;
        }
        if let Some(leader) = leader
            && telling.send(WireEvent::Leader(leader)).await.is_err()
        {
            break;
        }
    }
    Ok(())
}

fn leader_named(message: &v1::ToWorker) -> Option<String> {
    match &message.message {
        Some(v1::to_worker::Message::Welcome(welcome)) if !welcome.leader.is_empty() => {
            Some(welcome.leader.clone())
        }
        Some(_) | None => None,
    }
}

/// Whether there is a server at the other end.
pub(crate) async fn answers(endpoint: Endpoint) -> bool {
    matches!(tokio::time::timeout(PROBE, endpoint.connect()).await, Ok(Ok(_)))
}

fn chain(what: &str, error: &dyn std::error::Error) -> String {
    let deepest = std::iter::successors(Some(error), |e| e.source()).take(8).last();
    deepest.map_or_else(|| what.to_owned(), |cause| format!("{what}: {cause}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_tells_when_to_try_again() {
        let throttled = |after: Option<&'static str>| {
            let mut status = tonic::Status::resource_exhausted("too many at a time");
            if let Some(after) = after {
                status.metadata_mut().insert("retry-after", after.parse().unwrap());
            }
            match refused(status) {
                Broken::Throttled(_, after) => after,
                Broken::Away(reason) | Broken::Denied(reason) => panic!("{reason}"),
            }
        };
        assert_eq!(throttled(None), THROTTLED);
        assert_eq!(throttled(Some("64")), Duration::from_secs(64));
        assert_eq!(throttled(Some("0")), THROTTLED);
        assert_eq!(throttled(Some("99999")), LONGEST_THROTTLED);
        assert!(matches!(refused(tonic::Status::unauthenticated("x")), Broken::Denied(_)));
        assert!(matches!(refused(tonic::Status::unavailable("x")), Broken::Away(_)));
    }
}
