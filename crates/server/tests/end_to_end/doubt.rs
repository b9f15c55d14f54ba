//! A commit whose answer was lost is in doubt, and a later refusal proves nothing.

use ganger_core::change::Submitted;
use ganger_server::testing;
use ganger_store::read::ListQuery;

use crate::common::{eventually, spec};
use crate::faulty::{Fault, FaultyStore};

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
