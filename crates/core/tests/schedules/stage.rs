//! A leader and the store in memory, with both clocks in hand.

use std::collections::BTreeMap;
use std::time::Duration;

use ganger_core::change::Batch;
use ganger_core::coordinator::Coordinator;
use ganger_core::coordinator::port::{
    Ask, Input, Options, Output, Refusal, Reply, ScheduleAsk, ScheduleRefusal, ScheduleReply, ScheduleView,
    Ticket,
};
use ganger_core::event::Event;
use ganger_core::ids::ScheduleId;
use ganger_core::job::JobSpec;
use ganger_core::leadership::Reign;
use ganger_core::schedule::ledger::{Fate, Occurrence, Why};
use ganger_core::schedule::{Misfire, Overlap, Schedule, When};
use ganger_core::{JobId, Mono, Now, Wall};
use ganger_store::MemoryState;

pub(crate) const START: Wall = Wall(1_800_000_000_000_000);

/// What the store does with the next batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mood {
    Writes,
    Refuses,
    /// It writes, and nobody hears of it.
    Swallows,
    /// The batch never arrives.
    Loses,
}

/// See the head of this file.
pub(crate) struct Stage {
    pub(crate) coordinator: Coordinator,
    pub(crate) store: MemoryState,
    pub(crate) now: Now,
    pub(crate) mood: Mood,
    pub(crate) events: Vec<Event>,
    outstanding: Option<std::sync::Arc<Batch>>,
    /// A copy of it may have been written: no refusal of another says that it was not.
    in_doubt: bool,
    replies: BTreeMap<u64, Reply>,
    tickets: u64,
    terms: u64,
}

/// A schedule that fires every so many seconds.
pub(crate) fn every(seconds: u64) -> Schedule {
    Schedule {
        name: "tick".parse().unwrap(),
        when: When::Every(Duration::from_secs(seconds)),
        time_zone: "UTC".into(),
        starts_at: None,
        ends_at: None,
        misfire: Misfire::FireOnce,
        overlap: Overlap::Allow,
        jitter: Duration::ZERO,
        paused: false,
        job: JobSpec::new("report".parse().unwrap()),
    }
}

fn lead(store: &mut MemoryState, now: Now, id: u64) -> Coordinator {
    let term = store.take_over("stage", 0, id);
    let reign = Reign { term, waits_from: now.mono, authority_from: now.mono };
    Coordinator::new(Options::default(), reign, store.load(), now)
}

impl Stage {
    pub(crate) fn new() -> Stage {
        let now = Now { mono: Mono(1_000_000_000), wall: START };
        let mut store = MemoryState::new();
        let coordinator = lead(&mut store, now, 1);
        let (mood, terms) = (Mood::Writes, 1);
        let (events, replies) = (Vec::new(), BTreeMap::new());
        Stage {
            coordinator,
            store,
            now,
            mood,
            events,
            outstanding: None,
            in_doubt: false,
            replies,
            tickets: 0,
            terms,
        }
    }

    /// Another leader begins, with whatever the store has.
    pub(crate) fn take_over(&mut self) {
        self.terms += 1;
        (self.outstanding, self.in_doubt) = (None, false);
        self.coordinator = lead(&mut self.store, self.now, self.terms);
        self.tick();
    }

    pub(crate) fn tick(&mut self) {
        self.give(Input::Tick);
    }

    /// Both clocks go on.
    pub(crate) fn pass(&mut self, time: Duration) {
        self.now = Now { mono: self.now.mono + time, wall: self.now.wall + time };
        self.tick();
    }

    /// Seconds pass, one by one.
    pub(crate) fn seconds(&mut self, count: u64) {
        for _ in 0..count {
            self.pass(Duration::from_secs(1));
        }
    }

    /// Somebody sets the clock on the wall.
    pub(crate) fn jump(&mut self, seconds: i64) {
        self.now.wall = Wall(self.now.wall.0 + seconds * 1_000_000);
        self.pass(Duration::from_millis(10));
    }

