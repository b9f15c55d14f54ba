//! Every store passes the same suite.

use std::sync::Arc;

use ganger_store::{MemoryStore, Store, conformance};

#[tokio::test]
async fn the_store_in_memory_conforms() {
    conformance::run(|| Arc::new(MemoryStore::new()) as Arc<dyn Store>).await;
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
    use ganger_store::testing::Postgres;
    use ganger_store::{PgOptions, PgStore};

    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn postgres_conforms() {
        let runtime = tokio::runtime::Handle::current();
        conformance::run(|| {
            let store = tokio::task::block_in_place(|| runtime.block_on(open()));
            Arc::new(store) as Arc<dyn Store>
        })
        .await;
    }

    async fn open() -> PgStore {
        let url = Postgres::shared().migrated_database().await;
        PgStore::connect(&PgOptions::new(url)).await.unwrap()
    }
}
