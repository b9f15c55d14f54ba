//! The reconciler: memory against the store, page by page, while everything goes on.
//!
//! The store is the truth and memory the speed; both are kept by one thread that changes the one and writes the other. If
//! they ever disagree that is a bug, and without a look at both nobody would know before the next leader loads. So every
//! ten minutes the leader reads the live jobs in pages and compares. A difference is told ([`Event::Difference`]), counted
//! and repaired (`repair.rs`).
//!
//! # What may be compared
//! Memory runs ahead of the store by what is decided and not yet durable, and a page is old when it arrives. Compared is
//! therefore only what neither side can have moved since the page was asked for:
//! - A job is **touched** if a change names it that was being written when the page was asked for, was handed over since,
//!   or waits for the next batch when the page arrives. Touched jobs are skipped. Everything written *before* is in
//!   the page, for it was durable before the read began, and in memory, for it is announced before the page is looked at.
//! - The page says at which batch of which term it was read. One of another term shows what another leader did: the
//!   whole page is dropped, and this leader will learn the rest soon enough. One that is older than what was durable when it
//!   was asked for (a replica that lags, say) is dropped as well.
//! - A job that its handler may end in its own transaction is live here until that is reported, and gone there before.
//!   Nobody is wrong ([`super::elsewhere`]).
//!
//! # What memory has and the store has not
//! No page shows that. So each job that a page shows is marked, and those that were taken in before the pass began and are
//! not marked at its end are *sought* by their ids: they may have been taken in late, or ended since. Only what the store
//! then says is gone, and what nobody touched, is left over.
//!
//! # What can go wrong
//! - *The leader ends, or is deposed, while a page is read.* The next one begins with a load, and a pass of its own.
//! - *The outcome of a commit is unknown.* Its jobs are touched until it is settled, whichever way.
//! - *The batch is refused.* What was undone was touched; what is kept waits, and is touched.
//! - *The page cannot be read.* The pass is given up, and the next begins in its time.

mod compare;
#[cfg(feature = "sabotage")]
mod corrupt;
mod repair;

use std::time::Duration;

use foldhash::{HashSet, HashSetExt as _};

use crate::change::{Change, LivePage, LiveQuery};
use crate::coordinator::port::Output;
use crate::coordinator::table::Phase;
use crate::coordinator::wheel::TimerId;
use crate::coordinator::{Coordinator, Timer};
use crate::ids::JobId;
use crate::limits;
use crate::sabotage::{self, Bug};
use crate::time::{Mono, Now};

#[cfg(feature = "sabotage")]
pub use corrupt::Corruption;

/// The pause before removed parents are looked for again, where that failed.
const PARENTS_AGAIN: Duration = Duration::from_secs(5);

/// What came of comparing memory with the store, from the first job to the last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reconciled {
    /// Pages that were read.
    pub pages: u64,
    /// Jobs that were compared.
    pub compared: u64,
    /// Jobs that were not, because something was being decided about them.
    pub skipped: u64,
    /// Differences that were found.
    pub differences: u64,
}

/// What the leader compares, and how far it is.
#[derive(Debug, Default)]
pub(crate) struct Reconciler {
    asked: Option<Asked>,
    pass: Option<Pass>,
    /// When the next pass begins.
    pass_at: Option<Mono>,
    /// Parents that may have been removed, and that jobs wait for: to be looked for.
    parents: Vec<JobId>,
    timer: Option<TimerId>,
}

/// A page that is being read.
#[derive(Debug)]
struct Asked {
    what: What,
    /// The last batch that was durable before.
    written: u64,
    /// Jobs that something was, or is, decided about.
    touched: HashSet<JobId>,
}

#[derive(Debug)]
enum What {
    /// The page after the last one.
    Page,
    /// Jobs that no page showed.
    Suspects,
    /// Parents that may have been removed.
    Parents,
}

/// One comparison, from the first job to the last.
#[derive(Debug)]
struct Pass {
    next: Next,
    /// Jobs with a smaller number were taken in before it began.
    before_seq: u64,
    /// Slots of jobs that a page showed, one bit each.
    seen: Vec<u64>,
    came: Reconciled,
}

