//! The story of the cluster in the log: one line for each event that somebody may look for later.
//!
//! The leader tells it. It listens like every other listener, so a log that is slow to write slows nobody down; and a
//! storm of one sort of event is cut to [`LINES`] lines a second, with the number of those left out. What a job was
//! given, what it returned and what its errors said is never in here: the job has it, and the log names the job.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use ganger_core::event::{Event, WorkerState};
use ganger_core::job::State;
use ganger_core::outcome::Outcome;
use ganger_core::schedule::ledger::Fate;
use ganger_core::{JobId, Mono, SessionId};
use tokio::sync::broadcast;
use tracing::{info, warn};

use crate::service::{Run, Service};

/// Lines a second about single jobs and workers.
const LINES: u32 = 50;
const SECOND: Duration = Duration::from_secs(1);
/// Workers whose last state is remembered.
const WORKERS: usize = 100_000;
/// A line does not wait longer than this for the trace of its job.
const TRACE_WITHIN: Duration = Duration::from_secs(1);

/// Tells the story until the coordinator's thread ends.
pub(crate) fn start(service: &Service) {
    let (service, events) = (service.clone(), service.events());
    tokio::spawn(tell(service, events));
}

async fn tell(service: Service, mut events: broadcast::Receiver<Arc<Run>>) {
    let mut story = Story::default();
    loop {
        let next = events.recv();
        // What a storm left out is told when it is over, and not with whatever happens next, maybe hours later.
        let heard =
            if story.left_out == 0 { Ok(next.await) } else { tokio::time::timeout(SECOND, next).await };
        let Ok(heard) = heard else {
            story.tell_left_out();
            continue;
        };
        let run = match heard {
            Ok(run) => run,
            Err(broadcast::error::RecvError::Lagged(missed)) => {
                warn!(missed, "the log is slow: {missed} runs of events were not looked at");
                continue;
            }
            Err(broadcast::error::RecvError::Closed) => return,
        };
        for event in &run.events {
            if story.is_told(event) && story.has_room(service.clock().now().mono) {
                let trace_id = trace_of(&service, event).await;
                write(event, trace_id.as_deref());
            }
        }
    }
}

/// What was told before, and how much room there is for more.
#[derive(Default)]
struct Story {
    workers: HashMap<SessionId, WorkerState>,
    since: Mono,
    lines: u32,
    left_out: u64,
}

impl Story {
    /// Whether an event is worth a line.
    fn is_told(&mut self, event: &Event) -> bool {
        match event {
            Event::Job { state, .. } => *state == State::Dead,
            Event::Attempt { outcome, .. } => *outcome == Outcome::Lost,
            Event::Worker { session, state, .. } => self.has_changed(*session, *state),
            Event::Occurrence { fate, .. } => matches!(fate, Fate::Skipped(_)),
            Event::LeaseLost { .. }
            | Event::ScheduleOverdue { .. }
            | Event::Schedule { .. }
            | Event::Queue { .. } => true,
            // Told where it is noticed, or not worth a line.
            Event::Difference { .. } | Event::Progress { .. } => false,
        }
    }

    /// Busy or not is no story; that it came, drains or went is.
    fn has_changed(&mut self, session: SessionId, state: WorkerState) -> bool {
        let state = match state {
            WorkerState::Busy => WorkerState::Available,
            state @ (WorkerState::Available
            | WorkerState::Draining
            | WorkerState::Unavailable
            | WorkerState::Lost
            | WorkerState::Gone) => state,
        };
        match state {
            WorkerState::Lost | WorkerState::Gone => {
                self.workers.remove(&session);
                true
            }
            WorkerState::Unavailable => {
                self.workers.remove(&session);
                false
            }
            WorkerState::Available | WorkerState::Busy | WorkerState::Draining => {
                if self.workers.len() >= WORKERS {
                    self.workers.clear();
                }
                self.workers.insert(session, state) != Some(state)
            }
        }
    }

    fn has_room(&mut self, now: Mono) -> bool {
        if now.since(self.since) >= SECOND {
            self.tell_left_out();
            (self.since, self.lines) = (now, 0);
        }
        self.lines += 1;
        let room = self.lines <= LINES;
        self.left_out += u64::from(!room);
        room
    }

    fn tell_left_out(&mut self) {
        let left_out = std::mem::take(&mut self.left_out);
        if left_out > 0 {
            warn!(left_out, "{left_out} more events of the last second are not in the log");
        }
    }
}

