//! Who is blocked by whom.
//!
//! Edges are in memory only while their child is blocked; a job without parents is in none of these maps, and costs one
//! look at an empty map when it ends.
//!
//! # Decided after the parent's end, from durable facts
//! The end of a parent is decided in one batch, and what follows for its children in the next, once the store has said how
//! the parent ended: for its handler may have ended it otherwise ([`super::elsewhere`]), and the batch may be refused. What
//! follows is decided in one step: the edges are settled ([`Change::Settle`]), a child that waits for nobody any more is
//! released ([`Change::RunNow`]) and may be leased in that same batch, and one whose policy says so is cancelled, which in
//! turn settles the edges of its own children.
//!
//! # What can go wrong
//! - *The leader ends in between.* The next one loads the edges that are not settled, and how those of their parents ended
//!   that are not live ([`Snapshot::ended`](crate::change::Snapshot::ended)): it decides the same.
//! - *The parent is removed in between.* Retention and people remove final jobs. So the end is recorded with the edge, and a
//!   parent that others wait for is kept even where its queue keeps none. Of a parent that is gone all the same nothing is
//!   known but that it is not to be waited for: it counts as cancelled.
//! - *A parent is removed that can still be replayed, and that jobs wait for until it is.* It never will be: they are
//!   cancelled. A store does not say what retention removed, so whenever something was, the parents that have ended and
//!   are waited for all the same are looked for ([`super::reconcile`]); a new leader finds out when it loads.
//! - *The batch is refused.* Nobody asked for it, so it is kept and written again, in the same order.
//! - *A person cancels the child meanwhile.* Its edges stay until that is durable; if it is refused, the child is looked at
//!   again.
//! - *A parent is replayed.* Edges that are settled stay settled. Those that wait for its success go on waiting.

use std::collections::BTreeSet;

use foldhash::HashMap;

use crate::change::{Applied, Change, Intake, NewJob, Submitted};
use crate::coordinator::Coordinator;
use crate::coordinator::effect::Effect;
use crate::coordinator::port::Output;
use crate::coordinator::table::{Entry, Phase};
use crate::coordinator::view::GateShown;
use crate::coordinator::wheel::TimerId;
use crate::dependency::{self, Edge, OnDead};
use crate::ids::JobId;
use crate::job::State;
use crate::sabotage::{self, Bug};
use crate::time::Now;

/// Parents that `explain` names.
const NAMED: usize = 5;

/// One parent of a blocked job.
#[derive(Clone, Copy, Debug)]
struct Waits {
    parent: JobId,
    on_dead: OnDead,
    /// How the parent ended last. Whether that settles the edge, its policy says.
    ended: Option<State>,
    /// The parent is not there any more, so it cannot be replayed.
    gone: bool,
}

impl Waits {
    fn is_settled(&self) -> bool {
        self.ended.is_some_and(|end| self.on_dead.settled_by(end))
    }
}

/// The edges of blocked jobs.
#[derive(Debug, Default)]
pub(crate) struct Dependencies {
    /// By child.
    waits: HashMap<JobId, Vec<Waits>>,
    /// By parent: children whose edge to it is not settled.
    children: HashMap<JobId, BTreeSet<JobId>>,
    /// Those of these parents that have ended, and are waited for all the same.
    ended: BTreeSet<JobId>,
    /// Timers of blocked jobs that expire.
    expiries: HashMap<JobId, TimerId>,
}

/// What the edges of a blocked job come to.
enum Verdict {
    Blocked,
    Free,
    /// A parent that ended so takes it along.
    Cancelled(JobId, State),
    /// A parent that it waits for was removed.
    Bereft(JobId),
}

impl Dependencies {
    /// Whether somebody waits for this job.
    pub(crate) fn is_parent(&self, job: JobId) -> bool {
        !self.children.is_empty() && self.children.contains_key(&job)
    }

    /// A job waits for another.
    pub(crate) fn add(&mut self, edge: Edge) {
        let waits = Waits { parent: edge.parent, on_dead: edge.on_dead, ended: edge.ended, gone: false };
        if !waits.is_settled() {
            self.children.entry(edge.parent).or_default().insert(edge.child);
            if waits.ended.is_some() {
                self.ended.insert(edge.parent);
            }
        }
        self.waits.entry(edge.child).or_default().push(waits);
    }

    /// The parent has ended so. Tells whose edges were waiting for it.
    fn end(&mut self, parent: JobId, state: State) -> BTreeSet<JobId> {
        let Some(children) = self.children.remove(&parent) else { return BTreeSet::new() };
        let mut go_on = BTreeSet::new();
        for child in &children {
            let edges = self.waits.get_mut(child).into_iter().flatten();
            for edge in edges.filter(|edge| edge.parent == parent) {
                edge.ended = Some(state);
                if !edge.is_settled() {
                    go_on.insert(*child);
                }
            }
        }
        if go_on.is_empty() {
            self.ended.remove(&parent);
        } else {
            self.ended.insert(parent);
            self.children.insert(parent, go_on);
        }
        children
    }

