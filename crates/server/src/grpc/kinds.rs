//! `ganger.v1.Kinds`: what REST offers under `/v1/kinds`.

use ganger_core::kind::KindSettings;
use ganger_core::name::Kind;
use ganger_proto::v1;
use ganger_proto::v1::kinds_server::Kinds;
use tonic::{Request, Response, Status};

use super::read::named;
use crate::service::Service;

/// The door.
#[derive(Debug)]
pub(super) struct KindsDoor(pub(super) Service);

#[tonic::async_trait]
impl Kinds for KindsDoor {
    async fn list(
        &self,
        _: Request<v1::ListKindsRequest>,
    ) -> Result<Response<v1::ListKindsResponse>, Status> {
        let kinds = self.0.kinds().await?;
        let kinds = kinds.into_iter().map(|(kind, settings)| shown(&kind, settings)).collect();
        Ok(Response::new(v1::ListKindsResponse { kinds }))
    }

    async fn get(&self, request: Request<v1::GetKindRequest>) -> Result<Response<v1::Kind>, Status> {
        let kind: Kind = named("kind", &request.get_ref().kind)?;
        let settings = self.0.kind(kind.clone()).await?;
        Ok(Response::new(shown(&kind, settings)))
    }

    async fn put(&self, request: Request<v1::PutKindRequest>) -> Result<Response<v1::Kind>, Status> {
        let request = request.into_inner();
        let kind: Kind = named("kind", &request.kind)?;
        let settings = self.0.change_kind(kind.clone(), request.transactional).await?;
        Ok(Response::new(shown(&kind, settings)))
    }
}

fn shown(kind: &Kind, settings: KindSettings) -> v1::Kind {
    v1::Kind { kind: kind.to_string(), transactional: settings.transactional }
}