#[derive(Clone, Copy, Debug)]
enum Next {
    /// The page of jobs after this one.
    Page(Option<JobId>),
    /// What no page showed, from this slot on.
    Sweep(usize),
    Done,
}

impl Reconciler {
    /// These changes are handed over: a page that is being read may have them, or not.
    pub(crate) fn touch(&mut self, changes: &[Change]) {
        if let Some(asked) = &mut self.asked
            && !sabotage::active(Bug::PageForgetsLater)
        {
            asked.touch(changes);
        }
    }
}

impl Asked {
    fn touch<'c>(&mut self, changes: impl IntoIterator<Item = &'c Change>) {
        for change in changes {
            change.touches(|job| {
                self.touched.insert(job);
            });
        }
    }
}

impl Pass {
    fn mark(&mut self, slot: u32) {
        let (word, bit) = (slot as usize / 64, slot % 64);
        if self.seen.len() <= word {
            self.seen.resize(word + 1, 0);
        }
        self.seen[word] |= 1 << bit;
    }

    fn is_marked(&self, slot: usize) -> bool {
        self.seen.get(slot / 64).is_some_and(|word| word & (1 << (slot % 64)) != 0)
    }
}

impl Coordinator {
    /// The next pass begins in its time.
    pub(crate) fn reconcile_later(&mut self, now: Now) {
        self.reconciler.pass = None;
        self.reconciler.pass_at = self.options.reconcile_every.map(|every| now.mono + every);
        self.plan_reconcile(self.reconciler.pass_at);
    }

    /// Final jobs were removed: parents that others wait for may be among them.
    pub(crate) fn parents_may_be_gone(&mut self, now: Now) {
        if sabotage::active(Bug::PurgedParentAwaited) || !self.dependencies.await_ended() {
            return;
        }
        self.reconciler.parents = self.dependencies.awaited_though_ended();
        if self.reconciler.asked.is_none() {
            self.plan_reconcile(Some(now.mono + self.options.reconcile_pause));
        }
    }

    fn plan_reconcile(&mut self, at: Option<Mono>) {
        if let Some(timer) = self.reconciler.timer.take() {
            self.timers.cancel(timer);
        }
        self.reconciler.timer = at.map(|at| self.timers.insert(at, Timer::Reconcile));
    }

    /// The next step, unless one is under way.
    pub(crate) fn reconcile(&mut self, now: Now, out: &mut Vec<Output>) {
        self.reconciler.timer = None;
        if self.reconciler.asked.is_some() {
            return;
        }
        if !self.has_authority(now) || self.commits.trouble().is_some() {
            self.give_up_pass(now);
            return;
        }
        if !self.reconciler.parents.is_empty() {
            let at_once = self.reconciler.parents.len().min(limits::SOUGHT_AT_ONCE);
            let sought = self.reconciler.parents.drain(..at_once).collect();
            self.read_live(What::Parents, LiveQuery { after: None, limit: 0, sought }, out);
            return;
        }
        if self.reconciler.pass.is_none() {
            if self.reconciler.pass_at.is_none_or(|at| now.mono < at) {
                self.plan_reconcile(self.reconciler.pass_at);
                return;
            }
            self.reconciler.pass = Some(Pass {
                next: Next::Page(None),
                before_seq: self.next_seq,
                seen: vec![0; self.jobs.slots().div_ceil(64)],
                came: Reconciled::default(),
            });
        }
        self.go_on(now, out);
    }

    /// The next page, the next jobs that no page showed, or the end.
    fn go_on(&mut self, now: Now, out: &mut Vec<Output>) {
        let Some(pass) = &mut self.reconciler.pass else { return };
        match pass.next {
            Next::Page(after) => {
                pass.came.pages += 1;
                let query = LiveQuery { after, limit: self.options.reconcile_page, sought: Vec::new() };
                self.read_live(What::Page, query, out);
            }
            Next::Sweep(from) => {
                let sought = self.suspects(from);
                if sought.is_empty() {
                    self.plan_reconcile(Some(now.mono + self.options.reconcile_pause));
                } else {
                    self.read_live(What::Suspects, LiveQuery { after: None, limit: 0, sought }, out);
                }
            }
            Next::Done => {
                out.push(Output::Reconciled(pass.came));
                self.reconcile_later(now);
            }
        }
    }

