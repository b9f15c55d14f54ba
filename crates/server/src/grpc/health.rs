//! `grpc.health.v1.Health`: how this server is, for balancers and for people.
//!
//! | service | serves while |
//! |---|---|
//! | empty, or the name of a gRPC service | the server is ready, as `/readyz` says |
//! | `server` | this process answers |
//! | `store` | the store answers |
//! | `workers` | a worker is connected |
//! | `tasks` | no job that is due waits without a worker to run it |
//!
//! It is answered by the server that was asked, whoever leads. A standby does not know the workers, and asks the leader for the last
//! two: they are unknown while there is no leader.

use std::sync::Arc;
use std::time::Duration;

use ganger_core::event::WorkerState;
use ganger_core::job::State;
use ganger_proto::health::health_check_response::ServingStatus;
use ganger_proto::health::health_server::Health;
use ganger_proto::health::{HealthCheckRequest, HealthCheckResponse};
use tokio::sync::{Semaphore, mpsc};
use tokio::time::MissedTickBehavior;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status};

use crate::relay::{Relay, Relayed};
use crate::service::Service;

/// Most callers that watch at a time.
const WATCHERS: usize = 256;
/// How often a watched service is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// The gRPC services of this server.
const SERVICES: [&str; 12] = [
    "ganger.v1.Failures",
    "ganger.v1.Jobs",
    "ganger.v1.Keys",
    "ganger.v1.Kinds",
    "ganger.v1.Operations",
    "ganger.v1.Queues",
    "ganger.v1.Schedules",
    "ganger.v1.Server",
    "ganger.v1.Views",
    "ganger.v1.Worker",
    "ganger.v1.Workers",
    "dts.ClientService",
];

/// The door.
#[derive(Clone, Debug)]
pub(super) struct HealthDoor {
    service: Service,
    relay: Relay,
    watchers: Arc<Semaphore>,
}

/// What can be asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum About {
    Ready,
    Server,
    Store,
    Workers,
    Tasks,
}

impl About {
    fn parse(service: &str) -> Option<About> {
        match service {
            "" => Some(About::Ready),
            "server" => Some(About::Server),
            "store" => Some(About::Store),
            "workers" => Some(About::Workers),
            "tasks" => Some(About::Tasks),
            name => SERVICES.contains(&name).then_some(About::Ready),
        }
    }
}

impl HealthDoor {
    pub(super) fn new(service: Service, relay: Relay) -> HealthDoor {
        HealthDoor { service, relay, watchers: Arc::new(Semaphore::new(WATCHERS)) }
    }

    /// How it is, as far as the whole cluster knows.
    async fn look(&self, about: About) -> ServingStatus {
        match (self.look_here(about).await, about) {
            (ServingStatus::Unknown, About::Workers) => self.relay.health_at_leader("workers").await,
            (ServingStatus::Unknown, About::Tasks) => self.relay.health_at_leader("tasks").await,
            (known, _) => known,
        }
    }

    async fn look_here(&self, about: About) -> ServingStatus {
        let serves = match about {
            About::Server => Some(true),
            About::Ready => Some(self.service.readiness().await.iter().all(|check| check.trouble.is_none())),
            About::Store => {
                let checks = self.service.readiness().await;
                Some(checks.iter().filter(|check| check.name == "store").all(|check| check.trouble.is_none()))
            }
            About::Workers => self.workers().await.map(|workers| workers.connected > 0),
            About::Tasks => self.workers().await.map(|workers| workers.connected > 0 || workers.due == 0),
        };
        match serves {
            Some(true) => ServingStatus::Serving,
            Some(false) => ServingStatus::NotServing,
            None => ServingStatus::Unknown,
        }
    }

    async fn workers(&self) -> Option<Workers> {
        let stats = self.service.stats().await.ok()?;
        let there = |state: &WorkerState| match state {
            WorkerState::Available | WorkerState::Busy => true,
            WorkerState::Draining | WorkerState::Unavailable | WorkerState::Lost | WorkerState::Gone => false,
        };
        let connected = stats.workers.iter().filter(|(state, _)| there(state)).map(|(_, count)| count).sum();
        let due = stats.counts.iter().map(|(.., counts)| counts[State::Queued.index()]).sum();
        Some(Workers { connected, due })
    }
}

struct Workers {
    connected: usize,
    due: u64,
}

#[tonic::async_trait]
impl Health for HealthDoor {
    async fn check(
        &self,
        request: Request<HealthCheckRequest>,
    ) -> Result<Response<HealthCheckResponse>, Status> {
        let relayed = request.extensions().get::<Relayed>().is_some();
        let name = request.into_inner().service;
        let about = About::parse(&name).ok_or_else(|| Status::not_found("there is no such service"))?;
        // What another server asks on behalf of its caller goes no further.
        let status = if relayed { self.look_here(about).await } else { self.look(about).await };
        Ok(Response::new(HealthCheckResponse { status: status.into() }))
    }

    type WatchStream = ReceiverStream<Result<HealthCheckResponse, Status>>;

    async fn watch(
        &self,
        request: Request<HealthCheckRequest>,
    ) -> Result<Response<Self::WatchStream>, Status> {
        let place = self.watchers.clone().try_acquire_owned();
        let place = place.map_err(|_| Status::resource_exhausted("too many callers watch already"))?;
        let about = About::parse(&request.into_inner().service);
        let (told, stream) = mpsc::channel(1);
        let door = self.clone();
        tokio::spawn(async move {
            let _place = place;
            let mut ticks = tokio::time::interval(LOOK_EVERY);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            let mut last = None;
            loop {
                tokio::select! {
                    () = told.closed() => return,
                    () = door.service.stopping() => return,
                    _ = ticks.tick() => {}
                }
                let now = match about {
                    Some(about) => door.look(about).await,
                    // It may come to be with another version of the server.
                    None => ServingStatus::ServiceUnknown,
                };
                if last.replace(now) != Some(now)
                    && told.send(Ok(HealthCheckResponse { status: now.into() })).await.is_err()
                {
                    return;
                }
            }
        });
        Ok(Response::new(ReceiverStream::new(stream)))
    }
}
