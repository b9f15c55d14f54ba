//! `ganger.v1.Worker`: the session of a worker process, and the word of a supervisor.

use std::pin::Pin;
use std::time::Duration;

use futures::Stream;
use ganger_core::access::Caller;
use ganger_core::limits;
use ganger_core::message::{Hello, ToLeader};
use ganger_proto::v1::worker_server::Worker;
use ganger_proto::{convert, v1};
use tonic::{Request, Response, Status, Streaming};

use super::session::SessionStream;
use crate::auth::Asking;
use crate::coordinator_thread::Phase;
use crate::gateway::NotOpened;
use crate::inbox::Message;
use crate::service::Service;

/// A stream whose hello does not come within this is closed.
const HELLO_WITHIN: Duration = Duration::from_secs(10);

/// The door for workers.
#[derive(Debug)]
pub(super) struct WorkerDoor {
    service: Service,
}

impl WorkerDoor {
    pub(super) fn new(service: Service) -> WorkerDoor {
        WorkerDoor { service }
    }

    /// A leader below a worker's highest term takes a higher one, so that number must be a plausible one.
    fn believe(&self, hello: &Hello) -> Result<(), Status> {
        let Phase::Leading(term) = *self.service.phase().borrow() else { return Ok(()) };
        let ahead = hello.highest.number.saturating_sub(term.number);
        if ahead > limits::TERMS_AHEAD {
            let most = limits::TERMS_AHEAD;
            let text = format!("field `hello.highest.number` is {ahead} terms ahead, the limit is {most}");
            return Err(Status::invalid_argument(text));
        }
        Ok(())
    }
}

#[tonic::async_trait]
impl Worker for WorkerDoor {
    type SessionStream = Pin<Box<dyn Stream<Item = Result<v1::ToWorker, Status>> + Send>>;

    async fn session(
        &self,
        request: Request<Streaming<v1::FromWorker>>,
    ) -> Result<Response<Self::SessionStream>, Status> {
        let asking = request.extensions().get::<Asking>().cloned();
        let asking = asking.ok_or_else(|| Status::unauthenticated("nobody found out who asks"))?;
        let mut inbound = request.into_inner();
        let mut hello =
            tokio::time::timeout(HELLO_WITHIN, greeting(&mut inbound)).await.map_err(|_| {
                Status::deadline_exceeded(format!("no hello came within {} s", HELLO_WITHIN.as_secs()))
            })??;
        self.believe(&hello)?;
        serves_its_own(&asking.0, &hello)?;
        if !self.service.auth().owners().take(hello.session, &asking.0) {
            return Err(not_his());
        }
        let outbox = self.service.gateway().open(&mut hello).map_err(not_opened)?;
        let (session, stream) = (hello.session, hello.stream);
        if !self.service.inbox().from_worker(session, stream, ToLeader::Hello(hello)).await {
            return Err(not_opened(NotOpened::NotLeading));
        }
        let down = SessionStream::start(self.service.clone(), asking, (session, stream), inbound, outbox);
        Ok(Response::new(Box::pin(down.into_stream())))
    }

    async fn report_death(
        &self,
        request: Request<v1::ReportDeathRequest>,
    ) -> Result<Response<v1::ReportDeathResponse>, Status> {
        let session = convert::session_id_from_wire(&request.get_ref().session)?;
        let asking = request.extensions().get::<Asking>();
        if !asking.is_some_and(|asking| self.service.auth().owners().allow(session, &asking.0)) {
            return Err(not_his());
        }
        if !self.service.inbox().send(Message::WorkerDied(session)).await {
            return Err(not_opened(NotOpened::NotLeading));
        }
        Ok(Response::new(v1::ReportDeathResponse {}))
    }
}

/// The first message of a stream.
async fn greeting(inbound: &mut Streaming<v1::FromWorker>) -> Result<Hello, Status> {
    let first = inbound.message().await?.ok_or_else(|| {
        Status::invalid_argument("field `hello` is missing: the stream ended before its first message")
    })?;
    let ToLeader::Hello(hello) = ToLeader::try_from(first)? else {
        return Err(Status::invalid_argument("field `hello` is missing: it must be the first message"));
    };
    Ok(hello)
}

/// A worker that is confined to some queues names those that it serves, and only such.
fn serves_its_own(caller: &Caller, hello: &Hello) -> Result<(), Status> {
    if caller.queues.is_all() {
        return Ok(());
    }
    let served = &hello.worker.queues;
    match served.iter().find(|queue| !caller.sees(queue)) {
        Some(queue) => {
            Err(Status::permission_denied(format!("queue `{queue}` is not among those of this token")))
        }
        None if served.is_empty() => Err(Status::permission_denied(
            "this token is confined to some queues: the worker must name those that it serves",
        )),
        None => Ok(()),
    }
}

fn not_his() -> Status {
    Status::permission_denied("another caller opened this session: a worker begins one of its own")
}

fn not_opened(reason: NotOpened) -> Status {
    match reason {
        NotOpened::NotLeading => Status::unavailable(reason.to_string()),
        NotOpened::Stale => Status::aborted(reason.to_string()),
        NotOpened::TooMany => Status::resource_exhausted(reason.to_string()),
    }
}
