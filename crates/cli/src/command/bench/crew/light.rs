//! Light workers: they speak the protocol of sessions over a connection each, as docs/worker-protocol.md has it, and every
//! job that they are given has succeeded at once.
//!
//! They are what a worker of the SDK is without its threads and handlers, so that thousands fit into one process, and they
//! hear the acknowledgement of each result, which says that it is durable. A connection that breaks is made again, and
//! what was not acknowledged is sent again.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use ganger_core::limits;
use ganger_proto::convert::duration_to_wire;
use ganger_proto::v1::from_worker::Message as Up;
use ganger_proto::v1::to_worker::Message as Down;
use ganger_proto::v1::{self, worker_client::WorkerClient};
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tonic::transport::Endpoint;
use uuid::Uuid;

use super::tally::{Tally, Timed};
use super::{LEAVING, Orders};
use crate::exit::Exit;
use crate::failure::{Failure, Fallible};

/// How long a lease lasts without a sign of life, as workers of the SDK ask for.
const TTL: Duration = Duration::from_secs(15);
/// Between two signs of life.
const PING: Duration = Duration::from_secs(5);
/// Before a connection that broke is made again.
const AGAIN: Duration = Duration::from_millis(50);
/// Workers that connect at a time.
const CONNECTING: usize = 64;
/// Messages between a worker and its connection.
const BUFFERED: usize = 16;
/// As workers of the SDK have it.
const KEEP_ALIVE_EVERY: Duration = Duration::from_millis(2_600);
/// Longer than theirs: what is measured is a busy machine, and nobody is to leave it.
const KEEP_ALIVE_WITHIN: Duration = Duration::from_secs(30);
const STREAM_WINDOW: u32 = 4 << 20;
const CONNECTION_WINDOW: u32 = 16 << 20;

/// Workers that are connected.
pub(super) struct Light {
    stop: CancellationToken,
    tasks: Vec<JoinHandle<()>>,
}

/// Connects them all.
pub(super) async fn connect(orders: &Orders, tally: &Tally) -> Fallible<Light> {
    let stop = CancellationToken::new();
    let dialling = Arc::new(Semaphore::new(CONNECTING));
    let (opened, mut open) = watch::channel(0u64);
    let opened = Arc::new(opened);
    let endpoint = endpoint(&orders.url)?;
    let mut tasks = Vec::new();
    for nth in 0..orders.workers {
        let worker = LightWorker {
            hello: hello(orders, nth),
            endpoint: endpoint.clone(),
            tally: tally.clone(),
            stop: stop.clone(),
            unacknowledged: HashMap::new(),
            pings: 0,
        };
        tasks.push(tokio::spawn(worker.live(dialling.clone(), opened.clone())));
    }
    open.wait_for(|open| *open >= orders.workers)
        .await
        .map_err(|error| Failure::new(Exit::Failure, "cannot connect the workers", error, ""))?;
    Ok(Light { stop, tasks })
}

impl Light {
    /// Finishes what they hold, and leaves.
    pub(super) async fn leave(self) {
        self.stop.cancel();
        // Those that do not leave in time are left: their process ends.
        let _ = tokio::time::timeout(LEAVING, join_all(self.tasks)).await;
    }
}

/// One of them.
struct LightWorker {
    hello: v1::Hello,
    endpoint: Endpoint,
    tally: Tally,
    stop: CancellationToken,
    /// Results that were sent, by term and number of their fence.
    unacknowledged: HashMap<(u64, u64), (v1::Result, Option<Timed>)>,
    pings: u64,
}

/// How a stream ended.
enum Ended {
    /// Everything is acknowledged, and it was told to stop.
    Left,
    Broken,
}

impl LightWorker {
    async fn live(mut self, dialling: Arc<Semaphore>, opened: Arc<watch::Sender<u64>>) {
        let mut open = Some(move || opened.send_modify(|open| *open += 1));
        loop {
            self.hello.stream += 1;
            let permit = dialling.acquire().await;
            let stream = self.open().await;
            drop(permit);
            if let Ok((outbound, inbound)) = stream
                && let Ok(Ended::Left) = self.converse(outbound, inbound, &mut open).await
            {
                return;
            }
            if self.stop.is_cancelled() {
                return;
            }
            tokio::time::sleep(AGAIN).await;
        }
    }

    async fn open(
        &self,
    ) -> Result<(mpsc::Sender<v1::FromWorker>, tonic::Streaming<v1::ToWorker>), tonic::Status> {
        let failed = |error: tonic::transport::Error| tonic::Status::unavailable(error.to_string());
        let channel = self.endpoint.connect().await.map_err(failed)?;
        let (outbound, sending) = mpsc::channel(BUFFERED);
        // The first message must be there when the stream opens.
        let _ = outbound.send(up(Up::Hello(self.hello.clone()))).await;
        let stream = futures::stream::unfold(sending, async |mut sending: mpsc::Receiver<_>| {
            sending.recv().await.map(|message| (message, sending))
        });
        let mut client = WorkerClient::new(channel).max_decoding_message_size(ganger_proto::MESSAGE_BYTES);
        Ok((outbound, client.session(stream).await?.into_inner()))
    }

