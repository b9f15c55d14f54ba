//! What the end-to-end tests share.

use std::future::Future;
use std::time::Duration;

use ganger_core::JobId;
use ganger_core::change::Submitted;
use ganger_core::job::{JobSpec, State};
use ganger_server::Service;
use ganger_server::service::JobView;

/// No wait of a test is longer.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// Waits for something that must come.
pub async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    match tokio::time::timeout(PATIENCE, future).await {
        Ok(value) => value,
        Err(_) => panic!("{what} did not happen within {PATIENCE:?}"),
    }
}

/// Looks again and again until it holds.
pub async fn eventually<F: Future<Output = bool>>(what: &str, mut holds: impl FnMut() -> F) {
    within(what, async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
}

/// A job of this kind.
pub fn spec(kind: &str, payload: &str) -> JobSpec {
    JobSpec { payload: payload.into(), ..JobSpec::new(kind.parse().unwrap()) }
}

/// Submits one job.
pub async fn submit(service: &Service, spec: JobSpec) -> JobId {
    let answer = service.submit(None, vec![spec]).await.unwrap();
    let Submitted::Accepted(intake) = answer else { panic!("{answer:?}") };
    intake[0].job()
}

/// Waits for a job to be final.
pub async fn ended(service: &Service, job: JobId) -> JobView {
    let view = service.wait(job, PATIENCE).await.unwrap();
    assert!(view.stored.state.is_final(), "{:?}", view.stored.state);
    view
}

/// Waits for a job to be in this state.
pub async fn is_in(service: &Service, job: JobId, state: State) {
    eventually(state.as_str(), || async { service.job(job).await.unwrap().stored.state == state }).await;
}

/// Everything `/metrics` tells.
pub async fn metrics(url: &str) -> String {
    let answer = within("the metrics", reqwest::get(format!("{url}/metrics"))).await.unwrap();
    within("the metrics", answer.text()).await.unwrap()
}

/// One number of `/metrics`; `None` if it is not told.
pub async fn metric(url: &str, name: &str) -> Option<f64> {
    let text = metrics(url).await;
    let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
    Some(value.parse().unwrap())
}
