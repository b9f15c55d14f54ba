//! What happened over time: exactly what happened, told as soon as it is durable.

use ganger_core::verdict::failing::FEWEST;
use ganger_server::api::{FigureBody, StatsBody, TimeseriesBody};
use serde_json::{Value, json};

use crate::site::{PATIENCE, Site, on_every_store};

async fn total(site: &Site, query: &str) -> FigureBody {
    let mut body: TimeseriesBody = site.read(&format!("/v1/stats/timeseries?{query}")).await;
    body.series.remove(0).total
}

/// Three jobs come, one of them twice; one succeeds, one fails once and waits, one is cancelled.
async fn the_timeline_counts_what_happened_and_nothing_twice(site: Site) {
    for key in ["a", "b", "b"] {
        site.submit(&json!({"kind": "send", "queue": "mail", "unique_key": key})).await;
    }
    let other = site.submit(&json!({"kind": "crop", "queue": "video"})).await.id;
    let lease = site.claim("mail").await;
    site.report(&lease, "complete", &json!({})).await;
    let lease = site.claim("mail").await;
    site.report(&lease, "fail", &json!({"error": "no"})).await;
    let _: Value = site.told(&format!("/v1/jobs/{other}:cancel"), &json!({})).await;

    assert_eq!(total(&site, "metric=enqueued").await.count, 3);
    assert_eq!(total(&site, "metric=enqueued&queue=mail&step=1d&from=3d").await.count, 2);
    assert_eq!(total(&site, "metric=enqueued&kind=crop").await.count, 1);
    let ended = total(&site, "metric=throughput").await;
    assert_eq!((ended.count, ended.succeeded, ended.dead, ended.cancelled), (2, Some(1), Some(0), Some(1)));
    let failed = total(&site, "metric=failures&queue=mail").await;
    assert_eq!((failed.count, failed.dead), (1, Some(0)));
    for metric in ["wait", "run", "total"] {
        let times = total(&site, &format!("metric={metric}")).await;
        assert_eq!(times.count, 2, "{metric}");
        assert!(times.p50_ms <= times.p95_ms && times.p95_ms <= times.p99_ms && times.p99_ms.is_some());
    }
}

async fn a_timeline_has_a_point_for_every_step_and_a_line_for_every_queue(site: Site) {
    for (queue, jobs) in [("mail", 1), ("video", 2)] {
        for _ in 0..jobs {
            site.submit(&json!({"kind": "a", "queue": queue})).await;
        }
    }
    let body: TimeseriesBody = site.read("/v1/stats/timeseries?metric=enqueued&by=queue&from=10m").await;
    let lines: Vec<_> =
        body.series.iter().map(|line| (line.name.as_deref().unwrap(), line.total.count)).collect();
    assert_eq!(lines, [("video", 2), ("mail", 1)]);
    assert_eq!((body.by.as_deref(), body.step.as_str(), body.scan.complete), (Some("queue"), "1m", true));
    for line in &body.series {
        // Ten minutes touch ten whole ones, or parts of eleven.
        assert!((10..=11).contains(&line.points.len()), "{}", line.points.len());
        assert!(line.points.windows(2).all(|pair| pair[1].at.0 - pair[0].at.0 == 60_000_000));
        assert_eq!(line.points.iter().map(|point| point.figure.count).sum::<u64>(), line.total.count);
    }
    let none: TimeseriesBody = site.read("/v1/stats/timeseries?metric=wait&by=kind").await;
    assert!(none.series.iter().all(|line| line.total.count == 0 && line.total.p95_ms.is_none()));
    let empty: TimeseriesBody =
        site.read("/v1/stats/timeseries?from=2026-01-01T00:00:00Z&to=2026-01-01T01:00:00Z&step=15m").await;
    assert_eq!((empty.series.len(), empty.series[0].points.len(), empty.series[0].total.count), (1, 4, 0));
}

/// The verdict names the queue, why it fails, and nothing of the queue that is well. Every server tells the same in its metrics.
async fn a_queue_in_which_everything_fails_is_named_with_its_error(site: Site) {
    for n in 0..FEWEST {
        site.submit(&json!({"kind": "send", "queue": "mail", "max_attempts": 1})).await;
        site.submit(&json!({"kind": "crop", "queue": "video"})).await;
        let lease = site.claim("mail").await;
        site.report(&lease, "fail", &json!({"error": "no such host"})).await;
        let lease = site.claim("video").await;
        site.report(&lease, "complete", &json!({"result": n})).await;
    }
    // What failed is read every few seconds, however often somebody asks.
    let bad = |stats: &StatsBody| stats.verdict.as_ref().is_some_and(|verdict| verdict.severity == "bad");
    let stats: StatsBody = tokio::time::timeout(PATIENCE, async {
        loop {
            let stats: StatsBody = site.read("/v1/stats").await;
            if bad(&stats) {
                return stats;
            }
        }
    })
    .await
    .expect("the verdict names it");
    let findings = stats.verdict.unwrap().findings;
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0].queue, Some("mail".parse().unwrap()));
    let text = &findings[0].text;
    assert!(text.starts_with("mail fails every attempt (10 of 10), for "), "{text}");
    assert!(text.ends_with(": no such host"), "{text}");
    let metrics = site.get("/metrics").send().await.unwrap().text().await.unwrap();
    assert!(metrics.contains("ganger_findings{severity=\"bad\"} 1"), "{metrics}");
}

on_every_store! {
    a_queue_in_which_everything_fails_is_named_with_its_error,
    the_timeline_counts_what_happened_and_nothing_twice,
    a_timeline_has_a_point_for_every_step_and_a_line_for_every_queue,
}
