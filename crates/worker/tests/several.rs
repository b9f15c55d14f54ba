//! Several servers: a worker takes the one that answers, and moves to the leader if it can.

mod support;

use std::time::Duration;

use ganger_core::message::ToLeader;
use ganger_proto::v1;
use ganger_worker::{Ctx, Job, Worker, WorkerHandle};

use support::{Leader, Stream, TERM, ok, parcel, soon};

const WAIT: Job<(), u32> = Job::new("wait");
const TTL: Duration = Duration::from_secs(10);

async fn worker(urls: String) -> (WorkerHandle, tokio::sync::mpsc::Sender<()>) {
    let (end, ends) = tokio::sync::mpsc::channel::<()>(1);
    let ends = std::sync::Arc::new(tokio::sync::Mutex::new(ends));
    let wait = move |_: Ctx, (): ()| {
        let ends = ends.clone();
        async move {
            ends.lock().await.recv().await;
            Ok(7)
        }
    };
    let handle = Worker::connect(urls).threads(1).ttl(TTL).handle(&WAIT, wait).start().await.unwrap();
    (handle, end)
}

/// A welcome that names the leader.
async fn welcome(stream: &Stream, leader: &str) {
    let ttl = Some(prost_types::Duration { seconds: TTL.as_secs() as i64, nanos: 0 });
    let term = Some(v1::Term { number: TERM.number, id: TERM.id });
    let welcome = v1::Welcome { term, ttl, leader: leader.into() };
    stream.say_raw(v1::ToWorker { message: Some(v1::to_worker::Message::Welcome(welcome)) }).await;
}

/// A port on which nobody listens, nor can while the socket is held.
fn nowhere() -> (tokio::net::TcpSocket, String) {
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let url = format!("http://{}", socket.local_addr().unwrap());
    (socket, url)
}

#[tokio::test]
async fn a_worker_takes_the_first_server_that_answers() {
    let mut leader = Leader::start().await;
    let (_held, nowhere) = nowhere();
    let (handle, _end) = worker(format!("{nowhere},{}", leader.url())).await;
    // Held: a stream that ends right after its welcome may never be seen open.
    let _stream = leader.welcomed(TTL).await;
    soon(handle.opened()).await.unwrap();
}

/// The session is the same, the handler goes on, and its result is told to the leader.
#[tokio::test]
async fn a_worker_moves_to_the_leader_that_its_welcome_names_and_takes_its_work_along() {
    let (mut standby, mut leader) = (Leader::start().await, Leader::start().await);
    let (handle, end) = worker(standby.url()).await;
    let (relayed, first) = standby.greeted().await;
    welcome(&relayed, "").await;
    relayed.assign(vec![parcel(1, "wait", "null")]).await;
    let running = async {
        while !handle.running().to_string().contains("wait") {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    soon(running).await;
    // The relay's stream ends, as it does when the leader changes; the next welcome names the new one.
    drop(relayed);
    let (mut relayed, _) = standby.greeted().await;
    welcome(&relayed, &leader.url()).await;
    let (mut direct, second) = leader.greeted().await;
    assert_eq!((second.session, second.highest), (first.session, TERM));
    assert!(second.stream > first.stream);
    soon(relayed.closed()).await;
    welcome(&direct, &leader.url()).await;
    assert!(matches!(direct.hear().await, ToLeader::Ping { .. }));
    end.send(()).await.unwrap();
    assert_eq!(direct.result().await.report, ok("7"));
}

/// Being told of a leader that cannot be reached from here costs nothing: the stream stays.
#[tokio::test]
async fn a_worker_that_cannot_reach_the_leader_stays_where_it_is() {
    let mut standby = Leader::start().await;
    let (_handle, end) = worker(standby.url()).await;
    let (mut relayed, _) = standby.greeted().await;
    let (_held, nowhere) = nowhere();
    welcome(&relayed, &nowhere).await;
    assert!(matches!(relayed.hear().await, ToLeader::Ping { number: 1 }));
    relayed.assign(vec![parcel(1, "wait", "null")]).await;
    end.send(()).await.unwrap();
    assert_eq!(relayed.result().await.report, ok("7"));
}

/// A leader that takes the call and says nothing is left again, and not tried at once again.
#[tokio::test]
async fn a_worker_returns_to_the_list_when_the_leader_does_not_greet() {
    let (mut standby, mut leader) = (Leader::start().await, Leader::start().await);
    let (_handle, _end) = worker(standby.url()).await;
    let (relayed, _) = standby.greeted().await;
    welcome(&relayed, &leader.url()).await;
    let (direct, _) = leader.greeted().await;
    drop(direct);
    let (mut relayed, _) = standby.greeted().await;
    welcome(&relayed, &leader.url()).await;
    assert!(matches!(relayed.hear().await, ToLeader::Ping { .. }));
    assert!(matches!(relayed.hear().await, ToLeader::Ping { .. }), "it stays");
}
