//! Behind a standby: what its leader was told a moment ago holds here at once.

use std::sync::Arc;

use ganger_server::auth::AuthOptions;
use ganger_server::testing;
use ganger_store::{MemoryStore, Store};
use reqwest::Client;
use serde_json::{Value, json};

use crate::site::{LEADER, PATIENCE, Site};

const SECRET: &str = "what the servers of this test share";

async fn ask(token: &str, url: &str, path: &str, body: Option<Value>) -> (u16, Value) {
    let request = match body {
        Some(body) => Client::new().post(format!("{url}{path}")).body(body.to_string()),
        None => Client::new().get(format!("{url}{path}")),
    };
    let answer = request.bearer_auth(token).timeout(PATIENCE).send().await.unwrap();
    let status = answer.status().as_u16();
    (status, serde_json::from_str(&answer.text().await.unwrap()).unwrap_or(Value::Null))
}

#[tokio::test]
async fn a_token_and_a_login_made_through_a_standby_hold_there_at_once() {
    let store = Arc::new(MemoryStore::default());
    let site = Site::with_secret(store.clone(), SECRET).await;
    let shared: Arc<dyn Store> = store;
    let mut options = testing::options(shared);
    options.name = "standby-1".into();
    options.cluster_secret = Some(SECRET.into());
    options.auth = AuthOptions::Required { jwt_secret: None, first_token: Arc::new(|_| Ok(())) };
    let standby = testing::standby(options).await;
    standby.follow(LEADER, &site.server.url());
    let url = standby.url();
    for nth in 0..3 {
        // From here on it believes for seconds what it has read.
        assert_eq!(ask(&site.admin, &url, "/v1/whoami", None).await.0, 200);
        let new = json!({"name": format!("t{nth}"), "role": "viewer"});
        let (status, made) = ask(&site.admin, &url, "/v1/tokens", Some(new)).await;
        assert_eq!(status, 201, "{made}");
        let (status, said) = ask(made["token"].as_str().unwrap(), &url, "/v1/whoami", None).await;
        assert_eq!(status, 200, "{said}");
    }
    let ada = json!({"name": "ada", "role": "operator", "password": "correct horse battery"});
    assert_eq!(ask(&site.admin, &url, "/v1/users", Some(ada)).await.0, 201);
    assert_eq!(ask(&site.admin, &url, "/v1/whoami", None).await.0, 200);
    let login = json!({"name": "ada", "password": "correct horse battery"});
    let (status, tokens) = ask("", &url, "/v1/auth:login", Some(login)).await;
    assert_eq!(status, 200, "{tokens}");
    let (status, said) = ask(tokens["access_token"].as_str().unwrap(), &url, "/v1/whoami", None).await;
    assert_eq!((status, &said["who"]), (200, &json!("user:ada")), "{said}");
    assert_eq!(ask("gng_000000000000_rubbish", &url, "/v1/whoami", None).await.0, 401);
    standby.stop().await;
}
