//! Poolers between a server and its database: one that keeps sessions serves, any other is refused.

use ganger_core::job::State;
use ganger_store::testing::{Pgbouncer, Postgres};
use ganger_store::{PgOptions, PgStore, Store, StoreError};

use crate::support::{Leader, NOW, connect};

/// As a pooler is set up by default, and as it gives its sessions out in turn.
const ORDERS: [&str; 2] = ["server_round_robin = 0", "server_round_robin = 1"];

/// Starts a pooler, or says that there is none to test with.
fn pooler(settings: &[&str]) -> Option<Pgbouncer> {
    let pooler = Pgbouncer::start(Postgres::shared(), settings);
    if pooler.is_none() {
        eprintln!("skipped: pgbouncer is not installed here, so no pooler was tried");
    }
    pooler
}

/// Lets a pooler open so many sessions, which are idle afterwards.
async fn warm(url: &str, sessions: usize) {
    let mut clients = Vec::new();
    for _ in 0..sessions {
        let client = connect(url).await;
        client.simple_query("BEGIN").await.unwrap();
        clients.push(client);
    }
    for client in clients {
        client.simple_query("COMMIT").await.unwrap();
    }
}

async fn refusal(url: &str) -> String {
    match PgStore::connect(&PgOptions::new(url)).await {
        Err(StoreError::Failed(why)) => why,
        other => panic!("not refused: {other:?}"),
    }
}

/// A server behind it would start and be ready, and fail now and then.
#[tokio::test(flavor = "multi_thread")]
async fn a_pooler_by_transaction_is_refused_before_anything_is_changed() {
    for order in ORDERS {
        let Some(pooler) = pooler(&["pool_mode = transaction", order]) else { return };
        let direct = Postgres::shared().database().await;
        let url = pooler.url_of(&direct);
        for idle in [0, 1, 2, 3, 7] {
            warm(&url, idle).await;
            let why = refusal(&url).await;
            assert!(why.contains("pooler") && why.contains("; connect to the database directly"), "{why}");
        }
        let migrated = ganger_store::postgres::migrate::up(&url, None).await.unwrap_err().to_string();
        assert!(migrated.contains("pooler"), "{migrated}");
        let schema = "SELECT to_regnamespace('ganger') IS NULL";
        assert!(connect(&direct).await.query_one(schema, &[]).await.unwrap().get::<_, bool>(0));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pooler_by_statement_is_refused() {
    let Some(pooler) = pooler(&["pool_mode = statement"]) else { return };
    let why = refusal(&pooler.url_of(&Postgres::shared().database().await)).await;
    assert!(why.contains("pooler"), "{why}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pooler_by_session_serves_like_the_database_itself() {
    for order in ORDERS {
        let Some(pooler) = pooler(&["pool_mode = session", order]) else { return };
        let url = pooler.url_of(&Postgres::shared().database().await);
        warm(&url, 3).await;
        let store = PgStore::connect(&PgOptions::new(&url)).await.unwrap();
        let mut leader = Leader::begin(&store).await;
        let jobs = leader.submit(10).await;
        leader.run(&jobs, State::Succeeded, NOW).await;
        assert!(store.load().await.unwrap().jobs.is_empty());
    }
}
