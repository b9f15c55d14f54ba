//! The schema, up and down.

use ganger_store::postgres::migrate;
use ganger_store::testing::Postgres;
use ganger_store::{PgOptions, PgStore, Store};

use crate::support::{connect, open};

#[tokio::test(flavor = "multi_thread")]
async fn a_schema_goes_up_and_down_and_up_again() {
    let url = Postgres::shared().database().await;
    let status = migrate::status(&url).await.unwrap();
    assert_eq!(status.version, 0);
    assert!(status.migrations.iter().all(|step| !step.applied));
    let client = connect(&url).await;
    let schemas = "SELECT count(*) FROM pg_namespace WHERE nspname = 'ganger'";
    assert_eq!(client.query_one(schemas, &[]).await.unwrap().get::<_, i64>(0), 0, "looking makes nothing");
    assert_eq!(migrate::up(&url, None).await, Ok(migrate::latest()));
    assert_eq!(migrate::up(&url, None).await, Ok(migrate::latest()));
    assert!(migrate::status(&url).await.unwrap().migrations.iter().all(|step| step.applied));
    // Down with something in it, and with tables for days.
    open(&url).await.take_over("a", 0).await.unwrap();
    assert_eq!(migrate::down(&url, 0).await, Ok(0));
    let left = "SELECT relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                WHERE n.nspname = 'ganger' AND c.relkind IN ('r', 'p')";
    let left: Vec<String> = client.query(left, &[]).await.unwrap().iter().map(|row| row.get(0)).collect();
    assert_eq!(left, ["migration"]);
    let functions = "SELECT count(*) FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
                     WHERE n.nspname = 'ganger'";
    assert_eq!(client.query_one(functions, &[]).await.unwrap().get::<_, i64>(0), 0);
    assert_eq!(migrate::up(&url, Some(1)).await, Ok(1));
    open(&url).await;
}

/// A group that was counted before there were buckets has one with the last of its failures.
#[tokio::test(flavor = "multi_thread")]
async fn a_group_from_before_is_known_to_have_been_seen_last() {
    let url = Postgres::shared().database().await;
    assert_eq!(migrate::up(&url, Some(9)).await, Ok(9));
    let client = connect(&url).await;
    let insert = "INSERT INTO ganger.failure (fingerprint, kind, count, first_at, last_at, job, error)
                  VALUES (-7, 'k', 12, 1, 1700000000000000, gen_random_uuid(), 'boom')";
    client.batch_execute(insert).await.unwrap();
    assert_eq!(migrate::up(&url, None).await, Ok(migrate::latest()));
    let rows =
        client.query("SELECT fingerprint, bucket, count FROM ganger.failure_trend", &[]).await.unwrap();
    let rows: Vec<(i64, i64, i64)> = rows.iter().map(|row| (row.get(0), row.get(1), row.get(2))).collect();
    assert_eq!(rows, [(-7, 5_666_666, 1)]);
    assert_eq!(migrate::down(&url, 9).await, Ok(9));
}

#[tokio::test(flavor = "multi_thread")]
async fn migrations_are_numbered_without_gaps() {
    let steps = migrate::status(&Postgres::shared().url()).await.unwrap().migrations;
    let versions: Vec<u32> = steps.iter().map(|step| step.version).collect();
    assert_eq!(versions, (1..=migrate::latest()).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_newer_than_the_binary_is_refused() {
    let url = Postgres::shared().migrated_database().await;
    let newer = "INSERT INTO ganger.migration (version, name, checksum) VALUES (99, 'later', '')";
    connect(&url).await.batch_execute(newer).await.unwrap();
    for why in [
        PgStore::connect(&PgOptions::new(&url)).await.unwrap_err().to_string(),
        migrate::up(&url, None).await.unwrap_err().to_string(),
        migrate::down(&url, 0).await.unwrap_err().to_string(),
    ] {
        assert!(why.contains("has schema version 99") && why.contains("newer"), "{why}");
    }
    assert_eq!(migrate::status(&url).await.unwrap().version, 99);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_migration_that_is_not_ours_is_refused() {
    let url = Postgres::shared().migrated_database().await;
    connect(&url).await.batch_execute("UPDATE ganger.migration SET checksum = 'x'").await.unwrap();
    let why = PgStore::connect(&PgOptions::new(&url)).await.unwrap_err().to_string();
    assert!(why.contains("its schema is another"), "{why}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_database_is_refused_where_nobody_may_migrate_it() {
    let url = Postgres::shared().database().await;
    let options = PgOptions { migrate: false, ..PgOptions::new(&url) };
    let why = PgStore::connect(&options).await.unwrap_err().to_string();
    assert!(why.contains("ganger migrate up"), "{why}");
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_that_start_at_once_migrate_once() {
    let url = Postgres::shared().database().await;
    let mut starting = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let url = url.clone();
        starting.spawn(async move { open(&url).await });
    }
    assert_eq!(starting.join_all().await.len(), 8);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_of_another_encoding_is_refused() {
    let cluster = Postgres::shared();
    let make = "CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0";
    connect(&cluster.url()).await.batch_execute(make).await.unwrap();
    let url = cluster.url();
    let (server, _) = url.rsplit_once('/').unwrap();
    let why = PgStore::connect(&PgOptions::new(format!("{server}/latin"))).await.unwrap_err().to_string();
    assert!(why.contains("LATIN1"), "{why}");
}

/// Whoever may use the schema, to enqueue jobs, cannot call what is meant for servers.
#[tokio::test(flavor = "multi_thread")]
async fn functions_of_ours_are_not_everybodys() {
    let url = Postgres::shared().migrated_database().await;
    let open = "SELECT p.oid::regprocedure::text FROM pg_proc p
                WHERE p.pronamespace = 'ganger'::regnamespace AND has_function_privilege('public', p.oid, 'EXECUTE')";
    let rows = connect(&url).await.query(open, &[]).await.unwrap();
    let open: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    assert_eq!(open, Vec::<String>::new());
}

/// An administrator who has lost every token has the credentials of the database.
#[tokio::test(flavor = "multi_thread")]
async fn documents_are_kept_from_outside_while_servers_use_the_database() {
    use ganger_core::document::{Collection, Document};
    use ganger_store::Store as _;
    let url = Postgres::shared().migrated_database().await;
    let store = PgStore::connect(&PgOptions::new(&url)).await.unwrap();
    let token =
        |body: &str| Document { collection: Collection::Token, key: "a".into(), body: Some(body.into()) };
    ganger_store::postgres::put_documents(&url, &[token("1")]).await.unwrap();
    ganger_store::postgres::put_documents(&url, &[token("2")]).await.unwrap();
    assert_eq!(store.documents(Collection::Token).await.unwrap(), [("a".to_owned(), "2".to_owned())]);
    let empty = Postgres::shared().database().await;
    assert!(
        ganger_store::postgres::put_documents(&empty, &[token("1")]).await.is_err(),
        "nothing is made there"
    );
}
