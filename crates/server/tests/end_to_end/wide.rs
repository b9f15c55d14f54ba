//! Jobs that need several threads at once, and what waits beside them.

use ganger_core::job::State;
use ganger_server::testing;

use crate::common::{eventually, is_in, spec, submit};
use crate::worker::Worker;

/// A long job holds one thread of the only worker, and a wide one has the others kept free for it. A job of
/// a higher priority must not wait for either.
#[tokio::test(flavor = "multi_thread")]
async fn a_worker_kept_free_for_a_wide_job_still_takes_what_comes_before_it() {
    let server = testing::start().await;
    let service = server.service();
    let mut worker = Worker::start(&server.url()).await;
    let long = submit(service, spec("long", "1")).await;
    assert_eq!(worker.work().await.work.job, long);

    let mut wide = spec("wide", "1");
    (wide.options.threads, wide.options.min_threads) = (4, 4);
    let wide = submit(service, wide).await;
    // It is overtaken once, and then loses its patience.
    let narrow = submit(service, spec("narrow", "1")).await;
    assert_eq!(worker.work().await.work.job, narrow);
    eventually("a reservation", || async {
        service.explain(wide).await.unwrap().summary.contains("is kept free for it")
    })
    .await;

    let patient = submit(service, spec("narrow", "2")).await;
    let mut urgent = spec("narrow", "3");
    urgent.priority = 1;
    let urgent = submit(service, urgent).await;
    assert_eq!(worker.work().await.work.job, urgent);
    is_in(service, patient, State::Queued).await;
    let why = service.explain(patient).await.unwrap();
    assert!(why.summary.contains("kept free for a job of kind wide that needs 4 threads"), "{}", why.summary);
    is_in(service, wide, State::Queued).await;
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_to_do_about_a_job_that_nobody_can_run_names_all_that_is_missing() {
    let server = testing::start().await;
    let service = server.service();
    let _worker = Worker::start(&server.url()).await;
    let mut picky = spec("encode", "1");
    picky.options.require = [("gpu".to_owned(), "yes".to_owned())].into();
    let picky = submit(service, picky).await;
    let why = service.explain(picky).await.unwrap();
    assert!(why.summary.contains("1 worker handles encode"), "{}", why.summary);
    let step = why.next_step.unwrap();
    assert!(step.contains("handles encode in queue default and has the labels gpu=yes"), "{step}");

    let mut wide = spec("encode", "1");
    (wide.options.threads, wide.options.min_threads) = (8, 8);
    let wide = submit(service, wide).await;
    let why = service.explain(wide).await.unwrap();
    assert_eq!(why.summary, "it needs at least 8 threads, the widest worker has 4");
    assert!(!why.gates.iter().any(|gate| gate.evidence.contains("could run it")), "{:?}", why.gates);
    server.stop().await;
}
