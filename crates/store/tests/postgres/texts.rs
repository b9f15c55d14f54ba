//! Text of a PostgreSQL cannot hold a zero; what clients and workers send can.

use ganger_core::change::{
    Applied, AttemptEnd, Change, Idempotency, LogLines, SessionRecord, Submission, Submitted,
};
use ganger_core::job::State;
use ganger_store::Store;
use ganger_store::read::ListQuery;

use crate::support::{Leader, NOW, fresh, submission};

const ODD: &str = "a\0b\u{1f}c\u{7f}é\u{10ffff}";

#[tokio::test(flavor = "multi_thread")]
async fn what_clients_and_workers_send_may_contain_any_character() {
    let (store, _) = fresh().await;
    let mut leader = Leader::begin(&store).await;
    let mut job = leader.new_job(ODD);
    job.spec.options.traceparent = Some(ODD.into());
    let id = job.id;
    let idempotency = Idempotency { scope: ODD.into(), key: ODD.into(), fingerprint: [0; 32], until: NOW };
    let keyed =
        Change::Submit(Submission { idempotency: Some(idempotency), inbox: None, jobs: vec![job.clone()] });
    let answer = leader.commit(vec![keyed]).await;
    assert!(matches!(answer[..], [Applied::Submitted(Submitted::Accepted(_))]), "{answer:?}");
    let log = LogLines { job: id, attempt: 1, text: format!("{ODD}\n") };
    let assignment = leader.assignment(&[id]);
    let mut ends = leader.ends(&assignment, State::Dead, NOW);
    let Some(Change::End(AttemptEnd { record: Some(record), after, .. })) = ends.first_mut() else {
        panic!("one ends")
    };
    (record.error, record.worker) = (Some(ODD.into()), ODD.into());
    let record = record.clone();
    if let ganger_core::change::After::Final { end, .. } = after {
        (end.reason, end.result) = (Some(ODD.into()), Some(ODD.into()));
    }
    leader.commit(vec![Change::Log(log), Change::Assign(assignment)]).await;
    leader.commit(ends).await;
    let found = store.jobs(&[id], NOW).await.unwrap().remove(0);
    assert_eq!(found.spec, job.spec);
    assert_eq!(found.last_attempt, Some(record));
    let end = found.end.unwrap();
    assert_eq!((end.reason.as_deref(), end.result.as_deref()), (Some(ODD), Some(ODD)));
    assert_eq!(store.log(id, 1).await.unwrap(), format!("{ODD}\n"));

    let mut session = store.load().await.unwrap().sessions.remove(0);
    session.worker.name = ODD.into();
    let session = SessionRecord { id: ganger_core::SessionId::new(1, [1; 10]), ..session };
    leader.commit(vec![Change::OpenSession(session.clone())]).await;
    assert!(store.load().await.unwrap().sessions.contains(&session));
}

/// Nobody has such a tag or key, so nobody is found; it is no error to ask.
#[tokio::test(flavor = "multi_thread")]
async fn a_filter_may_contain_any_character() {
    let (store, _) = fresh().await;
    let mut leader = Leader::begin(&store).await;
    let mut job = leader.new_job("null");
    job.spec.options.tags = vec!["red".into()];
    leader.commit(vec![submission(vec![job])]).await;
    for query in [
        ListQuery { tag: Some(ODD.into()), ..ListQuery::default() },
        ListQuery { unique_key: Some(ODD.into()), ..ListQuery::default() },
    ] {
        let page = store.list(&query, NOW).await.unwrap();
        assert_eq!((page.jobs, page.complete), (vec![], true));
    }
    let red = ListQuery { tag: Some("red".into()), ..ListQuery::default() };
    assert_eq!(store.list(&red, NOW).await.unwrap().jobs.len(), 1);
}
