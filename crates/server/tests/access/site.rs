//! A running server that asks, its first token, and a client.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use ganger_server::auth::AuthOptions;
use ganger_server::testing::{self, TestServer};
use ganger_store::MemoryStore;
use reqwest::{Client, Method, RequestBuilder};
use serde_json::{Value, json};

/// No wait of a test is longer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);
/// What access tokens of others are signed with.
pub(crate) const JWT_SECRET: &str = "0123456789abcdef-0123456789abcdef";

/// The name of its server.
pub(crate) const LEADER: &str = "leader-1";

pub(crate) struct Site {
    pub(crate) server: TestServer,
    pub(crate) client: Client,
    /// May do everything.
    pub(crate) admin: String,
}

/// An answer: its status and its document, if it is one.
pub(crate) type Said = (u16, Value);

impl Site {
    pub(crate) async fn start() -> Site {
        Site::on(Arc::new(MemoryStore::default())).await
    }

    /// On a store that nobody used before.
    pub(crate) async fn on(store: Arc<MemoryStore>) -> Site {
        Site::introduced(serve(store).await).await
    }

    /// The same, for others that know this secret.
    pub(crate) async fn with_secret(store: Arc<MemoryStore>, secret: &str) -> Site {
        Site::introduced(serve_with(store, Some(secret.into())).await).await
    }

    async fn introduced((server, first): (TestServer, Arc<Mutex<Option<String>>>)) -> Site {
        let admin = eventually("the first token", || first.lock().unwrap().clone()).await;
        let site = Site { server, client: Client::new(), admin };
        // It is handed over before it holds.
        for _ in 0..1_000 {
            if site.ask(&site.admin, Method::GET, "/v1/whoami", None).await.0 == 200 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        site
    }

    pub(crate) fn request(&self, token: &str, method: Method, path: &str) -> RequestBuilder {
        let request = self.client.request(method, format!("{}{path}", self.server.url())).timeout(PATIENCE);
        if token.is_empty() { request } else { request.bearer_auth(token) }
    }

    pub(crate) async fn ask(&self, token: &str, method: Method, path: &str, body: Option<Value>) -> Said {
        let request = self.request(token, method, path);
        let request = match body {
            Some(body) => request.body(body.to_string()),
            None => request,
        };
        let answer = request.send().await.unwrap();
        let status = answer.status().as_u16();
        (status, serde_json::from_str(&answer.text().await.unwrap()).unwrap_or(Value::Null))
    }

    pub(crate) async fn get(&self, token: &str, path: &str) -> Said {
        self.ask(token, Method::GET, path, None).await
    }

    pub(crate) async fn post(&self, token: &str, path: &str, body: Value) -> Said {
        self.ask(token, Method::POST, path, Some(body)).await
    }

    /// A token of that sort.
    pub(crate) async fn token(&self, body: Value) -> String {
        let (status, made) = self.post(&self.admin, "/v1/tokens", body).await;
        assert_eq!(status, 201, "{made}");
        made["token"].as_str().unwrap().to_owned()
    }

    /// A token of that role.
    pub(crate) async fn role(&self, role: &str) -> String {
        self.token(json!({"name": role, "role": role})).await
    }
}

/// Starts a server that asks; the first token appears if there is nobody yet.
pub(crate) async fn serve(store: Arc<MemoryStore>) -> (TestServer, Arc<Mutex<Option<String>>>) {
    serve_with(store, None).await
}

async fn serve_with(
    store: Arc<MemoryStore>,
    secret: Option<String>,
) -> (TestServer, Arc<Mutex<Option<String>>>) {
    let first: Arc<Mutex<Option<String>>> = Arc::default();
    let kept = first.clone();
    let mut options = testing::options(store);
    options.name = LEADER.into();
    options.cluster_secret = secret;
    options.auth = AuthOptions::Required {
        jwt_secret: Some(JWT_SECRET.into()),
        first_token: Arc::new(move |token| {
            *kept.lock().unwrap() = Some(token.into());
            Ok(())
        }),
    };
    (testing::start_with(options).await, first)
}

/// Waits until there is one.
pub(crate) async fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    for _ in 0..2_000 {
        if let Some(found) = look() {
            return found;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("waited in vain for {what}");
}
