//! `ganger.v1.Keys`: what REST offers under `/v1/keys` and `/v1/queues/{queue}/keys`.

use ganger_core::change::KeyClosure;
use ganger_core::coordinator::view::KeyView;
use ganger_core::limits;
use ganger_proto::convert::moment_to_wire;
use ganger_proto::v1;
use ganger_proto::v1::close_key_request::Long;
use ganger_proto::v1::keys_server::Keys;
use tonic::{Request, Response, Status};

use super::read::{self, asking, duration, moment, named_if, own_queue, required};
use crate::http::problem::{Code, Problem};
use crate::service::{ClosedFor, Service, ServiceError, check_key};

/// The door.
#[derive(Debug)]
pub(super) struct KeysDoor(pub(super) Service);

#[tonic::async_trait]
impl Keys for KeysDoor {
    async fn list(
        &self,
        request: Request<v1::ListKeysRequest>,
    ) -> Result<Response<v1::ListKeysResponse>, Status> {
        let asking = asking(&request)?;
        let request = request.into_inner();
        let queue = named_if("queue", &request.queue)?;
        match &queue {
            Some(queue) => asking.must_see(queue)?,
            None => asking.must_see_all()?,
        }
        let (keys, total) = self.0.keys(queue, read::limit(request.limit, limits::PAGE_MAX)?).await?;
        let keys = keys.into_iter().map(shown).collect();
        Ok(Response::new(v1::ListKeysResponse { keys, total: total as u64 }))
    }

    async fn close(&self, request: Request<v1::CloseKeyRequest>) -> Result<Response<v1::Key>, Status> {
        let queue = own_queue(&request, &request.get_ref().queue)?;
        let request = request.into_inner();
        let key = valid(request.key)?;
        let closed = match required("for", request.long)? {
            Long::For(long) => duration("for", Some(long))?.map(ClosedFor::For),
            Long::Until(at) => moment("until", Some(at))?.map(ClosedFor::Until),
        };
        let end = required("for", closed)?.end(self.0.clock().now().wall).map_err(ServiceError::from)?;
        let view = self.0.close_key(KeyClosure { queue, key, until: Some(end) }).await?;
        Ok(Response::new(shown(view)))
    }

    async fn open(&self, request: Request<v1::OpenKeyRequest>) -> Result<Response<v1::Key>, Status> {
        let queue = own_queue(&request, &request.get_ref().queue)?;
        let request = request.into_inner();
        let key = valid(request.key)?;
        Ok(Response::new(shown(self.0.close_key(KeyClosure { queue, key, until: None }).await?)))
    }
}

fn valid(key: String) -> Result<String, Problem> {
    check_key(&key)
        .map_err(|error| Problem::new(Code::InvalidParameter, format!("field `key` {}", error.problem)))?;
    Ok(key)
}

fn shown(view: KeyView) -> v1::Key {
    v1::Key {
        queue: view.queue.to_string(),
        key: view.key,
        waiting: view.waiting,
        running: view.running,
        closed_until: view.closed_until.map(moment_to_wire),
    }
}