    async fn converse(
        &mut self,
        outbound: mpsc::Sender<v1::FromWorker>,
        mut inbound: tonic::Streaming<v1::ToWorker>,
        open: &mut Option<impl FnOnce()>,
    ) -> Result<Ended, mpsc::error::SendError<v1::FromWorker>> {
        let mut heartbeat = tokio::time::interval(PING);
        let mut leaving = false;
        loop {
            tokio::select! {
                biased;
                () = self.stop.cancelled(), if !leaving => {
                    leaving = true;
                    outbound.send(up(Up::Drain(v1::Drain {}))).await?;
                }
                _ = heartbeat.tick() => self.ping(&outbound).await?,
                message = inbound.message() => {
                    let Ok(Some(v1::ToWorker { message: Some(message) })) = message else {
                        return Ok(Ended::Broken);
                    };
                    match message {
                        Down::Welcome(welcome) => {
                            self.hello.highest = welcome.term;
                            self.ping(&outbound).await?;
                            self.send_again(&outbound).await?;
                            if let Some(open) = open.take() {
                                open();
                            }
                        }
                        Down::Assign(assign) => self.run(assign, &outbound).await?,
                        Down::Ack(ack) => self.acknowledged(&ack),
                        Down::Gone(_) => {
                            self.hello.session = session();
                            return Ok(Ended::Broken);
                        }
                        // It has nothing that could be stopped, and asks for no marks.
                        Down::Pong(_) | Down::Cancel(_) | Down::Drain(_) | Down::Marked(_) => {}
                    }
                }
            }
            if leaving && self.unacknowledged.is_empty() {
                outbound.send(up(Up::Goodbye(v1::Goodbye {}))).await?;
                drop(outbound);
                // The server closes its side when it has heard the goodbye.
                while let Ok(Some(_)) = inbound.message().await {}
                return Ok(Ended::Left);
            }
        }
    }

    async fn ping(
        &mut self,
        outbound: &mpsc::Sender<v1::FromWorker>,
    ) -> Result<(), mpsc::error::SendError<v1::FromWorker>> {
        self.pings += 1;
        outbound.send(up(Up::Ping(v1::Ping { number: self.pings }))).await
    }

    /// Every job has succeeded as soon as it is there.
    async fn run(
        &mut self,
        assign: v1::Assign,
        outbound: &mpsc::Sender<v1::FromWorker>,
    ) -> Result<(), mpsc::error::SendError<v1::FromWorker>> {
        let mut results = Vec::new();
        for work in assign.work {
            let key = work.fence.as_ref().map(key).unwrap_or_default();
            // A server that was started again tells once more what it has told before.
            if self.unacknowledged.contains_key(&key) {
                continue;
            }
            let timed = serde_json::from_str::<Timed>(&work.payload).ok();
            self.tally.started(timed);
            let result = v1::Result {
                job: work.job,
                fence: work.fence,
                ran: Some(duration_to_wire(Duration::ZERO)),
                report: Some(v1::result::Report::Ok("null".into())),
            };
            self.unacknowledged.insert(key, (result.clone(), timed));
            results.push(result);
        }
        send(results, outbound).await
    }

    async fn send_again(
        &self,
        outbound: &mpsc::Sender<v1::FromWorker>,
    ) -> Result<(), mpsc::error::SendError<v1::FromWorker>> {
        send(self.unacknowledged.values().map(|(result, _)| result.clone()).collect(), outbound).await
    }

    fn acknowledged(&mut self, ack: &v1::Ack) {
        for fence in &ack.fences {
            if let Some((_, timed)) = self.unacknowledged.remove(&key(fence)) {
                self.tally.recorded(timed);
            }
        }
    }
}

async fn send(
    results: Vec<v1::Result>,
    outbound: &mpsc::Sender<v1::FromWorker>,
) -> Result<(), mpsc::error::SendError<v1::FromWorker>> {
    for results in results.chunks(limits::RESULTS_PER_MESSAGE) {
        outbound.send(up(Up::Results(v1::Results { results: results.to_vec() }))).await?;
    }
    Ok(())
}

/// Numbers begin anew in every term.
fn key(fence: &v1::Fence) -> (u64, u64) {
    (fence.term.as_ref().map_or(0, |term| term.number), fence.seq)
}

fn up(message: Up) -> v1::FromWorker {
    v1::FromWorker { message: Some(message) }
}

fn session() -> Vec<u8> {
    Uuid::now_v7().into_bytes().to_vec()
}

fn hello(orders: &Orders, nth: u64) -> v1::Hello {
    v1::Hello {
        session: session(),
        stream: 0,
        name: format!("bench-{}-{nth}", std::process::id()),
        queues: orders.queues.clone(),
        kinds: orders.kinds.clone(),
        threads: orders.threads.into(),
        version: env!("CARGO_PKG_VERSION").into(),
        ttl: Some(duration_to_wire(TTL)),
        ..v1::Hello::default()
    }
}

fn endpoint(url: &str) -> Fallible<Endpoint> {
    let endpoint = Endpoint::from_shared(url.to_owned())
        .map_err(|error| Failure::usage("cannot use the address of the server", error, ""))?;
    Ok(endpoint
        .tcp_nodelay(true)
        .http2_keep_alive_interval(KEEP_ALIVE_EVERY)
        .keep_alive_timeout(KEEP_ALIVE_WITHIN)
        .keep_alive_while_idle(true)
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW))
}
