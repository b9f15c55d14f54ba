//! What `/metrics` tells of workers, lost leases and slow listeners, each moved by what it counts.

use std::net::SocketAddr;

use ganger_core::outcome::Report;
use ganger_proto::v1;
use ganger_proto::v1::worker_client::WorkerClient;
use ganger_server::testing;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpSocket, TcpStream};

use crate::common::{eventually, metric, spec, submit, within};
use crate::worker::Worker;

/// A number that must be told.
async fn told(url: &str, name: &str) -> f64 {
    metric(url, name).await.unwrap_or_else(|| panic!("{name} is not told"))
}

async fn workers(url: &str, state: &str) -> f64 {
    metric(url, &format!("ganger_workers{{state=\"{state}\"}}")).await.unwrap_or(0.0)
}

/// Threads, used and free.
async fn threads(url: &str) -> (f64, f64) {
    (told(url, "ganger_threads{state=\"used\"}").await, told(url, "ganger_threads{state=\"free\"}").await)
}

#[tokio::test(flavor = "multi_thread")]
async fn workers_and_threads_are_told_as_they_come_work_drain_and_die() {
    let server = testing::start().await;
    let (url, service) = (server.url(), server.service());
    assert_eq!((workers(&url, "available").await, threads(&url).await), (0.0, (0.0, 0.0)));
    let mut worker = Worker::start(&url).await;
    eventually("a worker", || async { workers(&url, "available").await == 1.0 }).await;
    assert_eq!(threads(&url).await, (0.0, 4.0));

    let mut wide = spec("wide", "1");
    wide.options.threads = 3;
    submit(service, wide).await;
    let held = worker.work().await;
    assert_eq!((workers(&url, "available").await, threads(&url).await), (1.0, (3.0, 1.0)));
    submit(service, spec("narrow", "1")).await;
    worker.work().await;
    assert_eq!((workers(&url, "available").await, workers(&url, "busy").await), (0.0, 1.0));
    assert_eq!(threads(&url).await, (4.0, 0.0));

    worker.report(&held, Report::Ok("1".into())).await;
    worker.acknowledged(&held).await;
    assert_eq!(threads(&url).await, (1.0, 3.0));
    service.drain_worker(worker.session).await.unwrap();
    assert_eq!((workers(&url, "available").await, workers(&url, "draining").await), (0.0, 1.0));

    report_death(&url, &worker).await;
    eventually("its end", || async { workers(&url, "draining").await == 0.0 }).await;
    assert_eq!(threads(&url).await, (0.0, 0.0));
    server.stop().await;
}

/// The zombie: its supervisor saw it die, another has its job, then it reports after all.
#[tokio::test(flavor = "multi_thread")]
async fn a_report_under_a_lost_lease_is_counted_and_one_under_a_held_lease_is_not() {
    let server = testing::start().await;
    let url = server.url();
    submit(server.service(), spec("x", "1")).await;
    let mut doomed = Worker::start(&url).await;
    let lost = doomed.work().await;
    report_death(&url, &doomed).await;
    let mut other = Worker::start(&url).await;
    let held = other.work().await;
    assert_eq!(told(&url, "ganger_leases_lost_total").await, 0.0, "a death is no late report");
    other.report(&lost, Report::Ok("false".into())).await;
    other.acknowledged(&lost).await;
    // Counted one step behind the acknowledgement.
    eventually("the late report", || async { told(&url, "ganger_leases_lost_total").await == 1.0 }).await;
    other.report(&held, Report::Ok("true".into())).await;
    other.acknowledged(&held).await;
    let ok = "ganger_attempts_total{queue=\"default\",kind=\"x\",outcome=\"ok\",reason=\"returned\"}";
    eventually("the good report", || async { metric(&url, ok).await == Some(1.0) }).await;
    assert_eq!(told(&url, "ganger_leases_lost_total").await, 1.0);
    let attempts =
        "ganger_attempts_total{queue=\"default\",kind=\"x\",outcome=\"lost\",reason=\"session_closed\"}";
    assert_eq!(told(&url, attempts).await, 1.0);
    server.stop().await;
}

/// It listens and does not read; when it reads on, every event is either told or counted as missed.
#[tokio::test(flavor = "multi_thread")]
async fn events_that_a_slow_listener_missed_are_counted_as_it_is_told() {
    const EVENTS: usize = 20_000;
    let server = testing::start().await;
    let (url, service) = (server.url(), server.service());
    let mut lines = BufReader::new(listen_slowly(server.address()).await).lines();
    let mut next = async || within("a line", lines.next_line()).await.unwrap().expect("the stream is open");
    while !next().await.is_empty() {}
    assert_eq!(told(&url, "ganger_events_dropped_total").await, 0.0);

    // More than the buffers on the way hold, and what a listener may lag behind.
    let mut job = spec("a-kind-with-a-long-name-so-that-its-events-are-large", "1");
    job.queue = "q".repeat(100).parse().unwrap();
    for _ in 0..EVENTS / 1000 {
        service.submit(None, vec![job.clone(); 1000]).await.unwrap();
    }
    let (mut seen, mut missed) = (0, 0);
    while seen + missed < EVENTS {
        match next().await.as_str() {
            "event: job" => seen += 1,
            "event: gap" => {
                let data = next().await;
                let data: serde_json::Value = serde_json::from_str(&data["data: ".len()..]).unwrap();
                missed += usize::try_from(data["missed"].as_u64().unwrap()).unwrap();
            }
            _ => {}
        }
    }
    assert_eq!(seen + missed, EVENTS);
    assert!(missed > 0, "the listener was not slow enough");
    assert_eq!(told(&url, "ganger_events_dropped_total").await, missed as f64);
    server.stop().await;
}

/// A connection to `/v1/events` that takes in as little as it can.
async fn listen_slowly(address: SocketAddr) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let mut stream = socket.connect(address).await.unwrap();
    let head = format!("GET /v1/events?topics=job HTTP/1.1\r\nHost: {address}\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    stream
}

async fn report_death(url: &str, worker: &Worker) {
    let mut client = WorkerClient::connect(url.to_owned()).await.unwrap();
    let session = worker.session.uuid().as_bytes().to_vec();
    client.report_death(v1::ReportDeathRequest { session }).await.unwrap();
}
