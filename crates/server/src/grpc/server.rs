//! `ganger.v1.Server`: what REST offers under `/v1/stats`, `/v1/capabilities` and `/v1/cluster`.

use std::time::Duration;

use ganger_core::limits;
use ganger_core::timeline::By;
use ganger_proto::convert::{duration_to_wire, moment_to_wire};
use ganger_proto::v1;
use ganger_proto::v1::server_server::Server;
use tonic::{Request, Response, Status};

use super::queues::counts;
use super::read::{duration, moment, named_if};
use crate::api::{
    CapabilitiesBody, ClusterBody, FigureBody, LeaderBody, LimitsBody, Metric, ServerBody, StatsBody,
    TimeseriesBody, VerdictBody,
};
use crate::http::problem::Problem;
use crate::service::Service;

/// The door.
#[derive(Debug)]
pub(super) struct ServerDoor {
    pub(super) service: Service,
    pub(super) version: &'static str,
}

#[tonic::async_trait]
impl Server for ServerDoor {
    async fn stats(&self, _: Request<v1::StatsRequest>) -> Result<Response<v1::StatsResponse>, Status> {
        let (stats, verdict) = self.service.stats_and_verdict().await?;
        Ok(Response::new(stats_shown(stats.into(), verdict.into())))
    }

    async fn timeseries(
        &self,
        request: Request<v1::TimeseriesRequest>,
    ) -> Result<Response<v1::TimeseriesResponse>, Status> {
        let request = request.into_inner();
        let metric = match request.metric.as_str() {
            "" => Metric::default(),
            word => Metric::parse(word).ok_or_else(|| {
                let known = Metric::ALL.map(Metric::as_str).join(", ");
                Problem::parameter("metric", format!("must be one of {known}"))
            })?,
        };
        let (from, to) = (moment("from", request.from)?, moment("to", request.to)?);
        let mut span = self
            .service
            .span(from, to, duration("step", request.step)?)
            .map_err(|error| Problem::parameter(error.field, error.problem))?;
        let step = span.step();
        span.queue = named_if("queue", &request.queue)?;
        span.kind = named_if("kind", &request.kind)?;
        span.by = match request.by.as_str() {
            "" => By::Nothing,
            "queue" => By::Queue,
            "kind" => By::Kind,
            _ => return Err(Problem::parameter("by", "must be `queue` or `kind`").into()),
        };
        let timeline = self.service.timeline(span).await?;
        Ok(Response::new(timeseries_shown(TimeseriesBody::new(metric, timeline), step)))
    }

    async fn capabilities(
        &self,
        _: Request<v1::CapabilitiesRequest>,
    ) -> Result<Response<v1::CapabilitiesResponse>, Status> {
        let body = CapabilitiesBody::new(self.version, self.service.about(), self.service.auth());
        Ok(Response::new(v1::CapabilitiesResponse {
            product: body.product,
            version: body.version,
            api: body.api,
            limits: Some(limits_shown(body.limits)),
            environment: body.environment.unwrap_or_default(),
            auth: body.auth,
            signup: body.signup,
        }))
    }

    async fn cluster(&self, _: Request<v1::ClusterRequest>) -> Result<Response<v1::ClusterResponse>, Status> {
        let body = ClusterBody::from(self.service.cluster().await);
        Ok(Response::new(v1::ClusterResponse {
            server: body.server,
            role: body.role.as_str().into(),
            embedded: body.embedded,
            leader: body.leader.map(leader),
            servers: body.items.into_iter().map(server).collect(),
            incomplete: body.incomplete.unwrap_or_default(),
        }))
    }
}

fn stats_shown(stats: StatsBody, verdict: VerdictBody) -> v1::StatsResponse {
    let by_kind = stats.by_kind.into_iter().map(|kind| v1::KindCounts {
        queue: kind.queue.to_string(),
        kind: kind.kind.to_string(),
        jobs: Some(counts(kind.jobs)),
    });
    let findings = verdict.findings.into_iter().map(|finding| v1::Finding {
        severity: finding.severity,
        text: finding.text,
        queue: finding.queue.map(|queue| queue.to_string()).unwrap_or_default(),
    });
    v1::StatsResponse {
        term: stats.term,
        jobs: Some(counts(stats.jobs)),
        by_kind: by_kind.collect(),
        workers: stats.workers.iter().map(|(state, n)| (state.as_str().to_owned(), *n as u64)).collect(),
        threads: stats.threads,
        threads_used: stats.threads_used,
        store_backlog: stats.store_backlog as u64,
        store_trouble: stats.store_trouble.unwrap_or_default(),
        cannot_start: stats.cannot_start,
        verdict: Some(v1::Verdict {
            severity: verdict.severity,
            text: verdict.text,
            findings: findings.collect(),
        }),
    }
}

fn timeseries_shown(body: TimeseriesBody, step: Duration) -> v1::TimeseriesResponse {
    let series = body.series.into_iter().map(|line| v1::Series {
        name: line.name.unwrap_or_default(),
        total: Some(figure(line.total)),
        points: line
            .points
            .into_iter()
            .map(|point| v1::Point { at: Some(moment_to_wire(point.at)), figure: Some(figure(point.figure)) })
            .collect(),
    });
    v1::TimeseriesResponse {
        metric: body.metric.as_str().into(),
        step: Some(duration_to_wire(step)),
        from: Some(moment_to_wire(body.from)),
        to: Some(moment_to_wire(body.to)),
        by: body.by.unwrap_or_default(),
        series: series.collect(),
        examined: body.scan.examined as u64,
        complete: body.scan.complete,
    }
}

fn figure(figure: FigureBody) -> v1::Figure {
    let FigureBody { count, succeeded, dead, cancelled, mean_ms, p50_ms, p95_ms, p99_ms } = figure;
    v1::Figure { count, succeeded, dead, cancelled, mean_ms, p50_ms, p95_ms, p99_ms }
}

fn limits_shown(body: LimitsBody) -> v1::ServerLimits {
    v1::ServerLimits {
        payload_bytes: body.payload_bytes as u64,
        result_bytes: body.result_bytes as u64,
        error_bytes: body.error_bytes as u64,
        log_bytes: body.log_bytes as u64,
        json_depth: body.json_depth as u64,
        batch_jobs: body.batch_jobs as u64,
        batch_bytes: body.batch_bytes as u64,
        name_bytes: body.name_bytes as u64,
        tags: body.tags as u64,
        tag_bytes: body.tag_bytes as u64,
        labels: body.labels as u64,
        key_bytes: body.key_bytes as u64,
        threads: body.threads.into(),
        attempts: body.attempts,
        page: body.page as u64,
        longest: Some(duration_to_wire(limits::LONGEST)),
        idempotency_kept: Some(duration_to_wire(limits::IDEMPOTENCY_KEPT)),
    }
}

fn leader(body: LeaderBody) -> v1::Leader {
    v1::Leader {
        name: body.name,
        address: body.address,
        term: body.term,
        since: Some(moment_to_wire(body.since)),
        batch: body.batch,
        lag: Some(duration_to_wire(Duration::from_millis(body.lag_ms))),
    }
}

fn server(body: ServerBody) -> v1::ServerView {
    v1::ServerView {
        name: body.name,
        role: body.role.as_str().into(),
        address: body.address,
        version: body.version,
        started_at: Some(moment_to_wire(body.started_at)),
        silent: Some(duration_to_wire(Duration::from_millis(body.silent_ms))),
    }
}