    fn give(&mut self, input: Input) {
        let mut outputs = Vec::new();
        self.coordinator.handle(self.now, input, &mut outputs);
        self.coordinator.settle(self.now, &mut outputs);
        assert!(self.coordinator.next_tick() > self.now.mono, "it would spin");
        for output in outputs {
            match output {
                Output::Commit(batch) => self.outstanding = Some(batch),
                Output::Reply(ticket, reply) => drop(self.replies.insert(ticket.0, reply)),
                Output::Event(event) => self.events.push(event),
                Output::Send { .. }
                | Output::StepDown { .. }
                | Output::ReadLive(_)
                | Output::Reconciled(_) => {}
            }
        }
        self.write();
    }

    /// The store takes the batch that waits, as it is in the mood to. What is lost or swallowed waits to be sent again.
    fn write(&mut self) {
        let Some(batch) = self.outstanding.clone() else { return };
        let number = batch.number;
        match self.mood {
            Mood::Writes => {
                let applied = self.store.commit(self.coordinator.term(), &batch).expect("a sound batch");
                (self.outstanding, self.in_doubt) = (None, false);
                self.give(Input::Committed { number, applied });
            }
            Mood::Refuses if self.in_doubt => {}
            Mood::Refuses => {
                self.outstanding = None;
                self.give(Input::Refused { number, reason: "no room".into() });
            }
            Mood::Swallows => {
                let written = self.store.commit(self.coordinator.term(), &batch);
                assert!(written.is_ok(), "{written:?}");
                self.in_doubt = true;
            }
            Mood::Loses => self.in_doubt = true,
        }
    }

    /// The batch that was not answered is sent again, and the store is well from now on.
    pub(crate) fn mend(&mut self) {
        self.mood = Mood::Writes;
        self.write();
        self.seconds(3);
    }

    pub(crate) fn ask(&mut self, ask: Ask) -> Option<Reply> {
        self.tickets += 1;
        let ticket = self.tickets;
        self.give(Input::Ask(Ticket(ticket), ask));
        self.replies.remove(&ticket)
    }

    pub(crate) fn put(&mut self, schedule: Schedule) -> Result<ScheduleView, ScheduleRefusal> {
        let id = ScheduleId::new(self.tickets + 1, [3; 10]);
        let ask = ScheduleAsk::Put { schedule: Box::new(schedule), id, only_new: false };
        match self.ask(Ask::Schedule(ask)) {
            Some(Reply::Schedule(ScheduleReply::Set { view, .. })) => Ok(*view),
            Some(Reply::Refused(Refusal::Schedule(refusal))) => Err(refusal),
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn order(&mut self, ask: ScheduleAsk) -> Option<Reply> {
        self.ask(Ask::Schedule(ask))
    }

    /// What an order fired.
    pub(crate) fn fired(&mut self, ask: ScheduleAsk) -> Vec<Occurrence> {
        match self.order(ask) {
            Some(Reply::Schedule(ScheduleReply::Fired(rows))) => rows,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn view(&self) -> ScheduleView {
        self.coordinator.schedule(&"tick".parse().unwrap(), self.now).expect("the schedule")
    }

    /// The ledger of the only schedule, oldest first.
    pub(crate) fn ledger(&self) -> Vec<Occurrence> {
        let id = self.store.load().schedules[0].0.id;
        let mut rows = self.store.occurrences(id, None, usize::MAX);
        rows.reverse();
        rows
    }

    /// The same in short: seconds after the start, and what became of each.
    pub(crate) fn told(&self) -> Vec<(i64, &'static str)> {
        let word = |fate: &Fate| match fate {
            Fate::Fired(_) => "fired",
            Fate::Waiting => "waiting",
            Fate::Skipped(skip) => skip.why.as_str(),
        };
        self.ledger().iter().map(|row| ((row.due_at.0 - START.0) / 1_000_000, word(&row.fate))).collect()
    }

    pub(crate) fn jobs(&self) -> Vec<JobId> {
        let mut jobs: Vec<_> = self.store.load().jobs;
        jobs.sort_by_key(|job| job.seq);
        jobs.into_iter().map(|job| job.id).collect()
    }

    /// The oldest live job ends.
    pub(crate) fn end_one(&mut self) {
        if let Some(job) = self.jobs().first().copied() {
            self.ask(Ask::Cancel(job));
        }
    }
}

/// Why an occurrence was skipped.
pub(crate) fn why(row: &Occurrence) -> Option<Why> {
    match &row.fate {
        Fate::Skipped(skip) => Some(skip.why),
        Fate::Fired(_) | Fate::Waiting => None,
    }
}
