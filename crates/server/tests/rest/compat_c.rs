//! Profile C, line by line: what its clients sent, and what they were answered.

use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64;
use ganger_core::JobId;
use ganger_server::api::JobBody;
use ganger_server::http::compat::Profiles;
use ganger_server::testing;
use ganger_store::MemoryStore;
use hmac::{KeyInit as _, Mac as _};
use reqwest::Response;
use serde_json::{Value, json};

use crate::site::Site;

const ADA: &str = r#"{"username":"ada","password":"pass"}"#;

/// A server as `ganger dev` starts it: nobody is asked, but at this door.
async fn site() -> Site {
    let mut options = testing::options(Arc::new(MemoryStore::default()));
    options.compat.signup = true;
    Site::over(testing::start_with(options).await)
}

/// Its status, what sort of body it has, and the body.
async fn said(answer: Response) -> (u16, String, String) {
    let sort = answer.headers()["content-type"].to_str().unwrap().to_owned();
    (answer.status().as_u16(), sort, answer.text().await.unwrap())
}

async fn post(site: &Site, path: &str, body: &str) -> Response {
    site.post(path, body.to_owned()).send().await.unwrap()
}

/// A refusal in one sentence of JSON.
async fn refused(site: &Site, path: &str, body: &str) -> (u16, String) {
    let (status, sort, text) = said(post(site, path, body).await).await;
    assert_eq!(sort, "application/json", "{path} {body}");
    let document: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document.as_object().unwrap().len(), 1, "{text}");
    (status, document["message"].as_str().unwrap().to_owned())
}

/// The two tokens of an answer, which must be of that status and have nothing else.
async fn tokens(answer: Response, status: u16) -> (String, String) {
    let (got, sort, text) = said(answer).await;
    assert_eq!((got, sort.as_str()), (status, "application/json"), "{text}");
    let document: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document.as_object().unwrap().len(), 2, "{text}");
    let token = |name: &str| document[name].as_str().unwrap().to_owned();
    (token("access_token"), token("refresh_token"))
}

async fn signed_up(site: &Site) -> (String, String) {
    tokens(post(site, "/signup", ADA).await, 201).await
}

async fn add(site: &Site, token: &str, body: &str) -> Response {
    site.post("/addJob", body.to_owned()).bearer_auth(token).send().await.unwrap()
}

