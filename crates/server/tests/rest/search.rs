//! Finding jobs: the filter language, how much was looked at, histograms, exports and saved views.

use ganger_core::JobId;
use ganger_server::api::{FailureBody, FailuresBody, HistogramBody, JobPage, ScanMode, ViewBody, ViewsBody};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::site::{Site, on_every_store};

fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

async fn found(site: &Site, q: &str) -> Vec<JobId> {
    let page: JobPage = site.read(&format!("/v1/jobs?q={}", encoded(q))).await;
    page.items.iter().map(|job| job.id).collect()
}

/// A job that died with this error.
async fn dead(site: &Site, kind: &str, error: &str) -> JobId {
    let id = site.submit(&json!({"kind": kind, "queue": kind, "max_attempts": 1})).await.id;
    let lease = site.claim(kind).await;
    site.report(&lease, "fail", &json!({"error": error})).await;
    let _: Value = site.read(&format!("/v1/jobs/{id}?wait=20s")).await;
    id
}

async fn a_filter_finds_its_jobs_and_no_others(site: Site) {
    let small = site.submit(&json!({"kind": "mail.send", "payload": {"user": {"id": 42}}})).await.id;
    let large =
        site.submit(&json!({"kind": "mail.read", "payload": {"user": {"id": 43}}, "tags": ["eu"]})).await.id;
    let other = site.submit(&json!({"kind": "sms", "priority": 5, "unique_key": "Order 7"})).await.id;
    let died = dead(&site, "boom", "connection reset by 10.0.0.7").await;
    for (q, expected) in [
        ("payload.user.id:42", vec![small]),
        ("payload.user.id>=42 -tag:eu", vec![small]),
        ("kind:mail.*", vec![large, small]),
        ("tag:eu or priority>0", vec![other, large]),
        ("key~\"order 7\"", vec![other]),
        ("state:dead", vec![died]),
        ("error~\"Connection Reset\" state:dead", vec![died]),
        ("reset", vec![died]),
        ("outcome:error", vec![died]),
        ("age<1h kind:sms", vec![other]),
        ("age>1h", vec![]),
        ("state:dead state:queued", vec![]),
        (&format!("id:{small},{large}"), vec![large, small]),
        (&format!("id:{small},{large} tag:eu"), vec![large]),
        (&format!("{small}"), vec![small]),
        ("", vec![died, other, large, small]),
    ] {
        assert_eq!(found(&site, q).await, expected, "{q}");
    }
    let both: JobPage = site.read(&format!("/v1/jobs?kind=sms&q={}", encoded("kind:mail.*"))).await;
    assert!(both.items.is_empty(), "every filter must hold");
}

async fn a_filter_that_makes_no_sense_is_refused_with_its_place(site: Site) {
    for (q, position, expected) in [
        ("state:dead ran>soon", 15, "a duration such as 5s or 2h"),
        ("colour:red", 0, "queue"),
        ("(", 1, "a condition"),
    ] {
        for route in ["/v1/jobs", "/v1/jobs:export", "/v1/jobs:histogram"] {
            let answer = site.get(&format!("{route}?q={}", encoded(q))).send().await.unwrap();
            assert_eq!(answer.status(), StatusCode::BAD_REQUEST, "{route} {q}");
            let problem: Value = answer.json().await.unwrap();
            assert_eq!(problem["code"], "invalid_filter", "{problem}");
            assert_eq!(problem["position"], position, "{problem}");
            assert!(problem["expected"].as_array().unwrap().contains(&json!(expected)), "{problem}");
            assert_eq!(problem["errors"][0]["pointer"], "?q");
        }
    }
}

