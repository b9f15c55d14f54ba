//! `ganger.v1.Workers`: what REST offers under `/v1/workers`.

use ganger_core::coordinator::view::WorkerView;
use ganger_core::job::State;
use ganger_proto::convert::{duration_to_wire, moment_to_wire};
use ganger_proto::v1;
use ganger_proto::v1::workers_server::Workers;
use tonic::{Request, Response, Status};

use super::read::named;
use crate::service::Service;

/// The door.
#[derive(Debug)]
pub(super) struct WorkersDoor(pub(super) Service);

#[tonic::async_trait]
impl Workers for WorkersDoor {
    async fn list(
        &self,
        _: Request<v1::ListWorkersRequest>,
    ) -> Result<Response<v1::ListWorkersResponse>, Status> {
        let workers = self.0.workers().await?.into_iter().map(shown).collect();
        Ok(Response::new(v1::ListWorkersResponse { workers }))
    }

    async fn get(&self, request: Request<v1::GetWorkerRequest>) -> Result<Response<v1::WorkerView>, Status> {
        let id = named("id", &request.get_ref().id)?;
        let worker = self.0.worker(id).await?;
        let held = worker.left.as_ref().map(|left| left.jobs.clone()).unwrap_or_default();
        let mut view = shown(worker);
        if let Some(left) = &mut view.left {
            let state = |state: Option<State>| state.map_or("", State::as_str).to_owned();
            let states = self.0.states(&held).await?.into_iter();
            left.jobs =
                states.map(|(job, now)| v1::HeldJob { job: job.to_string(), state: state(now) }).collect();
        }
        Ok(Response::new(view))
    }

    async fn drain(
        &self,
        request: Request<v1::DrainWorkerRequest>,
    ) -> Result<Response<v1::WorkerView>, Status> {
        let id = named("id", &request.get_ref().id)?;
        Ok(Response::new(shown(self.0.drain_worker(id).await?)))
    }
}

fn shown(view: WorkerView) -> v1::WorkerView {
    let leases = view.leases.iter().map(|lease| v1::LeaseView {
        job: lease.job.to_string(),
        attempt: lease.attempt,
        threads: lease.threads.into(),
        fence: lease.fence.to_string(),
        since: Some(moment_to_wire(lease.since)),
    });
    v1::WorkerView {
        id: view.session.to_string(),
        state: view.state.as_str().into(),
        threads: view.worker.threads.into(),
        threads_used: view.used.into(),
        stuck: view.stuck as u64,
        opened_at: Some(moment_to_wire(view.opened_at)),
        silent: Some(duration_to_wire(view.silent)),
        leases: leases.collect(),
        left: view.left.map(|left| v1::WorkerLeft {
            at: Some(moment_to_wire(left.at)),
            why: left.why.told(),
            held: left.held as u64,
            jobs: Vec::new(),
        }),
        name: view.worker.name,
        queues: view.worker.queues.iter().map(ToString::to_string).collect(),
        kinds: view.worker.kinds.iter().map(ToString::to_string).collect(),
        labels: view.worker.labels.into_iter().collect(),
        version: view.worker.version,
        local: view.worker.local,
    }
}
