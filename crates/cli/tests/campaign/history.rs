//! What clients were told, and what is recorded at the end; `checker.rs` compares the two.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::watch;

use super::checker::{History, Recorded, Told};
use super::now;

pub(crate) use super::checker::Verdict;

/// Submissions under way at once.
const AT_ONCE: usize = 8;
const GIVES_UP_AFTER: Duration = Duration::from_secs(90);

/// A client that remembers everything it was told.
#[derive(Clone)]
pub(crate) struct Client {
    http: reqwest::Client,
    urls: Arc<[String]>,
    told: Arc<Mutex<Told>>,
    acks: Arc<watch::Sender<usize>>,
}

impl Client {
    /// A client of that server.
    pub(crate) fn new(url: &str) -> Client {
        Client::of(&[url.to_owned()])
    }

    /// A client that speaks to all of these servers in turn. Where there are several it also submits without
    /// keys, reads what it was told through another server, and cancels.
    pub(crate) fn of(urls: &[String]) -> Client {
        let http = reqwest::Client::builder().timeout(Duration::from_secs(10)).build();
        Client {
            http: http.expect("an HTTP client"),
            urls: urls.into(),
            told: Arc::default(),
            acks: Arc::new(watch::Sender::new(0)),
        }
    }

    /// Submits so many jobs, a few at once, each until it is acknowledged.
    pub(crate) async fn submit(self, jobs: usize, run_ms: &'static [u64]) {
        let next = Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let tasks: Vec<_> = (0..AT_ONCE)
            .map(|_| {
                let (client, next) = (self.clone(), next.clone());
                tokio::spawn(async move {
                    loop {
                        let n = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                        if n >= jobs {
                            return;
                        }
                        client.submit_one(n, run_ms[n % run_ms.len()]).await;
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.expect("a submitting task ends");
        }
    }

    async fn submit_one(&self, n: usize, run_ms: u64) {
        let key = format!("campaign-{n}");
        // Every job tells in its result which attempt produced it.
        let body = json!({
            "kind": "fail", "payload": {"times": 0, "run_ms": run_ms}, "priority": (n % 3) as i64,
            "max_attempts": 50, "max_lost": 50, "tags": ["campaign"],
        });
        let until = now() + GIVES_UP_AFTER;
        let mut tries = 0;
        loop {
            tries += 1;
            let mut request = self.http.post(format!("{}/v1/jobs", self.url(n + tries)));
            // Without a key an unanswered submission may have been taken in; the next one is another job.
            if self.urls.len() == 1 || n % 5 != 4 {
                request = request.header("idempotency-key", &key);
            }
            if let Ok(answer) = request.json(&body).send().await
                && answer.status().is_success()
                && let Ok(job) = answer.json::<Value>().await
            {
                let id = job["id"].as_str().expect("an id").to_owned();
                self.acknowledged(&key, id.clone(), tries);
                if self.urls.len() > 1 {
                    self.follow_up(n, &id, tries).await;
                }
                return;
            }
            assert!(now() < until, "{key} was not accepted within {GIVES_UP_AFTER:?}");
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
    }

    /// Reads a job that was acknowledged through another server than the one that did, and cancels some.
    async fn follow_up(&self, n: usize, id: &str, tries: usize) {
        let path = format!("/v1/jobs/{id}");
        let read = self.http.get(format!("{}{path}", self.url(n + tries + 1))).send().await;
        if read.is_ok_and(|answer| answer.status() == reqwest::StatusCode::NOT_FOUND) {
            self.told.lock().expect("no panic under the lock").denied.push(id.to_owned());
        }
        if n % 7 == 3 {
            self.told.lock().expect("no panic under the lock").cancels.insert(id.to_owned());
            let cancel = self.http.post(format!("{}{path}:cancel", self.url(n + tries + 2)));
            let _ = cancel.send().await;
        }
    }

    fn url(&self, n: usize) -> &str {
        &self.urls[n % self.urls.len()]
    }

    fn acknowledged(&self, key: &str, id: String, tries: usize) {
        let mut told = self.told.lock().expect("no panic under the lock");
        told.resent += tries - 1;
        told.acknowledged(key, id);
        self.acks.send_replace(told.acked.len());
    }

    /// Waits until so many jobs are acknowledged.
    pub(crate) async fn wait_for_acks(&self, count: usize) {
        let mut acks = self.acks.subscribe();
        let enough = tokio::time::timeout(GIVES_UP_AFTER, acks.wait_for(|n| *n >= count)).await;
        enough.expect("acknowledgements go on").expect("the sender lives");
    }

    /// Waits until every acknowledged job is final, or none became so for a time. Looks at final states
    /// on the way: they never change.
    pub(crate) async fn wait_until_over(&self, standstill: Duration) {
        let mut least = usize::MAX;
        let mut until = now() + standstill;
        // Bounded: there are only so many jobs that can end.
        loop {
            let open = self.look().await;
            if open < least {
                (least, until) = (open, now() + standstill);
            }
            if open == 0 || now() > until {
                return;
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    /// Waits until that worker holds a lease.
    pub(crate) async fn wait_until_busy(&self, worker: &str) {
        let until = now() + GIVES_UP_AFTER;
        loop {
            if let Some(workers) = self.get("/v1/workers").await {
                let items = workers["items"].as_array().cloned().unwrap_or_default();
                let busy = |w: &Value| {
                    w["name"] == worker && w["leases"].as_array().is_some_and(|leases| !leases.is_empty())
                };
                if items.iter().any(busy) {
                    return;
                }
            }
            assert!(now() < until, "worker {worker} never had anything to do");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Looks at every job that is not known to be final; tells how many are not.
    async fn look(&self) -> usize {
        let ids: Vec<String> = {
            let told = self.told.lock().expect("no panic under the lock");
            told.acked.values().filter(|id| !told.finals.contains_key(*id)).cloned().collect()
        };
        let mut open = 0;
        for id in ids {
            match self.get(&format!("/v1/jobs/{id}")).await {
                Some(job) if job["finished_at"].is_string() => {
                    self.told.lock().expect("no panic under the lock").saw_final(&id, &job);
                }
                Some(_) | None => open += 1,
            }
        }
        open
    }

    /// What was told, and what is recorded of every job that was acknowledged.
    pub(crate) async fn history(&self) -> History {
        let told = self.told.lock().expect("no panic under the lock").clone();
        let mut recorded = BTreeMap::new();
        for id in told.acked.values() {
            let job = self.get(&format!("/v1/jobs/{id}")).await;
            let attempts = self.get(&format!("/v1/jobs/{id}/attempts")).await.unwrap_or_default();
            let attempts = attempts["items"].as_array().cloned().unwrap_or_default();
            let result = self.get(&format!("/v1/jobs/{id}/result")).await.unwrap_or_default();
            recorded.insert(id.clone(), Recorded { job, attempts, result });
        }
        History { told, recorded }
    }

    /// Compares what was told with what is recorded.
    pub(crate) async fn verdict(&self) -> Verdict {
        let mut verdict = self.history().await.verdict();
        verdict.refused_reports = self.refused_reports().await;
        verdict
    }

    /// Counted by each server since it started.
    async fn refused_reports(&self) -> u64 {
        let mut all = 0;
        for url in &*self.urls {
            let text = match self.http.get(format!("{url}/metrics")).send().await {
                Ok(answer) => answer.text().await.unwrap_or_default(),
                Err(_) => String::new(),
            };
            let line = text.lines().find(|line| line.starts_with("ganger_leases_lost_total "));
            let count = line.and_then(|l| l.split(' ').nth(1)).and_then(|n| n.parse::<f64>().ok());
            all += count.map_or(0, |n| n as u64);
        }
        all
    }

    /// The answer of the first server that gives one.
    async fn get(&self, path: &str) -> Option<Value> {
        for url in &*self.urls {
            if let Ok(answer) = self.http.get(format!("{url}{path}")).send().await
                && answer.status().is_success()
                && let Ok(found) = answer.json().await
            {
                return Some(found);
            }
        }
        None
    }
}
