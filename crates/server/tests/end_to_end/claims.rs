//! The worker protocol over plain HTTP, as a shell script would speak it.

use std::sync::Arc;

use ganger_core::job::State;
use ganger_core::outcome::{Outcome, Report};
use ganger_server::testing;
use ganger_store::MemoryStore;
use serde_json::{Value, json};

use crate::common::{ended, eventually, is_in, spec, submit, within};
use crate::faulty::{Fault, FaultyStore};
use crate::worker::Worker;

/// Posts, and answers the status and the body.
async fn post(url: &str, path: &str, body: Value) -> (u16, Value) {
    let client = reqwest::Client::new();
    let answer =
        within(path, client.post(format!("{url}{path}")).body(body.to_string()).send()).await.unwrap();
    let status = answer.status().as_u16();
    let text = answer.text().await.unwrap();
    (status, serde_json::from_str(&text).unwrap_or_else(|_| panic!("{path}: {status} {text}")))
}

/// Claims one job and answers it.
async fn claim(url: &str, body: Value) -> Value {
    let (status, answer) = post(url, "/v1/queues/default:claim", body).await;
    assert_eq!(status, 200, "{answer}");
    answer["jobs"][0].clone()
}

fn lease(job: &Value, verb: &str) -> String {
    format!("/v1/leases/{}:{verb}", job["lease_token"].as_str().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_claims_a_job_reports_progress_and_completes_it() {
    let server = testing::start().await;
    let url = server.url();
    let id = submit(server.service(), spec("resize", r#"{"n":  1}"#)).await;
    let job = claim(&url, json!({"lease": "30s", "worker": "a script"})).await;
    assert_eq!(job["id"], id.to_string());
    assert_eq!((&job["attempt"], &job["threads"], &job["kind"]), (&json!(1), &json!(1), &json!("resize")));
    assert_eq!(job["payload"], json!({"n": 1}));
    assert_eq!(job["lease_expires_in_ms"], 30_000);
    is_in(server.service(), id, State::Running).await;

    let (status, held) = post(&url, &lease(&job, "progress"), json!({"fraction": 0.25, "note": "q"})).await;
    assert_eq!((status, &held["cancel_requested"]), (200, &json!(false)));
    assert_eq!(server.service().job(id).await.unwrap().progress, Some((0.25, "q".into())));
    assert_eq!(post(&url, &lease(&job, "log"), json!({"text": "hello"})).await.0, 200);
    let (status, held) = post(&url, &lease(&job, "extend"), json!({})).await;
    assert_eq!((status, &held["lease_expires_in_ms"]), (200, &json!(30_000)));

    let (status, done) = post(&url, &lease(&job, "complete"), json!({"result": [1, 2]})).await;
    assert_eq!((status, &done["recorded"]), (200, &json!(true)));
    let view = ended(server.service(), id).await;
    assert_eq!(view.stored.end.unwrap().result.as_deref(), Some("[1,2]"));
    let attempt = &server.service().attempts(id).await.unwrap()[0];
    assert_eq!((attempt.outcome, attempt.worker.as_str()), (Outcome::Ok, "a script"));
    assert_eq!(server.service().log(id, 1).await.unwrap(), "hello\n");
    // The answer may have been lost: the same report again is no mistake, another one is.
    assert_eq!(post(&url, &lease(&job, "complete"), json!({"result": [1, 2]})).await.0, 200);
    let (status, refused) = post(&url, &lease(&job, "fail"), json!({"error": "no"})).await;
    assert_eq!((status, &refused["code"]), (409, &json!("lease_lost")));
    server.stop().await;
}

/// The person is told that it was only asked for, the script that it is to stop, and its word ends the job.
#[tokio::test(flavor = "multi_thread")]
async fn a_script_that_stopped_because_it_was_asked_to_reports_its_job_as_cancelled() {
    let server = testing::start().await;
    let url = server.url();
    let id = submit(server.service(), spec("long", "1")).await;
    let job = claim(&url, json!({})).await;
    let (status, asked) = post(&url, &format!("/v1/jobs/{id}:cancel"), json!({})).await;
    assert_eq!((status, asked), (202, json!({"id": id.to_string(), "cancelled": false, "requested": true})));
    let (_, held) = post(&url, &lease(&job, "extend"), json!({})).await;
    assert_eq!(held["cancel_requested"], true);
    let both = json!({"cancelled": true, "fatal": true});
    assert_eq!(post(&url, &lease(&job, "fail"), both).await.0, 422, "one thing at a time");
    assert_eq!(post(&url, &lease(&job, "fail"), json!({"cancelled": true})).await.0, 200);
    is_in(server.service(), id, State::Cancelled).await;
    let attempt = &server.service().attempts(id).await.unwrap()[0];
    assert_eq!(attempt.outcome, Outcome::Cancelled);
    let waiting = submit(server.service(), spec("other", "1")).await;
    let (status, done) = post(&url, &format!("/v1/jobs/{waiting}:cancel"), json!({})).await;
    assert_eq!(
        (status, done),
        (200, json!({"id": waiting.to_string(), "cancelled": true, "requested": false}))
    );
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_claim_is_retried_and_a_fatal_one_is_not() {
    let server = testing::start().await;
    let url = server.url();
    let id = submit(server.service(), spec("flaky", "1")).await;
    let job = claim(&url, json!({})).await;
    let body = json!({"error": "not yet", "retry_after": 0});
    assert_eq!(post(&url, &lease(&job, "fail"), body).await.0, 200);
    let job = claim(&url, json!({})).await;
    assert_eq!(job["attempt"], 2);
    let (status, answer) = post(&url, &lease(&job, "release"), json!({"started": false})).await;
    assert_eq!(status, 200, "{answer}");
    // The answer may have been lost: to hand it back again is no mistake.
    assert_eq!(post(&url, &lease(&job, "release"), json!({"started": false})).await.0, 200);
    let job = claim(&url, json!({})).await;
    assert_eq!(job["attempt"], 2, "what was not started costs no attempt");
    assert_eq!(post(&url, &lease(&job, "fail"), json!({"error": "never", "fatal": true})).await.0, 200);
    assert_eq!(ended(server.service(), id).await.stored.state, State::Dead);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claim_that_finds_nothing_answers_an_empty_list_and_leaves_nothing_behind() {
    let server = testing::start().await;
    let url = server.url();
    let (status, answer) = post(&url, "/v1/queues/default:claim", json!({"wait": "50ms"})).await;
    assert_eq!((status, answer), (200, json!({"jobs": []})));
    // A job that comes later goes to a worker, not to the claim that is over.
    let id = submit(server.service(), spec("x", "1")).await;
    let mut worker = Worker::start(&url).await;
    let parcel = worker.work().await;
    assert_eq!((parcel.work.job, parcel.work.attempt), (id, 1));
    worker.report(&parcel, Report::Ok("1".into())).await;
    ended(server.service(), id).await;
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_goes_away_while_it_waits_gets_no_job() {
    let server = testing::start().await;
    let url = server.url();
    let waits = tokio::spawn({
        let url = url.clone();
        async move { post(&url, "/v1/queues/default:claim", json!({"wait": "60s", "lease": "1h"})).await }
    });
    eventually("the claim's session", || async {
        server.service().queue("default".parse().unwrap()).await.unwrap().workers == 1
    })
    .await;
    waits.abort();
    eventually("the end of the claim", || async {
        server.service().queue("default".parse().unwrap()).await.unwrap().workers == 0
    })
    .await;
    let id = submit(server.service(), spec("x", "1")).await;
    let job = claim(&url, json!({})).await;
    assert_eq!(job["id"], id.to_string());
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claim_takes_several_jobs_which_are_completed_at_the_same_time() {
    let server = testing::start().await;
    let url = server.url();
    let jobs: Vec<_> = (0..8).map(|n| spec("many", &n.to_string())).collect();
    server.service().submit(None, jobs).await.unwrap();
    let (_, answer) = post(&url, "/v1/queues/default:claim", json!({"max": 8})).await;
    let jobs = answer["jobs"].as_array().unwrap().clone();
    assert_eq!(jobs.len(), 8);
    let paths: Vec<String> = jobs.iter().map(|job| lease(job, "complete")).collect();
    let done = paths.iter().map(|path| post(&url, path, json!({})));
    for (status, answer) in futures::future::join_all(done).await {
        assert_eq!(status, 200, "{answer}");
    }
    for job in jobs {
        let id = job["id"].as_str().unwrap().parse().unwrap();
        assert_eq!(ended(server.service(), id).await.stored.state, State::Succeeded);
    }
    server.stop().await;
}

/// The zombie: the lease runs out, another takes the job, then the first one reports.
#[tokio::test(flavor = "multi_thread")]
async fn a_claim_whose_lease_ran_out_changes_nothing() {
    let store = Arc::new(MemoryStore::new());
    let mut options = testing::options(store);
    options.coordinator.slack = std::time::Duration::from_millis(100);
    let server = testing::start_with(options).await;
    let url = server.url();
    let id = submit(server.service(), spec("x", "1")).await;
    let zombie = claim(&url, json!({"lease": "1s"})).await;
    let mut worker = Worker::start(&url).await;
    let parcel = worker.work().await;
    assert_eq!((parcel.work.job, parcel.work.attempt), (id, 2));
    for (verb, body) in
        [("complete", json!({"result": 0})), ("extend", json!({})), ("log", json!({"text": "x"}))]
    {
        let (status, refused) = post(&url, &lease(&zombie, verb), body).await;
        assert_eq!((status, &refused["code"]), (409, &json!("lease_lost")), "{verb}");
    }
    worker.report(&parcel, Report::Ok("1".into())).await;
    assert_eq!(ended(server.service(), id).await.stored.end.unwrap().result.as_deref(), Some("1"));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claim_survives_a_restart_of_the_server() {
    let store = Arc::new(MemoryStore::new());
    let server = testing::start_on(store.clone()).await;
    let id = submit(server.service(), spec("x", "1")).await;
    let job = claim(&server.url(), json!({})).await;
    server.stop().await;
    let server = testing::start_on(store).await;
    let url = server.url();
    assert_eq!(post(&url, &lease(&job, "extend"), json!({})).await.0, 200);
    assert_eq!(post(&url, &lease(&job, "complete"), json!({})).await.0, 200);
    let view = ended(server.service(), id).await;
    assert_eq!((view.stored.state, view.stored.standing.attempt), (State::Succeeded, 1));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_completion_that_cannot_be_written_is_not_answered_with_yes() {
    let store = FaultyStore::new();
    let server = testing::start_on(store.clone()).await;
    let url = server.url();
    let id = submit(server.service(), spec("x", "1")).await;
    let job = claim(&url, json!({})).await;
    store.commits(Fault::Full);
    let (status, answer) = post(&url, &lease(&job, "complete"), json!({})).await;
    assert_eq!((status, &answer["retryable"]), (503, &json!(true)), "{answer}");
    store.commits(Fault::None);
    assert_eq!(ended(server.service(), id).await.stored.state, State::Succeeded);
    assert_eq!(post(&url, &lease(&job, "complete"), json!({})).await.0, 200);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_script_gets_wrong_is_named() {
    let server = testing::start().await;
    let url = server.url();
    let claim = "/v1/queues/default:claim";
    for (path, body, code, named) in [
        (claim, json!({"max": 65}), "validation_failed", "`max` is 65, allowed are 1 to 64"),
        (claim, json!({"lease": "1ms"}), "validation_failed", "`lease`"),
        (claim, json!({"wait": "2m"}), "validation_failed", "`wait`"),
        (claim, json!({"leas": "1s"}), "validation_failed", "did you mean `lease`"),
        (claim, json!({"kinds": ["a b"]}), "validation_failed", "`kinds`"),
        ("/v1/leases/rubbish:complete", json!({}), "invalid_parameter", "lease token"),
        ("/v1/leases/rubbish:dance", json!({}), "method_not_allowed", "extend"),
    ] {
        let (status, refused) = post(&url, path, body).await;
        assert!((400..500).contains(&status), "{status} {refused}");
        assert_eq!(refused["code"], code, "{refused}");
        assert!(refused["detail"].as_str().unwrap().contains(named), "{refused}");
    }
    server.stop().await;
}
