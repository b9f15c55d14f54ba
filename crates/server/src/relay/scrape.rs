//! A standby asks the leader for the gauges of the cluster when it is scraped, so that any server answers for it.
//!
//! The answer is text and is passed on as it is. A leader that cannot be reached, takes too long or says anything else must not
//! keep the standby from telling what it counted itself: then there is no answer, and the scrape says so.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::http::header;
use axum::response::Response;

use super::call::Call;
use super::route::{Again, Place, Reading, Route};
use super::upstream::Carried;
use super::{Inner, Standing};
use crate::metrics::CONTENT_TYPE;

/// Where metrics are.
pub(super) const METRICS: &str = "/metrics";
/// The leader answers within this, or does without. Prometheus waits ten seconds by default.
const WITHIN: Duration = Duration::from_secs(2);
/// The longest answer: more than all labels at their bounds.
const LONGEST: usize = 4 << 20;

/// What the leader told of the cluster, if it did.
#[derive(Clone, Debug)]
pub(crate) struct LeaderTold(pub(crate) Option<Arc<str>>);

impl Inner {
    /// The same request, and with it what the leader tells.
    pub(super) async fn with_gauges(&self, request: Request) -> Request {
        let (mut parts, body) = request.into_parts();
        let asked = Request::from_parts(parts.clone(), Body::empty());
        let told = tokio::time::timeout(WITHIN, self.ask_gauges(asked)).await.ok().flatten();
        parts.extensions.insert(LeaderTold(told));
        Request::from_parts(parts, body)
    }

    async fn ask_gauges(&self, request: Request) -> Option<Arc<str>> {
        let Standing::At(leader) = self.standing() else { return None };
        let route = Route { place: Place::Leader, again: Again::Harmless, body: Reading::Kept };
        let mut call = Call::new(request, route);
        call.read(&self.room).await.ok()?;
        let now = self.service.clock().now().wall;
        match leader.carry(&mut call, &self.seal, now, &self.stopping).await {
            Carried::Answered(response) if is_scrape(&response) => {
                let bytes = axum::body::to_bytes(response.into_body(), LONGEST).await.ok()?;
                Some(std::str::from_utf8(&bytes).ok()?.into())
            }
            Carried::Refused(_) => {
                self.doubted.notify_one();
                None
            }
            Carried::Answered(_) | Carried::NotHandled(_) | Carried::Lost(_) | Carried::Full(_) => None,
        }
    }
}

fn is_scrape(response: &Response) -> bool {
    let media = response.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    response.status().is_success() && media == Some(CONTENT_TYPE)
}
