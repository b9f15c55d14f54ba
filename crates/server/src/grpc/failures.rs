//! `ganger.v1.Failures`: what REST offers under `/v1/failures`.

use ganger_core::fingerprint::{FailureGroup, Fingerprint};
use ganger_core::limits;
use ganger_core::operation::Action;
use ganger_proto::convert::{duration_to_wire, moment_to_wire};
use ganger_proto::v1;
use ganger_proto::v1::failures_server::Failures;
use tonic::{Request, Response, Status};

use super::exec_allowed;
use super::intake::{self, Key};
use super::operations::{begun, rate};
use super::read::{self, asking, duration, given, named, named_if};
use crate::http::ExecToken;
use crate::http::problem::{Code, Problem};
use crate::service::{FAILURES_WINDOW, NO_WINDOW, NewOperation, Recent, Service, ServiceError};

/// The door.
#[derive(Debug)]
pub(super) struct FailuresDoor(pub(super) Service, pub(super) Option<ExecToken>);

#[tonic::async_trait]
impl Failures for FailuresDoor {
    async fn list(
        &self,
        request: Request<v1::ListFailuresRequest>,
    ) -> Result<Response<v1::ListFailuresResponse>, Status> {
        let request = request.into_inner();
        let window = duration("window", request.window)?.unwrap_or(FAILURES_WINDOW);
        if window.is_zero() {
            return Err(Problem::new(Code::ValidationFailed, format!("field `window` {NO_WINDOW}")).into());
        }
        let kind = named_if("kind", &request.kind)?;
        let limit = read::limit(request.limit, limits::PAGE_MAX)?;
        let seen = self.0.failures(window, kind, limit).await?;
        let group = |(group, recent): (FailureGroup, Option<Recent>)| v1::FailureGroup {
            recent: recent.map(|recent| v1::RecentFailures {
                count: recent.count(),
                trend: recent.trend,
                share: recent.share,
            }),
            ..shown(group)
        };
        Ok(Response::new(v1::ListFailuresResponse {
            groups: seen.groups.into_iter().map(group).collect(),
            from: seen.window.map(|window| moment_to_wire(window.from())),
            to: seen.window.map(|window| moment_to_wire(window.to())),
            step: seen.window.map(|window| duration_to_wire(window.step())),
        }))
    }

    async fn get(
        &self,
        request: Request<v1::GetFailureRequest>,
    ) -> Result<Response<v1::FailureGroup>, Status> {
        let fingerprint = named("fingerprint", &request.get_ref().fingerprint)?;
        Ok(Response::new(shown(self.0.failure(fingerprint).await?)))
    }

    async fn replay(
        &self,
        request: Request<v1::FailureRequest>,
    ) -> Result<Response<v1::StartOperationResponse>, Status> {
        self.operate("Failures/Replay", Action::Replay, request).await
    }

    async fn discard(
        &self,
        request: Request<v1::FailureRequest>,
    ) -> Result<Response<v1::StartOperationResponse>, Status> {
        self.operate("Failures/Discard", Action::Delete, request).await
    }
}

impl FailuresDoor {
    async fn operate(
        &self,
        call: &str,
        action: Action,
        request: Request<v1::FailureRequest>,
    ) -> Result<Response<v1::StartOperationResponse>, Status> {
        let exec = exec_allowed(self.1.as_ref(), request.metadata());
        let asking = asking(&request)?;
        let key = Key::of(&request.get_ref().idempotency_key, request.metadata());
        let wire = request.into_inner();
        let said = (&wire.fingerprint, wire.dry_run, wire.rate, &wire.reason);
        let key = intake::keyed(key, intake::fingerprint(call, &said)?, self.0.clock().now().wall)?;
        let fingerprint: Fingerprint = named("fingerprint", &wire.fingerprint)?;
        let target = self.0.dead_of_failure(fingerprint).await?;
        let mut new = NewOperation::new(action, target, rate(wire.rate), given(wire.reason))
            .map_err(ServiceError::from)?
            .asked_by(&asking.0.who);
        new.exec_allowed = exec;
        Ok(Response::new(begun(self.0.begin_operation(new.keyed(key), wire.dry_run).await?)))
    }
}

fn shown(group: FailureGroup) -> v1::FailureGroup {
    v1::FailureGroup {
        fingerprint: group.fingerprint.to_string(),
        kind: group.kind.to_string(),
        count: group.count,
        first_at: Some(moment_to_wire(group.first_at)),
        last_at: Some(moment_to_wire(group.last_at)),
        error: group.error,
        job: group.job.to_string(),
        recent: None,
    }
}
