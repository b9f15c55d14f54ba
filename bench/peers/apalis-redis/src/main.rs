//! apalis on Redis: fetched in batches, handlers beside each other.

use std::time::Duration;

use apalis::prelude::*;
use apalis_redis::{Config, RedisStorage};
use bench_driver::{Aim, Handle, Payload, Peer, Stop, settings};
use futures::stream;
use redis::AsyncCommands;
use redis::aio::ConnectionManager;

const QUEUE: &str = "bench";
/// Between two looks.
const POLL: Duration = Duration::from_millis(1);

struct Apalis {
    connections: Vec<ConnectionManager>,
}

impl Apalis {
    fn storage(&self, client: usize) -> RedisStorage<Payload> {
        let config = Config::default().queue(QUEUE).batch_size(settings().concurrency);
        RedisStorage::new(self.connections[client].clone()).with_config(config)
    }
}

async fn noop(payload: Payload, handle: Data<Handle>) -> Result<(), BoxDynError> {
    handle(payload.n);
    Ok(())
}

impl Peer for Apalis {
    async fn prepare(&self) -> anyhow::Result<()> {
        Ok(())
    }

    async fn send_many(&self, client: usize, payloads: Vec<Payload>) -> anyhow::Result<()> {
        let mut tasks = stream::iter(payloads.into_iter().map(|payload| TaskBuilder::new(payload).build()));
        Ok(self.storage(client).push_all(&mut tasks).await?)
    }

    async fn send(&self, client: usize, payload: Payload) -> anyhow::Result<()> {
        Ok(self.storage(client).push(payload).await?)
    }

    /// Each job has its data from its beginning on; a done one is also in the set of the done.
    async fn left(&self) -> anyhow::Result<usize> {
        let mut connection = self.connections[0].clone();
        let all: usize = connection.hlen(format!("{QUEUE}:data")).await?;
        let done: usize = connection.scard(format!("{QUEUE}:done")).await?;
        Ok(all - done)
    }

    async fn worker(&self, _aim: Aim, handle: Handle) -> anyhow::Result<Stop> {
        let backend = self.storage(0).poll_with_interval(POLL);
        let worker =
            WorkerBuilder::new("bench").backend(backend).data(handle).parallelize(tokio::spawn).build(noop);
        let running = tokio::spawn(worker.run());
        tokio::spawn(async move {
            // It ends at the first error of Redis, and would leave nothing but jobs that nobody runs.
            let ended = running.await;
            eprintln!("the worker ended: {ended:?}");
            std::process::exit(1);
        });
        Ok(Box::pin(async { Ok(()) }))
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut connections = Vec::new();
    for _ in 0..bench_driver::clients() {
        connections.push(apalis_redis::connect(settings().store.as_str()).await?);
    }
    bench_driver::drive(Apalis { connections }).await
}
