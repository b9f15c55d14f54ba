//! Ganger, by the same contract as its peers: jobs go in over gRPC, a worker of the Rust SDK runs them in this process, and the
//! server is another process, at `BENCH_STORE`. `BENCH_RETENTION=none` lets the queue keep no history. `BENCH_KEYS=each` gives each request
//! an idempotency key, which is kept with its answer for a day: no peer does that, so without it there is none.

use std::sync::LazyLock;
use std::time::Duration;

use anyhow::Context;
use bench_driver::{Aim, Handle, Payload, Peer, Stop, settings};
use ganger_proto::v1::jobs_client::JobsClient;
use ganger_proto::v1::queues_client::QueuesClient;
use ganger_proto::v1::{self, batch_item, keep};
use ganger_worker::{Ctx, Job, JobError, Worker};
use tonic::transport::{Channel, Endpoint};
use uuid::Uuid;

const QUEUE: &str = "bench";
const NOOP: Job<Payload, ()> = Job::new("bench.noop").queue(QUEUE);
/// The longest wait for the worker to end.
const GRACE: Duration = Duration::from_secs(10);
/// A thousand jobs and their answers are far below.
const MESSAGE_BYTES: usize = 8 << 20;

struct Ganger {
    clients: Vec<JobsClient<Channel>>,
    queues: QueuesClient<Channel>,
}

impl Ganger {
    async fn connect() -> anyhow::Result<Ganger> {
        let endpoint = Endpoint::from_shared(settings().store.clone())?.tcp_nodelay(true);
        let mut clients = Vec::new();
        for _ in 0..bench_driver::clients() {
            let client = JobsClient::new(endpoint.connect().await?);
            clients.push(client.max_decoding_message_size(MESSAGE_BYTES));
        }
        Ok(Ganger { clients, queues: QueuesClient::new(endpoint.connect().await?) })
    }
}

fn job(payload: &Payload) -> v1::NewJob {
    let payload = format!("{{\"n\":{},\"p\":\"{}\"}}", payload.n, payload.p);
    v1::NewJob { kind: "bench.noop".into(), queue: QUEUE.into(), payload, ..v1::NewJob::default() }
}

fn key() -> String {
    static KEYS: LazyLock<bool> = LazyLock::new(|| std::env::var("BENCH_KEYS").is_ok_and(|keys| keys == "each"));
    if *KEYS { Uuid::new_v4().to_string() } else { String::new() }
}

impl Peer for Ganger {
    async fn prepare(&self) -> anyhow::Result<()> {
        let mut put = v1::PutQueueRequest { queue: QUEUE.into(), ..v1::PutQueueRequest::default() };
        if std::env::var("BENCH_RETENTION").is_ok_and(|kept| kept == "none") {
            put.finished = Some(v1::Keep { how: Some(keep::How::Nothing(true)) });
        }
        self.queues.clone().put(put).await?;
        Ok(())
    }

    async fn send_many(&self, client: usize, payloads: Vec<Payload>) -> anyhow::Result<()> {
        let jobs = payloads.iter().map(job).collect();
        let idempotency_key = key();
        let request = v1::EnqueueBatchRequest { jobs, idempotency_key, ..v1::EnqueueBatchRequest::default() };
        let answer = self.clients[client].clone().enqueue_batch(request).await?.into_inner();
        for item in answer.items {
            if let Some(batch_item::Answer::Problem(problem)) = item.answer {
                anyhow::bail!("a job was refused: {}: {}", problem.code, problem.detail);
            }
        }
        Ok(())
    }

    async fn send(&self, client: usize, payload: Payload) -> anyhow::Result<()> {
        let idempotency_key = key();
        let request =
            v1::EnqueueRequest { job: Some(job(&payload)), idempotency_key, ..v1::EnqueueRequest::default() };
        self.clients[client].clone().enqueue(request).await?;
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