/// Pages of a filter that speaks of ages are made at different moments, and go on all the same.
async fn pages_of_a_filter_show_each_job_once_and_a_cursor_belongs_to_its_filter(site: Site) {
    let mut expected = Vec::new();
    for n in 0..7 {
        let id = site.submit(&json!({"kind": if n % 2 == 0 { "even" } else { "odd" }})).await.id;
        if n % 2 == 0 {
            expected.insert(0, id);
        }
    }
    let q = encoded("kind:e* age<1h");
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    for _ in 0..expected.len() {
        let page: JobPage = site.read(&format!("/v1/jobs?limit=1&q={q}{cursor}")).await;
        seen.extend(page.items.iter().map(|job| job.id));
        match page.next_cursor {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(seen, expected);
    let page: JobPage = site.read(&format!("/v1/jobs?limit=1&q={q}")).await;
    let cursor = page.next_cursor.unwrap();
    let other =
        site.get(&format!("/v1/jobs?q={}&cursor={cursor}", encoded("kind:odd"))).send().await.unwrap();
    assert_eq!(other.status(), StatusCode::BAD_REQUEST);
    assert!(other.text().await.unwrap().contains("invalid_cursor"));
}

async fn a_search_says_how_much_it_looked_at(site: Site) {
    for n in 0..10 {
        site.submit(&json!({"kind": "a", "payload": n})).await;
    }
    let all: JobPage = site.read("/v1/jobs").await;
    assert_eq!((all.scan.mode, all.scan.examined, all.scan.complete), (ScanMode::Index, 10, true));
    let one: JobPage = site.read(&format!("/v1/jobs?q={}", encoded("payload~7"))).await;
    assert_eq!((one.items.len(), one.scan.mode, one.scan.examined), (1, ScanMode::Bounded, 10));
    let by_id: JobPage = site.read(&format!("/v1/jobs?q={}", one.items[0].id)).await;
    assert_eq!((by_id.items.len(), by_id.scan.mode, by_id.scan.examined), (1, ScanMode::Index, 1));
}

async fn a_histogram_counts_every_match_once(site: Site) {
    for n in 0..9 {
        site.submit(&json!({"kind": if n % 3 == 0 { "a" } else { "b" }})).await;
    }
    let all: HistogramBody = site.read("/v1/jobs:histogram?buckets=4").await;
    assert!(all.buckets.len() <= 4 && all.scan.complete && all.step_ms >= 1, "{all:?}");
    assert_eq!(all.buckets.iter().map(|bucket| bucket.count).sum::<u64>(), 9);
    let some: HistogramBody = site.read("/v1/jobs:histogram?q=kind%3Aa").await;
    let states: u64 = some.buckets.iter().filter_map(|bucket| bucket.states.get("queued")).sum();
    assert_eq!((some.matched, states), (3, 3));
    for (buckets, status) in [(500, 200), (501, 400), (0, 400)] {
        let answer = site.get(&format!("/v1/jobs:histogram?buckets={buckets}")).send().await.unwrap();
        assert_eq!(answer.status(), status, "{buckets}");
    }
}

async fn an_export_has_every_match_and_no_formulas(site: Site) {
    for n in 0..120 {
        site.submit(&json!({"kind": "a", "payload": {"n": n}, "priority": -1})).await;
    }
    let died = dead(&site, "boom", "=cmd(\"x\"), with\nlines").await;
    let lines = site.text("/v1/jobs:export?q=kind%3Aa").await;
    let jobs: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(jobs.len(), 120);
    assert_eq!((&jobs[0]["payload"]["n"], &jobs[119]["payload"]["n"]), (&json!(119), &json!(0)));
    let csv = site.text("/v1/jobs:export?format=csv&q=state%3Adead").await;
    let (head, row) = csv.split_once("\r\n").unwrap();
    assert!(head.starts_with("id,kind,queue,state,priority"), "{head}");
    assert!(row.starts_with(&format!("{died},boom,boom,dead,0,1,1,")), "{row}");
    assert!(row.contains(",\"'=cmd(\"\"x\"\"), with\nlines\","), "{row}");
    let csv = site.text("/v1/jobs:export?format=csv&q=kind%3Aa").await;
    assert_eq!(csv.matches("\r\n").count(), 121);
    assert!(csv.contains(",queued,-1,0,"), "a number is no formula");
    assert_eq!(site.text("/v1/jobs:export?format=csv&q=kind%3Anone").await.matches("\r\n").count(), 1);
    assert_eq!(site.text("/v1/jobs:export?q=kind%3Anone").await, "");
    assert!(!site.text("/v1/jobs:export?q=kind%3Aa&include=result").await.contains("payload"));
}

async fn a_view_is_saved_used_replaced_and_forgotten(site: Site) {
    let put =
        |name: &str, body: Value| site.ask(Method::PUT, &format!("/v1/views/{name}")).body(body.to_string());
    let answer =
        put("late", json!({"query": "queue:mail wait>5m", "description": "too late"})).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::CREATED);
    let answer = put("late", json!({"query": "queue:mail"})).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    put("early", json!({"query": "age<1m"})).send().await.unwrap();
    let view: ViewBody = site.read("/v1/views/late").await;
    assert_eq!((view.query.as_str(), view.description), ("queue:mail", None));
    let views: ViewsBody = site.read("/v1/views").await;
    assert_eq!(views.items.iter().map(|view| view.name.as_str()).collect::<Vec<_>>(), ["early", "late"]);
    for (body, status, code) in [
        (json!({"query": "colour:red"}), 400, "invalid_filter"),
        (json!({"query": ""}), 400, "invalid_filter"),
        (json!({}), 422, "validation_failed"),
        (json!({"query": "a", "description": "x".repeat(1_025)}), 422, "validation_failed"),
    ] {
        let answer = put("bad", body.clone()).send().await.unwrap();
        assert_eq!(answer.status(), status, "{body}");
        assert!(answer.text().await.unwrap().contains(code), "{body}");
    }
    let gone = site.ask(Method::DELETE, "/v1/views/late").send().await.unwrap();
    assert_eq!(gone.status(), StatusCode::NO_CONTENT);
    for method in [Method::GET, Method::DELETE] {
        let answer = site.ask(method, "/v1/views/late").send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::NOT_FOUND);
        assert!(answer.text().await.unwrap().contains("no_such_view"));
    }
}

