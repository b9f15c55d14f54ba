//! Ganger, by the same contract as its peers: jobs go in over REST, a worker of the Rust SDK runs them in this process over gRPC, and the
//! server is another process, at `BENCH_STORE`. `BENCH_RETENTION=none` lets the queue keep no history. `BENCH_KEYS=each` gives each request
//! an idempotency key, which is kept with its answer for a day: no peer does that, so without it there is none. `BENCH_DURABILITY=buffered`
//! lets Redis answer for the jobs.

mod rest;

use std::sync::LazyLock;
use std::time::Duration;

use anyhow::{Context, ensure};
use bench_driver::{Aim, Handle, Payload, Peer, Stop, settings};
use ganger_proto::v1;
use ganger_proto::v1::keep;
use ganger_proto::v1::queues_client::QueuesClient;
use ganger_worker::{Ctx, Job, JobError, Worker};
use serde::Deserialize;
use tonic::transport::{Channel, Endpoint};
use uuid::Uuid;

use rest::Rest;

const QUEUE: &str = "bench";
const NOOP: Job<Payload, ()> = Job::new("bench.noop").queue(QUEUE);
/// The longest wait for the worker to end.
const GRACE: Duration = Duration::from_secs(10);

struct Ganger {
    clients: Vec<Rest>,
    queues: QueuesClient<Channel>,
}

/// What is looked at of the answer to a batch.
#[derive(Deserialize)]
struct Batch {
    summary: Summary,
}

#[derive(Deserialize)]
struct Summary {
    created: usize,
}

impl Ganger {
    async fn connect() -> anyhow::Result<Ganger> {
        let endpoint = Endpoint::from_shared(settings().store.clone())?.tcp_nodelay(true);
        let mut clients = Vec::new();
        for _ in 0..bench_driver::clients() {
            clients.push(Rest::connect(&settings().store).await?);
        }
        Ok(Ganger { clients, queues: QueuesClient::new(endpoint.connect().await?) })
    }
}

fn job(payload: &Payload) -> String {
    format!(
        "\"kind\":\"bench.noop\",\"queue\":\"{QUEUE}\",\"payload\":{{\"n\":{},\"p\":\"{}\"}}",
        payload.n, payload.p
    )
}

/// What a request says besides its jobs.
fn durability() -> &'static str {
    static BUFFERED: LazyLock<bool> = LazyLock::new(|| is("BENCH_DURABILITY", "buffered"));
    if *BUFFERED { "\"durability\":\"buffered\"," } else { "" }
}

fn is(setting: &str, wanted: &str) -> bool {
    std::env::var(setting).is_ok_and(|value| value == wanted)
}

fn key() -> Option<String> {
    static KEYS: LazyLock<bool> = LazyLock::new(|| is("BENCH_KEYS", "each"));
    KEYS.then(|| Uuid::new_v4().to_string())
}

impl Peer for Ganger {
    async fn prepare(&self) -> anyhow::Result<()> {
        let mut put = v1::PutQueueRequest { queue: QUEUE.into(), ..v1::PutQueueRequest::default() };
        if is("BENCH_RETENTION", "none") {
            put.finished = Some(v1::Keep { how: Some(keep::How::Nothing(true)) });
        }
        self.queues.clone().put(put).await?;
        Ok(())
    }

    async fn send_many(&self, client: usize, payloads: Vec<Payload>) -> anyhow::Result<()> {
        let jobs: Vec<String> = payloads.iter().map(|payload| format!("{{{}}}", job(payload))).collect();
        let body = format!("{{{}\"jobs\":[{}]}}", durability(), jobs.join(","));
        let answer = self.clients[client].post("/v1/jobs:batch", key(), body).await?;
        let created = serde_json::from_slice::<Batch>(&answer)?.summary.created;
        let told = || String::from_utf8_lossy(&answer[..answer.len().min(500)]).into_owned();
        ensure!(created == payloads.len(), "{created} of {} jobs were taken in: {}", payloads.len(), told());
        Ok(())
    }

    async fn send(&self, client: usize, payload: Payload) -> anyhow::Result<()> {
        self.clients[client].post("/v1/jobs", key(), format!("{{{}{}}}", durability(), job(&payload))).await?;
        Ok(())
    }

    async fn left(&self) -> anyhow::Result<usize> {
        let request = v1::GetQueueRequest { queue: QUEUE.into() };
        let jobs = self.queues.clone().get(request).await?.into_inner().jobs.context("no counts")?;
        anyhow::ensure!(jobs.dead + jobs.cancelled + jobs.retrying == 0, "some jobs failed");
        Ok((jobs.scheduled + jobs.blocked + jobs.queued + jobs.running) as usize)
    }

    async fn worker(&self, _aim: Aim, handle: Handle) -> anyhow::Result<Stop> {
        let handler = move |_: Ctx, payload: Payload| {
            handle(payload.n);
            async { Ok::<(), JobError>(()) }
        };
        let worker = Worker::connect(settings().store.clone())
            .name("bench")
            .queues([QUEUE])
            .threads(u16::try_from(settings().concurrency)?)
            .handle(&NOOP, handler)
            .start()
            .await?;
        Ok(Box::pin(async move {
            worker.stop(GRACE).await?;
            Ok(())
        }))
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    bench_driver::drive(Ganger::connect().await?).await
}
