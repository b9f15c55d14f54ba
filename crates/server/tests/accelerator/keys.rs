//! The same key at once: one job, whatever becomes of Redis.

use std::collections::HashSet;
use std::sync::Arc;

use ganger_store::postgres::{PgOptions, PgStore};
use ganger_store::sqlite::{SqliteOptions, SqliteStore};
use ganger_store::testing as real;
use serde_json::{Value, json};

use crate::site::{Site, answer, flush, id_of};

async fn submit_at_once(site: &Arc<Site>, key: &str, times: usize) -> HashSet<String> {
    let tasks: Vec<_> = (0..times)
        .map(|_| {
            let (site, key) = (site.clone(), key.to_owned());
            tokio::spawn(async move {
                let body: Value = answer(site.post_under(&key, &json!({ "kind": "noop" })).await, 201).await;
                id_of(&body).to_string()
            })
        })
        .collect();
    let mut ids = HashSet::new();
    for task in tasks {
        ids.insert(task.await.unwrap());
    }
    ids
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_submissions_of_one_key_at_once_are_one_job() {
    let server = real::Redis::start();
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path(), SqliteOptions::default()).unwrap();
    let site = Arc::new(Site::start_on(&server, Arc::new(store)).await);
    assert_eq!(submit_at_once(&site, "k", 50).await.len(), 1);
    assert_eq!(site.jobs().await, 1);
    assert!(site.redis.roles()[0].hits > 0, "Redis spared the ledger some work");
    // The same answer again, the header included.
    let again = site.post_under("k", &json!({ "kind": "noop" })).await;
    assert_eq!(again.headers()["idempotency-replayed"], "true");
    // Another body is the ledger's to refuse.
    answer(site.post_under("k", &json!({ "kind": "echo" })).await, 422).await;
}

/// Redis is emptied, hangs, dies and comes back while the same keys come again and again.
#[tokio::test(flavor = "multi_thread")]
async fn one_key_is_one_job_while_redis_is_emptied_hangs_and_dies() {
    let mut server = real::Redis::start();
    let site = Arc::new(Site::start(&server).await);
    let mut ids = Vec::new();
    for round in 0..4 {
        let submitting: Vec<_> = (0..4)
            .map(|n| {
                let site = site.clone();
                tokio::spawn(async move { submit_at_once(&site, &format!("{round}-{n}"), 50).await })
            })
            .collect();
        match round {
            0 => flush(&server),
            1 => server.pause(),
            2 => server.kill(),
            _ => {}
        }
        for task in submitting {
            ids.push(task.await.unwrap());
        }
        match round {
            0 => {}
            1 => server.resume(),
            2 => server.restart(),
            _ => assert!(site.redis.is_up()),
        }
        if round < 3 {
            site.is_up(true).await;
        }
    }
    assert!(ids.iter().all(|ids| ids.len() == 1), "{ids:?}");
    assert_eq!(site.jobs().await, 16);
    // Asked again, each gives the job that it gave.
    for (index, before) in ids.iter().enumerate() {
        assert_eq!(submit_at_once(&site, &format!("{}-{}", index / 4, index % 4), 2).await, *before);
    }
}

/// The whole as it runs in production: two servers, one database, one Redis, which is emptied and dies on the way.
#[tokio::test(flavor = "multi_thread")]
async fn one_key_through_two_servers_on_one_database_is_one_job() {
    let mut server = real::Redis::start();
    let url = real::Postgres::shared().migrated_database().await;
    let open = || async { Arc::new(PgStore::connect(&PgOptions::new(&url)).await.unwrap()) };
    let first = Arc::new(Site::start_on(&server, open().await).await);
    let second = Arc::new(Site::start_on(&server, open().await).await);
    for round in 0..3 {
        let key = round.to_string();
        let both = tokio::join!(submit_at_once(&first, &key, 25), submit_at_once(&second, &key, 25), async {
            match round {
                0 => flush(&server),
                1 => server.kill(),
                _ => {}
            }
        });
        assert_eq!((both.0.len(), &both.0), (1, &both.1), "round {round}");
        if round == 1 {
            server.restart();
            first.is_up(true).await;
            second.is_up(true).await;
        }
    }
    assert_eq!(first.jobs().await, 3);
}
