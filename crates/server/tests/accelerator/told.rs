//! What is said about Redis: a line for each role, a warning while it is away, never a red light.

use ganger_store::testing as real;

use crate::site::Site;

#[tokio::test(flavor = "multi_thread")]
async fn a_redis_that_is_away_is_a_warning_and_a_number_and_no_more() {
    let mut server = real::Redis::start();
    let site = Site::start(&server).await;
    let text = site.text("/readyz?verbose").await;
    for role in ["idempotency", "finals", "events", "ingest"] {
        assert!(text.contains(&format!("[+]redis-{role} ok")), "{text}");
    }
    assert!(!text.contains("warning"), "{text}");
    let metrics = site.text("/metrics").await;
    assert!(
        metrics.contains("ganger_redis_up 1") && metrics.contains("ganger_ingest_buffered 0"),
        "{metrics}"
    );
    assert!(metrics.contains("ganger_redis_hits_total{role=\"finals\"} 0"), "{metrics}");

    server.kill();
    site.is_up(false).await;
    site.server.service().job(ganger_core::JobId::new(1, [0; 10])).await.unwrap_err();
    let text = site.text("/readyz?verbose").await;
    assert!(text.contains("[!]redis-finals warning: redis is away for"), "{text}");
    assert!(text.contains("final jobs are read from the store"), "{text}");
    assert!(text.ends_with("readyz check passed\n"), "{text}");
    let metrics = site.text("/metrics").await;
    assert!(
        metrics.contains("ganger_redis_up 0") && !metrics.contains("ganger_ingest_buffered 0"),
        "{metrics}"
    );
    assert!(!metrics.contains("ganger_redis_fallbacks_total{role=\"finals\"} 0"), "{metrics}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_redis_says_nothing_about_it() {
    let server = ganger_server::testing::start().await;
    let get = |path: &str| reqwest::get(format!("{}{path}", server.url()));
    let text = get("/readyz?verbose").await.unwrap().text().await.unwrap();
    assert!(!text.contains("redis"), "{text}");
    let metrics = get("/metrics").await.unwrap().text().await.unwrap();
    let told = metrics.lines().any(|line| !line.starts_with('#') && line.contains("redis"));
    assert!(!told, "{metrics}");
}
