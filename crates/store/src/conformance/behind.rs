//! Batches that are given before the one in front of them is answered.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use ganger_core::change::{
    After, Applied, Assignment, Batch, Change, Idempotency, Intake, NewJob, Submission, Submitted,
};
use ganger_core::outcome::Outcome;
use ganger_core::rules::Standing;

use super::leader::{Leader, everything, spec, unique};
use crate::conformance::dump;
use crate::store::{CommitError, Store};

/// How often each story is told: what follows what is a matter of chance.
const TIMES: usize = 20;

type Answers = (Result<Vec<Applied>, CommitError>, Result<Vec<Applied>, CommitError>);

/// Gives two batches, the second before the first is answered.
async fn both(leader: &Leader, first: Vec<Change>, second: Vec<Change>) -> Answers {
    let (one, two) = (Batch::new(leader.number + 1, first), Batch::new(leader.number + 2, second));
    let commit = |batch| leader.store.commit(leader.term, Arc::new(batch));
    let mut waiting = [commit(one), commit(two)];
    let mut answers = [None, None];
    poll_fn(|context| {
        for (waiting, answer) in waiting.iter_mut().zip(&mut answers) {
            if answer.is_none()
                && let Poll::Ready(answered) = waiting.as_mut().poll(context)
            {
                *answer = Some(answered);
            }
        }
        if answers.iter().all(Option::is_some) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    answers.map(|answer| answer.expect("both are answered")).into()
}

fn submission(job: NewJob) -> Change {
    Change::Submit(Submission { idempotency: None, jobs: vec![job], inbox: None })
}

fn ended(leader: &Leader, assignment: &Assignment) -> Change {
    let standing = Standing { attempt: 1, burnt: 1, lost: 0 };
    let after = After::Final { standing, end: leader.succeeded() };
    Change::End(leader.end(assignment, 0, 1, Outcome::Ok, after))
}

/// The second ends what the first leases, and the next first has no doubt about what the last second did.
pub(super) async fn a_batch_builds_on_the_one_in_front_of_it(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(Arc::clone(&store)).await;
    let session = leader.open_session().await;
    for _ in 0..TIMES {
        let job = leader.new_job(spec("a"));
        let id = job.id;
        let assignment = leader.assignment(session, &[id]);
        let first = vec![submission(job), Change::Assign(assignment.clone())];
        let second = vec![ended(&leader, &assignment)];
        let created = Applied::Submitted(Submitted::Accepted(vec![Intake::Created(id)]));
        let answers = both(&leader, first, second).await;
        assert_eq!(answers, (Ok(vec![created, Applied::Done]), Ok(vec![Applied::Done])));
        leader.number += 2;
    }
    let snapshot = store.load().await.unwrap();
    assert_eq!((snapshot.jobs.len(), snapshot.assignments.len()), (0, 0));
    assert_eq!(leader.list(everything()).await.len(), TIMES);
}

/// The first comes to something else than usual, for which rows are read.
pub(super) async fn a_batch_waits_for_one_that_has_to_look_things_up(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(Arc::clone(&store)).await;
    let session = leader.open_session().await;
    let holder = leader.submit(unique("a", "k", Duration::ZERO)).await;
    for _ in 0..TIMES {
        let (rival, other) = (leader.new_job(unique("a", "k", Duration::ZERO)), leader.new_job(spec("b")));
        let assignment = leader.assignment(session, &[other.id]);
        let answers = both(
            &leader,
            vec![submission(rival), submission(other)],
            vec![Change::Assign(assignment.clone()), ended(&leader, &assignment)],
        );
        let (first, second) = answers.await;
        let first = first.unwrap();
        assert_eq!(first[0], Applied::Submitted(Submitted::Accepted(vec![Intake::Duplicate(holder)])));
        assert_eq!(second, Ok(vec![Applied::Done, Applied::Done]));
        leader.number += 2;
    }
}

/// A request that is sent again before its first answer: it is one submission, and what stands beside it in the batch is done.
pub(super) async fn a_key_is_answered_alike_while_its_first_answer_is_under_way(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(Arc::clone(&store)).await;
    for nth in 0..TIMES {
        let until = leader.now + Duration::from_secs(60);
        let key = Idempotency { scope: "ada".into(), key: format!("{nth}"), fingerprint: [1; 32], until };
        let keyed =
            |job| Change::Submit(Submission { idempotency: Some(key.clone()), jobs: vec![job], inbox: None });
        let (job, again, other) =
            (leader.new_job(spec("a")), leader.new_job(spec("a")), leader.new_job(spec("b")));
        let (first, third) = (job.id, other.id);
        let (one, two) = both(&leader, vec![keyed(job)], vec![keyed(again), submission(other)]).await;
        let created = |id| Applied::Submitted(Submitted::Accepted(vec![Intake::Created(id)]));
        assert_eq!(one, Ok(vec![created(first)]));
        let replayed = Applied::Submitted(Submitted::Replayed(vec![Intake::Created(first)]));
        assert_eq!(two, Ok(vec![replayed, created(third)]));
        leader.number += 2;
    }
    assert_eq!(store.load().await.unwrap().jobs.len(), 2 * TIMES);
}

/// Neither leaves a trace, and both numbers are free.
pub(super) async fn a_batch_is_refused_with_the_one_in_front_of_it(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(Arc::clone(&store)).await;
    let session = leader.open_session().await;
    let job = leader.submit(spec("a")).await;
    let assignment = leader.assign(session, &[job]).await;
    let before = dump(&*store, leader.now).await;
    for _ in 0..TIMES {
        let late = leader.new_job(spec("b"));
        let end = ended(&leader, &assignment);
        // A lease ends once.
        let answers = both(&leader, vec![end.clone(), end], vec![submission(late)]).await;
        let refused = |answer: &Result<_, _>| matches!(answer, Err(CommitError::Refused(_)));
        assert!(refused(&answers.0) && refused(&answers.1), "{answers:?}");
        assert_eq!(dump(&*store, leader.now).await, before);
    }
    leader.run_out(&assignment, job).await;
    leader.submit(spec("b")).await;
}

/// It is the second that is refused: the first stands.
pub(super) async fn a_batch_stands_although_the_one_behind_it_is_refused(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(Arc::clone(&store)).await;
    let session = leader.open_session().await;
    for _ in 0..TIMES {
        let job = leader.new_job(spec("a"));
        let id = job.id;
        let assignment = leader.assignment(session, &[id]);
        let first = vec![submission(job), Change::Assign(assignment.clone())];
        let end = ended(&leader, &assignment);
        let (first, second) = both(&leader, first, vec![end.clone(), end]).await;
        assert!(first.is_ok() && matches!(second, Err(CommitError::Refused(_))), "{first:?} {second:?}");
        leader.number += 1;
        leader.run_out(&assignment, id).await;
    }
}