    /// The parent is not there any more. Tells who waits for it in vain.
    fn bury(&mut self, parent: JobId) -> BTreeSet<JobId> {
        self.ended.remove(&parent);
        let Some(children) = self.children.get(&parent) else { return BTreeSet::new() };
        for child in children {
            let edges = self.waits.get_mut(child).into_iter().flatten();
            edges.filter(|edge| edge.parent == parent).for_each(|edge| edge.gone = true);
        }
        children.clone()
    }

    /// The edges by which others wait for this parent.
    fn open_edges(&self, parent: JobId) -> impl Iterator<Item = &Waits> {
        let children = self.children.get(&parent).into_iter().flatten();
        let edges = children.flat_map(|child| self.waits.get(child).into_iter().flatten());
        edges.filter(move |edge| edge.parent == parent)
    }

    /// Whether somebody waits for this parent who does not know that it is gone.
    fn wait_in_vain(&self, parent: JobId) -> bool {
        self.open_edges(parent).any(|edge| !edge.gone)
    }

    /// Whether jobs wait for parents that have ended.
    pub(crate) fn await_ended(&self) -> bool {
        !self.ended.is_empty()
    }

    /// The parents that have ended, and are waited for all the same.
    pub(crate) fn awaited_though_ended(&self) -> Vec<JobId> {
        self.ended.iter().copied().collect()
    }

    /// Whether somebody waits for this parent and does not know that it has ended.
    pub(crate) fn wait_unknowing(&self, parent: JobId) -> bool {
        self.open_edges(parent).any(|edge| edge.ended.is_none())
    }

    /// Whether these are the edges of a blocked job.
    pub(crate) fn agree(&self, child: JobId, edges: &[Edge]) -> bool {
        let known = self.waits.get(&child).map(Vec::as_slice).unwrap_or_default();
        let as_known = |edge: &Edge| {
            known.iter().any(|own| {
                let ended = own.ended.filter(|_| own.is_settled());
                (own.parent, own.on_dead, ended) == (edge.parent, edge.on_dead, edge.ended)
            })
        };
        known.len() == edges.len() && edges.iter().all(as_known)
    }

    fn verdict(&self, child: JobId) -> Verdict {
        let edges = self.waits.get(&child).map(Vec::as_slice).unwrap_or_default();
        let mut verdict = Verdict::Free;
        for edge in edges {
            match edge.ended {
                Some(end) if edge.on_dead.cancelled_by(end) => return Verdict::Cancelled(edge.parent, end),
                Some(_) | None if edge.gone && !edge.is_settled() => return Verdict::Bereft(edge.parent),
                Some(_) | None if !edge.is_settled() => verdict = Verdict::Blocked,
                Some(_) | None => {}
            }
        }
        verdict
    }

    /// A blocked job expires when this timer fires.
    pub(crate) fn expire(&mut self, child: JobId, timer: Option<TimerId>) {
        if let Some(timer) = timer {
            self.expiries.insert(child, timer);
        }
    }

    /// A blocked job is taken out of its place; its timer is of no use any more.
    pub(crate) fn withdraw(&mut self, child: JobId) -> Option<TimerId> {
        self.expiries.remove(&child)
    }

    /// The child is not blocked any more.
    pub(crate) fn forget(&mut self, child: JobId) {
        if self.waits.is_empty() {
            return;
        }
        let Some(edges) = self.waits.remove(&child) else { return };
        for parent in edges.iter().filter(|edge| !edge.is_settled()).map(|edge| edge.parent) {
            if let Some(children) = self.children.get_mut(&parent) {
                children.remove(&child);
                if children.is_empty() {
                    self.children.remove(&parent);
                    self.ended.remove(&parent);
                }
            }
        }
    }
}

impl Coordinator {
    /// The submission is durable: the edges of its jobs are known before the jobs are.
    pub(crate) fn linked(&mut self, jobs: &[NewJob], applied: Applied) -> Option<Submitted> {
        let (answer, ended) = match applied {
            Applied::Submitted(answer) => (answer, Vec::new()),
            Applied::Linked(answer, ended) => (answer, ended),
            Applied::Done
            | Applied::Taken
            | Applied::SessionEverClosed
            | Applied::Replayed(_)
            | Applied::Removed(_)
            | Applied::EndedElsewhere { .. }
            | Applied::NoTransactions
            | Applied::Fired(_) => return None,
        };
        let intakes: &[Intake] = match &answer {
            Submitted::Accepted(intakes) => intakes,
            Submitted::Replayed(_) | Submitted::KeyReused | Submitted::NoParent(..) => &[],
        };
        let ended: HashMap<JobId, State> = ended.into_iter().collect();
        for edge in dependency::edges(jobs, intakes) {
            self.dependencies.add(Edge { ended: ended.get(&edge.parent).copied(), ..edge });
        }
        Some(answer)
    }

