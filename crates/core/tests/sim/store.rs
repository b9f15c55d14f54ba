//! The store as servers see it: calls travel, may be lost, be late, or be answered in vain.

use std::collections::BTreeMap;
use std::sync::Arc;

use ganger_core::change::{Applied, Batch, LivePage, LiveQuery, Snapshot};
use ganger_core::{Mono, Term};
use ganger_store::shared::InboxRow;
use ganger_store::{CommitError, MemoryState, StoreError};

use crate::elsewhere::ROWS;
use crate::setup::{ANSWER_WITHIN, MS, S, Time, wall};
use crate::world::{Event, World};

/// The durable truth, and the leader's row beside it.
#[derive(Debug, Default)]
pub(crate) struct StoreSim {
    pub(crate) state: MemoryState,
    pub(crate) renewed_at: Time,
    /// Away until then: calls wait, or are lost.
    pub(crate) away_until: Time,
    /// The disk is full until then.
    pub(crate) full_until: Time,
    pub(crate) next_call: u64,
    /// When the last batch that each server sent arrives.
    pub(crate) last_commit: BTreeMap<usize, Time>,
    /// Scripts: calls of a server of the given sort arrive this much late.
    pub(crate) late: Option<(usize, Sort, Time)>,
    /// Scripts: answers to this server are lost until then.
    pub(crate) unanswered: Option<(usize, Time)>,
    /// What it was some time ago: a replica that lags, and that some reads get to see.
    pub(crate) replica: Option<Box<MemoryState>>,
}

/// A call on its way to the store.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) server: usize,
    pub(crate) life: u32,
    pub(crate) number: u64,
    pub(crate) ask: StoreAsk,
}

#[derive(Clone, Debug)]
pub(crate) enum StoreAsk {
    /// Read the leader's row.
    Poll,
    Bump {
        more_than: u64,
    },
    Load,
    /// Read the inbox.
    Inbox,
    /// Read a page of live jobs.
    Live(LiveQuery),
    Commit {
        term: Term,
        batch: Arc<Batch>,
    },
    Renew {
        term: Term,
        sent_at: Mono,
    },
}

/// The sort of a call, for scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sort {
    Bump,
    Load,
    Live,
    Commit,
    Other,
}

impl StoreAsk {
    fn sort(&self) -> Sort {
        match self {
            StoreAsk::Bump { .. } => Sort::Bump,
            StoreAsk::Load => Sort::Load,
            StoreAsk::Live(_) => Sort::Live,
            StoreAsk::Commit { .. } => Sort::Commit,
            StoreAsk::Poll | StoreAsk::Inbox | StoreAsk::Renew { .. } => Sort::Other,
        }
    }
}

/// An answer on its way back.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) server: usize,
    pub(crate) life: u32,
    pub(crate) call: u64,
    pub(crate) what: StoreAnswer,
}

#[derive(Clone, Debug)]
pub(crate) enum StoreAnswer {
    /// How long ago the leader's row was renewed, by the store's clock.
    Row {
        age: Time,
    },
    Bumped(Term),
    Loaded(Box<Snapshot>),
    Inbox(Vec<InboxRow>),
    Live(Box<LivePage>),
    Committed {
        term: Term,
        number: u64,
        result: Result<Vec<Applied>, CommitError>,
    },
    Renewed {
        term: Term,
        sent_at: Mono,
        held: bool,
    },
}

impl World {
    /// Sends a call to the store; the number returned names it.
    pub(crate) fn call_store(&mut self, server: usize, ask: StoreAsk) -> u64 {
        self.store.next_call += 1;
        let number = self.store.next_call;
        let life = self.servers[server].life;
        let sort = ask.sort();
        let scripted = self.store.late.filter(|(whose, what, _)| (*whose, *what) == (server, sort));
        let late = scripted.map_or(0, |(.., late)| late);
        // Nobody hurries a takeover: some wait long for its first step.
        let patience =
            if sort == Sort::Bump { self.rng.below(5 * S) + late } else { self.rng.below(100 * MS) };
        self.after(ANSWER_WITHIN + patience, Event::StoreSilent { server, life, call: number });
        let faults = self.setup.faults;
        let cut = self.servers[server].cut_until > self.now;
        let lost = cut || (!self.healed && faults.store_losses && self.rng.one_in(12));
        if lost {
            self.note(|| format!("server {server}: call {number} is lost"));
            return number;
        }
        let mut delay = self.store_delay() + late;
        if sort == Sort::Commit {
            // They go over one connection.
            let last = self.store.last_commit.entry(server).or_default();
            delay = delay.max((*last + 1).saturating_sub(self.now));
            *last = self.now + delay;
        }
        self.after(delay, Event::StoreCalled(Call { server, life, number, ask }));
        number
    }

    fn store_delay(&mut self) -> Time {
        if self.setup.faults.embedded {
            return self.rng.range(MS / 2, 4 * MS);
        }
        if !self.healed && self.setup.faults.store_delays {
            return match self.rng.below(20) {
                0 => self.rng.range(500 * MS, 5 * S),
                1..=4 => self.rng.range(50 * MS, 500 * MS),
                5.. => self.rng.range(MS, 20 * MS),
            };
        }
        self.rng.range(MS / 2, 5 * MS)
    }