    fn read_live(&mut self, what: What, query: LiveQuery, out: &mut Vec<Output>) {
        let mut asked = Asked { what, written: self.commits.written(), touched: HashSet::new() };
        if !sabotage::active(Bug::PageForgetsInFlight) {
            self.commits.writing().for_each(|changes| asked.touch(changes));
        }
        self.reconciler.asked = Some(asked);
        out.push(Output::ReadLive(query));
    }

    /// Jobs that should have been on a page and were on none, from this slot on; at most so many.
    fn suspects(&mut self, from: usize) -> Vec<JobId> {
        let mut found = Vec::new();
        let Some(pass) = &self.reconciler.pass else { return found };
        let end = self.jobs.slots().min(from + limits::SWEPT_AT_ONCE);
        let mut at = from;
        while at < end && found.len() < limits::SOUGHT_AT_ONCE {
            let slot = u32::try_from(at).unwrap_or(u32::MAX);
            if let Some(entry) = self.jobs.find(slot)
                && !pass.is_marked(at)
                && !entry.provisional
                && entry.seq < pass.before_seq
                && !self.may_end_elsewhere(entry.phase)
            {
                found.push(entry.id);
            }
            at += 1;
        }
        let next = if at >= self.jobs.slots() { Next::Done } else { Next::Sweep(at) };
        if let Some(pass) = &mut self.reconciler.pass {
            pass.next = next;
        }
        found
    }

    /// Whether a handler may end the job in its own transaction, without the leader.
    fn may_end_elsewhere(&self, phase: Phase) -> bool {
        match phase {
            Phase::Leased(lease) => self.leases.get(lease).transactional,
            Phase::Blocked | Phase::Waiting(_) | Phase::Ready(_) | Phase::Ending | Phase::Leaving => false,
        }
    }

    /// What was asked for is here, or will not come.
    pub(crate) fn live_read(&mut self, now: Now, page: Option<Box<LivePage>>, out: &mut Vec<Output>) {
        let Some(mut asked) = self.reconciler.asked.take() else { return };
        let Some(page) = page.filter(|page| self.may_compare(&asked, page)) else {
            if matches!(asked.what, What::Parents) {
                self.reconciler.parents = self.dependencies.awaited_though_ended();
            }
            self.give_up_pass(now);
            return;
        };
        if !sabotage::active(Bug::PageForgetsForming) {
            asked.touch(self.commits.forming());
        }
        match asked.what {
            What::Page => {
                let more = page.jobs.len() >= self.options.reconcile_page;
                let last = page.jobs.last().map(|job| job.id);
                self.compare(now, &page, &asked.touched, out);
                if let Some(pass) = &mut self.reconciler.pass {
                    pass.next = if more { Next::Page(last) } else { Next::Sweep(0) };
                }
            }
            What::Suspects => self.look_at_gone(now, &page, &asked.touched, out),
            What::Parents => self.bury_parents(now, &page, &asked.touched, out),
        }
        let soon = now.mono + self.options.reconcile_pause;
        let next = if self.reconciler.pass.is_some() || !self.reconciler.parents.is_empty() {
            Some(soon)
        } else {
            self.reconciler.pass_at
        };
        self.plan_reconcile(next);
    }

    /// Whether the page shows this leader's work, and all that was durable when it was asked for.
    fn may_compare(&self, asked: &Asked, page: &LivePage) -> bool {
        let own = page.term == self.term || sabotage::active(Bug::PageOfAnotherTerm);
        let fresh = page.batch >= asked.written || sabotage::active(Bug::PageOlderThanBatch);
        own && fresh
    }

    fn give_up_pass(&mut self, now: Now) {
        self.reconcile_later(now);
        if !self.reconciler.parents.is_empty() {
            self.plan_reconcile(Some(now.mono + PARENTS_AGAIN));
        }
    }
}
