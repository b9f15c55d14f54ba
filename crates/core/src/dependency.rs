//! Jobs that wait for other jobs.
//!
//! A job may name *parents*. It is **blocked** until each of them is final and *settles* its edge. A parent that succeeded
//! settles every edge. One that died or was cancelled settles it by what the edge says ([`OnDead`]): the child is
//! cancelled, runs anyway, or goes on waiting until a person replays the parent and it succeeds. An edge that was
//! settled stays so, whatever becomes of the parent later.
//!
//! Edges point from new jobs to jobs that exist, or to jobs of the same request. So a circle can only be made within one
//! request, and is refused there ([`check`]).
//!
//! # A blocked job is not due
//! A live job has a due time, and is not looked at before. While it is blocked it is *parked*: its due time is moved out of
//! every calendar by a fixed amount ([`park`]), and comes back when it is released. So what is blocked can be told from its
//! row alone, by every reader, and a job without parents has nothing that it could pay for.

use foldhash::{HashMap, HashMapExt as _, HashSet};
use serde::{Deserialize, Serialize};

use crate::change::{Applied, Intake, NewJob, Submitted};
use crate::ids::JobId;
use crate::job::State;
use crate::limits;
use crate::time::Wall;

/// Due times from here on are those of blocked jobs. Far beyond the year 9999, and far from where numbers end.
pub const PARKED_FROM: Wall = Wall(1 << 62);

/// What becomes of a job when a parent dies or is cancelled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnDead {
    /// It is cancelled.
    #[default]
    Cancel,
    /// It runs as if the parent had succeeded.
    Run,
    /// It waits: the parent may be replayed.
    Wait,
}

impl OnDead {
    /// Every one of them.
    pub const ALL: [OnDead; 3] = [OnDead::Cancel, OnDead::Run, OnDead::Wait];

    /// The word for it, everywhere.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            OnDead::Cancel => "cancel",
            OnDead::Run => "run",
            OnDead::Wait => "wait",
        }
    }

    /// The one of that name.
    #[must_use]
    pub fn parse(text: &str) -> Option<OnDead> {
        OnDead::ALL.into_iter().find(|one| one.as_str() == text)
    }

    /// The number for it, in databases.
    #[must_use]
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// The one of that number.
    #[must_use]
    pub fn from_code(code: i64) -> Option<OnDead> {
        OnDead::ALL.into_iter().find(|one| i64::from(one.code()) == code)
    }

    /// Whether a parent that ended so need not be waited for any longer.
    #[must_use]
    pub const fn settled_by(self, end: State) -> bool {
        match (end, self) {
            (State::Succeeded, _) | (State::Dead | State::Cancelled, OnDead::Cancel | OnDead::Run) => true,
            (State::Dead | State::Cancelled, OnDead::Wait)
            | (State::Scheduled | State::Blocked | State::Queued | State::Running | State::Retrying, _) => {
                false
            }
        }
    }

    /// Whether a parent that ended so takes the child with it.
    #[must_use]
    pub const fn cancelled_by(self, end: State) -> bool {
        matches!((end, self), (State::Dead | State::Cancelled, OnDead::Cancel))
    }
}

/// A parent as a client names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dependency {
    /// The parent.
    pub job: JobId,
    /// What to do if it dies or is cancelled.
    #[serde(default)]
    pub on_dead: OnDead,
}

/// A job and one of its parents, as a store keeps them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Edge {
    /// The job that waits.
    pub child: JobId,
    /// What it waits for.
    pub parent: JobId,
    /// What to do if that dies or is cancelled.
    pub on_dead: OnDead,
    /// How the parent ended, once that has settled the edge.
    pub ended: Option<State>,
}

/// Stands for the n-th job of the same request, until its jobs have their ids. No job has such an id: those of jobs begin
/// with the time.
#[must_use]
pub const fn reference(nth: usize) -> JobId {
    JobId::from_uuid(uuid::Uuid::from_u128(nth as u128))
}

/// The job of the request that this stands for, if it is such a reference.
#[must_use]
pub fn referenced(job: JobId) -> Option<usize> {
    let number = job.uuid().as_u128();
    usize::try_from(number).ok().filter(|nth| *nth < limits::BATCH_JOBS * 2)
}