    pub(crate) fn store_called(&mut self, call: Call) {
        let dead = self.servers[call.server].life != call.life;
        if self.setup.faults.embedded && dead {
            // The store lives in the server process: a call dies with its caller.
            return;
        }
        if self.store.away_until > self.now {
            let wait = self.store.away_until - self.now + self.rng.below(50 * MS);
            if self.rng.one_in(2) {
                self.after(wait, Event::StoreCalled(call));
            }
            return;
        }
        let what = match call.ask {
            StoreAsk::Poll => StoreAnswer::Row { age: self.now.saturating_sub(self.store.renewed_at) },
            StoreAsk::Bump { more_than } => {
                let id = self.rng.next();
                let term = self.store.state.take_over(&call.server.to_string(), more_than, id);
                self.store.renewed_at = self.now;
                self.note(|| format!("store: term {term} begins, for server {}", call.server));
                StoreAnswer::Bumped(term)
            }
            StoreAsk::Load => StoreAnswer::Loaded(Box::new(self.store.state.load())),
            StoreAsk::Inbox => StoreAnswer::Inbox(self.store.state.inbox(ROWS)),
            StoreAsk::Live(query) => StoreAnswer::Live(Box::new(self.live_page(&query))),
            StoreAsk::Commit { term, batch } => {
                let result = self.commit(term, &batch);
                StoreAnswer::Committed { term, number: batch.number, result }
            }
            StoreAsk::Renew { term, sent_at } => {
                let held = term == self.store.state.term();
                if held {
                    self.store.renewed_at = self.now;
                }
                StoreAnswer::Renewed { term, sent_at, held }
            }
        };
        let cut = self.servers[call.server].cut_until > self.now;
        let unheard = self.store.unanswered.is_some_and(|(s, until)| s == call.server && until > self.now);
        let lost = cut || unheard || (!self.healed && self.setup.faults.store_losses && self.rng.one_in(12));
        if lost {
            self.note(|| format!("server {}: the answer to call {} is lost", call.server, call.number));
            return;
        }
        let delay = self.store_delay();
        let answer = Answer { server: call.server, life: call.life, call: call.number, what };
        self.after(delay, Event::StoreAnswered(answer));
    }

    fn commit(&mut self, term: Term, batch: &Batch) -> Result<Vec<Applied>, CommitError> {
        self.replicate();
        let current = term == self.store.state.term();
        if current && self.store.full_until > self.now && !self.checker.was_applied(term, batch.number) {
            self.note(|| format!("store: batch {term}/{} is refused, the disk is full", batch.number));
            self.checker.had_no_room(batch);
            return Err(CommitError::Refused(StoreError::Full("injected".into())));
        }
        let result = self.store.state.commit(term, batch);
        self.note(|| match &result {
            Ok(_) => format!("store: batch {term}/{} is written: {}", batch.number, brief(batch)),
            Err(error) => format!("store: batch {term}/{}: {error}", batch.number),
        });
        self.checker.committed(term, batch, &result, wall(self.now));
        result
    }
}

/// What a batch holds, in few words.
fn brief(batch: &Batch) -> String {
    use ganger_core::change::Change;
    use ganger_core::schedule::ledger::ScheduleChange;
    let words = batch.changes.iter().map(|change| match change {
        Change::Submit(s) => format!("submit {:?}", s.jobs.iter().map(|j| short(j.id)).collect::<Vec<_>>()),
        Change::Assign(a) => {
            let jobs: Vec<_> = a.leases.iter().map(|l| short(l.job)).collect();
            format!("assign {}.. {jobs:?} to {}", a.first, tail(&a.session.to_string()))
        }
        Change::End(e) => {
            let outcome = e.record.as_ref().map_or("unstarted", |r| r.outcome.as_str());
            format!("end {} {} {outcome}", short(e.job), e.fence)
        }
        Change::Finish(f) => format!("finish {} {}", short(f.job), f.end.state.as_str()),
        Change::CancelWanted(job) => format!("cancel wanted {}", short(*job)),
        Change::RunNow(job, _) => format!("run now {}", short(*job)),
        Change::Settle(parent, state) => format!("settle {} {}", short(*parent), state.as_str()),
        Change::Replay(r) => format!("replay {}", short(r.job)),
        Change::OpenSession(s) => format!("open {}", tail(&s.id.to_string())),
        Change::CloseSession(id, _) => format!("close {}", tail(&id.to_string())),
        Change::PutKind(kind, settings) => format!("kind {kind} transactional {}", settings.transactional),
        Change::PutQueue(queue, settings) => format!("queue {queue} paused {}", settings.paused),
        Change::CloseKey(closure) => format!("key {} closed until {:?}", closure.key, closure.until),
        Change::Mark(mark) => format!("mark {} {} {}", short(mark.job), mark.fence, mark.stands),
        Change::Log(_) => "log".into(),
        Change::Failed(seen) => format!("failed {}", short(seen.job)),
        Change::PutDocument(document) => format!("document {}", document.key),
        Change::Schedule(change) => match &**change {
            ScheduleChange::Put(record, _) => format!("put {}", record.schedule.name),
            ScheduleChange::Delete(_) => "delete a schedule".into(),
            ScheduleChange::Fire(firing) => {
                let rows = firing.occurrences.iter().map(|row| (row.due_at.0 / 1_000 % 100_000, &row.fate));
                format!("fire {} {:?}", firing.name, rows.collect::<Vec<_>>())
            }
        },
        Change::Delete(jobs) => format!("delete {}", jobs.len()),
        Change::PurgeDead { .. } => "purge".into(),
        Change::Prune { .. } => "prune".into(),
    });
    words.collect::<Vec<_>>().join(", ")
}

/// The last characters of a job's id: enough to tell jobs of one run apart.
pub(crate) fn short(job: ganger_core::JobId) -> String {
    tail(&job.to_string())
}

/// The last five characters.
pub(crate) fn tail(text: &str) -> String {
    text[text.len().saturating_sub(5)..].to_owned()
}