async fn a_final_job_is_deleted_and_a_live_one_is_not(site: Site) {
    let live = site.submit(&json!({"kind": "a"})).await.id;
    let died = dead(&site, "boom", "x").await;
    let delete = async |id: JobId| site.ask(Method::DELETE, &format!("/v1/jobs/{id}")).send().await.unwrap();
    assert_eq!(delete(died).await.status(), StatusCode::NO_CONTENT);
    assert_eq!(delete(died).await.status(), StatusCode::NOT_FOUND);
    assert_eq!(site.get(&format!("/v1/jobs/{died}")).send().await.unwrap().status(), StatusCode::NOT_FOUND);
    let refused = delete(live).await;
    assert_eq!(refused.status(), StatusCode::CONFLICT);
    assert!(refused.text().await.unwrap().contains("wrong_state"));
    let stats: Value = site.read("/v1/stats").await;
    assert_eq!(stats["jobs"]["dead"], 0, "{stats}");
}

async fn failures_of_one_cause_are_one_group(site: Site) {
    dead(&site, "mail", "no user 1 at 10.0.0.1").await;
    let last = dead(&site, "mail", "no user 22 at 10.0.0.2").await;
    dead(&site, "mail", "disk full").await;
    dead(&site, "sms", "no user 1 at 10.0.0.1").await;
    let all: FailuresBody = site.read("/v1/failures?window=1h").await;
    assert_eq!(all.items.len(), 3);
    let mail: FailuresBody = site.read("/v1/failures?kind=mail").await;
    assert_eq!(mail.items.len(), 2);
    let group = mail.items.iter().find(|group| group.error.starts_with("no user")).unwrap();
    assert_eq!((group.count, group.job, group.error.as_str()), (2, last, "no user 22 at 10.0.0.2"));
    let again: Value = site.read(&format!("/v1/failures/{}", group.fingerprint)).await;
    assert_eq!(again["count"], 2);
    assert_eq!(found(&site, &format!("failure:{}", group.fingerprint)).await.len(), 2);
    assert_eq!(site.read::<FailuresBody>("/v1/failures?limit=1").await.items.len(), 1);
    let none = site.get("/v1/failures/0123456789abcdef").send().await.unwrap();
    assert_eq!(none.status(), StatusCode::NOT_FOUND);
}

async fn failures_are_told_over_a_window(site: Site) {
    for n in 0..3 {
        dead(&site, "mail", &format!("no user {n}")).await;
    }
    dead(&site, "mail", "disk full").await;
    dead(&site, "sms", "no user 1").await;
    for (window, step, least) in [("1h", "5m", 12), ("24h", "15m", 96), ("7d", "2h", 84)] {
        let seen: FailuresBody = site.read(&format!("/v1/failures?window={window}")).await;
        let span = seen.window.unwrap();
        assert_eq!(span.step, step);
        let told = |kind: &str, error: &str| {
            let is_it = |group: &&FailureBody| group.kind.as_str() == kind && group.error.starts_with(error);
            let recent = seen.items.iter().find(is_it).unwrap().recent.clone().unwrap();
            // The step may end between two failures.
            assert_eq!(recent.trend.iter().rev().take(2).sum::<u64>(), recent.count, "{recent:?}");
            assert!(recent.trend.len() > least, "{window}: {recent:?}");
            (recent.count, recent.share)
        };
        assert_eq!(told("mail", "no user"), (3, Some(0.75)));
        assert_eq!(told("mail", "disk full"), (1, Some(0.25)));
        assert_eq!(told("sms", "no user"), (1, Some(1.0)));
    }
    // Longer than failures are counted over time: listed, with their totals.
    let seen: FailuresBody = site.read("/v1/failures?window=30d&kind=mail").await;
    assert_eq!((seen.items.len(), seen.window), (2, None));
    assert!(seen.items.iter().all(|group| group.recent.is_none()));
    // Without failures there is nothing to count, but a window all the same.
    let none: FailuresBody = site.read("/v1/failures?window=1h&kind=fax").await;
    assert!(none.items.is_empty() && none.window.is_some());
    for (window, why) in [("0s", "longer than zero"), ("soon", "window"), ("-1h", "window"), ("800d", "366d")]
    {
        let refused = site.get(&format!("/v1/failures?window={window}")).send().await.unwrap();
        assert_eq!(refused.status(), StatusCode::BAD_REQUEST, "{window}");
        let text = refused.text().await.unwrap();
        assert!(text.contains(why), "{window}: {text}");
    }
}

on_every_store! {
    a_filter_finds_its_jobs_and_no_others,
    a_filter_that_makes_no_sense_is_refused_with_its_place,
    pages_of_a_filter_show_each_job_once_and_a_cursor_belongs_to_its_filter,
    a_search_says_how_much_it_looked_at,
    a_histogram_counts_every_match_once,
    an_export_has_every_match_and_no_formulas,
    a_view_is_saved_used_replaced_and_forgotten,
    a_final_job_is_deleted_and_a_live_one_is_not,
    failures_of_one_cause_are_one_group,
    failures_are_told_over_a_window,
}