/// Gives the jobs of a request to those that refer to them by their place.
pub fn resolve(jobs: &mut [NewJob]) {
    if jobs.iter().all(|job| job.spec.depends_on.is_empty()) {
        return;
    }
    let ids: Vec<JobId> = jobs.iter().map(|job| job.id).collect();
    for dependency in jobs.iter_mut().flat_map(|job| &mut job.spec.depends_on) {
        if let Some(id) = referenced(dependency.job).and_then(|nth| ids.get(nth)) {
            dependency.job = *id;
        }
    }
}

/// The due time of a job that is blocked and may run at this moment at the earliest.
#[must_use]
pub fn park(due_at: Wall) -> Wall {
    Wall(due_at.0.clamp(0, PARKED_FROM.0 - 1) + PARKED_FROM.0)
}

/// Whether this is the due time of a blocked job.
#[must_use]
pub const fn is_parked(due_at: Wall) -> bool {
    due_at.0 >= PARKED_FROM.0
}

/// The due time without the parking.
#[must_use]
pub const fn unparked(due_at: Wall) -> Wall {
    if is_parked(due_at) { Wall(due_at.0 - PARKED_FROM.0) } else { due_at }
}

/// The edges of the jobs that a request created. A parent that turned out a duplicate stands for the job that holds its
/// unique key; whoever is named twice by that counts once.
#[must_use]
pub fn edges(jobs: &[NewJob], intakes: &[Intake]) -> Vec<Edge> {
    let mut edges = Vec::new();
    if jobs.iter().all(|job| job.spec.depends_on.is_empty()) {
        return edges;
    }
    let stands: HashMap<JobId, JobId> =
        jobs.iter().zip(intakes).map(|(job, intake)| (job.id, intake.job())).collect();
    for (job, intake) in jobs.iter().zip(intakes) {
        if *intake != Intake::Created(job.id) {
            continue;
        }
        let first = edges.len();
        for Dependency { job: parent, on_dead } in &job.spec.depends_on {
            let parent = stands.get(parent).copied().unwrap_or(*parent);
            let known = edges[first..].iter().any(|edge: &Edge| edge.parent == parent);
            if parent != job.id && !known {
                edges.push(Edge { child: job.id, parent, on_dead: *on_dead, ended: None });
            }
        }
    }
    edges
}

/// What a submission came to, with how parents ended that are final already.
#[must_use]
pub fn answer(submitted: Submitted, ended: Vec<(JobId, State)>) -> Applied {
    if ended.is_empty() { Applied::Submitted(submitted) } else { Applied::Linked(submitted, ended) }
}

impl Applied {
    /// What became of each job of a submission that was accepted now; nothing otherwise.
    #[must_use]
    pub fn intakes(&self) -> &[Intake] {
        match self {
            Applied::Submitted(Submitted::Accepted(intakes))
            | Applied::Linked(Submitted::Accepted(intakes), _) => intakes,
            Applied::Submitted(_)
            | Applied::Linked(..)
            | Applied::Done
            | Applied::Taken
            | Applied::SessionEverClosed
            | Applied::Replayed(_)
            | Applied::Removed(_)
            | Applied::EndedElsewhere { .. }
            | Applied::NoTransactions
            | Applied::Fired(_) => &[],
        }
    }
}

/// Parents that a request names and does not bring along: where each is first named, by job and place.
#[must_use]
pub fn outside(jobs: &[NewJob]) -> Vec<(JobId, Place)> {
    let mut found = Vec::new();
    if jobs.iter().all(|job| job.spec.depends_on.is_empty()) {
        return found;
    }
    let mut known: HashSet<JobId> = jobs.iter().map(|job| job.id).collect();
    for (at, job) in jobs.iter().enumerate() {
        for (nth, dependency) in job.spec.depends_on.iter().enumerate() {
            if known.insert(dependency.job) {
                found.push((dependency.job, Place { job: at, nth }));
            }
        }
    }
    found
}

/// Where a request names a parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The job, from 0.
    pub job: usize,
    /// Its parent, from 0.
    pub nth: usize,
}

