//! `ganger.complete`: a handler ends its job inside its own transaction.

use std::time::Duration;

use ganger_core::change::{After, Applied, Assignment, Change};
use ganger_core::job::State;
use ganger_core::kind::KindSettings;
use ganger_core::outcome::Outcome;
use ganger_core::queue::{Keep, QueueSettings, Retention};
use ganger_core::rules::Standing;
use ganger_core::{Fence, JobId};
use ganger_store::{PgStore, Store};
use tokio_postgres::Client;

use crate::support::{Leader, NOW, connect, fresh, submission};

/// Nobody waits longer for something that must not wait at all.
const AT_ONCE: Duration = Duration::from_secs(5);

/// A leader, a handler's connection with a table for its effects, and a job that runs under a transactional lease.
struct Stage {
    store: PgStore,
    url: String,
    leader: Leader,
    handler: Client,
    job: JobId,
    assignment: Assignment,
}

impl Stage {
    async fn set() -> Stage {
        Stage::set_with(|_| {}).await
    }

    async fn set_with(change: impl FnOnce(&mut ganger_core::change::NewJob)) -> Stage {
        let (store, url) = fresh().await;
        let handler = connect(&url).await;
        handler.batch_execute("CREATE TABLE effect (what text)").await.unwrap();
        let mut leader = Leader::begin(&store).await;
        let mut new = leader.new_job("null");
        change(&mut new);
        let job = leader.submit_all(vec![new]).await[0];
        let assignment = transactional(&mut leader, &[job]).await;
        Stage { store, url, leader, handler, job, assignment }
    }

    fn fence(&self) -> Fence {
        self.assignment.first
    }

    /// Begins the handler's transaction: an effect, and the completion.
    async fn begin(&self) {
        self.handler.batch_execute("BEGIN; INSERT INTO effect VALUES ('done')").await.unwrap();
        self.complete(self.fence()).await.unwrap();
    }

    async fn complete(&self, fence: Fence) -> Result<(), tokio_postgres::Error> {
        let (job, fence) = (self.job.uuid(), fence.to_string());
        let result = "SELECT ganger.complete($1::uuid, $2, '{\"sent\":  1}')";
        self.handler.execute(result, &[&job, &fence]).await.map(drop)
    }

    async fn effects(&self) -> i64 {
        let client = connect(&self.url).await;
        client.query_one("SELECT count(*) FROM effect", &[]).await.unwrap().get(0)
    }

    async fn state(&self) -> Option<State> {
        self.store.jobs(&[self.job], NOW).await.unwrap().pop().map(|job| job.state)
    }

    /// The attempt is lost, as far as the leader knows, and the job should run again.
    fn lost(&self) -> Vec<Change> {
        let mut ends = self.leader.ends(&self.assignment, State::Succeeded, NOW);
        for end in &mut ends {
            let Change::End(end) = end else { continue };
            end.after = After::Again {
                due_at: NOW,
                retrying: true,
                standing: Standing { attempt: 1, burnt: 1, lost: 1 },
            };
            if let Some(record) = &mut end.record {
                record.outcome = Outcome::Lost;
            }
        }
        ends
    }
}

/// Leases these jobs to the leader's session, so that their handlers may end them.
async fn transactional(leader: &mut Leader, jobs: &[JobId]) -> Assignment {
    let mut assignment = leader.assignment(jobs);
    for lease in &mut assignment.leases {
        lease.transactional = true;
    }
    leader.commit(vec![Change::Assign(assignment.clone())]).await;
    assignment
}

fn code(error: &tokio_postgres::Error) -> (String, String) {
    let db = error.as_db_error().unwrap_or_else(|| panic!("{error}"));
    (db.code().code().to_owned(), db.message().to_owned())
}

fn is_lease_lost(error: &tokio_postgres::Error) -> bool {
    let (code, message) = code(error);
    code == "ZG004" && message.starts_with("lease_lost")
}

const ELSEWHERE: Applied = Applied::EndedElsewhere { state: State::Succeeded, kept: true };

