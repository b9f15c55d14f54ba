//! Schedules over REST: made, changed, looked at, fired, and refused with a reason.

use std::time::Duration;

use ganger_server::api::{
    FiredBody, JobBody, JobPage, OccurrencesBody, ScheduleBody, SchedulePreview, SchedulesBody, UpcomingBody,
};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::site::{PATIENCE, Site, on_every_store};

async fn refused(site: &Site, method: Method, path: &str, body: Value) -> Value {
    let answer = site.ask(method, path).body(body.to_string()).send().await.unwrap();
    assert!(answer.status().is_client_error(), "{path}: {}", answer.status());
    answer.json().await.unwrap()
}

fn every(seconds: u64) -> Value {
    json!({"name": "tick", "every": format!("{seconds}s"), "overlap": "allow", "job": {"kind": "report", "payload": {"a": 1}}})
}

/// Waits until the ledger has so many rows that fired.
async fn fired(site: &Site, count: usize) -> OccurrencesBody {
    let waiting = async {
        loop {
            let ledger: OccurrencesBody = site.read("/v1/schedules/tick/occurrences").await;
            if ledger.items.iter().filter(|row| row.state == "fired").count() >= count {
                return ledger;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, waiting).await.expect("it fires")
}

async fn a_schedule_fires_and_its_job_knows_it(site: Site) {
    let made: ScheduleBody = site.told("/v1/schedules", &every(1)).await;
    assert_eq!((made.time_zone.as_str(), made.misfire.as_str(), made.paused), ("UTC", "fire_once", false));
    let ledger = fired(&site, 2).await;
    let row = ledger.items.last().unwrap();
    let job: JobBody = site.read(&format!("/v1/jobs/{}", row.job.unwrap())).await;
    let origin = job.schedule.expect("it knows who made it");
    assert_eq!((origin.name.as_str(), origin.due_at), ("tick", row.due_at));
    assert_eq!(job.payload.unwrap().get(), "{\"a\":1}");
    for (filter, found) in [("tick", true), ("tock", false), ("*", true)] {
        let page: JobPage = site.read(&format!("/v1/jobs?q=schedule%3A{filter}")).await;
        assert_eq!(!page.items.is_empty(), found, "{filter}");
    }
    let explained: Value = site.read(&format!("/v1/jobs/{}/explain", row.job.unwrap())).await;
    assert!(explained.to_string().contains("schedule tick made it"), "{explained}");
    let metrics = site.text("/metrics").await;
    assert!(metrics.contains("ganger_schedules 1"), "{metrics}");
}

async fn a_schedule_is_paused_run_backfilled_and_deleted(site: Site) {
    let _: ScheduleBody = site.told("/v1/schedules", &every(3600)).await;
    let paused: ScheduleBody = site.told("/v1/schedules/tick:pause", &json!({})).await;
    assert!(paused.paused && paused.status.unwrap().next.is_none());
    let ran: FiredBody = site.told("/v1/schedules/tick:run", &json!({})).await;
    assert_eq!((ran.occurrences[0].cause.as_str(), ran.occurrences[0].state.as_str()), ("manual", "fired"));
    let answer =
        site.ask(Method::PUT, "/v1/schedules/tick").body(every(3600).to_string()).send().await.unwrap();
    let kept: ScheduleBody = answer.json().await.unwrap();
    assert!(kept.paused, "what is not said stays as it is");
    let resumed: ScheduleBody = site.told("/v1/schedules/tick:resume", &json!({})).await;
    assert!(!resumed.paused);
    let cron = json!({"cron": "0 * * * *", "job": {"kind": "report"}});
    let put = site.ask(Method::PUT, "/v1/schedules/tick").body(cron.to_string()).send().await.unwrap();
    assert_eq!(put.status(), StatusCode::OK);
    let now = ganger_core::Wall(jiff_now());
    let range = json!({"from": now - Duration::from_secs(3 * 3600), "to": now, "preview": true});
    let preview: FiredBody = site.told("/v1/schedules/tick:backfill", &range).await;
    assert_eq!((preview.considered, preview.instants.len()), (3, 3));
    let range = json!({"from": now - Duration::from_secs(3 * 3600), "to": now});
    let first: FiredBody = site.told("/v1/schedules/tick:backfill", &range).await;
    let again: FiredBody = site.told("/v1/schedules/tick:backfill", &range).await;
    assert_eq!((first.occurrences.len(), again.occurrences.len()), (3, 0));
    let page: OccurrencesBody = site.read("/v1/schedules/tick/occurrences?limit=2").await;
    let next = page.next_cursor.unwrap();
    let rest: OccurrencesBody = site.read(&format!("/v1/schedules/tick/occurrences?cursor={next}")).await;
    assert_eq!((page.items.len(), rest.items.len()), (2, 2));
    let gone = site.ask(Method::DELETE, "/v1/schedules/tick").send().await.unwrap();
    assert_eq!(gone.status(), StatusCode::NO_CONTENT);
    let left: SchedulesBody = site.read("/v1/schedules").await;
    assert!(left.items.is_empty());
    assert_eq!(
        refused(&site, Method::GET, "/v1/schedules/tick", json!({})).await["code"],
        "no_such_schedule"
    );
}

fn jiff_now() -> i64 {
    let since = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
    i64::try_from(since.as_micros()).unwrap()
}

async fn what_is_wrong_is_named_with_its_place(site: Site) {
    for (body, pointer, said) in [
        (json!({"name": "a", "cron": "61 * * * *", "job": {"kind": "k"}}), "/cron", "character 1"),
        (json!({"name": "a", "cron": "0 0 30 2 *", "job": {"kind": "k"}}), "/cron", "never fires"),
        (
            json!({"name": "a", "cron": "@daily", "time_zone": "Mars", "job": {"kind": "k"}}),
            "/time_zone",
            "Mars",
        ),
        (json!({"name": "a", "every": "10ms", "job": {"kind": "k"}}), "/every", "1 second"),
        (json!({"name": "a", "at": "2020-01-01T00:00:00Z", "job": {"kind": "k"}}), "/at", "past"),
        (
            json!({"name": "a", "cron": "@daily", "job": {"kind": "k", "delay": "5m"}}),
            "/job/run_at",
            "schedule",
        ),
    ] {
        for path in ["/v1/schedules", "/v1/schedules:preview"] {
            let problem = refused(&site, Method::POST, path, body.clone()).await;
            assert_eq!(problem["errors"][0]["pointer"], pointer, "{path} {problem}");
            assert!(problem["detail"].as_str().unwrap().contains(said), "{problem}");
        }
    }
    let _: ScheduleBody = site.told("/v1/schedules", &every(60)).await;
    let twice = refused(&site, Method::POST, "/v1/schedules", every(60)).await;
    assert_eq!(twice["code"], "schedule_exists");
}

async fn a_preview_and_a_look_ahead_tell_what_the_clocks_do(site: Site) {
    let berlin = json!({"name": "b", "cron": "30 2 29 3 *", "time_zone": "Europe/Berlin",
        "ends_at": "2200-01-01T00:00:00Z", "job": {"kind": "k"}});
    let preview: SchedulePreview = site.told("/v1/schedules:preview", &berlin).await;
    assert_eq!(preview.next.len(), 10);
    let none: SchedulesBody = site.read("/v1/schedules").await;
    assert!(none.items.is_empty(), "nothing was made");
    let _: ScheduleBody = site.told("/v1/schedules", &berlin).await;
    let next: UpcomingBody = site.read("/v1/schedules/b/next?n=40").await;
    assert_eq!(next.items.len(), 40);
    let later: UpcomingBody = site.read("/v1/schedules/b/next?n=2&from=2100-01-01T00:00:00Z").await;
    let years: Vec<&str> = later.items.iter().map(|instant| &instant.local[..4]).collect();
    assert_eq!(years, ["2100", "2101"]);
    let gap = next.items.iter().find(|instant| instant.local.contains("T03:00:00"));
    assert!(gap.is_some_and(|instant| instant.note.as_deref().unwrap_or("").contains("clocks go forward")));
}

on_every_store! {
    a_schedule_fires_and_its_job_knows_it,
    a_schedule_is_paused_run_backfilled_and_deleted,
    what_is_wrong_is_named_with_its_place,
    a_preview_and_a_look_ahead_tell_what_the_clocks_do,
}
