//! `ganger.v1.Queues`: what REST offers under `/v1/queues`.

use ganger_core::coordinator::view::{HeadShown, QueueView};
use ganger_core::limits;
use ganger_core::queue::{Ageing, Keep, Limits, Policy};
use ganger_proto::convert::{duration_to_wire, moment_to_wire};
use ganger_proto::v1;
use ganger_proto::v1::keep::How;
use ganger_proto::v1::queues_server::Queues;
use tonic::{Request, Response, Status};

use super::read::{asking, count, duration, own_queue, required};
use crate::api::{
    AgeingBody, CountsBody, HumanDuration, KeepBody, OrNone, QueueLimitsPut, QueuePut, RateText, RetentionPut,
};
use crate::http::problem::{Code, Problem};
use crate::service::{Service, bounds};

/// The door.
#[derive(Debug)]
pub(super) struct QueuesDoor(pub(super) Service);

#[tonic::async_trait]
impl Queues for QueuesDoor {
    async fn list(
        &self,
        request: Request<v1::ListQueuesRequest>,
    ) -> Result<Response<v1::ListQueuesResponse>, Status> {
        let asking = asking(&request)?;
        let his = self.0.queues().await?.into_iter().filter(|view| asking.0.sees(&view.queue));
        let queues = his.map(shown).collect();
        Ok(Response::new(v1::ListQueuesResponse { queues }))
    }

    async fn get(&self, request: Request<v1::GetQueueRequest>) -> Result<Response<v1::Queue>, Status> {
        let queue = own_queue(&request, &request.get_ref().queue)?;
        Ok(Response::new(shown(self.0.queue(queue).await?)))
    }

    async fn put(&self, request: Request<v1::PutQueueRequest>) -> Result<Response<v1::Queue>, Status> {
        let queue = own_queue(&request, &request.get_ref().queue)?;
        let wanted = wanted(request.into_inner())?;
        let view = self.0.change_queue(queue, |settings| wanted.apply(settings)).await?;
        Ok(Response::new(shown(view)))
    }

    async fn pause(&self, request: Request<v1::PauseQueueRequest>) -> Result<Response<v1::Queue>, Status> {
        let queue = own_queue(&request, &request.get_ref().queue)?;
        Ok(Response::new(shown(self.0.pause_queue(queue).await?)))
    }

    async fn resume(&self, request: Request<v1::ResumeQueueRequest>) -> Result<Response<v1::Queue>, Status> {
        let queue = own_queue(&request, &request.get_ref().queue)?;
        Ok(Response::new(shown(self.0.resume_queue(queue).await?)))
    }

    async fn drain(&self, request: Request<v1::DrainQueueRequest>) -> Result<Response<v1::Queue>, Status> {
        let queue = own_queue(&request, &request.get_ref().queue)?;
        Ok(Response::new(shown(self.0.drain_queue(queue).await?)))
    }

    async fn head(&self, request: Request<v1::HeadRequest>) -> Result<Response<v1::HeadResponse>, Status> {
        let queue = own_queue(&request, &request.get_ref().queue)?;
        let asking = asking(&request)?;
        let request = request.into_inner();
        let limit = count("limit", request.limit, limits::HEAD_DEFAULT, limits::HEAD_MAX)?;
        let mut head = self.0.head(queue, limit).await?;
        asking.hide_queues(Some(&mut head.others));
        let jobs = head.items.into_iter().map(head_job).collect();
        let other_queues = head.others.into_iter().map(super::shown::queue_ahead).collect();
        Ok(Response::new(v1::HeadResponse { jobs, exact: head.exact, other_queues }))
    }

    async fn purge(
        &self,
        request: Request<v1::PurgeQueueRequest>,
    ) -> Result<Response<v1::PurgeQueueResponse>, Status> {
        let queue = own_queue(&request, &request.get_ref().queue)?;
        let purged = self.0.purge_dead(queue).await?;
        Ok(Response::new(v1::PurgeQueueResponse { purged }))
    }

    async fn scaling(
        &self,
        request: Request<v1::QueueScalingRequest>,
    ) -> Result<Response<v1::QueueScaling>, Status> {
        let queue = own_queue(&request, &request.get_ref().queue)?;
        let request = request.into_inner();
        let threads = (request.threads_per_worker > 0).then_some(request.threads_per_worker.into());
        let bounds = bounds(request.max.map(Into::into), threads)?;
        let seen = self.0.scaling(queue, bounds).await?;
        Ok(Response::new(v1::QueueScaling {
            queue: seen.queue.to_string(),
            ready: seen.load.ready,
            running: seen.load.running,
            oldest_ready: seen.oldest_ready.map(duration_to_wire),
            threads: seen.scaling.threads,
            threads_per_worker: seen.scaling.threads_per_worker.into(),
            workers: seen.load.workers,
            desired_workers: seen.scaling.desired_workers,
        }))
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
        weight: settings.weight.into(),
        precedence: settings.precedence.into(),
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
        weight: wire
            .weight
            .map(|weight| narrowed("weight", weight, 1, limits::QUEUE_WEIGHT.into()))
            .transpose()?,
        precedence: wire
            .precedence
            .map(|precedence| narrowed("precedence", precedence, i8::MIN.into(), i8::MAX.into()))
            .transpose()?,
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

/// A number in a smaller type; the error names its bounds.
fn narrowed<T: TryFrom<i64>>(
    field: &str,
    number: impl Into<i64>,
    least: i64,
    most: i64,
) -> Result<T, Problem> {
    let number = number.into();
    let narrow = T::try_from(number).ok().filter(|_| (least..=most).contains(&number));
    narrow.ok_or_else(|| not_valid(field, format!("is {number}, allowed are {least} to {most}")))
}

fn not_valid(field: &str, detail: impl std::fmt::Display) -> Problem {
    Problem::new(Code::ValidationFailed, format!("field `{field}` {detail}"))
}
