//! Everything a store tells, in one value.

use std::sync::Arc;
use std::time::Duration;

use ganger_core::change::{After, AttemptRecord, Change, Idempotency, LogLines, Snapshot, Submission};
use ganger_core::dependency::{self, Dependency, Edge, OnDead};
use ganger_core::document::{Collection, Document};
use ganger_core::fingerprint::trend::{LONGEST_WINDOW, Trend, Window};
use ganger_core::fingerprint::{FailureGroup, FailureSeen, Fingerprint};
use ganger_core::outcome::Outcome;
use ganger_core::queue::QueueSettings;
use ganger_core::rules::Standing;
use ganger_core::schedule::ledger::Occurrence;
use ganger_core::timeline::{By, Span, Timeline};
use ganger_core::{JobId, Wall};

use super::leader::{Leader, spec, unique};
use crate::read::{ListQuery, Related, StoredJob};
use crate::store::Store;

const HOUR: Duration = Duration::from_secs(3600);

/// Everything a store tells, in a fixed order.
#[derive(Clone, Debug, PartialEq)]
pub struct Dump {
    /// What a leader would load, sorted.
    pub snapshot: Snapshot,
    /// Every job, newest first.
    pub jobs: Vec<StoredJob>,
    /// Payloads of the live ones.
    pub payloads: Vec<Option<String>>,
    /// The attempts of each job.
    pub attempts: Vec<Vec<AttemptRecord>>,
    /// What each attempt logged, where it did.
    pub logs: Vec<(JobId, u32, String)>,
    /// Groups of failures.
    pub failures: Vec<FailureGroup>,
    /// How often they came lately.
    pub trends: Vec<Trend>,
    /// The ledgers of the schedules.
    pub ledgers: Vec<Vec<Occurrence>>,
    /// Documents of every collection.
    pub documents: Vec<Vec<(String, String)>>,
    /// What was counted lately, by kind and hour.
    pub timeline: Timeline,
    /// The parents of each job, then its children.
    pub related: Vec<[Vec<Edge>; 2]>,
}

/// Reads everything.
///
/// # Panics
/// If a read fails.
pub async fn dump(store: &dyn Store, now: Wall) -> Dump {
    let mut snapshot = store.load().await.unwrap();
    snapshot.jobs.sort_by_key(|job| job.id);
    snapshot.sessions.sort_by_key(|session| session.id);
    snapshot.assignments.sort_by_key(|assignment| assignment.first);
    snapshot.queues.sort_by(|a, b| a.0.cmp(&b.0));
    snapshot.kinds.sort_by(|a, b| a.0.cmp(&b.0));
    snapshot.closed.sort();
    snapshot.marks.sort();
    snapshot.finals.sort();
    snapshot.edges.sort();
    snapshot.ended.sort();
    let mut query = ListQuery { limit: 7, ..ListQuery::default() };
    let mut jobs = Vec::new();
    loop {
        let page = store.list(&query, now).await.unwrap();
        jobs.extend(page.jobs);
        query.before = page.next;
        if query.before.is_none() {
            break;
        }
    }
    let ids: Vec<JobId> = jobs.iter().map(|job| job.id).collect();
    let payloads = store.payloads(&ids).await.unwrap();
    let (mut attempts, mut logs) = (Vec::new(), Vec::new());
    for job in &jobs {
        attempts.push(store.attempts(job.id).await.unwrap());
        for attempt in 1..=job.standing.attempt + 1 {
            let text = store.log(job.id, attempt).await.unwrap();
            if !text.is_empty() {
                logs.push((job.id, attempt, text));
            }
        }
    }
    let failures = store.failures(Wall::default(), None, usize::MAX).await.unwrap();
    let groups: Vec<Fingerprint> = failures.iter().map(|group| group.fingerprint).collect();
    let window = Window::of(LONGEST_WINDOW, now).unwrap();
    let trends = store.failure_trends(&groups, window).await.unwrap();
    let mut ledgers = Vec::new();
    for (record, _) in &snapshot.schedules {
        ledgers.push(store.occurrences(record.id, None, usize::MAX).await.unwrap());
    }
    let mut documents = Vec::new();
    for collection in Collection::ALL {
        documents.push(store.documents(collection).await.unwrap());
    }
    let mut span = Span::new(now - HOUR * 960, now + HOUR, HOUR).unwrap();
    span.by = By::Kind;
    let timeline = store.timeline(&span).await.unwrap();
    let mut related = Vec::new();
    for id in ids {
        let parents = store.related(id, Related::Parents, None, 500).await.unwrap();
        related.push([parents, store.related(id, Related::Children, None, 500).await.unwrap()]);
    }
    Dump { snapshot, jobs, payloads, attempts, logs, failures, trends, ledgers, documents, timeline, related }
}

pub(super) async fn live_through(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let session = leader.open_session().await;
    let closed = leader.open_session().await;
    leader.commit(vec![Change::CloseSession(closed, leader.now)]).await;
    leader
        .commit(vec![Change::PutQueue(
            "mail".parse().unwrap(),
            QueueSettings { paused: true, ..QueueSettings::default() },
        )])
        .await;
    let idempotency = Idempotency {
        scope: "me".into(),
        key: "k".into(),
        fingerprint: [3; 32],
        until: leader.now + Duration::from_secs(60),
    };
    let job = leader.new_job(unique("mail.send", "u", Duration::from_secs(60)));
    let kept = job.id;
    leader
        .commit(vec![Change::Submit(Submission {
            idempotency: Some(idempotency),
            jobs: vec![job],
            inbox: None,
        })])
        .await;
    leader.run_to(session, kept, leader.succeeded()).await;
    let dead = leader.submit(spec("mail.send")).await;
    leader.run_to(session, dead, leader.dead()).await;
    let mut large = spec("mail.send");
    large.payload = format!("\"{}\"", "x".repeat(10_000));
    let waiting = leader.submit(large).await;
    let failed = leader.submit(spec("mail.send")).await;
    let assignment = leader.assign(session, &[waiting, failed]).await;
    let again = After::Again {
        due_at: leader.now + Duration::from_secs(1),
        retrying: true,
        standing: Standing { attempt: 1, burnt: 1, lost: 0 },
    };
    let log = LogLines { job: failed, attempt: 1, text: "it broke\n".into() };
    let end = leader.end(&assignment, 1, 1, Outcome::Error, again);
    let seen =
        FailureSeen::of(&"mail.send".parse().unwrap(), failed, Outcome::Error, Some("it broke"), leader.now);
    let view = Document { collection: Collection::View, key: "mine".into(), body: Some("{}".into()) };
    let failure = Change::Failed(Box::new(seen.unwrap()));
    leader.commit(vec![Change::Log(log), failure, Change::End(end), Change::PutDocument(view)]).await;
    let mut waits = spec("mail.send");
    let parents = [(failed, OnDead::Wait), (dead, OnDead::Run)];
    waits.depends_on = parents.map(|(job, on_dead)| Dependency { job, on_dead }).to_vec();
    let mut child = leader.new_job(waits);
    child.due_at = dependency::park(child.due_at);
    let jobs = vec![child];
    leader.commit(vec![Change::Submit(Submission { idempotency: None, jobs, inbox: None })]).await;
}