/// The job of an answer that says that it is in the queue.
async fn added(site: &Site, token: &str, body: &str) -> JobId {
    let answer = add(site, token, body).await;
    let id = answer.headers()["x-job-id"].to_str().unwrap().to_owned();
    assert_eq!(answer.headers()["location"].to_str().unwrap(), format!("/v1/jobs/{id}"));
    let (status, sort, text) = said(answer).await;
    assert_eq!((status, sort.as_str()), (200, "application/json"));
    assert_eq!(text, r#"{"message":"Job added to queue"}"#);
    id.parse().unwrap()
}

#[tokio::test]
async fn whoever_signs_up_gets_two_tokens_and_nobody_else_that_name() {
    let site = site().await;
    let (access, refresh) = signed_up(&site).await;
    assert_eq!(access.split('.').count(), 3, "a JWT: {access}");
    assert!(refresh.starts_with("gnr_"), "{refresh}");
    let taken = refused(&site, "/signup", r#"{"username":"ada","password":"another"}"#).await;
    assert_eq!(taken, (409, "Username already exists".into()));
    tokens(post(&site, "/login", ADA).await, 200).await;
    let who: Value = site.get("/v1/users/ada").send().await.unwrap().json().await.unwrap();
    assert_eq!((&who["role"], &who["logins"]), (&json!("submitter"), &json!(2)), "{who}");
}

/// Twenty at once: one gets the name.
#[tokio::test]
async fn one_of_many_who_sign_up_at_once_gets_the_name() {
    let site = site().await;
    let all = (0..20).map(|_| post(&site, "/signup", ADA));
    let statuses: Vec<u16> =
        futures::future::join_all(all).await.iter().map(|a| a.status().as_u16()).collect();
    assert_eq!(statuses.iter().filter(|status| **status == 201).count(), 1, "{statuses:?}");
    assert_eq!(statuses.iter().filter(|status| **status == 409).count(), 19, "{statuses:?}");
}

#[tokio::test]
async fn signing_up_is_only_where_it_is_enabled() {
    let site = Site::start().await;
    let disabled = refused(&site, "/signup", ADA).await;
    assert_eq!(disabled, (403, "Signing up is not enabled on this server".into()));
    let users: Value = site.read("/v1/users").await;
    assert_eq!(users["items"], json!([]));
}

#[tokio::test]
async fn what_is_no_user_is_refused_in_words() {
    let site = site().await;
    for (body, words) in [
        (r#"{"username":"ada"}"#, "Invalid request body: missing field `password`"),
        (r#"{"username":1,"password":"x"}"#, "Invalid request body: invalid type"),
        (r#"["ada","pass"]"#, "Invalid request body: a JSON object is needed"),
        ("{", "Invalid request body: EOF"),
        ("", "Invalid request body: a JSON object is needed"),
        (r#"{"username":"","password":"x"}"#, "username is empty"),
        (r#"{"username":"a b","password":"x"}"#, "username contains ' '"),
        (r#"{"username":"ada","password":""}"#, "password must have 1 to "),
    ] {
        let (status, text) = refused(&site, "/signup", body).await;
        assert!(status == 400 && text.starts_with(words), "{body}: {status} {text}");
    }
    let huge = format!(r#"{{"username":"ada","password":"{}"}}"#, "x".repeat(1 << 20));
    assert_eq!(post(&site, "/signup", &huge).await.status(), 413);
    let long = format!(r#"{{"username":"ada","password":"{}"}}"#, "x".repeat(60_000));
    assert_eq!(refused(&site, "/signup", &long).await.0, 400);
}

#[tokio::test]
async fn a_wrong_password_is_refused_like_an_unknown_name() {
    let site = site().await;
    signed_up(&site).await;
    for body in [r#"{"username":"ada","password":"Pass"}"#, r#"{"username":"eve","password":"pass"}"#] {
        assert_eq!(refused(&site, "/login", body).await, (401, "Invalid username or password".into()));
    }
    assert_eq!(refused(&site, "/login", "{}").await.0, 400);
}

#[tokio::test]
async fn a_refresh_token_is_good_once_and_its_reuse_ends_the_family() {
    let site = site().await;
    let (_, first) = signed_up(&site).await;
    let body = |token: &str| json!({"refresh_token": token}).to_string();
    let (access, second) = tokens(post(&site, "/refreshToken", &body(&first)).await, 200).await;
    let healthy = async |token: &str| site.get("/health").bearer_auth(token).send().await.unwrap().status();
    assert_eq!(healthy(&access).await, 200);
    assert_eq!(refused(&site, "/refreshToken", &body(&first)).await, (401, "Invalid refresh token".into()));
    assert_eq!(refused(&site, "/refreshToken", &body(&second)).await.0, 401, "the whole family is dead");
    assert_eq!(healthy(&access).await, 401);
    assert_eq!(refused(&site, "/refreshToken", &body("rubbish")).await.0, 401);
    assert_eq!(refused(&site, "/refreshToken", "{}").await.0, 400);
}

#[tokio::test]
async fn five_logins_are_alive_at_most() {
    let site = site().await;
    let (_, first) = signed_up(&site).await;
    let mut last = String::new();
    for _ in 0..5 {
        last = tokens(post(&site, "/login", ADA).await, 200).await.1;
    }
    assert_eq!(refused(&site, "/refreshToken", &json!({"refresh_token": first}).to_string()).await.0, 401);
    tokens(post(&site, "/refreshToken", &json!({"refresh_token": last}).to_string()).await, 200).await;
}

/// Also where nobody is asked otherwise.
#[tokio::test]
async fn without_a_good_token_the_door_stays_shut() {
    let site = site().await;
    let (access, _) = signed_up(&site).await;
    let forged = format!("{}x", &access[..access.len() - 1]);
    for (method, path) in [("POST", "/addJob"), ("GET", "/failedJobs"), ("GET", "/health")] {
        let ask = |authorization: Option<String>| {
            let request = site.ask(method.parse().unwrap(), path);
            match authorization {
                Some(text) => request.header("authorization", text),
                None => request,
            }
        };
        for (shown, words) in [
            (None, "No token provided"),
            (Some("Bearer".to_owned()), "No token provided"),
            (Some("Bearer ".to_owned()), "No token provided"),
            (Some("Bearer rubbish".to_owned()), "Invalid token"),
            (Some("rubbish".to_owned()), "Invalid token"),
            (Some(format!("Bearer {forged}")), "Invalid token"),
            (Some(format!("Basic {access}")), "Invalid token"),
        ] {
            let answer = ask(shown.clone()).send().await.unwrap();
            if answer.status() == 429 {
                // Whoever shows many wrong ones has to wait.
                continue;
            }
            assert!(answer.headers()["www-authenticate"].to_str().unwrap().starts_with("Bearer"));
            let (status, sort, text) = said(answer).await;
            assert_eq!(
                (status, sort.as_str(), text.as_str()),
                (401, "text/plain; charset=utf-8", words),
                "{path} {shown:?}"
            );
        }
    }
}

#[tokio::test]
async fn health_is_good() {
    let site = site().await;
    let (access, _) = signed_up(&site).await;
    let answer = site.get("/health").bearer_auth(&access).send().await.unwrap();
    let expected = (200, "text/plain; charset=utf-8".to_owned(), "Good health".to_owned());
    assert_eq!(said(answer).await, expected);
    // As the original's own page sent it.
    let bare = site.get("/health").header("authorization", &access).send().await.unwrap();
    assert_eq!(said(bare).await, expected);
}

#[tokio::test]
async fn a_person_is_welcomed_once_however_often_it_is_asked() {
    let site = site().await;
    let (access, _) = signed_up(&site).await;
    let ada = r#"{"email":"ada@example.com","name":"Ada","surplus":true}"#;
    let id = added(&site, &access, ada).await;
    let job: JobBody = site.read(&format!("/v1/jobs/{id}")).await;
    assert_eq!((job.kind.as_str(), job.queue.as_str(), job.max_attempts), ("welcome_email", "default", 5));
    assert_eq!(job.payload.unwrap().get(), r#"{"email":"ada@example.com","name":"Ada"}"#);
    assert_eq!(job.unique_key.as_deref(), Some(r#"["welcome","ada@example.com","Ada"]"#));
    let shown: Value = site.read(&format!("/v1/jobs/{id}")).await;
    assert_eq!(shown["unique_for"], "forever", "{shown}");
    assert_eq!(shown["retry"], json!({"base": "1s", "factor": 2.0, "max": "8s", "jitter": 0.0}), "{shown}");

    let again = (0..20).map(|_| added(&site, &access, ada));
    assert!(futures::future::join_all(again).await.iter().all(|same| *same == id));
    let other = added(&site, &access, r#"{"email":"ada@example.com","name":"Ada L"}"#).await;
    assert_ne!(other, id);

    let lease = site.claim("default").await;
    site.report(&lease, "complete", &json!({"result": {}})).await;
    assert_eq!(added(&site, &access, ada).await, id, "for ever after success");
}

#[tokio::test]
async fn who_cannot_be_mailed_is_not_taken_in() {
    let site = site().await;
    let (access, _) = signed_up(&site).await;
    let long = format!(r#"{{"email":"a@b","name":"{}"}}"#, "n".repeat(257));
    for body in [
        r#"{"email":"ada","name":"Ada"}"#,
        r#"{"email":"a@b\r\nRCPT TO:<c@d>","name":"Ada"}"#,
        r#"{"email":"a@b","name":""}"#,
        r#"{"email":"a@b","name":"A\r\nBcc: c@d"}"#,
        r#"{"email":"a@b"}"#,
        "rubbish",
        &long,
    ] {
        let (status, sort, text) = said(add(&site, &access, body).await).await;
        assert_eq!((status, sort.as_str()), (400, "application/json"), "{body}: {text}");
    }
    assert_eq!(site.read::<Value>("/v1/jobs").await["items"], json!([]));
    let longest = format!(r#"{{"email":"{}@b","name":"{}"}}"#, "a".repeat(252), "n".repeat(256));
    let id = added(&site, &access, &longest).await;
    assert_eq!(added(&site, &access, &longest).await, id, "a key that is too long is known by its hash");
}

#[tokio::test]
async fn failed_jobs_are_listed_with_why_and_page_by_page() {
    let site = site().await;
    let (access, _) = signed_up(&site).await;
    let list = async |path: &str| site.get(path).bearer_auth(&access).send().await.unwrap();
    let none = list("/failedJobs").await;
    assert!(none.headers().get("link").is_none());
    assert_eq!(said(none).await, (200, "application/json".into(), "[]".into()));

    let mut ids = Vec::new();
    for name in ["Ada", "Bob", "Eve"] {
        ids.push(added(&site, &access, &json!({"email": "a@b", "name": name}).to_string()).await);
        let lease = site.claim("default").await;
        let error = format!("550 no such person as {name}");
        site.report(&lease, "fail", &json!({"error": error, "fatal": true})).await;
    }
    // Neither what is of another kind nor what is not dead.
    site.submit(&json!({"kind": "other"})).await;
    added(&site, &access, r#"{"email":"a@b","name":"Waiting"}"#).await;

    let first = list("/failedJobs?limit=2").await;
    let link = first.headers()["link"].to_str().unwrap().to_owned();
    let shown: Value = first.json().await.unwrap();
    let names: Vec<&str> =
        shown.as_array().unwrap().iter().map(|job| job["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["Eve", "Bob"], "newest first");
    let next = link.strip_prefix('<').unwrap().strip_suffix(">; rel=\"next\"").unwrap();
    assert!(next.starts_with("/failedJobs?limit=2&cursor="), "{link}");
    let second = list(next).await;
    assert!(second.headers().get("link").is_none());
    let mut shown: Value = second.json().await.unwrap();
    let failed_at = shown[0].as_object_mut().unwrap().remove("failed_at").unwrap();
    failed_at.as_str().unwrap().parse::<ganger_core::Wall>().unwrap();
    let expected = json!([{"id": ids[0], "email": "a@b", "name": "Ada", "error": "550 no such person as Ada", "attempts": 1}]);
    assert_eq!(shown, expected);

    for wrong in
        ["/failedJobs?limit=0", "/failedJobs?limit=501", "/failedJobs?cursor=x", "/failedJobs?page=2"]
    {
        let (status, sort, text) = said(list(wrong).await).await;
        assert_eq!((status, sort.as_str()), (400, "application/json"), "{wrong}");
        assert!(serde_json::from_str::<Value>(&text).unwrap()["message"].is_string(), "{wrong}: {text}");
    }
    let freed = added(&site, &access, r#"{"email":"a@b","name":"Ada"}"#).await;
    assert_ne!(freed, ids[0], "who was certainly not mailed may be asked for again");
}

#[tokio::test]
async fn a_door_that_is_not_served_is_not_there() {
    let mut options = testing::options(Arc::new(MemoryStore::default()));
    options.compat.profiles = "a,b,d".parse::<Profiles>().unwrap();
    let site = Site::over(testing::start_with(options).await);
    for path in ["/addJob", "/failedJobs", "/health", "/login", "/signup", "/refreshToken"] {
        assert_eq!(site.get(path).send().await.unwrap().status(), 404, "{path}");
    }
}

/// A token that is right but whose time is over.
#[tokio::test]
async fn an_access_token_ends_with_its_time() {
    let mut options = testing::options(Arc::new(MemoryStore::default()));
    let secret = "0123456789abcdef-0123456789abcdef";
    options.auth = ganger_server::AuthOptions::Open { jwt_secret: Some(secret.into()) };
    options.compat.signup = true;
    let site = Site::over(testing::start_with(options).await);
    let healthy =
        async |token: String| said(site.get("/health").bearer_auth(token).send().await.unwrap()).await;
    let (access, _) = signed_up(&site).await;
    let ours = BASE64.decode(access.split('.').nth(1).unwrap()).unwrap();
    let now = serde_json::from_slice::<Value>(&ours).unwrap()["iat"].as_i64().unwrap();
    for (iat, exp, status) in [(now, now + 60, 200), (now - 120, now - 60, 401), (now, now + 3_600, 401)] {
        let claims = json!({"iss": "ganger", "aud": "ganger", "sub": "ada", "iat": iat, "exp": exp, "role": "submitter"});
        assert_eq!(healthy(signed(secret, &claims)).await.0, status, "{claims}");
    }
}

fn signed(secret: &str, claims: &Value) -> String {
    let text =
        format!("{}.{}", BASE64.encode(r#"{"alg":"HS256","typ":"JWT"}"#), BASE64.encode(claims.to_string()));
    let mut mac = hmac::Hmac::<sha2::Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(text.as_bytes());
    format!("{text}.{}", BASE64.encode(mac.finalize().into_bytes()))
}
