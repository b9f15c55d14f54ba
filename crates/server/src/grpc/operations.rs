//! `ganger.v1.Operations`: what REST offers under `/v1/operations`.

use ganger_core::JobId;
use ganger_core::operation::{Action, Operation, Target};
use ganger_proto::convert::moment_to_wire;
use ganger_proto::v1;
use ganger_proto::v1::operations_server::Operations;
use ganger_proto::v1::start_operation_response::Answer;
use tonic::{Request, Response, Status};

use super::exec_allowed;
use super::intake::{self, Key};
use super::read::{asking, given, named};
use crate::http::ExecToken;
use crate::http::problem::{Code, Problem};
use crate::service::{Begun, NewOperation, NewTarget, Preview, Service, ServiceError};

/// The door.
#[derive(Debug)]
pub(super) struct OperationsDoor(pub(super) Service, pub(super) Option<ExecToken>);

#[tonic::async_trait]
impl Operations for OperationsDoor {
    async fn list(
        &self,
        _: Request<v1::ListOperationsRequest>,
    ) -> Result<Response<v1::ListOperationsResponse>, Status> {
        let operations = self.0.operations().await?.into_iter().map(shown).collect();
        Ok(Response::new(v1::ListOperationsResponse { operations }))
    }

    async fn start(
        &self,
        request: Request<v1::StartOperationRequest>,
    ) -> Result<Response<v1::StartOperationResponse>, Status> {
        let asking = asking(&request)?;
        let exec = exec_allowed(self.1.as_ref(), request.metadata());
        let key = Key::of(&request.get_ref().idempotency_key, request.metadata());
        let wire = request.into_inner();
        let said = (&wire.action, &wire.filter, &wire.ids, wire.all, wire.dry_run, wire.rate, &wire.reason);
        let fingerprint = intake::fingerprint("Operations/Start", &said)?;
        let key = intake::keyed(key, fingerprint, self.0.clock().now().wall)?;
        let dry_run = wire.dry_run;
        let mut new = wanted(wire)?.asked_by(&asking.0.who).keyed(key);
        new.exec_allowed = exec;
        asking.may_begin(&new)?;
        Ok(Response::new(begun(self.0.begin_operation(new, dry_run).await?)))
    }

    async fn get(
        &self,
        request: Request<v1::GetOperationRequest>,
    ) -> Result<Response<v1::Operation>, Status> {
        let id = named("id", &request.get_ref().id)?;
        Ok(Response::new(shown(self.0.operation(id).await?)))
    }

    async fn cancel(
        &self,
        request: Request<v1::CancelOperationRequest>,
    ) -> Result<Response<v1::Operation>, Status> {
        let id = named("id", &request.get_ref().id)?;
        Ok(Response::new(shown(self.0.cancel_operation(id).await?)))
    }
}

fn wanted(wire: v1::StartOperationRequest) -> Result<NewOperation, Problem> {
    let not_valid =
        |field: &str, what: &str| Problem::new(Code::ValidationFailed, format!("field `{field}` {what}"));
    let action = Action::parse(&wire.action).ok_or_else(|| {
        let known = Action::ALL.map(Action::as_str).join(", ");
        not_valid("action", &format!("is not known; it can be {known}"))
    })?;
    let target = match (wire.filter.is_empty(), wire.ids.is_empty(), wire.all) {
        (false, true, false) => NewTarget::filter(wire.filter)?,
        (true, false, false) => {
            let ids: Result<Vec<JobId>, Problem> = wire.ids.iter().map(|id| named("ids", id)).collect();
            NewTarget::ids(ids?).map_err(ServiceError::from)?
        }
        (true, true, true) => NewTarget::All,
        _ => {
            let what = "is not alone: exactly one of `filter`, `ids` and `all` says which jobs";
            return Err(not_valid("filter", what));
        }
    };
    let new = NewOperation::new(action, target, rate(wire.rate), given(wire.reason));
    Ok(new.map_err(ServiceError::from)?)
}

/// Zero is the usual rate.
pub(super) fn rate(wire: u32) -> Option<u32> {
    (wire != 0).then_some(wire)
}

/// What became of asking for an operation.
pub(super) fn begun(begun: Begun) -> v1::StartOperationResponse {
    match begun {
        Begun::Started(started) => v1::StartOperationResponse {
            answer: Some(Answer::Operation(shown(started.operation))),
            replayed: started.replayed,
        },
        Begun::Preview(preview) => v1::StartOperationResponse {
            answer: Some(Answer::Preview(preview_shown(preview))),
            replayed: false,
        },
    }
}

fn shown(operation: Operation) -> v1::Operation {
    let skipped = operation.skipped_in_all();
    let (filter, ids, all) = match operation.target {
        Target::Filter { text, .. } => (text, 0, false),
        Target::Ids(ids) => (String::new(), ids.len(), false),
        Target::All => (String::new(), 0, true),
    };
    v1::Operation {
        id: operation.id.to_string(),
        action: operation.action.as_str().into(),
        state: operation.state.as_str().into(),
        filter,
        ids: ids as u64,
        all,
        rate: operation.rate,
        reason: operation.reason.unwrap_or_default(),
        by: operation.by.unwrap_or_default(),
        total: operation.total,
        created_at: Some(moment_to_wire(operation.created_at)),
        finished_at: operation.finished_at.map(moment_to_wire),
        examined: operation.examined,
        done: operation.done,
        skipped,
        skipped_by: operation.skipped.iter().map(|(why, n)| (why.as_str().to_owned(), *n)).collect(),
    }
}

fn preview_shown(preview: Preview) -> v1::OperationPreview {
    v1::OperationPreview {
        matched: preview.matched,
        skipped: preview.skipped,
        by_state: preview.by_state.iter().map(|(state, n)| (state.as_str().to_owned(), *n)).collect(),
        by_kind: preview.by_kind.iter().map(|(kind, n)| (kind.to_string(), *n)).collect(),
        by_queue: preview.by_queue.iter().map(|(queue, n)| (queue.to_string(), *n)).collect(),
        sample: preview.sample.iter().map(ToString::to_string).collect(),
        examined: preview.survey.examined as u64,
        complete: preview.survey.complete,
    }
}
