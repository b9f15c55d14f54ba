//! A running server and a client of it, on any of the stores.

use std::sync::Arc;
use std::time::Duration;

use ganger_server::api::SubmittedBody;
use ganger_server::testing::{self, TestServer};
use ganger_store::postgres::{PgOptions, PgStore};
use ganger_store::{SqliteStore, testing as real};
use reqwest::{Client, Method, RequestBuilder, StatusCode};
use serde_json::{Value, json};

/// No wait of a test is longer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// A running server and a client of it.
pub(crate) struct Site {
    pub(crate) server: TestServer,
    pub(crate) client: Client,
    /// Where its jobs are, if they are in files.
    _dir: Option<tempfile::TempDir>,
}

/// Tests claims about a site on every store.
macro_rules! on_every_store {
    ($($claim:ident),* $(,)?) => {
        mod in_memory {
            $(#[tokio::test]
            async fn $claim() {
                super::$claim(crate::site::Site::start().await).await;
            })*
        }

        mod on_sqlite {
            $(#[tokio::test]
            async fn $claim() {
                super::$claim(crate::site::Site::on_sqlite().await).await;
            })*
        }

        mod on_postgres {
            $(#[tokio::test]
            async fn $claim() {
                super::$claim(crate::site::Site::on_postgres().await).await;
            })*
        }
    };
}
pub(crate) use on_every_store;

impl Site {
    /// A client of a server that runs already.
    pub(crate) fn over(server: TestServer) -> Site {
        Site { server, client: Client::new(), _dir: None }
    }

    pub(crate) async fn start() -> Site {
        Site::over(testing::start().await)
    }

    pub(crate) async fn on_sqlite() -> Site {
        let dir = tempfile::tempdir().unwrap();
        let store = Arc::new(SqliteStore::open(dir.path(), Default::default()).unwrap());
        Site { _dir: Some(dir), ..Site::over(testing::start_on(store).await) }
    }

    pub(crate) async fn on_postgres() -> Site {
        let url = real::Postgres::shared().migrated_database().await;
        let store = Arc::new(PgStore::connect(&PgOptions::new(&url)).await.unwrap());
        Site::over(testing::start_on(store).await)
    }

    pub(crate) fn ask(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.server.url())).timeout(PATIENCE)
    }

    pub(crate) fn get(&self, path: &str) -> RequestBuilder {
        self.ask(Method::GET, path)
    }

    pub(crate) fn post(&self, path: &str, body: impl Into<reqwest::Body>) -> RequestBuilder {
        self.ask(Method::POST, path).body(body)
    }

    /// Submits a job, which must be taken in.
    pub(crate) async fn submit(&self, job: &Value) -> SubmittedBody {
        self.told("/v1/jobs", job).await
    }

    /// Posts a document and reads the answer, which must be a success.
    pub(crate) async fn told<T: serde::de::DeserializeOwned>(&self, path: &str, body: &Value) -> T {
        let answer = self.post(path, body.to_string()).send().await.unwrap();
        let status = answer.status();
        let text = answer.text().await.unwrap();
        assert!(status.is_success(), "{path}: {text}");
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error} in {text}"))
    }

    /// Reads a document, which must be there.
    pub(crate) async fn read<T: serde::de::DeserializeOwned>(&self, path: &str) -> T {
        let answer = self.get(path).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK, "{path}");
        answer.json().await.unwrap()
    }

    /// Reads a text, whatever the status.
    pub(crate) async fn text(&self, path: &str) -> String {
        self.get(path).send().await.unwrap().text().await.unwrap()
    }

    /// Claims the next job of a queue for that long; returns its lease.
    pub(crate) async fn claim_for(&self, queue: &str, lease: &str) -> String {
        let claim = json!({"max": 1, "wait": "10s", "lease": lease});
        let claimed: Value = self.told(&format!("/v1/queues/{queue}:claim"), &claim).await;
        assert!(
            claimed["jobs"].as_array().is_some_and(|jobs| jobs.len() <= 1),
            "it asked for one: {claimed}"
        );
        claimed["jobs"][0]["lease_token"].as_str().unwrap_or_else(|| panic!("{claimed}")).to_owned()
    }

    /// Claims the next job of a queue; returns its lease.
    pub(crate) async fn claim(&self, queue: &str) -> String {
        self.claim_for(queue, "30s").await
    }

    /// Says something under a lease, which must be held.
    pub(crate) async fn report(&self, lease: &str, verb: &str, body: &Value) {
        let _: Value = self.told(&format!("/v1/leases/{lease}:{verb}"), body).await;
    }
}
