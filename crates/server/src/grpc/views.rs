//! `ganger.v1.Views`: what REST offers under `/v1/views`.

use ganger_core::name::QueueName;
use ganger_proto::convert::moment_to_wire;
use ganger_proto::v1;
use ganger_proto::v1::views_server::Views;
use tonic::{Request, Response, Status};

use super::read::{given, named};
use crate::http::problem::Problem;
use crate::service::{Service, View};

/// The door.
#[derive(Debug)]
pub(super) struct ViewsDoor(pub(super) Service);

#[tonic::async_trait]
impl Views for ViewsDoor {
    async fn list(
        &self,
        _: Request<v1::ListViewsRequest>,
    ) -> Result<Response<v1::ListViewsResponse>, Status> {
        let views = self.0.views().await?.into_iter().map(|(name, view)| shown(name, view)).collect();
        Ok(Response::new(v1::ListViewsResponse { views }))
    }

    async fn get(&self, request: Request<v1::GetViewRequest>) -> Result<Response<v1::View>, Status> {
        let name = name(&request.get_ref().name)?;
        let view = self.0.view(&name).await?;
        Ok(Response::new(shown(name, view)))
    }

    async fn put(
        &self,
        request: Request<v1::PutViewRequest>,
    ) -> Result<Response<v1::PutViewResponse>, Status> {
        let request = request.into_inner();
        let name = name(&request.name)?;
        let (view, created) = self.0.put_view(&name, request.query, given(request.description)).await?;
        Ok(Response::new(v1::PutViewResponse { view: Some(shown(name, view)), created }))
    }

    async fn delete(
        &self,
        request: Request<v1::DeleteViewRequest>,
    ) -> Result<Response<v1::DeleteViewResponse>, Status> {
        self.0.delete_view(&name(&request.get_ref().name)?).await?;
        Ok(Response::new(v1::DeleteViewResponse {}))
    }
}

/// Views have names like queues.
fn name(text: &str) -> Result<String, Problem> {
    named::<QueueName>("name", text).map(|name| name.to_string())
}

fn shown(name: String, view: View) -> v1::View {
    let description = view.description.unwrap_or_default();
    v1::View { name, query: view.query, description, updated_at: Some(moment_to_wire(view.updated_at)) }
}
