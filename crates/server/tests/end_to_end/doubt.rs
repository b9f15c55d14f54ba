//! A commit whose answer was lost is in doubt, and a later refusal proves nothing.

use ganger_core::change::Submitted;
use ganger_server::testing::{self, TestServer};
use ganger_store::read::ListQuery;

use crate::common::{eventually, spec};
use crate::faulty::{Fault, FaultyStore};

/// Readiness and the metric are asked by different people about the same thing.
#[tokio::test(flavor = "multi_thread")]
async fn readiness_and_the_metric_say_the_same_of_a_store_that_fails() {
    for fault in [Fault::Vanished, Fault::Full] {
        let store = FaultyStore::new();
        let server = testing::start_on(store.clone()).await;
        assert!(get(&server, "/metrics").await.contains("ganger_store_up 1\n"));
        store.commits(fault);
        let call = tokio::spawn({
            let service = server.service().clone();
            async move { service.submit(None, vec![spec("x", "1")]).await }
        });
        eventually("red readiness", || async { get(&server, "/readyz").await.contains("[-]store failed") })
            .await;
        let metrics = get(&server, "/metrics").await;
        assert!(metrics.contains("ganger_store_up 0\n"), "{fault:?}: {metrics}");
        store.commits(Fault::None);
        eventually("green readiness", || async { get(&server, "/readyz").await == "ok\n" }).await;
        assert!(get(&server, "/metrics").await.contains("ganger_store_up 1\n"));
        // Either answer is right: a refusal when the disk is full, a yes once the doubt is settled.
        let _ = call.await.unwrap();
        server.stop().await;
    }
}

async fn get(server: &TestServer, path: &str) -> String {
    reqwest::get(format!("{}{path}", server.url())).await.unwrap().text().await.unwrap()
}

/// The first copy may still land when the second is refused: whoever is told no then is told wrong.
#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_after_a_lost_answer_is_no_answer() {
    let store = FaultyStore::new();
    let server = testing::start_on(store.clone()).await;
    store.commits(Fault::AnswerLost);
    let call = tokio::spawn({
        let service = server.service().clone();
        async move { service.submit(None, vec![spec("x", "1")]).await }
    });
    eventually("a lost answer", || async { store.tried() > 0 }).await;
    store.commits(Fault::Full);
    eventually("two refusals", || async { store.tried() > 1 }).await;
    assert!(!call.is_finished(), "a refusal settles nothing here: the job is in the store");
    store.commits(Fault::None);
    let Submitted::Accepted(intake) = call.await.unwrap().unwrap() else { panic!("not accepted") };
    let all = server.service().list(ListQuery { limit: 10, ..ListQuery::default() }).await.unwrap();
    assert_eq!(all.jobs.iter().map(|job| job.id).collect::<Vec<_>>(), [intake[0].job()]);
    server.stop().await;
}
