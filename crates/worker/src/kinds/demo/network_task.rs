//! `network_task`: a few GETs at a time.
//!
//! The payload may name up to five targets: `{"targets": ["https://…"]}`, a list, or a text of addresses. They are asked as
//! the kind `http` asks, guarded against private addresses. Without targets the worker asks itself, one to five times: at an endpoint on the
//! loopback interface that it opens at the first such job, so that a demonstration needs no network and disturbs nobody's.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use futures::future::join_all;
use reqwest::Client;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use super::content::Content;
use crate::context::Ctx;
use crate::error::JobError;
use crate::job::Job;
use crate::kinds::http::Http;

pub(super) const NETWORK_TASK: Job<Content, Fetched> = Job::new("network_task");

/// Most targets of one job.
const TARGETS: usize = 5;
/// How long one GET of the worker's own endpoint may take.
const TIMEOUT: Duration = Duration::from_secs(30);

/// What was done.
#[derive(Debug, Serialize)]
pub(super) struct Fetched {
    requests: usize,
    statuses: Vec<u16>,
}

/// The handler, with what it makes at its first job.
#[derive(Clone)]
pub(super) struct Network {
    http: Http,
    own: Arc<OnceCell<SocketAddr>>,
    client: Arc<OnceLock<Client>>,
}

impl Network {
    pub(super) fn new(http: Http) -> Network {
        Network { http, own: Arc::default(), client: Arc::default() }
    }

    pub(super) async fn run(self, ctx: Ctx, content: Content) -> Result<Fetched, JobError> {
        content.check()?;
        let targets = targets(&content.0)?;
        let answers = if targets.is_empty() {
            let url = format!("http://{}/", self.own_endpoint().await?);
            let times = rand::random_range(1..=TARGETS);
            let asked = (0..times).map(|_| self.ask_itself(&url));
            ctx.unless_cancelled(join_all(asked)).await?
        } else {
            join_all(targets.into_iter().map(|url| self.ask(&ctx, url))).await
        };
        let statuses = answers.into_iter().collect::<Result<Vec<u16>, JobError>>()?;
        Ok(Fetched { requests: statuses.len(), statuses })
    }

    /// Where the worker answers itself.
    async fn own_endpoint(&self) -> Result<SocketAddr, JobError> {
        let open = || async {
            let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
            let address = listener.local_addr()?;
            let routes = Router::new().route("/", get(|| async { "ok\n" }));
            tokio::spawn(async move { axum::serve(listener, routes).await });
            Ok::<_, std::io::Error>(address)
        };
        Ok(*self.own.get_or_try_init(open).await?)
    }

    async fn ask_itself(&self, url: &str) -> Result<u16, JobError> {
        let client = match self.client.get() {
            Some(client) => client.clone(),
            None => {
                let client = Client::builder().no_proxy().timeout(TIMEOUT).build()?;
                self.client.get_or_init(|| client).clone()
            }
        };
        Ok(client.get(url).send().await?.error_for_status()?.status().as_u16())
    }

    async fn ask(&self, ctx: &Ctx, url: String) -> Result<u16, JobError> {
        let request = serde_json::from_value(json!({ "url": url })).map_err(JobError::fatal)?;
        Ok(self.http.clone().run(ctx.clone(), request).await?.status)
    }
}

#[derive(Deserialize)]
struct Named {
    targets: Vec<String>,
}

/// The targets that a payload names; a payload that speaks of something else names none.
fn targets(content: &str) -> Result<Vec<String>, JobError> {
    let is_url = |word: &&str| word.starts_with("http://") || word.starts_with("https://");
    let named = match serde_json::from_str::<Value>(content) {
        Ok(json @ Value::Array(_)) => serde_json::from_value(json).map_err(JobError::fatal)?,
        Ok(json @ Value::Object(_)) if json.get("targets").is_some() => {
            serde_json::from_value::<Named>(json).map_err(JobError::fatal)?.targets
        }
        _ => {
            let words = content.split(|c: char| c.is_whitespace() || c == ',');
            words.filter(is_url).map(str::to_owned).collect::<Vec<String>>()
        }
    };
    if named.len() > TARGETS {
        return Err(JobError::fatal(format!("names {} targets, the limit is {TARGETS}", named.len())));
    }
    Ok(named)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::guard::Guard;

    fn network() -> Network {
        Network::new(Http::new(Guard::default()))
    }

    #[test]
    fn targets_are_found_in_a_document_a_list_or_a_text() {
        let found = |content: &str| targets(content).unwrap();
        assert_eq!(found(r#"{"targets": ["http://a/"]}"#), ["http://a/"]);
        assert_eq!(found(r#"["http://a/", "https://b/"]"#), ["http://a/", "https://b/"]);
        assert_eq!(found("fetch http://a/,https://b/ please"), ["http://a/", "https://b/"]);
        for none in ["", "Network job 1", "{}", "7", r#"{"target": "x"}"#] {
            assert!(found(none).is_empty(), "{none}");
        }
        let list = |n: usize| serde_json::to_string(&vec!["http://a/"; n]).unwrap();
        assert_eq!(found(&list(TARGETS)).len(), TARGETS);
        for wrong in [list(TARGETS + 1).as_str(), r#"{"targets": 7}"#, "[7]"] {
            assert!(targets(wrong).unwrap_err().is_fatal(), "{wrong}");
        }
    }

    #[tokio::test]
    async fn without_targets_it_asks_itself() {
        let network = network();
        for _ in 0..3 {
            let run = network.clone().run(Ctx::for_test("network_task"), Content("Network job".into()));
            let fetched = run.await.unwrap();
            assert!((1..=TARGETS).contains(&fetched.requests), "{fetched:?}");
            assert!(fetched.statuses.iter().all(|status| *status == 200), "{fetched:?}");
        }
    }

    /// What the payload names obeys the guard, also if it is the very endpoint that the worker may ask itself.
    #[tokio::test]
    async fn a_target_on_the_loopback_interface_is_refused() {
        let network = network();
        let own = network.own_endpoint().await.unwrap();
        let run = network.run(Ctx::for_test("network_task"), Content(format!("http://{own}/")));
        assert!(run.await.is_err());
    }

    #[tokio::test]
    async fn a_get_that_fails_fails_the_attempt() {
        let network = network();
        let missing = format!("http://{}/nothing", network.own_endpoint().await.unwrap());
        assert!(network.ask_itself(&missing).await.is_err());
    }
}
