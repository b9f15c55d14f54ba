//! What a page says against what memory holds.

use foldhash::{HashMap, HashMapExt as _, HashSet};

use crate::change::{LiveJob, LivePage};
use crate::coordinator::Coordinator;
use crate::coordinator::load::open_leases;
use crate::coordinator::port::Output;
use crate::coordinator::table::Phase;
use crate::dependency::{self, Edge};
use crate::event::{Difference, Event};
use crate::ids::JobId;
use crate::lease::Fence;
use crate::time::Now;

impl Coordinator {
    /// Compares the jobs of a page that nobody touches, and repairs what differs.
    pub(super) fn compare(
        &mut self,
        now: Now,
        page: &LivePage,
        touched: &HashSet<JobId>,
        out: &mut Vec<Output>,
    ) {
        let leased = open_leases(&page.jobs, &page.assignments);
        let mut edges: HashMap<JobId, Vec<Edge>> = HashMap::new();
        for edge in &page.edges {
            edges.entry(edge.child).or_default().push(*edge);
        }
        for job in &page.jobs {
            let slot = self.jobs.slot(job.id);
            if let (Some(slot), Some(pass)) = (slot, &mut self.reconciler.pass) {
                pass.mark(slot);
            }
            let lease = leased.get(&job.id).map(|(_, fence, _)| *fence);
            let own = edges.remove(&job.id).unwrap_or_default();
            let is_touched =
                touched.contains(&job.id) || own.iter().any(|edge| touched.contains(&edge.parent));
            if let Some(pass) = &mut self.reconciler.pass {
                pass.came.compared += u64::from(!is_touched);
                pass.came.skipped += u64::from(is_touched);
            }
            if is_touched {
                continue;
            }
            let found = match slot {
                None if lease.is_some() => Some(Difference::Lease),
                None => Some(Difference::Missing),
                Some(slot) => self.differs(slot, job, lease, &own),
            };
            if let Some(what) = found {
                self.tell_difference(now, job.id, what, out);
                self.repair(now, job, what, own, out);
            }
        }
        self.compare_ended(now, page, touched, out);
    }

    /// In what a job in memory differs from its row.
    fn differs(&self, slot: u32, job: &LiveJob, lease: Option<Fence>, edges: &[Edge]) -> Option<Difference> {
        let entry = self.jobs.get(slot);
        let (held, settled) = match entry.phase {
            Phase::Leased(lease) => (Some(self.leases.get(lease).fence), true),
            Phase::Blocked => (None, dependency::is_parked(entry.due_at)),
            Phase::Waiting(_) | Phase::Ready(_) => (None, !dependency::is_parked(entry.due_at)),
            // Somebody decided so, but nothing that would be written says it.
            Phase::Ending | Phase::Leaving => (None, false),
        };
        if held != lease {
            return Some(Difference::Lease);
        }
        let stands = (entry.due_at, entry.retrying, entry.cancel_wanted, entry.standing, entry.priority)
            == (job.due_at, job.retrying, job.cancel_wanted, job.standing, job.priority);
        if !stands || !settled {
            return Some(Difference::Moved);
        }
        // A handler that ends a parent settles its edges in the same transaction.
        let elsewhere = |parent: JobId| {
            let slot = self.jobs.slot(parent);
            slot.is_some_and(|slot| self.may_end_elsewhere(self.jobs.get(slot).phase))
        };
        let comparable =
            matches!(entry.phase, Phase::Blocked) && !edges.iter().any(|edge| elsewhere(edge.parent));
        (comparable && !self.dependencies.agree(job.id, edges)).then_some(Difference::Edges)
    }

    /// Parents that are not live, and that blocked jobs wait for all the same, must be known to have ended so.
    fn compare_ended(&mut self, now: Now, page: &LivePage, touched: &HashSet<JobId>, out: &mut Vec<Output>) {
        for (parent, state) in &page.ended {
            // One that its handler has ended is live here until that is reported.
            let live = self.jobs.slot(*parent).is_some();
            if live || touched.contains(parent) {
                continue;
            }
            match state {
                Some(state) if self.dependencies.wait_unknowing(*parent) => {
                    self.tell_difference(now, *parent, Difference::Parent, out);
                    self.parent_ended(now, *parent, *state, out);
                }
                Some(_) => {}
                // Retention removes without asking.
                None => self.parent_gone(now, *parent, out),
            }
        }
    }

    pub(super) fn tell_difference(&mut self, now: Now, job: JobId, what: Difference, out: &mut Vec<Output>) {
        if let Some(pass) = &mut self.reconciler.pass {
            pass.came.differences += 1;
        }
        out.push(Output::Event(Event::Difference { job, what, at: now.wall }));
    }
}
