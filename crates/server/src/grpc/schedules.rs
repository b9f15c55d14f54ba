//! `ganger.v1.Schedules`: what REST offers under `/v1/schedules`.

use ganger_core::coordinator::port::ScheduleView;
use ganger_core::name::ScheduleName;
use ganger_core::schedule::ledger::{Fate, Occurrence};
use ganger_core::schedule::timing::Upcoming;
use ganger_core::{Wall, limits};
use ganger_proto::convert::{Named, duration_to_wire, moment_to_wire, schedule_from_wire, schedule_to_wire};
use ganger_proto::v1;
use ganger_proto::v1::schedules_server::Schedules;
use tonic::{Request, Response, Status};

use super::read::{self, moment, named, required};
use super::status::not_valid;
use super::{exec_allowed, intake};
use crate::http::ExecToken;
use crate::http::exec_token::may_fire;
use crate::http::problem::{Code, Problem};
use crate::service::{Backfilled, Service, UPCOMING_DEFAULT};

/// The door.
#[derive(Debug)]
pub(super) struct SchedulesDoor {
    pub(super) service: Service,
    pub(super) exec_token: Option<ExecToken>,
}

#[tonic::async_trait]
impl Schedules for SchedulesDoor {
    async fn list(
        &self,
        request: Request<v1::ListSchedulesRequest>,
    ) -> Result<Response<v1::ListSchedulesResponse>, Status> {
        let request = request.into_inner();
        let limit = read::limit(request.limit, limits::PAGE_MAX)?;
        let page = self.service.schedule_page(cursor(&request.cursor)?, limit).await?;
        let last = page.items.last().filter(|_| page.more);
        let next_cursor = last.map(|view| view.record.schedule.name.to_string()).unwrap_or_default();
        let schedules = page.items.into_iter().map(shown).collect();
        Ok(Response::new(v1::ListSchedulesResponse { schedules, next_cursor }))
    }

    async fn create(
        &self,
        request: Request<v1::CreateScheduleRequest>,
    ) -> Result<Response<v1::Schedule>, Status> {
        let exec = exec_allowed(self.exec_token.as_ref(), request.metadata());
        let Named { schedule, paused } = wanted(request.into_inner().schedule, exec)?;
        let set = self.service.put_schedule(schedule, paused, true).await?;
        Ok(Response::new(shown(set.view)))
    }

    async fn preview(
        &self,
        request: Request<v1::PreviewScheduleRequest>,
    ) -> Result<Response<v1::PreviewScheduleResponse>, Status> {
        let exec = exec_allowed(self.exec_token.as_ref(), request.metadata());
        let Named { schedule, paused } = wanted(request.into_inner().schedule, exec)?;
        let (schedule, next) = self.service.preview_schedule(schedule, paused).await?;
        let (schedule, next) = (Some(schedule_to_wire(&schedule)), instants(next));
        Ok(Response::new(v1::PreviewScheduleResponse { schedule, next }))
    }

    async fn get(&self, request: Request<v1::GetScheduleRequest>) -> Result<Response<v1::Schedule>, Status> {
        let name = named("name", &request.get_ref().name)?;
        Ok(Response::new(shown(self.service.schedule(name).await?)))
    }

    async fn put(
        &self,
        request: Request<v1::PutScheduleRequest>,
    ) -> Result<Response<v1::PutScheduleResponse>, Status> {
        let exec = exec_allowed(self.exec_token.as_ref(), request.metadata());
        let Named { schedule, paused } = wanted(request.into_inner().schedule, exec)?;
        let set = self.service.put_schedule(schedule, paused, false).await?;
        let (created, changed) = (set.created, set.changed);
        Ok(Response::new(v1::PutScheduleResponse { schedule: Some(shown(set.view)), created, changed }))
    }

    async fn delete(
        &self,
        request: Request<v1::DeleteScheduleRequest>,
    ) -> Result<Response<v1::DeleteScheduleResponse>, Status> {
        self.service.delete_schedule(named("name", &request.get_ref().name)?).await?;
        Ok(Response::new(v1::DeleteScheduleResponse {}))
    }

    async fn next(&self, request: Request<v1::NextRequest>) -> Result<Response<v1::NextResponse>, Status> {
        let request = request.into_inner();
        let count = read::count("n", request.n, UPCOMING_DEFAULT, limits::UPCOMING)?;
        let from = read::moment("from", request.from)?;
        let upcoming = self.service.upcoming(named("name", &request.name)?, from, count).await?;
        Ok(Response::new(v1::NextResponse { instants: instants(upcoming) }))
    }

    async fn occurrences(
        &self,
        request: Request<v1::OccurrencesRequest>,
    ) -> Result<Response<v1::OccurrencesResponse>, Status> {
        let request = request.into_inner();
        let limit = read::limit(request.limit, limits::PAGE_MAX)?;
        let before = cursor::<i64>(&request.cursor)?.map(Wall);
        let page = self.service.occurrences(named("name", &request.name)?, before, limit).await?;
        let last = page.items.last().filter(|_| page.more);
        let next_cursor = last.map(|row| row.due_at.0.to_string()).unwrap_or_default();
        let occurrences = page.items.into_iter().map(occurrence).collect();
        Ok(Response::new(v1::OccurrencesResponse { occurrences, next_cursor }))
    }