/// What is wrong with the parents that a request names.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Wrong {
    /// A job waits for itself, directly or through others.
    #[error("it waits for itself{}", through(.jobs))]
    Circle {
        /// The first of the circle, from 0.
        job: usize,
        /// The others, in order.
        jobs: Vec<usize>,
    },
    /// There are too many in all.
    #[error("the jobs of a request name {count} parents, the limit is {}", limits::DEPENDENCIES_OF_A_REQUEST)]
    TooMany {
        /// How many.
        count: usize,
    },
}

fn through(jobs: &[usize]) -> String {
    if jobs.is_empty() {
        return String::new();
    }
    let names: Vec<String> = jobs.iter().take(8).map(|job| format!("#{job}")).collect();
    format!(", through {}", names.join(", "))
}

/// Checks what only a whole request can get wrong. Jobs of one unique key count as one, for only one of them will be.
///
/// # Errors
/// The first circle, or that there are too many.
pub fn check(jobs: &[NewJob]) -> Result<(), Wrong> {
    let count = jobs.iter().map(|job| job.spec.depends_on.len()).sum();
    if count == 0 {
        return Ok(());
    }
    if count > limits::DEPENDENCIES_OF_A_REQUEST {
        return Err(Wrong::TooMany { count });
    }
    let mut by_key = HashMap::new();
    let mut node = Vec::with_capacity(jobs.len());
    for (at, job) in jobs.iter().enumerate() {
        let key = job.spec.options.unique_key.as_ref();
        node.push(key.map_or(at, |key| *by_key.entry((&job.spec.kind, key)).or_insert(at)));
    }
    let by_id: HashMap<JobId, usize> = jobs.iter().enumerate().map(|(at, job)| (job.id, node[at])).collect();
    let mut parents = vec![Vec::new(); jobs.len()];
    for (at, job) in jobs.iter().enumerate() {
        let own = job.spec.depends_on.iter().filter_map(|dependency| by_id.get(&dependency.job).copied());
        parents[node[at]].extend(own);
    }
    match circle(&parents) {
        Some(mut jobs) => {
            let job = jobs.remove(0);
            Err(Wrong::Circle { job, jobs })
        }
        None => Ok(()),
    }
}

