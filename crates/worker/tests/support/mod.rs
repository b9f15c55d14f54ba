//! A leader that says what the test tells it to: the real wire, without a scheduler behind it.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::net::SocketAddr;
use std::time::Duration;

use ganger_core::message::{AttemptReport, Hello, ToLeader, ToWorker, Work};
use ganger_core::outcome::Report;
use ganger_core::{Fence, JobId, SessionId, Term};
use ganger_proto::v1::worker_server::{Worker, WorkerServer};
use ganger_proto::{Down, Parcel, v1};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio_stream::wrappers::{ReceiverStream, TcpListenerStream};
use tonic::{Request, Response, Status, Streaming};

/// Nothing in these tests takes longer, unless it is broken.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);
pub(crate) const TERM: Term = Term { number: 3, id: 77 };

/// The server side of the worker protocol, in the hands of a test.
pub(crate) struct Leader {
    pub(crate) address: SocketAddr,
    streams: mpsc::Receiver<Stream>,
    pub(crate) deaths: mpsc::Receiver<SessionId>,
    serving: tokio::task::JoinHandle<()>,
}

/// One stream of a worker.
pub(crate) struct Stream {
    inbound: Streaming<v1::FromWorker>,
    outbound: mpsc::Sender<Result<v1::ToWorker, Status>>,
}

struct Ears {
    streams: mpsc::Sender<Stream>,
    deaths: mpsc::Sender<SessionId>,
}

#[tonic::async_trait]
impl Worker for Ears {
    type SessionStream = ReceiverStream<Result<v1::ToWorker, Status>>;

    async fn session(
        &self,
        request: Request<Streaming<v1::FromWorker>>,
    ) -> Result<Response<Self::SessionStream>, Status> {
        let (outbound, sending) = mpsc::channel(64);
        let stream = Stream { inbound: request.into_inner(), outbound };
        self.streams.send(stream).await.map_err(|_| Status::unavailable("the test is over"))?;
        Ok(Response::new(ReceiverStream::new(sending)))
    }

    async fn report_death(
        &self,
        request: Request<v1::ReportDeathRequest>,
    ) -> Result<Response<v1::ReportDeathResponse>, Status> {
        let session = ganger_proto::convert::session_id_from_wire(&request.into_inner().session)?;
        self.deaths.send(session).await.map_err(|_| Status::unavailable("the test is over"))?;
        Ok(Response::new(v1::ReportDeathResponse {}))
    }
}

impl Leader {
    pub(crate) async fn start() -> Leader {
        Leader::on(TcpListener::bind("127.0.0.1:0").await.unwrap())
    }

    pub(crate) fn on(listener: TcpListener) -> Leader {
        let address = listener.local_addr().unwrap();
        let (streams_in, streams) = mpsc::channel(8);
        let (deaths_in, deaths) = mpsc::channel(8);
        let ears = WorkerServer::new(Ears { streams: streams_in, deaths: deaths_in });
        let serving = tokio::spawn(async move {
            let incoming = TcpListenerStream::new(listener);
            tonic::transport::Server::builder()
                .add_service(ears)
                .serve_with_incoming(incoming)
                .await
                .unwrap();
        });
        Leader { address, streams, deaths, serving }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The next stream, whose hello has been heard.
    pub(crate) async fn greeted(&mut self) -> (Stream, Hello) {
        let mut stream = soon(self.streams.recv()).await.expect("serving");
        let ToLeader::Hello(hello) = stream.hear().await else { panic!("a stream begins with a hello") };
        (stream, hello)
    }

    /// The next stream, welcomed with that TTL.
    pub(crate) async fn welcomed(&mut self, ttl: Duration) -> (Stream, Hello) {
        let (stream, hello) = self.greeted().await;
        stream.say(ToWorker::Welcome { term: TERM, ttl }).await;
        (stream, hello)
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Stream {
    pub(crate) async fn say(&self, message: ToWorker) {
        self.outbound.send(Ok(Down::Other(message).into())).await.expect("the worker listens");
    }

    /// A message as it is on the wire.
    pub(crate) async fn say_raw(&self, message: v1::ToWorker) {
        self.outbound.send(Ok(message)).await.expect("the worker listens");
    }

    pub(crate) async fn assign(&self, parcels: Vec<Parcel>) {
        self.outbound.send(Ok(Down::Assign(parcels).into())).await.expect("the worker listens");
    }

    /// The next message, whatever it is.
    pub(crate) async fn hear(&mut self) -> ToLeader {
        let message = soon(self.inbound.message()).await.expect("the stream holds").expect("more to hear");
        message.try_into().expect("a message that can be read")
    }

    /// The next message that is no ping; pings are answered.
    pub(crate) async fn hear_and_pong(&mut self) -> ToLeader {
        loop {
            let message = self.hear().await;
            let ToLeader::Ping { number } = message else { return message };
            self.say(ToWorker::Pong { number }).await;
        }
    }

    /// The next result; there must be only one in its message.
    pub(crate) async fn result(&mut self) -> AttemptReport {
        loop {
            let message = self.hear_and_pong().await;
            if let ToLeader::Results(mut results) = message {
                assert_eq!(results.len(), 1, "{results:?}");
                return results.remove(0);
            }
            let chatter = matches!(message, ToLeader::Progress { .. } | ToLeader::Log { .. });
            assert!(chatter, "expected a result, not {message:?}");
        }
    }

    /// Waits for the worker to end the stream.
    pub(crate) async fn closed(&mut self) -> bool {
        loop {
            match soon(self.inbound.message()).await {
                Ok(Some(_)) => {}
                Ok(None) => return true,
                Err(_) => return false,
            }
        }
    }
}

/// A lease of that sequence for a job of that kind.
pub(crate) fn parcel(seq: u64, kind: &str, payload: &str) -> Parcel {
    let mut random = [0; 10];
    random[..8].copy_from_slice(&seq.to_be_bytes());
    Parcel {
        work: Work {
            job: JobId::new(1, random),
            fence: fence(seq),
            attempt: 1,
            threads: 1,
            kind: kind.parse().unwrap(),
            queue: "default".parse().unwrap(),
            timeout: None,
            max_attempts: 3,
        },
        payload: payload.into(),
        trace: None,
    }
}

pub(crate) fn fence(seq: u64) -> Fence {
    Fence { term: TERM, seq }
}

pub(crate) fn ok(json: &str) -> Report {
    Report::Ok(json.into())
}

/// Waits, but not for ever.
pub(crate) async fn soon<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, what).await.expect("this happens soon, or never")
}