    async fn pause(
        &self,
        request: Request<v1::PauseScheduleRequest>,
    ) -> Result<Response<v1::Schedule>, Status> {
        let set = self.service.pause_schedule(named("name", &request.get_ref().name)?, true).await?;
        Ok(Response::new(shown(set.view)))
    }

    async fn resume(
        &self,
        request: Request<v1::ResumeScheduleRequest>,
    ) -> Result<Response<v1::Schedule>, Status> {
        let name: ScheduleName = named("name", &request.get_ref().name)?;
        may_fire(&self.service, &name, exec_allowed(self.exec_token.as_ref(), request.metadata())).await?;
        let set = self.service.pause_schedule(name, false).await?;
        Ok(Response::new(shown(set.view)))
    }

    async fn run(
        &self,
        request: Request<v1::RunScheduleRequest>,
    ) -> Result<Response<v1::FiredResponse>, Status> {
        let name: ScheduleName = named("name", &request.get_ref().name)?;
        may_fire(&self.service, &name, exec_allowed(self.exec_token.as_ref(), request.metadata())).await?;
        let rows = self.service.run_schedule(name).await?;
        let occurrences = rows.into_iter().map(occurrence).collect();
        Ok(Response::new(v1::FiredResponse { considered: 1, occurrences, instants: Vec::new() }))
    }

    async fn backfill(
        &self,
        request: Request<v1::BackfillRequest>,
    ) -> Result<Response<v1::FiredResponse>, Status> {
        let exec = exec_allowed(self.exec_token.as_ref(), request.metadata());
        let request = request.into_inner();
        let name: ScheduleName = named("name", &request.name)?;
        if !request.preview {
            may_fire(&self.service, &name, exec).await?;
        }
        let from = required("from", moment("from", request.from)?)?;
        let to = required("to", moment("to", request.to)?)?;
        let backfilled = self.service.backfill_schedule(name, from, to, request.preview).await?;
        Ok(Response::new(fired(backfilled)))
    }
}

/// A schedule that is asked for, with its job.
fn wanted(wire: Option<v1::Schedule>, exec_allowed: bool) -> Result<Named, Problem> {
    let mut wire = required("schedule", wire)?;
    let job = required("schedule.job", wire.job.take())?;
    let job = intake::job(job, exec_allowed, None).map_err(|mut problem| {
        problem.detail = format!("in `schedule.job`: {}", problem.detail);
        problem
    })?;
    schedule_from_wire(wire, job).map_err(|error| not_valid(&error))
}

fn cursor<T: std::str::FromStr>(text: &str) -> Result<Option<T>, Problem> {
    if text.is_empty() {
        return Ok(None);
    }
    let refused = || Problem::new(Code::InvalidCursor, "the text is not a cursor of this list");
    text.parse().map(Some).map_err(|_| refused())
}

fn shown(view: ScheduleView) -> v1::Schedule {
    let paused = view.record.schedule.paused;
    let status = v1::ScheduleStatus {
        created_at: Some(moment_to_wire(view.record.created_at)),
        updated_at: Some(moment_to_wire(view.record.updated_at)),
        next: view.next.filter(|_| !paused).map(moment_to_wire),
        live: view.live.iter().map(ToString::to_string).collect(),
        waiting: view.standing.waiting.map(moment_to_wire),
        overdue: view.overdue.map(duration_to_wire),
    };
    let id = view.record.id.to_string();
    v1::Schedule { id, status: Some(status), ..schedule_to_wire(&view.record.schedule) }
}

fn instants(upcoming: Vec<Upcoming>) -> Vec<v1::Instant> {
    let instant = |upcoming: Upcoming| v1::Instant {
        at: Some(moment_to_wire(upcoming.at)),
        local: upcoming.local,
        note: upcoming.note.map(Into::into).unwrap_or_default(),
    };
    upcoming.into_iter().map(instant).collect()
}

fn fired(backfilled: Backfilled) -> v1::FiredResponse {
    let instant = |(at, local)| v1::Instant { at: Some(moment_to_wire(at)), local, note: String::new() };
    v1::FiredResponse {
        considered: backfilled.considered as u64,
        occurrences: backfilled.occurrences.into_iter().map(occurrence).collect(),
        instants: backfilled.instants.into_iter().map(instant).collect(),
    }
}

fn occurrence(row: Occurrence) -> v1::Occurrence {
    let (state, job, skip) = match row.fate {
        Fate::Fired(job) => ("fired", Some(job), None),
        Fate::Waiting => ("waiting", None, None),
        Fate::Skipped(skip) => ("skipped", skip.job, Some(skip)),
    };
    v1::Occurrence {
        due_at: Some(moment_to_wire(row.due_at)),
        decided_at: Some(moment_to_wire(row.decided_at)),
        cause: row.cause.as_str().into(),
        state: state.into(),
        job: job.map(|job| job.to_string()).unwrap_or_default(),
        reason: skip.as_ref().map(|skip| skip.why.as_str().to_owned()).unwrap_or_default(),
        since: skip.as_ref().and_then(|skip| skip.since).map(moment_to_wire),
        count: skip.map_or(1, |skip| skip.count),
    }
}