/// A circle among these nodes, if there is one. Walks with a stack of its own: a request may be one long chain.
fn circle(parents: &[Vec<usize>]) -> Option<Vec<usize>> {
    #[derive(Clone, Copy, PartialEq)]
    enum Seen {
        Never,
        OnTheWay,
        Done,
    }
    let mut seen = vec![Seen::Never; parents.len()];
    for start in 0..parents.len() {
        if seen[start] != Seen::Never {
            continue;
        }
        seen[start] = Seen::OnTheWay;
        let mut way = vec![(start, 0)];
        while let Some((node, next)) = way.last_mut() {
            let Some(parent) = parents[*node].get(*next).copied() else {
                seen[*node] = Seen::Done;
                way.pop();
                continue;
            };
            *next += 1;
            match seen[parent] {
                Seen::Never => {
                    seen[parent] = Seen::OnTheWay;
                    way.push((parent, 0));
                }
                Seen::OnTheWay => {
                    return Some(
                        way.into_iter().map(|(node, _)| node).skip_while(|n| *n != parent).collect(),
                    );
                }
                Seen::Done => {}
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::JobSpec;

    fn id(n: u8) -> JobId {
        JobId::new(u64::from(n), [n; 10])
    }

    fn job(n: u8, parents: &[u8]) -> NewJob {
        let mut spec = JobSpec::new("a".parse().unwrap());
        spec.depends_on =
            parents.iter().map(|n| Dependency { job: id(*n), on_dead: OnDead::default() }).collect();
        NewJob { id: id(n), seq: 0, created_at: Wall(0), due_at: Wall(0), spec }
    }

    #[test]
    fn a_parked_due_time_is_out_of_every_calendar_and_comes_back() {
        let due = Wall(1_750_000_000_000_000);
        assert!(is_parked(park(due)) && !is_parked(due));
        assert_eq!(unparked(park(due)), due);
        assert_eq!(unparked(due), due);
        let never = Wall(i64::MAX);
        assert!(is_parked(park(never)) && !is_parked(unparked(park(never))));
        assert_eq!(unparked(park(Wall(-5))), Wall(0));
    }

    #[test]
    fn a_success_settles_every_edge_and_a_death_by_what_the_edge_says() {
        let settled = |state| OnDead::ALL.map(|edge| edge.settled_by(state));
        assert_eq!(settled(State::Succeeded), [true; 3]);
        for state in [State::Dead, State::Cancelled] {
            assert_eq!(settled(state), [true, true, false]);
            assert_eq!(OnDead::ALL.map(|edge| edge.cancelled_by(state)), [true, false, false]);
        }
        assert_eq!(settled(State::Running), [false; 3]);
        assert_eq!(OnDead::ALL.map(|edge| OnDead::parse(edge.as_str())), OnDead::ALL.map(Some));
        assert_eq!(OnDead::ALL.map(|edge| OnDead::from_code(edge.code().into())), OnDead::ALL.map(Some));
        assert_eq!(OnDead::ALL.map(OnDead::code), [0, 1, 2]);
    }

    #[test]
    fn a_duplicate_stands_for_the_job_that_holds_its_key() {
        let jobs = [job(1, &[]), job(2, &[]), job(3, &[1, 2, 9]), job(4, &[3])];
        let intakes = [
            Intake::Duplicate(id(7)),
            Intake::Duplicate(id(7)),
            Intake::Created(id(3)),
            Intake::Duplicate(id(8)),
        ];
        let found: Vec<_> = edges(&jobs, &intakes).iter().map(|edge| (edge.child, edge.parent)).collect();
        assert_eq!(found, [(id(3), id(7)), (id(3), id(9))]);
        assert_eq!(outside(&jobs), [(id(9), Place { job: 2, nth: 2 })]);
    }

    #[test]
    fn references_are_told_from_ids_and_become_ids() {
        assert_eq!(referenced(reference(7)), Some(7));
        assert_eq!(referenced(id(7)), None);
        let mut jobs = [job(1, &[]), job(2, &[9])];
        jobs[1].spec.depends_on.push(Dependency { job: reference(0), on_dead: OnDead::Run });
        resolve(&mut jobs);
        let parents: Vec<JobId> = jobs[1].spec.depends_on.iter().map(|d| d.job).collect();
        assert_eq!(parents, [id(9), id(1)]);
    }

    #[test]
    fn circles_are_found_however_long_they_are() {
        assert_eq!(check(&[job(1, &[2]), job(2, &[9]), job(3, &[1, 2])]), Ok(()));
        let wrong = check(&[job(1, &[]), job(2, &[2])]).unwrap_err();
        assert_eq!(
            (wrong.clone(), wrong.to_string().as_str()),
            (Wrong::Circle { job: 1, jobs: vec![] }, "it waits for itself")
        );
        let wrong = check(&[job(1, &[3]), job(2, &[1]), job(3, &[2])]).unwrap_err();
        assert_eq!(wrong.to_string(), "it waits for itself, through #2, #1");
        let chain: Vec<NewJob> = (0..200u8).map(|n| job(n, if n == 0 { &[199] } else { &[0] })).collect();
        assert!(matches!(check(&chain), Err(Wrong::Circle { .. })));
    }

    /// The first depends on the second, which will turn out to be the first.
    #[test]
    fn jobs_of_one_unique_key_count_as_one() {
        let mut jobs = [job(1, &[2]), job(2, &[3]), job(3, &[])];
        assert_eq!(check(&jobs), Ok(()));
        jobs[0].spec.options.unique_key = Some("k".into());
        jobs[2].spec.options.unique_key = Some("k".into());
        assert!(matches!(check(&jobs), Err(Wrong::Circle { .. })));
    }

    #[test]
    fn a_request_names_a_bounded_number_of_parents() {
        let of = |count: usize| {
            let mut one = job(1, &[]);
            one.spec.depends_on = vec![Dependency { job: id(9), on_dead: OnDead::Run }; count];
            check(&[one])
        };
        assert_eq!(of(limits::DEPENDENCIES_OF_A_REQUEST), Ok(()));
        let wrong = of(limits::DEPENDENCIES_OF_A_REQUEST + 1).unwrap_err();
        assert_eq!(wrong.to_string(), "the jobs of a request name 10001 parents, the limit is 10000");
    }
}
