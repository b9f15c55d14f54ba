//! `ganger.v1.Queues`: what REST offers under `/v1/queues`.

use ganger_core::coordinator::view::{HeadShown, QueueView};
use ganger_core::limits;
use ganger_core::queue::{Ageing, Keep, Limits, Policy};
use ganger_proto::convert::{duration_to_wire, moment_to_wire};
use ganger_proto::v1;
use ganger_proto::v1::keep::How;
use ganger_proto::v1::queues_server::Queues;
use tonic::{Request, Response, Status};

use super::read::{count, duration, named, required};
use crate::api::{
    AgeingBody, CountsBody, HumanDuration, KeepBody, OrNone, QueueLimitsPut, QueuePut, RateText, RetentionPut,
};
use crate::http::problem::{Code, Problem};
use crate::service::Service;

/// The door.
#[derive(Debug)]
pub(super) struct QueuesDoor(pub(super) Service);

#[tonic::async_trait]
impl Queues for QueuesDoor {
    async fn list(
        &self,
        _: Request<v1::ListQueuesRequest>,
    ) -> Result<Response<v1::ListQueuesResponse>, Status> {
        let queues = self.0.queues().await?.into_iter().map(shown).collect();
        Ok(Response::new(v1::ListQueuesResponse { queues }))
    }

    async fn get(&self, request: Request<v1::GetQueueRequest>) -> Result<Response<v1::Queue>, Status> {
        let queue = named("queue", &request.get_ref().queue)?;
        Ok(Response::new(shown(self.0.queue(queue).await?)))
    }

    async fn put(&self, request: Request<v1::PutQueueRequest>) -> Result<Response<v1::Queue>, Status> {
        let request = request.into_inner();
        let queue = named("queue", &request.queue)?;
        let wanted = wanted(request)?;
        let view = self.0.change_queue(queue, |settings| wanted.apply(settings)).await?;
        Ok(Response::new(shown(view)))
    }

    async fn pause(&self, request: Request<v1::PauseQueueRequest>) -> Result<Response<v1::Queue>, Status> {
        let queue = named("queue", &request.get_ref().queue)?;
        Ok(Response::new(shown(self.0.pause_queue(queue).await?)))
    }

    async fn resume(&self, request: Request<v1::ResumeQueueRequest>) -> Result<Response<v1::Queue>, Status> {
        let queue = named("queue", &request.get_ref().queue)?;
        Ok(Response::new(shown(self.0.resume_queue(queue).await?)))
    }

    async fn drain(&self, request: Request<v1::DrainQueueRequest>) -> Result<Response<v1::Queue>, Status> {
        let queue = named("queue", &request.get_ref().queue)?;
        Ok(Response::new(shown(self.0.drain_queue(queue).await?)))
    }

    async fn head(&self, request: Request<v1::HeadRequest>) -> Result<Response<v1::HeadResponse>, Status> {
        let request = request.into_inner();
        let limit = count("limit", request.limit, limits::HEAD_DEFAULT, limits::HEAD_MAX)?;
        let head = self.0.head(named("queue", &request.queue)?, limit).await?;
        let jobs = head.items.into_iter().map(head_job).collect();
        Ok(Response::new(v1::HeadResponse { jobs, exact: head.exact }))
    }

    async fn purge(
        &self,
        request: Request<v1::PurgeQueueRequest>,
    ) -> Result<Response<v1::PurgeQueueResponse>, Status> {
        let queue = named("queue", &request.get_ref().queue)?;
        let purged = self.0.purge_dead(queue).await?;
        Ok(Response::new(v1::PurgeQueueResponse { purged }))
    }
}

fn head_job(item: HeadShown) -> v1::HeadJob {
    let (gate, why) = item.held.map(|gate| (gate.gate.to_owned(), gate.evidence)).unwrap_or_default();
    v1::HeadJob {
        id: item.job.to_string(),
        kind: item.kind.to_string(),
        priority: item.priority.into(),
        attempt: item.attempt,
        ready_since: Some(moment_to_wire(item.ready_since)),
        gate,
        why,
    }
}

fn shown(view: QueueView) -> v1::Queue {
    let settings = view.settings;
    v1::Queue {
        queue: view.queue.to_string(),
        paused: settings.paused,
        draining: settings.draining,
        policy: settings.policy.as_str().into(),
        finished: Some(keep_shown(settings.retention.finished)),
        dead: Some(keep_shown(settings.retention.dead)),
        limits: Some(limits_shown(settings.limits)),
        key_limits: Some(limits_shown(settings.keys)),
        block: Some(duration_to_wire(settings.block)),
        ageing: settings.ageing.map(|Ageing { every, at_most }| v1::Ageing {
            every: Some(duration_to_wire(every)),
            at_most: at_most.into(),
        }),
        jobs: Some(counts(view.counts.into())),
        oldest_ready: view.oldest_ready.map(duration_to_wire),
        workers: view.workers as u64,
    }
}