    /// The edges of blocked jobs, before the jobs themselves.
    pub(crate) fn load_edges(&mut self, edges: Vec<Edge>) {
        if sabotage::active(Bug::EdgesNotLoaded) {
            return;
        }
        for edge in edges {
            self.dependencies.add(edge);
        }
    }

    /// Parents that ended and that nobody has told their children of.
    pub(crate) fn load_ended(&mut self, now: Now, ended: Vec<(JobId, Option<State>)>) {
        if sabotage::active(Bug::EndedParentsNotNoticed) {
            return;
        }
        for (parent, state) in ended {
            match state {
                Some(state) => self.parent_ended(now, parent, state, &mut Vec::new()),
                None => self.parent_gone(now, parent, &mut Vec::new()),
            }
        }
    }

    /// A parent is neither live nor kept: it counts as cancelled, and nobody will replay it.
    pub(crate) fn parent_gone(&mut self, now: Now, parent: JobId, out: &mut Vec<Output>) {
        if !self.dependencies.wait_in_vain(parent) {
            return;
        }
        self.parent_ended(now, parent, State::Cancelled, out);
        if sabotage::active(Bug::PurgedParentAwaited) {
            return;
        }
        for child in self.dependencies.bury(parent) {
            if let Some(slot) = self.jobs.slot(child) {
                self.judge(now, slot);
            }
        }
    }

    /// It is durable that a job has ended so: whoever waits for it goes on, or does not.
    pub(crate) fn parent_ended(&mut self, now: Now, parent: JobId, state: State, out: &mut Vec<Output>) {
        if !self.dependencies.is_parent(parent) {
            return;
        }
        self.commits.push(Change::Settle(parent, state), Effect::Nothing);
        for child in self.dependencies.end(parent, state) {
            let Some(slot) = self.jobs.slot(child) else { continue };
            self.judge(now, slot);
            let entry = self.jobs.get(slot);
            if matches!(entry.phase, Phase::Waiting(_) | Phase::Ready(_)) {
                out.push(self.job_event(slot, entry.counted, now.wall));
            }
        }
    }

    /// Looks at a blocked job: whether it is to go on being so.
    pub(crate) fn judge(&mut self, now: Now, job: u32) {
        if !matches!(self.jobs.get(job).phase, Phase::Blocked) {
            return;
        }
        let id = self.jobs.get(job).id;
        match self.dependencies.verdict(id) {
            Verdict::Blocked => {}
            Verdict::Free => {
                self.withdraw(job);
                self.dependencies.forget(id);
                let entry = self.jobs.get_mut(job);
                entry.due_at = dependency::unparked(entry.due_at).max(now.wall);
                self.commits.push(Change::RunNow(id, entry.due_at), Effect::Nothing);
                self.make_runnable(now, job);
            }
            Verdict::Cancelled(parent, end) => {
                self.withdraw(job);
                let how = if end == State::Dead { "died" } else { "was cancelled" };
                let reason = format!("its parent {parent} {how}");
                self.finish(now, job, State::Cancelled, &reason, None);
            }
            Verdict::Bereft(parent) => {
                self.withdraw(job);
                let reason = format!("its parent {parent} was purged");
                self.finish(now, job, State::Cancelled, &reason, None);
            }
        }
    }

    /// Why a job is blocked; nothing if it is not.
    pub(crate) fn parents_gate(&self, entry: &Entry) -> Option<GateShown> {
        if !matches!(entry.phase, Phase::Blocked) {
            return None;
        }
        let edges = self.dependencies.waits.get(&entry.id).map(Vec::as_slice).unwrap_or_default();
        let open: Vec<&Waits> = edges.iter().filter(|edge| !edge.is_settled()).collect();
        let mut named: Vec<String> = open.iter().take(NAMED).map(|edge| self.awaited(edge)).collect();
        if open.len() > NAMED {
            named.push(format!("{} more", open.len() - NAMED));
        }
        let evidence = format!(
            "it waits since {} for {} of its {} parents: {}",
            entry.created_at,
            open.len(),
            edges.len(),
            named.join(", ")
        );
        Some(GateShown { gate: "parents", closed: true, evidence })
    }

    /// A parent that is waited for, and where it is.
    fn awaited(&self, edge: &Waits) -> String {
        let state = match (self.jobs.slot(edge.parent), edge.ended) {
            (Some(slot), _) => self.jobs.get(slot).counted.as_str().to_owned(),
            (None, Some(end)) => format!("{}, until it is replayed and succeeds", end.as_str()),
            (None, None) => "not known here".to_owned(),
        };
        format!("{} ({state})", edge.parent)
    }
}
