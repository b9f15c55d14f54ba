//! The session over the real wire, against a leader that follows a script.

mod support;

use std::time::Duration;

use ganger_core::message::{CancelWhy, ToLeader, ToWorker};
use ganger_core::outcome::Report;
use ganger_worker::{Ctx, Finish, Job, JobError, Worker, WorkerHandle};
use support::{Leader, fence, ok, parcel, soon};
use tokio::sync::mpsc;

const TTL: Duration = Duration::from_secs(15);
const SHORT: Duration = Duration::from_millis(400);

const DOUBLE: Job<u32, u32> = Job::new("double");
const WAIT: Job<(), String> = Job::new("wait");
const DEAF: Job<(), ()> = Job::new("deaf");
const TALK: Job<(), ()> = Job::new("talk");

async fn double(_: Ctx, n: u32) -> Result<u32, JobError> {
    Ok(n * 2)
}

/// Runs until it is told to stop, and fails with the reason.
async fn wait(ctx: Ctx, (): ()) -> Result<String, JobError> {
    ctx.cancelled().await;
    Err(format!("stopped: {:?}", ctx.cancel_reason()))?
}

async fn deaf(_: Ctx, (): ()) -> Result<(), JobError> {
    std::future::pending().await
}

async fn talk(ctx: Ctx, (): ()) -> Result<(), JobError> {
    ctx.progress(0.5, "half");
    ctx.log("first");
    ctx.log("second");
    Ok(())
}

fn worker(leader: &Leader) -> Worker {
    Worker::connect(leader.url())
        .name("w1")
        .threads(2)
        .queues(["default", "mail"])
        .labels([("zone", "a")])
        .cancel_grace(Duration::from_millis(100))
        .handle(&DOUBLE, double)
        .handle(&WAIT, wait)
        .handle(&DEAF, deaf)
        .handle(&TALK, talk)
}

async fn started(leader: &Leader) -> WorkerHandle {
    worker(leader).start().await.unwrap()
}