/// Jobs by state.
pub(super) fn counts(counts: CountsBody) -> v1::JobCounts {
    let CountsBody { scheduled, blocked, queued, running, retrying, succeeded, dead, cancelled } = counts;
    v1::JobCounts { scheduled, blocked, queued, running, retrying, succeeded, dead, cancelled }
}

fn keep_shown(keep: Keep) -> v1::Keep {
    let how = match keep {
        Keep::None => How::Nothing(true),
        Keep::For(time) => How::For(duration_to_wire(time)),
        Keep::Forever => How::Forever(true),
    };
    v1::Keep { how: Some(how) }
}

fn limits_shown(limits: Limits) -> v1::QueueLimits {
    v1::QueueLimits {
        max_running: limits.max_running,
        rate: limits.rate.map(|rate| v1::Rate { n: rate.n, per: Some(duration_to_wire(rate.per)) }),
        burst: limits.rate.map(|rate| rate.burst),
        max_depth: limits.max_depth,
    }
}

/// The changes that are asked for.
fn wanted(wire: v1::PutQueueRequest) -> Result<QueuePut, Problem> {
    let policy = match wire.policy.as_str() {
        "" => None,
        word => Some(Policy::ALL.into_iter().find(|policy| policy.as_str() == word).ok_or_else(|| {
            let known = Policy::ALL.map(Policy::as_str).join(", ");
            not_valid("policy", format!("must be one of {known}"))
        })?),
    };
    Ok(QueuePut {
        paused: wire.paused,
        draining: wire.draining,
        policy,
        retention: Some(RetentionPut {
            finished: keep("finished", wire.finished)?,
            dead: keep("dead", wire.dead)?,
        }),
        limits: limits("limits.rate.per", wire.limits)?,
        key_limits: limits("key_limits.rate.per", wire.key_limits)?,
        block: duration("block", wire.block)?.map(HumanDuration),
        ageing: wire.ageing.map(ageing).transpose()?,
    })
}

/// How long something is kept may be longer than any other time.
fn keep(field: &'static str, wire: Option<v1::Keep>) -> Result<Option<KeepBody>, Problem> {
    let Some(wire) = wire else { return Ok(None) };
    Ok(Some(KeepBody(match wire.how {
        Some(How::For(time)) => {
            let time = time.try_into().map_err(|_| not_valid(field, "is negative or too long"))?;
            Keep::For(time)
        }
        Some(How::Nothing(true)) => Keep::None,
        Some(How::Forever(true)) => Keep::Forever,
        Some(How::Nothing(false) | How::Forever(false)) | None => {
            return Err(not_valid(field, "does not say how long: `for`, `nothing` or `forever`"));
        }
    })))
}

fn limits(per: &'static str, wire: Option<v1::QueueLimits>) -> Result<Option<QueueLimitsPut>, Problem> {
    let Some(wire) = wire else { return Ok(None) };
    let or_none = |value: u32| if value == 0 { OrNone::None } else { OrNone::Some(value) };
    let rate = match wire.rate {
        None => None,
        Some(v1::Rate { n: 0, .. }) => Some(OrNone::None),
        Some(v1::Rate { n, per: long }) => {
            let per = required(per, duration(per, long)?)?;
            Some(OrNone::Some(RateText { n, per }))
        }
    };
    Ok(Some(QueueLimitsPut {
        max_running: wire.max_running.map(or_none),
        rate,
        burst: wire.burst,
        max_depth: wire.max_depth.map(or_none),
    }))
}

fn ageing(wire: v1::Ageing) -> Result<OrNone<AgeingBody>, Problem> {
    let every = required("ageing.every", duration("ageing.every", wire.every)?)?;
    if every.is_zero() {
        return Ok(OrNone::None);
    }
    let at_most = match wire.at_most {
        0 => u8::MAX,
        most => u8::try_from(most)
            .map_err(|_| not_valid("ageing.at_most", format!("is {most}, allowed are 1 to 255")))?,
    };
    Ok(OrNone::Some(AgeingBody { every: HumanDuration(every), at_most }))
}

fn not_valid(field: &str, detail: impl std::fmt::Display) -> Problem {
    Problem::new(Code::ValidationFailed, format!("field `{field}` {detail}"))
}
