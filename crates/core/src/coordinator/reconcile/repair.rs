//! Making memory what the store says.
//!
//! A job without a lease is repaired in its place: out of memory, and in again as its row is. Nothing is being decided about
//! it, so nothing that waits to be written names it.
//!
//! Where memory and the store disagree about a **lease**, more than one job is in question: threads, the session, what its
//! worker was told, and whether the store would take the next batch at all. There the leader begins again: the next
//! term loads everything, and sessions resume, as after any other takeover.

use foldhash::HashSet;

use crate::change::{LiveJob, LivePage};
use crate::coordinator::Coordinator;
use crate::coordinator::port::Output;
use crate::coordinator::table::Phase;
use crate::dependency::Edge;
use crate::event::Difference;
use crate::ids::JobId;
use crate::job::State;
use crate::sabotage::{self, Bug};
use crate::time::Now;

/// Why a leader begins again.
const LEASES_DIFFER: &str = "its memory and the store disagree about a lease";

impl Coordinator {
    /// Makes a job what its row says.
    pub(super) fn repair(
        &mut self,
        now: Now,
        job: &LiveJob,
        what: Difference,
        edges: Vec<Edge>,
        out: &mut Vec<Output>,
    ) {
        match what {
            Difference::Lease => self.begin_again(out),
            Difference::Missing | Difference::Moved => {
                if let Some(slot) = self.jobs.slot(job.id) {
                    self.forget_job(slot);
                }
                self.restore_edges(job.id, edges);
                let slot = self.add_job(now, job);
                out.push(self.job_event(slot, self.jobs.get(slot).counted, now.wall));
            }
            Difference::Edges => {
                self.dependencies.forget(job.id);
                self.restore_edges(job.id, edges);
                if let Some(slot) = self.jobs.slot(job.id) {
                    self.judge(now, slot);
                }
            }
            // Found where nobody looks at rows.
            Difference::LeftOver | Difference::Parent => {}
        }
    }

    fn begin_again(&self, out: &mut Vec<Output>) {
        out.push(Output::StepDown { more_than: self.term.number, reason: LEASES_DIFFER });
    }

    fn restore_edges(&mut self, child: JobId, edges: Vec<Edge>) {
        if !sabotage::active(Bug::RepairDropsEdges) {
            edges.into_iter().filter(|edge| edge.child == child).for_each(|edge| self.dependencies.add(edge));
        }
    }

    /// A job without a lease leaves memory as if it had never been there.
    fn forget_job(&mut self, slot: u32) {
        self.withdraw(slot);
        let entry = self.drop_job(slot);
        let key = &self.classes.get(entry.class).key;
        self.counters.sub(&key.queue, &key.kind, entry.counted, 1);
        self.progress.remove(&entry.id);
        self.dependencies.forget(entry.id);
        self.schedules.job_left(entry.id);
    }

    /// Jobs that no page showed: those that the store does not have are left over.
    pub(super) fn look_at_gone(
        &mut self,
        now: Now,
        page: &LivePage,
        touched: &HashSet<JobId>,
        out: &mut Vec<Output>,
    ) {
        for (id, state) in &page.gone {
            let Some(slot) = self.jobs.slot(*id) else { continue };
            if touched.contains(id) || self.may_end_elsewhere(self.jobs.get(slot).phase) {
                continue;
            }
            if let Phase::Leased(_) = self.jobs.get(slot).phase {
                self.tell_difference(now, *id, Difference::Lease, out);
                self.begin_again(out);
                continue;
            }
            self.tell_difference(now, *id, Difference::LeftOver, out);
            self.withdraw(slot);
            // Whoever waits for a job of which nothing is known waits in vain.
            let end = state.unwrap_or(State::Cancelled);
            self.leave(now, slot, end, state.is_some(), now.wall, out);
        }
    }

    /// Parents that were looked for: those that are gone are not waited for any longer.
    pub(super) fn bury_parents(
        &mut self,
        now: Now,
        page: &LivePage,
        touched: &HashSet<JobId>,
        out: &mut Vec<Output>,
    ) {
        for (parent, state) in &page.gone {
            if state.is_none() && !touched.contains(parent) && self.jobs.slot(*parent).is_none() {
                self.parent_gone(now, *parent, out);
            }
        }
    }
}