#[tokio::test(flavor = "multi_thread")]
async fn effects_and_completion_commit_together() {
    let mut stage = Stage::set().await;
    stage.begin().await;
    assert_eq!((stage.state().await, stage.effects().await), (Some(State::Running), 0));
    stage.handler.batch_execute("COMMIT").await.unwrap();
    assert_eq!((stage.state().await, stage.effects().await), (Some(State::Succeeded), 1));

    let job = stage.store.jobs(&[stage.job], NOW).await.unwrap().remove(0);
    let end = job.end.unwrap();
    assert_eq!(end.result.as_deref(), Some("{\"sent\":  1}"));
    assert_eq!(job.standing, Standing { attempt: 1, burnt: 1, lost: 0 });
    let attempts = stage.store.attempts(stage.job).await.unwrap();
    let [attempt] = &attempts[..] else { panic!("{attempts:?}") };
    assert_eq!((attempt.outcome, attempt.worker.as_str()), (Outcome::Ok, "worker-1"));
    assert_eq!((attempt.fence, attempt.ended_at), (stage.fence(), end.at));
    assert_eq!(job.last_attempt.as_ref(), Some(attempt));

    // Whatever the leader was about to say of the attempt, it is told how the job ended. It counts once.
    let lost = stage.lost();
    assert_eq!(stage.leader.commit(lost).await, [ELSEWHERE]);
    let close = Change::CloseSession(stage.leader.session, NOW);
    stage.leader.commit(vec![close]).await;
    let loaded = stage.store.load().await.unwrap();
    assert_eq!((loaded.jobs.len(), loaded.assignments.len()), (0, 0));
    assert_eq!(loaded.finals.iter().map(|tally| tally.count).sum::<u64>(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_that_is_rolled_back_completes_nothing() {
    let mut stage = Stage::set().await;
    stage.begin().await;
    stage.handler.batch_execute("ROLLBACK").await.unwrap();
    assert_eq!((stage.state().await, stage.effects().await), (Some(State::Running), 0));
    let ends = stage.leader.ends(&stage.assignment, State::Succeeded, NOW);
    assert_eq!(stage.leader.commit(ends).await, [Applied::Done]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lease_that_was_lost_is_told_at_once() {
    let mut stage = Stage::set().await;
    let lost = stage.lost();
    assert_eq!(stage.leader.commit(lost).await, [Applied::Done]);
    assert!(is_lease_lost(&stage.complete(stage.fence()).await.unwrap_err()));
    let held = transactional(&mut stage.leader, &[stage.job]).await;
    assert!(is_lease_lost(&stage.complete(stage.fence()).await.unwrap_err()));
    let mut strange = held.first;
    strange.term.id ^= 1;
    assert!(is_lease_lost(&stage.complete(strange).await.unwrap_err()));
    stage.complete(held.first).await.unwrap();
    assert_eq!(stage.state().await, Some(State::Succeeded));
    // The zombie, and whoever completes twice.
    assert!(is_lease_lost(&stage.complete(held.first).await.unwrap_err()));
}

/// The handler's transaction goes on for long after the call. Nobody waits for it, not even who takes this very job
/// away from it; and then it cannot commit.
#[tokio::test(flavor = "multi_thread")]
async fn an_open_transaction_holds_up_nobody_and_a_lease_lost_meanwhile_aborts_it() {
    let mut stage = Stage::set().await;
    let other = stage.leader.submit(1).await;
    stage.begin().await;
    let lost = stage.lost();
    let work = async {
        assert_eq!(stage.leader.commit(lost).await, [Applied::Done]);
        stage.leader.run(&other, State::Succeeded, NOW).await;
        transactional(&mut stage.leader, &[stage.job]).await
    };
    let held = tokio::time::timeout(AT_ONCE, work).await.expect("the leader waits for nobody");
    assert!(is_lease_lost(&stage.handler.batch_execute("COMMIT").await.unwrap_err()));
    assert_eq!((stage.state().await, stage.effects().await), (Some(State::Running), 0));
    stage.complete(held.first).await.unwrap();
    assert_eq!(stage.state().await, Some(State::Succeeded));
}

/// A zombie's transaction is still open when the job runs elsewhere: the other handler does not wait for it either.
#[tokio::test(flavor = "multi_thread")]
async fn an_open_transaction_of_a_zombie_does_not_hold_up_the_next_handler() {
    let mut stage = Stage::set().await;
    stage.begin().await;
    let lost = stage.lost();
    stage.leader.commit(lost).await;
    let held = transactional(&mut stage.leader, &[stage.job]).await;
    let next = connect(&stage.url).await;
    let complete = "SELECT ganger.complete($1, $2)";
    let (shown, fence) = (stage.job.to_string(), held.first.to_string());
    let done = async { next.execute(complete, &[&shown, &fence]).await };
    tokio::time::timeout(AT_ONCE, done).await.expect("it waits for nobody").unwrap();
    assert!(is_lease_lost(&stage.handler.batch_execute("COMMIT").await.unwrap_err()));
    assert_eq!(stage.effects().await, 0);
}

/// Constraints that are checked at once would end the job in the middle of the transaction, and hold it. It must be
/// asked for after the call to have that effect; then the transaction is cut off when it lingers.
#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_that_ends_its_job_early_and_lingers_is_cut_off() {
    let mut stage = Stage::set().await;
    stage.handler.batch_execute("BEGIN; SET CONSTRAINTS ALL IMMEDIATE").await.unwrap();
    stage.complete(stage.fence()).await.unwrap();
    let watcher = connect(&stage.url).await;
    let held =
        "SELECT count(*) FROM pg_locks WHERE relation = 'ganger.job'::regclass AND mode = 'RowShareLock'";
    let rows: i64 = watcher.query_one(held, &[]).await.unwrap().get(0);
    assert_eq!(rows, 0, "the call alone locks nothing");
    stage.handler.batch_execute("SET CONSTRAINTS ALL IMMEDIATE").await.unwrap();
    let rows: i64 = watcher.query_one(held, &[]).await.unwrap().get(0);
    assert!(rows > 0, "now it does");
    // It says nothing more. The leader gets through all the same, once it is gone.
    let lost = stage.lost();
    assert_eq!(stage.leader.commit(lost).await, [Applied::Done]);
    assert_eq!(stage.state().await, Some(State::Queued));
}

/// Nobody leads when the handler commits. The next leader finds the job final, counted, and nothing left of its lease.
#[tokio::test(flavor = "multi_thread")]
async fn the_next_leader_finds_a_completed_job_final() {
    let stage = Stage::set().await;
    stage.complete(stage.fence()).await.unwrap();
    let term = stage.store.take_over("next", 0).await.unwrap();
    let loaded = stage.store.load().await.unwrap();
    assert_eq!(loaded.jobs.len(), 0);
    assert_eq!(loaded.finals.iter().map(|tally| tally.count).sum::<u64>(), 1);
    let mut next = Leader::of_term(&stage.store, term).await;
    next.commit(vec![Change::CloseSession(stage.leader.session, NOW)]).await;
    let loaded = stage.store.load().await.unwrap();
    assert_eq!(loaded.assignments.len(), 0);
    assert_eq!(loaded.finals.iter().map(|tally| tally.count).sum::<u64>(), 1);
    let client = connect(&stage.url).await;
    let left: i64 = client.query_one("SELECT count(*) FROM ganger.completed", &[]).await.unwrap().get(0);
    assert_eq!(left, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_completion_frees_the_unique_key_or_holds_it_as_long_as_asked() {
    for (held_for, holders) in [(Duration::ZERO, 0), (Duration::from_secs(3600), 1)] {
        let mut stage = Stage::set_with(|new| {
            new.spec.options.unique_key = Some("once".into());
            new.spec.options.unique_for = held_for;
        })
        .await;
        stage.complete(stage.fence()).await.unwrap();
        let client = connect(&stage.url).await;
        let keys = "SELECT count(*) FROM ganger.unique_key WHERE until IS NOT NULL OR $1";
        let found: i64 = client.query_one(keys, &[&(holders == 0)]).await.unwrap().get(0);
        assert_eq!(found, holders, "{held_for:?}");
        let mut again = stage.leader.new_job("null");
        again.spec.options.unique_key = Some("once".into());
        if holders == 0 {
            stage.leader.submit_all(vec![again]).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queue_without_history_keeps_nothing_of_a_completed_job() {
    let mut stage = Stage::set_with(|new| new.spec.payload = format!("\"{}\"", "x".repeat(9_000))).await;
    let retention = Retention { finished: Keep::None, ..Retention::default() };
    let settings = QueueSettings { retention, ..QueueSettings::default() };
    stage.leader.commit(vec![Change::PutQueue("default".parse().unwrap(), settings)]).await;
    stage.complete(stage.fence()).await.unwrap();
    assert_eq!(stage.state().await, None);
    let lost = stage.lost();
    let gone = Applied::EndedElsewhere { state: State::Succeeded, kept: false };
    assert_eq!(stage.leader.commit(lost).await, [gone]);
    assert_eq!(stage.store.load().await.unwrap().finals, []);
    let client = connect(&stage.url).await;
    let left: i64 = client.query_one("SELECT count(*) FROM ganger.payload", &[]).await.unwrap().get(0);
    assert_eq!(left, 0);
}

/// Some of an assignment ended elsewhere, some as usual, some not at all; one batch says so of all.
#[tokio::test(flavor = "multi_thread")]
async fn a_batch_may_meet_both_sorts_of_ends() {
    let mut stage = Stage::set().await;
    let jobs = stage.leader.submit(3).await;
    let assignment = transactional(&mut stage.leader, &jobs).await;
    let fences: Vec<Fence> = assignment.fenced().map(|(fence, _)| fence).collect();
    let complete = "SELECT ganger.complete($1::uuid, $2)";
    stage.handler.execute(complete, &[&jobs[1].uuid(), &fences[1].to_string()]).await.unwrap();
    let ends = stage.leader.ends(&assignment, State::Succeeded, NOW);
    assert_eq!(stage.leader.commit(ends).await, [Applied::Done, ELSEWHERE, Applied::Done]);
    let loaded = stage.store.load().await.unwrap();
    assert_eq!(loaded.finals.iter().map(|tally| tally.count).sum::<u64>(), 3);
    assert_eq!(loaded.assignments, [stage.assignment.clone()]);
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_calls_are_refused_with_a_clear_text() {
    let stage = Stage::set().await;
    let (job, fence) = (stage.job, stage.fence());
    for (call, text) in [
        (format!("SELECT ganger.complete('{job}', 'rubbish')"), "not a fence"),
        (format!("SELECT ganger.complete('rubbish', '{fence}')"), "invalid input syntax for type uuid"),
        (format!("SELECT ganger.complete(NULL::uuid, '{fence}')"), "neither may be null"),
        (format!("SELECT ganger.complete('{job}', NULL)"), "neither may be null"),
        (
            format!("SELECT ganger.complete('{job}', '{fence}', to_json(repeat('x', 1048575)))"),
            "the limit is 1048576",
        ),
        (
            format!(
                "BEGIN; SELECT ganger.complete('{job}', '{fence}'); SELECT ganger.complete('{job}', '{fence}')"
            ),
            "by this transaction already",
        ),
    ] {
        let error = stage.handler.batch_execute(&call).await.unwrap_err();
        assert!(code(&error).1.contains(text), "{call:.90}: {error:?}");
        stage.handler.batch_execute("ROLLBACK").await.unwrap();
    }
    let bound = format!("SELECT ganger.complete('{job}', '{fence}', to_json(repeat('x', 1048574)))");
    stage.handler.batch_execute(&bound).await.unwrap();
    assert_eq!(stage.state().await, Some(State::Succeeded));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lease_that_was_not_given_as_transactional_says_how_to_get_one() {
    let mut stage = Stage::set().await;
    let job = stage.leader.submit(1).await[0];
    let assignment = stage.leader.assignment(&[job]);
    stage.leader.commit(vec![Change::Assign(assignment.clone())]).await;
    let complete = format!("SELECT ganger.complete('{job}', '{}')", assignment.first);
    let error = stage.handler.batch_execute(&complete).await.unwrap_err();
    assert!(is_lease_lost(&error));
    let hint = error.as_db_error().unwrap().hint().unwrap().to_owned();
    assert!(hint.contains("ganger kind set"), "{hint}");
}

/// A role needs no right on any table, and without the right to call it can do nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_role_may_call_both_functions_and_touch_nothing_else() {
    let stage = Stage::set().await;
    let (job, fence) = (stage.job, stage.fence());
    let role = format!("app_{}", stage.job.uuid().simple());
    let become_role = format!("CREATE ROLE {role}; GRANT USAGE ON SCHEMA ganger TO {role}; SET ROLE {role}");
    stage.handler.batch_execute(&become_role).await.unwrap();
    let complete = format!("SELECT ganger.complete('{job}', '{fence}')");
    for refused in [&complete, "SELECT ganger.enqueue('a')", "SELECT * FROM ganger.job"] {
        let error = stage.handler.batch_execute(refused).await.unwrap_err();
        assert!(code(&error).1.contains("permission denied"), "{refused}: {error:?}");
    }
    let grant = format!(
        "RESET ROLE; GRANT EXECUTE ON FUNCTION ganger.enqueue, ganger.complete(text, text, json), \
         ganger.complete(uuid, text, json) TO {role}; SET ROLE {role}"
    );
    stage.handler.batch_execute(&grant).await.unwrap();
    stage.handler.batch_execute("SELECT ganger.enqueue('a')").await.unwrap();
    stage.handler.batch_execute(&complete).await.unwrap();
    assert_eq!(stage.state().await, Some(State::Succeeded));
    let error = stage.handler.batch_execute("DELETE FROM ganger.inbox").await.unwrap_err();
    assert!(code(&error).1.contains("permission denied"));
    stage
        .handler
        .batch_execute(&format!("RESET ROLE; DROP OWNED BY {role}; DROP ROLE {role}"))
        .await
        .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_taken_in_and_leased_in_one_batch_can_be_completed() {
    let stage = Stage::set().await;
    let (mut leader, handler) = (stage.leader, stage.handler);
    let kind = Change::PutKind("noop".parse().unwrap(), KindSettings { transactional: true });
    assert_eq!(leader.commit(vec![kind]).await, [Applied::Done]);
    let new = leader.new_job("null");
    let mut assignment = leader.assignment(&[new.id]);
    assignment.leases[0].transactional = true;
    let (job, fence) = (new.id, assignment.first);
    leader.commit(vec![submission(vec![new]), Change::Assign(assignment.clone())]).await;
    handler.batch_execute(&format!("SELECT ganger.complete('{job}', '{fence}')")).await.unwrap();
    let ends = leader.ends(&assignment, State::Succeeded, NOW);
    assert_eq!(leader.commit(ends).await, [ELSEWHERE]);
}
