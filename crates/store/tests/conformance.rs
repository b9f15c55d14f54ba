//! Every store passes the same suite.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ganger_core::{Mono, Now, Wall};
use ganger_store::conformance::election::{self, Servers};
use ganger_store::{MemoryStore, Store, conformance};

#[tokio::test]
async fn the_store_in_memory_conforms() {
    conformance::run(|| Arc::new(MemoryStore::new()) as Arc<dyn Store>).await;
}

/// Only as far as a test moves it.
static CLOCK: AtomicU64 = AtomicU64::new(0);

#[tokio::test]
async fn the_store_in_memory_elects() {
    election::run(async || {
        let clock = || {
            let micros = CLOCK.load(Ordering::SeqCst);
            Now { mono: Mono(micros), wall: Wall(1_700_000_000_000_000 + micros as i64) }
        };
        let store: Arc<dyn Store> = Arc::new(MemoryStore::for_cluster(clock));
        Servers {
            stores: [store.clone(), store.clone(), store],
            pass: Box::new(|time| {
                CLOCK.fetch_add(time.as_micros() as u64, Ordering::SeqCst);
                Box::pin(async {})
            }),
            quick: true,
        }
    })
    .await;
}

#[cfg(feature = "sqlite")]
mod sqlite {
    use std::cell::RefCell;

    use ganger_store::{SqliteOptions, SqliteStore};

    use super::*;

    #[tokio::test]
    async fn sqlite_conforms() {
        let dirs = RefCell::new(Vec::new());
        conformance::run(|| {
            let dir = tempfile::tempdir().unwrap();
            let store = SqliteStore::open(dir.path(), SqliteOptions::default()).unwrap();
            dirs.borrow_mut().push(dir);
            Arc::new(store) as Arc<dyn Store>
        })
        .await;
    }
}

#[cfg(feature = "postgres")]
mod postgres {
    use std::time::Duration;

    use ganger_store::conformance::election::Servers;
    use ganger_store::shared::SharedStore;
    use ganger_store::testing::Postgres;
    use ganger_store::{PgOptions, PgStore};

    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn postgres_conforms() {
        let runtime = tokio::runtime::Handle::current();
        conformance::run(|| {
            let store = tokio::task::block_in_place(|| runtime.block_on(open_new()));
            Arc::new(store) as Arc<dyn Store>
        })
        .await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn postgres_elects() {
        election::run(async || {
            let url = Postgres::shared().migrated_database().await;
            let stores = [seated(&url).await, seated(&url).await, seated(&url).await];
            let pass = Box::new(move |time| {
                let url = url.clone();
                Box::pin(async move { age(&url, time).await }) as _
            });
            Servers { stores, pass, quick: true }
        })
        .await;
    }

    async fn open_new() -> PgStore {
        open(&Postgres::shared().migrated_database().await).await
    }

    async fn open(url: &str) -> PgStore {
        PgStore::connect(&PgOptions::new(url)).await.unwrap()
    }

    /// With the connection of its election open: a busy machine may take longer for that than a term lasts here.
    async fn seated(url: &str) -> Arc<dyn Store> {
        let store = open(url).await;
        store.withdraw("nobody").await.unwrap();
        Arc::new(store)
    }

    /// Lets time pass by moving back what the database remembers.
    async fn age(url: &str, time: Duration) {
        let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
        tokio::spawn(connection);
        let micros = time.as_micros();
        let age = format!(
            "UPDATE ganger.leader SET renewed_at = renewed_at - {micros} * interval '1 microsecond';
             UPDATE ganger.server SET seen_at = seen_at - {micros} * interval '1 microsecond'"
        );
        client.batch_execute(&age).await.unwrap();
    }
}
