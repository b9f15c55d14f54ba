//! Profile B, line by line: what its clients sent, and what they were answered.

use ganger_server::api::JobBody;
use reqwest::{Response, StatusCode};
use serde_json::{Value, json};

use crate::site::Site;

async fn submit(site: &Site, body: &str) -> Response {
    site.post("/jobs", body.to_owned()).send().await.unwrap()
}

/// Submits a job, which must be taken in.
async fn taken(site: &Site, body: &Value) -> Value {
    let answer = submit(site, &body.to_string()).await;
    assert_eq!(answer.status(), StatusCode::ACCEPTED, "{body}");
    answer.json().await.unwrap()
}

/// The text of an answer and its status, which must be JSON.
async fn said(answer: Response) -> (u16, String) {
    assert_eq!(answer.headers()["content-type"], "application/json");
    (answer.status().as_u16(), answer.text().await.unwrap())
}

/// The fields that differ each time, taken out once they were looked at.
fn without_times(mut job: Value) -> Value {
    let fields = job.as_object_mut().unwrap();
    for name in ["created_at", "started_at", "completed_at"] {
        if let Some(moment) = fields.remove(name) {
            moment.as_str().unwrap().parse::<ganger_core::Wall>().unwrap();
        }
    }
    let id = fields.remove("id").unwrap();
    assert_eq!(id.as_str().map(str::len), Some(36), "a plain UUID: {id}");
    job
}