/// The trace that a job belongs to, for the few lines that are about one.
async fn trace_of(service: &Service, event: &Event) -> Option<String> {
    let id: JobId = match event {
        Event::Job { job, .. } | Event::Attempt { job, .. } | Event::LeaseLost { job, .. } => *job,
        Event::Progress { .. }
        | Event::Worker { .. }
        | Event::Occurrence { .. }
        | Event::ScheduleOverdue { .. }
        | Event::Schedule { .. }
        | Event::Queue { .. }
        | Event::Difference { .. } => return None,
    };
    let stored = tokio::time::timeout(TRACE_WITHIN, service.stored(id)).await.ok()?.ok()?;
    stored.spec.options.trace().map(|trace| format!("{:032x}", trace.parent.trace_id))
}

fn write(event: &Event, trace_id: Option<&str>) {
    match event {
        Event::Job { job, queue, kind, attempt, .. } => warn!(
            job.id = %job, queue = queue.as_str(), kind = kind.as_str(), attempt, trace_id,
            "job {job} died in attempt {attempt}"
        ),
        Event::Attempt { job, queue, kind, attempt, worker, .. } => warn!(
            job.id = %job, queue = queue.as_str(), kind = kind.as_str(), attempt, worker.name = %worker, trace_id,
            "attempt {attempt} of {job} was lost with worker {worker}"
        ),
        Event::LeaseLost { job, fence, session } => warn!(
            job.id = %job, worker.id = %session, fence = %fence, trace_id,
            "{session} reported on {job} under a lease that it had lost: nothing was changed"
        ),
        Event::Worker { session, worker, state, .. } => worker_is(*session, worker, *state),
        Event::Occurrence { schedule, due_at, .. } => info!(
            schedule = schedule.as_str(), due_at = %due_at,
            "schedule {schedule} made no job for {due_at}: its occurrences say why"
        ),
        Event::ScheduleOverdue { schedule, due_at, .. } => warn!(
            schedule = schedule.as_str(), due_at = %due_at,
            "schedule {schedule} is overdue: nothing could be decided about {due_at}"
        ),
        Event::Schedule { schedule, paused, deleted, .. } => {
            let is = if *deleted {
                "deleted"
            } else if *paused {
                "paused"
            } else {
                "active"
            };
            info!(schedule = schedule.as_str(), paused, deleted, "schedule {schedule} is {is}");
        }
        Event::Queue { queue, paused, draining, .. } => {
            let is = if *draining {
                "draining"
            } else if *paused {
                "paused"
            } else {
                "open"
            };
            info!(queue = queue.as_str(), paused, draining, "queue {queue} is {is}");
        }
        Event::Difference { .. } | Event::Progress { .. } => {}
    }
}

fn worker_is(session: SessionId, worker: &str, state: WorkerState) {
    match state {
        WorkerState::Available | WorkerState::Busy => {
            info!(worker.id = %session, worker.name = worker, "worker {worker} is connected as {session}");
        }
        WorkerState::Draining => {
            info!(worker.id = %session, worker.name = worker, "worker {worker} drains: {session} takes nothing new");
        }
        WorkerState::Lost => {
            warn!(worker.id = %session, worker.name = worker, "worker {worker} is lost: session {session} has expired");
        }
        WorkerState::Gone => {
            info!(worker.id = %session, worker.name = worker, "worker {worker} is drained and has left as {session}");
        }
        WorkerState::Unavailable => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ganger_core::Wall;
    use uuid::Uuid;

    fn is_told(story: &mut Story, n: u128, state: WorkerState) -> bool {
        let session = SessionId::from_uuid(Uuid::from_u128(n));
        story.is_told(&Event::Worker { session, worker: "w".into(), state, at: Wall(0) })
    }

    #[test]
    fn a_worker_comes_drains_and_goes_once_however_busy_it_is() {
        let mut story = Story::default();
        assert!(is_told(&mut story, 1, WorkerState::Available));
        assert!(!is_told(&mut story, 1, WorkerState::Busy));
        assert!(!is_told(&mut story, 1, WorkerState::Available));
        assert!(is_told(&mut story, 2, WorkerState::Busy), "another one");
        assert!(is_told(&mut story, 1, WorkerState::Draining));
        assert!(is_told(&mut story, 1, WorkerState::Gone));
        assert!(is_told(&mut story, 1, WorkerState::Available), "it is back");
    }

    #[test]
    fn a_storm_is_cut_and_the_next_second_has_room_again() {
        let mut story = Story::default();
        let now = Mono::default() + SECOND;
        let lines = (0..LINES + 7).filter(|_| story.has_room(now)).count();
        assert_eq!((lines as u32, story.left_out), (LINES, 7));
        assert!(story.has_room(now + SECOND));
        assert_eq!(story.left_out, 0);
    }
}
