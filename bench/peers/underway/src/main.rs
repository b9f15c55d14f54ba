//! underway on PostgreSQL: one worker with many tasks beside each other, each in a transaction of its own.

use std::sync::Arc;

use bench_driver::{Aim, Handle, Payload, Peer, Stop, settings};
use sqlx::postgres::PgPoolOptions;
use sqlx::{PgPool, Postgres, Transaction};
use underway::task::Result as TaskResult;
use underway::{Queue, Task, Worker};

const QUEUE: &str = "bench";

struct Noop(Handle);

impl Task for Noop {
    type Input = Payload;
    type Output = ();

    async fn execute(&self, _transaction: Transaction<'_, Postgres>, payload: Payload) -> TaskResult<()> {
        (self.0)(payload.n);
        Ok(())
    }
}

struct Underway {
    pool: PgPool,
}

impl Underway {
    async fn queue(&self) -> anyhow::Result<Queue<Noop>> {
        Ok(Queue::builder().name(QUEUE).pool(self.pool.clone()).build().await?)
    }
}

/// For enqueueing, which asks the task for its settings only.
fn nobody() -> Noop {
    Noop(Arc::new(|_| ()))
}

impl Peer for Underway {
    async fn prepare(&self) -> anyhow::Result<()> {
        // Its future cannot be shown to be `Send`.
        let runtime = tokio::runtime::Handle::current();
        tokio::task::block_in_place(|| runtime.block_on(underway::run_migrations(&self.pool)))?;
        self.queue().await.map(|_| ())
    }

    async fn send_many(&self, _client: usize, payloads: Vec<Payload>) -> anyhow::Result<()> {
        self.queue().await?.enqueue_multi(&self.pool, &nobody(), &payloads).await?;
        Ok(())
    }

    async fn send(&self, _client: usize, payload: Payload) -> anyhow::Result<()> {
        self.queue().await?.enqueue(&self.pool, &nobody(), &payload).await?;
        Ok(())
    }

    async fn left(&self) -> anyhow::Result<usize> {
        let (left,): (i64,) = sqlx::query_as("SELECT count(*) FROM underway.task WHERE state <> 'succeeded'")
            .fetch_one(&self.pool)
            .await?;
        Ok(usize::try_from(left)?)
    }

    async fn worker(&self, _aim: Aim, handle: Handle) -> anyhow::Result<Stop> {
        let mut worker = Worker::new(Arc::new(self.queue().await?), Noop(handle));
        worker.set_concurrency_limit(settings().concurrency);
        tokio::spawn(async move { worker.run().await });
        Ok(Box::pin(async { Ok(()) }))
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let connections = settings().concurrency.max(bench_driver::clients()) + 4;
    let pool = PgPoolOptions::new().max_connections(connections as u32).connect(&settings().store).await?;
    bench_driver::drive(Underway { pool }).await
}
