//! Callers that are confined to some queues.

use reqwest::Method;
use serde_json::{Value, json};

use crate::site::{PATIENCE, Site};

async fn submitted(site: &Site, queue: &str) -> String {
    let (status, job) = site.post(&site.admin, "/v1/jobs", json!({"kind": "a", "queue": queue})).await;
    assert_eq!(status, 201, "{job}");
    job["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn jobs_of_other_queues_are_not_there() {
    let site = Site::start().await;
    let (own, foreign) = (submitted(&site, "mail.out").await, submitted(&site, "pay").await);
    let token = site.token(json!({"name": "m", "role": "operator", "queues": ["mail*"]})).await;
    assert_eq!(site.get(&token, &format!("/v1/jobs/{own}")).await.0, 200);
    let missing = "job_01J9X7QK5V8M3N2P4R6S8T0V1W";
    for path in ["", "/payload", "/attempts", "/explain", "/logs"] {
        let (status, problem) = site.get(&token, &format!("/v1/jobs/{foreign}{path}")).await;
        let (_, absent) = site.get(&token, &format!("/v1/jobs/{missing}{path}")).await;
        assert_eq!((status, &problem["code"]), (404, &absent["code"]), "{path}: {problem}");
    }
    for verb in ["cancel", "run-now", "replay"] {
        let (status, problem) = site.post(&token, &format!("/v1/jobs/{foreign}:{verb}"), json!({})).await;
        assert_eq!(status, 404, "{verb}: {problem}");
        let (status, _) = site.post(&token, &format!("/v1/jobs/{foreign}%3A{verb}"), json!({})).await;
        assert_eq!(status, 404, "{verb}, written otherwise");
    }
    let uuid = foreign.parse::<ganger_core::JobId>().unwrap().uuid();
    for spelling in [format!("%6Aob_{}", &foreign[4..]), uuid.to_string(), format!("urn:uuid:{uuid}")] {
        let (status, answer) = site.get(&token, &format!("/v1/jobs/{spelling}")).await;
        assert!(matches!(status, 400 | 404), "{spelling}: {status} {answer}");
    }
    assert_eq!(site.ask(&token, Method::DELETE, &format!("/v1/jobs/{foreign}"), None).await.0, 404);
    let (_, listed) = site.get(&token, "/v1/jobs").await;
    let ids: Vec<&str> =
        listed["items"].as_array().unwrap().iter().filter_map(|j| j["id"].as_str()).collect();
    assert_eq!(ids, [own.as_str()]);
    let (_, asked) = site.get(&token, "/v1/jobs?queue=pay").await;
    assert_eq!(asked["items"], json!([]));
}

#[tokio::test]
async fn nothing_can_be_put_into_other_queues_nor_wait_for_their_jobs() {
    let site = Site::start().await;
    let foreign = submitted(&site, "pay").await;
    let token = site.token(json!({"name": "m", "role": "operator", "queues": ["mail*"]})).await;
    let post = async |path: &str, body: Value| site.post(&token, path, body).await;
    assert_eq!(post("/v1/jobs", json!({"kind": "a", "queue": "mail"})).await.0, 201);
    assert_eq!(post("/v1/jobs", json!({"kind": "a", "queue": "pay"})).await.0, 403);
    assert_eq!(post("/v1/jobs", json!({"kind": "a"})).await.0, 403, "the default queue is another one");
    let jobs = json!([{"kind": "a", "queue": "mail"}, {"kind": "a", "queue": "pay"}]);
    let (status, batch) = post("/v1/jobs:batch", json!({"jobs": jobs})).await;
    assert_eq!(status, 200, "{batch}");
    let text = batch.to_string();
    assert!(text.contains("forbidden"), "each item is looked at: {text}");
    let waiting = json!({"kind": "a", "queue": "mail", "depends_on": [foreign]});
    assert_eq!(post("/v1/jobs", waiting.clone()).await.0, 422, "a parent of another queue is not there");
    assert_eq!(post("/v1/jobs:batch", json!({"jobs": [waiting]})).await.0, 422);
}

#[tokio::test]
async fn other_queues_are_not_his_and_neither_is_the_whole() {
    let site = Site::start().await;
    submitted(&site, "mail").await;
    submitted(&site, "pay").await;
    let token = site.token(json!({"name": "m", "role": "operator", "queues": ["mail", "a:b"]})).await;
    assert_eq!(site.post(&token, "/v1/queues/mail:pause", json!({})).await.0, 200);
    for path in
        ["/v1/queues/pay:pause", "/v1/queues/pay:purge", "/v1/queues/pay%3Apause", "/v1/queues/mail:x:pause"]
    {
        assert_eq!(site.post(&token, path, json!({})).await.0, 403, "{path}");
    }
    assert_eq!(site.post(&token, "/v1/queues/a:b:pause", json!({})).await.0, 200);
    assert_eq!(site.get(&token, "/v1/queues/a:b").await.0, 200);
    // Where no verb can follow, a colon is a part of the name: this is a queue beside his.
    for path in ["/v1/queues/mail:x", "/v1/queues/mail%3Ax", "/v1/queues/mail:pause"] {
        assert_eq!(site.get(&token, path).await.0, 403, "{path}");
        let put = site.ask(&token, Method::PUT, path, Some(json!({"paused": true}))).await;
        assert_eq!(put.0, 403, "{path}: {}", put.1);
    }
    assert_eq!(site.get(&token, "/v1/queues/pay").await.0, 403);
    assert_eq!(site.get(&token, "/v1/queues/pay/keys").await.0, 403);
    assert_eq!(site.get(&token, "/v1/scaling/mail").await.0, 200);
    assert_eq!(site.get(&token, "/v1/scaling/a%3Ab").await.0, 200);
    for path in ["/v1/scaling/pay", "/v1/scaling/mail:x", "/v1/scaling/%70ay"] {
        assert_eq!(site.get(&token, path).await.0, 403, "{path}");
    }
    let (_, queues) = site.get(&token, "/v1/queues").await;
    assert!(!queues.to_string().contains("\"pay\""), "{queues}");
    for whole in ["/v1/stats", "/v1/workers", "/v1/failures", "/v1/schedules", "/v1/operations"] {
        assert_eq!(site.get(&token, whole).await.0, 403, "{whole}");
    }
    let everything = json!({"action": "cancel", "filter": "state:queued"});
    assert_eq!(site.post(&token, "/v1/operations", everything).await.0, 403);
}

/// Of jobs of others, of workers, and of all jobs together he hears nothing, whatever he asks for and wherever he goes on from.
#[tokio::test]
async fn live_events_are_about_his_queues_only() {
    let site = Site::start().await;
    let token = site.token(json!({"name": "m", "role": "operator", "queues": ["mail*"]})).await;
    let listen = async |path: &str, after: Option<&str>| {
        let mut asked = site.client.get(format!("{}{path}", site.server.url())).bearer_auth(&token);
        if let Some(after) = after {
            asked = asked.header("last-event-id", after);
        }
        let listening = asked.send().await.unwrap();
        assert_eq!(listening.status(), 200, "{path}");
        listening
    };
    let (mut all, mut foreign) =
        (listen("/v1/events", None).await, listen("/v1/events?queue=pay,mail", None).await);
    for queue in ["pay", "mail", "pay", "mail.out"] {
        submitted(&site, queue).await;
    }
    assert_eq!(site.post(&site.admin, "/v1/queues/pay:pause", json!({})).await.0, 200);
    assert_eq!(site.post(&site.admin, "/v1/queues/mail:pause", json!({})).await.0, 200);
    let heard = until(&mut all, "\"paused\":true").await;
    assert!(heard.contains("mail.out") && !heard.contains("pay\""), "{heard}");
    assert!(!heard.contains("event: counts") && !heard.contains("event: worker"), "{heard}");
    let narrowed = until(&mut foreign, "\"paused\":true").await;
    assert!(!narrowed.contains("pay\"") && !narrowed.contains("mail.out"), "{narrowed}");
    // What was told before he came is told again in the same way.
    let first = heard.lines().find_map(|line| line.strip_prefix("id: ")).unwrap();
    let again = until(&mut listen("/v1/events", Some(first)).await, "\"paused\":true").await;
    assert!(again.contains("mail.out") && !again.contains("pay\""), "{again}");
}

/// What a stream tells, up to the first frame with this text.
async fn until(listening: &mut reqwest::Response, text: &str) -> String {
    let mut heard = String::new();
    let hearing = async {
        while !heard.contains(text) {
            let chunk = listening.chunk().await.unwrap().expect("the stream goes on");
            heard.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    };
    tokio::time::timeout(PATIENCE, hearing).await.expect("it is told");
    heard
}

/// Pages are whole and say nothing of others: neither by their number, nor by their cursors, nor by what a filter finds.
#[tokio::test]
async fn lists_exports_and_histograms_are_about_his_jobs_only() {
    let site = Site::start().await;
    let token = site.token(json!({"name": "m", "role": "operator", "queues": ["mail*", "sms"]})).await;
    let mut own = Vec::new();
    for queue in ["mail", "pay", "mail.out", "pay", "sms", "pay", "mailbox", "pay", "pay"] {
        let id = submitted(&site, queue).await;
        if queue != "pay" {
            own.push(id);
        }
    }
    own.reverse();
    let (mut path, mut seen) = ("/v1/jobs?limit=2".to_owned(), Vec::new());
    for _ in 0..own.len() {
        let (status, page) = site.get(&token, &path).await;
        assert_eq!(status, 200, "{page}");
        let items = page["items"].as_array().unwrap();
        assert_eq!(items.len(), 2, "a page is full as long as there are more: {page}");
        seen.extend(items.iter().map(|job| job["id"].as_str().unwrap().to_owned()));
        let Some(next) = page["next_cursor"].as_str() else { break };
        path = format!("/v1/jobs?limit=2&cursor={next}");
    }
    assert_eq!(seen, own);
    for filter in ["queue:pay", "queue:pay or queue:mail", "-queue:mail", "state:queued"] {
        let (_, page) = site.get(&token, &format!("/v1/jobs?q={filter}")).await;
        assert!(!page.to_string().contains("\"pay\""), "{filter}: {page}");
    }
    let (status, counted) = site.get(&token, "/v1/jobs:histogram?buckets=1").await;
    assert_eq!((status, &counted["matched"]), (200, &json!(4)), "{counted}");
    let export = site.request(&token, Method::GET, "/v1/jobs:export").send().await.unwrap();
    assert_eq!(export.status(), 200);
    let lines = export.text().await.unwrap();
    assert_eq!((lines.lines().count(), lines.contains("\"pay\"")), (4, false), "{lines}");
    let cursor = {
        let (_, page) = site.get(&site.admin, "/v1/jobs?limit=2").await;
        page["next_cursor"].as_str().unwrap().to_owned()
    };
    let (status, refused) = site.get(&token, &format!("/v1/jobs?limit=2&cursor={cursor}")).await;
    assert_eq!((status, &refused["code"]), (400, &json!("invalid_cursor")), "that of another's list");
}

/// A unique key may be held by a job of another queue: of it he learns the id and nothing else.
#[tokio::test]
async fn a_key_that_a_job_of_another_queue_holds_tells_nothing_about_it() {
    let site = Site::start().await;
    let foreign = json!({"kind": "a", "queue": "pay", "unique_key": "k", "priority": 9, "max_attempts": 3});
    let (_, held) = site.post(&site.admin, "/v1/jobs", foreign).await;
    let token = site.token(json!({"name": "m", "role": "submitter", "queues": ["mail"]})).await;
    let own = json!({"kind": "a", "queue": "mail", "unique_key": "k"});
    let (status, said) = site.post(&token, "/v1/jobs", own).await;
    assert_eq!((status, &said["id"], &said["deduplicated"]), (200, &held["id"], &json!(true)), "{said}");
    assert_eq!((&said["queue"], &said["priority"]), (&json!("mail"), &json!(0)), "{said}");
}

/// A view is about jobs of any queue: whoever is confined neither reads nor changes those of others.
#[tokio::test]
async fn saved_views_are_not_for_confined_callers() {
    let site = Site::start().await;
    let token = site.token(json!({"name": "m", "role": "operator", "queues": ["mail*"]})).await;
    let view = json!({"query": "queue:pay1 state:dead"});
    let (status, _) = site.ask(&site.admin, Method::PUT, "/v1/views/pay", Some(view.clone())).await;
    assert_eq!(status, 201);
    for (method, path, body) in [
        (Method::PUT, "/v1/views/pay", Some(json!({"query": "queue:mail"}))),
        (Method::DELETE, "/v1/views/pay", None),
        (Method::GET, "/v1/views/pay", None),
        (Method::GET, "/v1/views", None),
    ] {
        let (status, said) = site.ask(&token, method.clone(), path, body).await;
        assert_eq!(status, 403, "{method} {path}: {said}");
        assert!(!said.to_string().contains("pay1"), "{said}");
    }
    let (_, kept) = site.get(&site.admin, "/v1/views/pay").await;
    assert_eq!(kept["query"], view["query"]);
}

/// A job of his waits for one of another queue, which somebody else tied it to.
#[tokio::test]
async fn explain_names_no_jobs_of_other_queues() {
    let site = Site::start().await;
    let token = site.token(json!({"name": "m", "role": "viewer", "queues": ["mail"]})).await;
    let (own, foreign) = (submitted(&site, "mail").await, submitted(&site, "pay").await);
    let child = json!({"kind": "a", "queue": "mail", "depends_on": [{"job": own}, {"job": foreign}]});
    let (status, child) = site.post(&site.admin, "/v1/jobs", child).await;
    assert_eq!(status, 201, "{child}");
    let path = format!("/v1/jobs/{}/explain", child["id"].as_str().unwrap());
    let (_, told) = site.get(&site.admin, &path).await;
    assert!(told.to_string().contains(&foreign), "whoever sees all queues is told: {told}");
    let (status, told) = site.get(&token, &path).await;
    assert_eq!(status, 200, "{told}");
    let text = told.to_string();
    assert!(!text.contains(&foreign) && text.contains(&own), "{told}");
    assert!(text.contains("a job of another queue"), "{told}");
}