#[tokio::test]
async fn a_submission_is_answered_with_the_job() {
    let site = Site::start().await;
    for of_type in ["LargeArraySum", "large_array_sum"] {
        let body = json!({"name": "numbers of May", "type": of_type, "priority": 3, "thread_demand": 4, "payload": {"array": [1, 2]}});
        let answer = submit(&site, &body.to_string()).await;
        assert_eq!(answer.status(), StatusCode::ACCEPTED);
        assert_eq!(answer.headers()["content-type"], "application/json");
        let location = answer.headers()["location"].to_str().unwrap().to_owned();
        let shown: Value = answer.json().await.unwrap();
        let real: JobBody = site.read(&location).await;
        assert_eq!(shown["id"], real.id.uuid().to_string());
        assert_eq!(
            without_times(shown),
            json!({"name": "numbers of May", "type": "LargeArraySum", "priority": 3, "thread_demand": 4, "status": "Pending", "payload": {"array": [1, 2]}})
        );
        assert_eq!(
            (real.kind.as_str(), real.fallback),
            ("large_array_sum", ganger_core::job::Fallback::Single)
        );
        assert_eq!(real.payload.unwrap().get(), r#"{"array":[1,2]}"#);
    }
}

#[tokio::test]
async fn zero_is_a_priority_and_a_demand_and_both_may_be_left_out() {
    let site = Site::start().await;
    let zero = taken(
        &site,
        &json!({"type": "AddNumbers", "priority": 0, "thread_demand": 0, "payload": {"x": 1, "y": 2}}),
    )
    .await;
    let none =
        taken(&site, &json!({"type": "AddNumbers", "surplus": true, "payload": {"x": 1, "y": 2}})).await;
    let expected = json!({"type": "AddNumbers", "priority": 0, "thread_demand": 1, "status": "Pending", "payload": {"x": 1, "y": 2}});
    assert_eq!(without_times(zero), expected);
    assert_eq!(without_times(none), expected);
}

#[tokio::test]
async fn what_cannot_be_taken_is_refused_in_the_words_of_the_original() {
    let site = Site::start().await;
    for (body, error) in [
        (r#"{"type":"video_encode","payload":{}}"#, "unsupported job type"),
        (r#"{"type":"exec","payload":{"argv":["id"]}}"#, "unsupported job type"),
        (r#"{}"#, "unsupported job type"),
        (r#"{"type":"#, "invalid request body"),
        (r#"{"type":7}"#, "invalid request body"),
        (r#"["AddNumbers"]"#, "invalid request body"),
        (r#"{"type":"AddNumbers","priority":1000}"#, "priority must be from -128 to 127"),
        (r#"{"type":"AddNumbers","thread_demand":-1}"#, "thread_demand must not be negative"),
        (r#"{"type":"AddNumbers","name":"a\u0000b","payload":{"x":1,"y":2}}"#, "invalid request body"),
        (r#"{"type":"AddNumbers","payload":[1]}"#, "invalid payload for AddNumbers: it must be an object"),
        (r#"{"type":"ReverseString"}"#, "invalid payload for ReverseString: it must be an object"),
        (
            r#"{"type":"resize_image","payload":{"width":1,"height":1}}"#,
            "invalid payload for ResizeImage: it needs either `url` or `data`",
        ),
    ] {
        let answer = said(submit(&site, body).await).await;
        assert_eq!(answer, (400, json!({"error": error}).to_string()), "{body}");
    }
}

/// Too large for a payload, and too large for a body.
#[tokio::test]
async fn an_array_that_is_too_large_is_refused_in_the_words_of_the_original() {
    let site = Site::start().await;
    for (numbers, status) in [(530_000, 400), (3_000_000, 413)] {
        let numbers = vec!["1"; numbers].join(",");
        let body = format!("{{\"type\":\"large_array_sum\",\"payload\":{{\"numbers\":[{numbers}]}}}}");
        let (answered, text) = said(submit(&site, &body).await).await;
        let document: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(answered, status, "{text}");
        assert!(document["error"].as_str().is_some_and(|error| error.contains("bytes")), "{text}");
    }
}

#[tokio::test]
async fn a_job_is_shown_as_it_is_from_its_beginning_to_its_end() {
    let site = Site::start().await;
    let job = taken(&site, &json!({"type": "large_array_sum", "payload": {"array": [55]}})).await;
    let id = job["id"].as_str().unwrap().to_owned();
    assert_eq!(said(site.get("/db/jobs").send().await.unwrap()).await, (200, "[]".into()));
    let missing = (404, json!({"error": "job not found"}).to_string());
    assert_eq!(
        said(site.get(&format!("/db/jobs/{id}")).send().await.unwrap()).await,
        missing,
        "not final yet"
    );
    let lease = site.claim("default").await;
    let running: Value = site.read(&format!("/jobs/{id}")).await;
    assert!(running["started_at"].is_string() && running["completed_at"].is_null(), "{running}");
    assert_eq!(running["status"], "Running");
    site.report(&lease, "complete", &json!({"result": {"sum": 55}})).await;
    let done: Value = site.read(&format!("/jobs/{id}")).await;
    assert!(done["completed_at"].is_string());
    assert_eq!(
        without_times(done),
        json!({"type": "LargeArraySum", "priority": 0, "thread_demand": 1, "status": "Completed", "payload": {"array": [55]}, "result": {"Sum": 55, "sum": 55}})
    );
    let kept: Value = site.read(&format!("/db/jobs/{id}")).await;
    assert_eq!(kept["worker_threads"], 1);
    let [queue, execution, total] =
        ["queue_time_ms", "execution_time_ms", "total_time_ms"].map(|time| kept[time].as_u64().unwrap());
    assert_eq!(queue + execution, total, "{kept}");
    let all: Value = site.read("/db/jobs").await;
    assert_eq!(all, json!([kept]), "the list has the same");
    let own: Value = site.read(&format!("/jobs/{}", job_id(&id))).await;
    assert_eq!(own["id"], id, "both ways to write an id are taken");
}

/// The id as `/v1` writes it.
fn job_id(uuid: &str) -> String {
    uuid.parse::<ganger_core::JobId>().unwrap().to_string()
}

#[tokio::test]
async fn a_job_that_failed_says_why_and_one_that_waits_to_be_tried_again_is_pending() {
    let site = Site::start().await;
    for (report, status, error) in [
        (json!({"error": "no", "fatal": true}), "Failed", Some("no")),
        (json!({"error": "again", "retry_after": "1h"}), "Pending", None),
    ] {
        let job = taken(&site, &json!({"type": "ReverseString", "payload": {"text": "ab"}})).await;
        let lease = site.claim("default").await;
        site.report(&lease, "fail", &report).await;
        let shown: Value = site.read(&format!("/jobs/{}", job["id"].as_str().unwrap())).await;
        assert_eq!((shown["status"].as_str(), shown["error"].as_str()), (Some(status), error), "{shown}");
    }
}

#[tokio::test]
async fn a_cancelled_job_has_failed() {
    let site = Site::start().await;
    let job = taken(&site, &json!({"type": "AddNumbers", "payload": {"x": 1, "y": 2}})).await;
    let id = job["id"].as_str().unwrap();
    let _: Value = site.told(&format!("/v1/jobs/{}:cancel", job_id(id)), &json!({})).await;
    let shown: Value = site.read(&format!("/db/jobs/{id}")).await;
    assert_eq!((shown["status"].as_str(), shown["error"].is_string()), (Some("Failed"), true), "{shown}");
}

#[tokio::test]
async fn the_list_is_an_array_newest_first_with_its_total_and_a_link_to_the_rest() {
    let site = Site::start().await;
    let answer = site.get("/jobs").send().await.unwrap();
    assert_eq!(answer.headers()["x-total-count"], "0");
    assert_eq!(said(answer).await, (200, "[]".into()));
    let mut ids = Vec::new();
    for n in 0..5 {
        let job = taken(
            &site,
            &json!({"type": "AddNumbers", "name": format!("n{n}"), "payload": {"x": 1, "y": n}}),
        )
        .await;
        ids.insert(0, job["id"].clone());
        site.submit(&json!({"kind": "noop"})).await;
    }
    let (mut path, mut seen) = ("/jobs?limit=2".to_owned(), Vec::new());
    for page in 1..=3 {
        let answer = site.get(&path).send().await.unwrap();
        assert_eq!(answer.headers()["x-total-count"], "5", "jobs of other kinds do not count");
        let link = answer.headers().get("link").map(|link| link.to_str().unwrap().to_owned());
        seen.extend(answer.json::<Vec<Value>>().await.unwrap().into_iter().map(|job| job["id"].clone()));
        match link {
            Some(link) => {
                let next = link.strip_prefix('<').and_then(|rest| rest.strip_suffix(">; rel=\"next\""));
                path = next.unwrap_or_else(|| panic!("{link}")).to_owned();
            }
            None => assert_eq!(page, 3),
        }
    }
    assert_eq!(seen, ids);
    for (wrong, code) in [
        ("limit=0", "invalid_parameter"),
        ("limit=1001", "invalid_parameter"),
        ("cursor=x", "invalid_cursor"),
    ] {
        let answer = site.get(&format!("/jobs?{wrong}")).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::BAD_REQUEST, "{wrong}");
        assert_eq!(answer.json::<Value>().await.unwrap()["code"], code);
    }
}

#[tokio::test]
async fn a_job_that_is_not_there_or_not_of_this_door_is_not_found() {
    let site = Site::start().await;
    let other = site.submit(&json!({"kind": "noop"})).await.id;
    let missing = (404, json!({"error": "job not found"}).to_string());
    for id in [
        other.to_string(),
        other.uuid().to_string(),
        "7".into(),
        "00000000-0000-7000-8000-000000000000".into(),
    ] {
        for path in ["/jobs", "/db/jobs"] {
            assert_eq!(
                said(site.get(&format!("{path}/{id}")).send().await.unwrap()).await,
                missing,
                "{path}/{id}"
            );
        }
    }
}
