//! A standby asks the leader about workers and tasks, of which it knows nothing itself, when its own health is asked for.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::{Version, header};
use axum::response::Response;
use ganger_proto::health::health_check_response::ServingStatus;
use ganger_proto::health::{HealthCheckRequest, HealthCheckResponse};
use prost::Message as _;

use super::call::Call;
use super::route::{Again, Place, Reading, Route};
use super::upstream::Carried;
use super::{Relay, Standing};

/// Where health is asked for.
const CHECK: &str = "/grpc.health.v1.Health/Check";
/// The leader answers within this, or does without.
const WITHIN: Duration = Duration::from_secs(2);
/// The longest answer: a status is three bytes.
const LONGEST: usize = 1 << 10;
/// Before each message: whether it is compressed, and how long it is.
const PREFIX: usize = 5;

impl Relay {
    /// What the leader says of one of its services; unknown if it does not say.
    pub(crate) async fn health_at_leader(&self, service: &str) -> ServingStatus {
        let asked = tokio::time::timeout(WITHIN, self.ask_health(service)).await;
        asked.ok().flatten().unwrap_or(ServingStatus::Unknown)
    }

    async fn ask_health(&self, service: &str) -> Option<ServingStatus> {
        let relay = &self.0;
        let Standing::At(leader) = relay.standing() else { return None };
        let request = Request::post(CHECK)
            .version(Version::HTTP_2)
            .header(header::CONTENT_TYPE, "application/grpc")
            .header(header::TE, "trailers")
            .body(Body::from(framed(service)?))
            .ok()?;
        let route = Route { place: Place::Leader, again: Again::Harmless, body: Reading::Kept };
        let mut call = Call::new(request, route);
        call.read(&relay.room).await.ok()?;
        let now = relay.service.clock().now().wall;
        match leader.carry(&mut call, &relay.seal, now, &relay.stopping).await {
            Carried::Answered(response) => told(response).await,
            Carried::Refused(_) => {
                relay.doubted.notify_one();
                None
            }
            Carried::NotHandled(_) | Carried::Lost(_) | Carried::Full(_) => None,
        }
    }
}

fn framed(service: &str) -> Option<Bytes> {
    let message = HealthCheckRequest { service: service.into() }.encode_to_vec();
    let length = u32::try_from(message.len()).ok()?;
    Some([&[0], &length.to_be_bytes()[..], &message].concat().into())
}

async fn told(response: Response) -> Option<ServingStatus> {
    let bytes = axum::body::to_bytes(response.into_body(), LONGEST).await.ok()?;
    let message = HealthCheckResponse::decode(bytes.get(PREFIX..)?).ok()?;
    ServingStatus::try_from(message.status).ok()
}