/// Waits until a handler runs, so that what follows meets it running and not merely held.
async fn one_runs(handle: &WorkerHandle) {
    soon(async {
        while handle.running().as_array().is_none_or(Vec::is_empty) {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_runs_and_its_result_is_reported_under_its_fence() {
    let mut leader = Leader::start().await;
    let handle = started(&leader).await;
    let (mut stream, hello) = leader.welcomed(TTL).await;
    assert_eq!(hello.session, handle.session_id());
    assert_eq!((hello.stream, hello.draining), (1, false));
    assert_eq!((hello.worker.name.as_str(), hello.worker.threads), ("w1", 2));
    assert_eq!(hello.worker.kinds.len(), 4);
    assert_eq!(hello.worker.labels["zone"], "a");

    stream.assign(vec![parcel(1, "double", "21")]).await;
    let result = stream.result().await;
    assert_eq!((result.fence, result.report), (fence(1), ok("42")));
}

/// The connection breaks between the result and its acknowledgement.
#[tokio::test(flavor = "multi_thread")]
async fn a_result_that_was_not_acknowledged_is_sent_again_on_the_next_stream() {
    let mut leader = Leader::start().await;
    let _handle = started(&leader).await;
    let (mut stream, first) = leader.welcomed(TTL).await;
    stream.assign(vec![parcel(1, "double", "1"), parcel(2, "wait", "null")]).await;
    assert_eq!(stream.result().await.fence, fence(1));
    drop(stream);

    let (mut stream, second) = leader.welcomed(TTL).await;
    assert_eq!((second.session, second.stream), (first.session, 2));
    let again = stream.result().await;
    assert_eq!((again.fence, again.report), (fence(1), ok("2")));
    // The leader sends every lease again that it does not know the end of; known ones do not start twice.
    stream.say(ToWorker::Ack(vec![fence(1)])).await;
    stream.assign(vec![parcel(2, "wait", "null"), parcel(3, "double", "3")]).await;
    assert_eq!(stream.result().await.fence, fence(3));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_closed_session_goes_on_as_another_one() {
    let mut leader = Leader::start().await;
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("session");
    let handle = worker(&leader).session_file(&file).start().await.unwrap();
    let (stream, first) = leader.welcomed(TTL).await;
    assert_eq!(std::fs::read_to_string(&file).unwrap(), first.session.to_string());
    stream.assign(vec![parcel(1, "wait", "null")]).await;
    one_runs(&handle).await;
    stream.say(ToWorker::Gone).await;

    let (mut stream, second) = leader.welcomed(TTL).await;
    assert_ne!(second.session, first.session);
    // Streams go on counting, so that nothing late on an old one passes for the new life's.
    assert_eq!(second.stream, first.stream + 1);
    assert_eq!(handle.session_id(), second.session);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), second.session.to_string());
    let late = stream.result().await;
    assert_eq!((late.fence, late.report), (fence(1), Report::Released { started: true }));
}

/// The leader falls silent for longer than the TTL.
#[tokio::test(flavor = "multi_thread")]
async fn a_lapse_stops_the_handlers_and_opens_another_stream() {
    let mut leader = Leader::start().await;
    let _handle = started(&leader).await;
    let (mut stream, first) = leader.welcomed(SHORT).await;
    stream.assign(vec![parcel(1, "wait", "null")]).await;
    // Everything is heard and nothing answered, until the worker gives the stream up.
    stream.closed().await;
    let (mut stream, second) = leader.welcomed(TTL).await;
    assert_eq!((second.session, second.stream), (first.session, 2));
    let result = stream.result().await;
    assert_eq!((result.fence, result.report), (fence(1), Report::Released { started: true }));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_handler_is_stopped_at_its_timeout_also_if_it_is_deaf() {
    let mut leader = Leader::start().await;
    let _handle = started(&leader).await;
    let (mut stream, _) = leader.welcomed(TTL).await;
    for (seq, kind) in [(1, "wait"), (2, "deaf")] {
        let mut work = parcel(seq, kind, "null");
        work.work.timeout = Some(Duration::from_millis(50));
        stream.assign(vec![work]).await;
        let result = stream.result().await;
        assert_eq!((result.fence, result.report), (fence(seq), Report::Timeout));
        assert!(result.ran >= Duration::from_millis(50));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_job_is_reported_as_cancelled() {
    let mut leader = Leader::start().await;
    let handle = started(&leader).await;
    let (mut stream, _) = leader.welcomed(TTL).await;
    let work = parcel(1, "wait", "null");
    let job = work.work.job;
    stream.assign(vec![work]).await;
    one_runs(&handle).await;
    stream.say(ToWorker::Cancel { job, fence: fence(1), why: CancelWhy::Cancelled }).await;
    assert_eq!(stream.result().await.report, Report::Cancelled);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_handler_says_arrives_before_its_result() {
    let mut leader = Leader::start().await;
    let _handle = started(&leader).await;
    let (mut stream, _) = leader.welcomed(TTL).await;
    stream.assign(vec![parcel(1, "talk", "null")]).await;
    let mut log = String::new();
    loop {
        let message = stream.hear_and_pong().await;
        if let ToLeader::Log { text, .. } = message {
            log.push_str(&text);
        } else if let ToLeader::Progress { fraction, note, .. } = message {
            assert_eq!((fraction, note.as_str()), (0.5, "half"));
        } else {
            assert!(matches!(message, ToLeader::Results(_)), "{message:?}");
            break;
        }
    }
    assert_eq!(log, "first\nsecond\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_drain_finishes_what_runs_hands_back_the_rest_and_says_goodbye() {
    let mut leader = Leader::start().await;
    let (release, released) = mpsc::channel::<()>(1);
    let released = std::sync::Arc::new(tokio::sync::Mutex::new(released));
    const GATED: Job<(), ()> = Job::new("gated");
    let handle = worker(&leader)
        .threads(1)
        .handle(&GATED, move |_, (): ()| {
            let released = released.clone();
            async move {
                released.lock().await.recv().await;
                Ok(())
            }
        })
        .start()
        .await
        .unwrap();
    let (mut stream, _) = leader.welcomed(TTL).await;
    stream.assign(vec![parcel(1, "gated", "null"), parcel(2, "double", "1")]).await;
    one_runs(&handle).await;
    handle.drain();
    assert_eq!(stream.hear_and_pong().await, ToLeader::Drain);
    let back = stream.result().await;
    assert_eq!((back.fence, back.report), (fence(2), Report::Released { started: false }));
    release.send(()).await.unwrap();
    let done = stream.result().await;
    assert_eq!((done.fence, done.report), (fence(1), ok("null")));
    stream.say(ToWorker::Ack(vec![fence(1), fence(2)])).await;
    assert_eq!(stream.hear_and_pong().await, ToLeader::Goodbye);
    assert!(stream.closed().await);
    drop(stream);
    assert_eq!(soon(handle.finished()).await.unwrap(), Finish::Drained);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_drain_stops_handlers_after_its_grace() {
    let mut leader = Leader::start().await;
    let handle = started(&leader).await;
    let (mut stream, _) = leader.welcomed(TTL).await;
    stream.assign(vec![parcel(1, "wait", "null")]).await;
    one_runs(&handle).await;
    let stopping = tokio::spawn({
        let handle = handle.clone();
        async move { handle.stop(Duration::from_millis(20)).await }
    });
    assert_eq!(stream.hear_and_pong().await, ToLeader::Drain);
    assert_eq!(stream.result().await.report, Report::Released { started: true });
    stream.say(ToWorker::Ack(vec![fence(1)])).await;
    assert_eq!(stream.hear_and_pong().await, ToLeader::Goodbye);
    drop(stream);
    assert_eq!(soon(stopping).await.unwrap().unwrap(), Finish::Drained);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_without_a_server_can_leave_and_loses_nothing() {
    let leader = Leader::start().await;
    let worker = worker(&leader);
    drop(leader);
    let handle = worker.start().await.unwrap();
    let finish = soon(handle.stop(Duration::from_secs(60))).await.unwrap();
    assert_eq!(finish, Finish::GaveUp { unfinished: 0 });
}

/// Every thread of the handlers' runtime is busy for several TTLs, and nothing lapses.
#[tokio::test(flavor = "multi_thread")]
async fn handlers_that_hog_their_runtime_do_not_keep_the_session_from_pinging() {
    const HOG: Job<(), ()> = Job::new("hog");
    let mut leader = Leader::start().await;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (release, released) = std::sync::mpsc::channel::<()>();
    let released = std::sync::Mutex::new(released);
    let worker = Worker::connect(leader.url()).handle(&HOG, move |ctx: Ctx, (): ()| {
        // Blocks the runtime's only thread, as a handler should not.
        released.lock().unwrap().recv().ok();
        async move { if ctx.is_cancelled() { Err("cancelled")? } else { Ok(()) } }
    });
    let _handle = runtime.spawn(worker.start()).await.unwrap().unwrap();
    let (mut stream, _) = leader.welcomed(Duration::from_secs(2)).await;
    stream.assign(vec![parcel(1, "hog", "null")]).await;
    // Three pings make a TTL.
    for _ in 0..7 {
        let ToLeader::Ping { number } = stream.hear().await else { panic!("only pings are expected") };
        stream.say(ToWorker::Pong { number }).await;
    }
    release.send(()).unwrap();
    assert_eq!(stream.result().await.report, ok("null"));
    runtime.shutdown_background();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_health_server_tells_readiness_and_the_running_jobs() {
    let mut leader = Leader::start().await;
    let handle = worker(&leader).health("127.0.0.1:0".parse().unwrap()).start().await.unwrap();
    let address = handle.health_address().unwrap();
    let get = |path: &'static str| async move {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        let mut socket = tokio::net::TcpStream::connect(address).await.unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
        socket.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        soon(socket.read_to_string(&mut answer)).await.unwrap();
        answer
    };
    assert!(get("/livez").await.starts_with("HTTP/1.1 200"));
    assert!(get("/readyz").await.starts_with("HTTP/1.1 503"));
    let (stream, _) = leader.welcomed(TTL).await;
    soon(handle.opened()).await.unwrap();
    assert!(get("/readyz").await.starts_with("HTTP/1.1 200"));
    assert!(get("/jobs").await.ends_with("[]"));
    stream.assign(vec![parcel(1, "wait", "null")]).await;
    one_runs(&handle).await;
    assert!(get("/jobs").await.contains("\"kind\":\"wait\""));
    assert!(get("/metrics").await.contains("\nganger_worker_jobs_running 1\n"));
    assert!(get("/jobs/nonsense").await.starts_with("HTTP/1.1 404"));
}
