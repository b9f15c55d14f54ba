//! News from the server: events of the stream, and answers.

use ganger_core::event::Event;
use ganger_server::api::{CountsBody, OperationBody, StatsBody};

use crate::command::top::fetch::{Fetch, Fetched};
use crate::command::top::model::{Model, View};

/// Operations that are kept.
const OPERATIONS: usize = 200;

/// What the stream told.
#[derive(Debug)]
pub(in crate::command::top) enum Told {
    /// That it lives.
    Alive,
    Counts(Box<StatsBody>),
    Operation(Box<OperationBody>),
    Event(Box<Event>),
    /// Something was missed.
    Gap,
}

/// Takes in what the stream told.
pub(super) fn take(model: &mut Model, told: Told) {
    if model.frozen {
        return;
    }
    match told {
        Told::Alive => {}
        Told::Counts(stats) => counted(model, *stats),
        Told::Operation(operation) => operated(model, *operation),
        Told::Event(event) => happened(model, &event),
        Told::Gap => model.asked = None,
    }
}

fn counted(model: &mut Model, stats: StatsBody) {
    // The stream tells the whole only; the queues are asked for.
    let by_queue = !stats.by_kind.is_empty();
    for queue in model.data.queues.iter_mut().flatten().filter(|_| by_queue) {
        let mut jobs = CountsBody::default();
        for row in stats.by_kind.iter().filter(|row| row.queue == queue.queue) {
            jobs.add(row.jobs);
        }
        queue.jobs = jobs;
    }
    model.data.stats = Some(stats);
}

fn operated(model: &mut Model, operation: OperationBody) {
    let Some(operations) = &mut model.data.operations else { return };
    match operations.iter_mut().find(|known| known.id == operation.id) {
        Some(known) => *known = operation,
        None => operations.insert(0, operation),
    }
    operations.truncate(OPERATIONS);
}

/// What an event says is shown at once; the next refresh has the rest of it, so that a flood of events asks no more often.
fn happened(model: &mut Model, event: &Event) {
    match event {
        Event::Queue { queue, paused, draining, .. } => {
            for known in model.data.queues.iter_mut().flatten().filter(|known| known.queue == *queue) {
                (known.paused, known.draining) = (*paused, *draining);
            }
        }
        Event::Worker { session, state, .. } => {
            for known in model.data.workers.iter_mut().flatten().filter(|known| known.id == *session) {
                known.state = *state;
            }
        }
        Event::Schedule { schedule, paused, .. } => {
            for known in model.data.schedules.iter_mut().flatten().filter(|known| known.name == *schedule) {
                known.paused = *paused;
            }
        }
        Event::Occurrence { .. }
        | Event::ScheduleOverdue { .. }
        | Event::Job { .. }
        | Event::Attempt { .. }
        | Event::LeaseLost { .. }
        | Event::Progress { .. }
        | Event::Difference { .. } => {}
    }
}

/// Takes in an answer, unless something else is shown by now.
pub(super) fn answered(model: &mut Model, fetch: &Fetch, answer: Fetched) {
    let now = model.now.since_start;
    let data = &mut model.data;
    match answer {
        Fetched::Stats(stats) => counted(model, *stats),
        Fetched::Queues(queues) => data.queues = Some(queues.items),
        Fetched::Jobs(page) => {
            if *fetch == (Fetch::Jobs { filter: model.cursors[View::Jobs.place()].filter.clone() }) {
                data.jobs = Some(page);
            }
        }
        Fetched::Failures(failures) => data.failures = Some(failures.items),
        Fetched::Workers(workers) => data.workers = Some(workers.items),
        Fetched::Schedules(schedules) => data.schedules = Some(schedules.items),
        Fetched::Operations(operations) => data.operations = Some(operations.items),
        Fetched::Pace(totals) => data.pace.take(now, totals),
        Fetched::Head(head) => data.head = Some(head),
        Fetched::Job(job, attempts) => {
            if let Some(opened) = model.opened.as_mut().filter(|opened| opened.id == job.id) {
                (opened.job, opened.attempts) = (Some(job), Some(attempts));
            }
        }
        Fetched::Explain(explain) => {
            if let Some(opened) = model.opened.as_mut().filter(|opened| opened.id == explain.job) {
                opened.explain = Some(explain);
            }
        }
        Fetched::Log(text) => {
            let asked = |id| *fetch == Fetch::Log(id);
            if let Some(opened) = model.opened.as_mut().filter(|opened| asked(opened.id)) {
                opened.log = Some(text);
            }
        }
    }
}
