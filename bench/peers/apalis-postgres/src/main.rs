//! apalis on PostgreSQL: fetched in batches, handlers beside each other; woken by NOTIFY for the ping.

use std::time::Duration;

use apalis::prelude::*;
use apalis_postgres::{Config, PostgresStorage};
use bench_driver::{Aim, Handle, Payload, Peer, Stop, settings};
use futures::stream;
use sqlx::PgPool;
use sqlx::postgres::PgPoolOptions;

const QUEUE: &str = "bench";
/// Between two looks while the queue is busy.
const POLL: Duration = Duration::from_millis(1);

struct Apalis {
    pool: PgPool,
}

impl Apalis {
    fn storage(&self) -> PostgresStorage<Payload> {
        let config = Config::default().queue(QUEUE).batch_size(settings().concurrency).persist_results(true);
        PostgresStorage::new(&self.pool).with_config(config)
    }
}

async fn noop(payload: Payload, handle: Data<Handle>) -> Result<(), BoxDynError> {
    handle(payload.n);
    Ok(())
}

impl Peer for Apalis {
    async fn prepare(&self) -> anyhow::Result<()> {
        Ok(PostgresStorage::<()>::setup(&self.pool).await?)
    }

    async fn send_many(&self, _client: usize, payloads: Vec<Payload>) -> anyhow::Result<()> {
        let mut tasks = stream::iter(payloads.into_iter().map(|payload| TaskBuilder::new(payload).build()));
        Ok(self.storage().push_all(&mut tasks).await?)
    }

    async fn send(&self, _client: usize, payload: Payload) -> anyhow::Result<()> {
        Ok(self.storage().push(payload).await?)
    }

    async fn left(&self) -> anyhow::Result<usize> {
        let (left,): (i64,) =
            sqlx::query_as("SELECT count(*) FROM apalis.jobs WHERE status <> 'Done'").fetch_one(&self.pool).await?;
        Ok(usize::try_from(left)?)
    }

    async fn worker(&self, aim: Aim, handle: Handle) -> anyhow::Result<Stop> {
        let storage = self.storage();
        match aim {
            Aim::Drain => {
                let backend = storage.poll_with_interval(POLL);
                let worker =
                    WorkerBuilder::new("bench").backend(backend).data(handle).parallelize(tokio::spawn).build(noop);
                tokio::spawn(worker.run());
            }
            Aim::Ping => {
                let backend = storage.with_pubsub();
                let worker =
                    WorkerBuilder::new("bench").backend(backend).data(handle).parallelize(tokio::spawn).build(noop);
                tokio::spawn(worker.run());
            }
        }
        Ok(Box::pin(async { Ok(()) }))
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let connections = bench_driver::clients().max(8) + 2;
    let pool = PgPoolOptions::new().max_connections(connections as u32).connect(&settings().store).await?;
    bench_driver::drive(Apalis { pool }).await
}
