//! Two thousand workers behind one standby.

use futures::future::join_all;
use ganger_core::message::{ToLeader, ToWorker};
use ganger_proto::v1::worker_client::WorkerClient;
use ganger_proto::{Down, v1};
use ganger_server::relay::{CONNECTIONS, STREAMS};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Channel;

use crate::common::{PATIENCE, eventually, within};
use crate::relay::{metric, pair};
use crate::worker::{hello, session};

const WORKERS: usize = 2_000;
/// A channel of the test itself carries this many.
const PER_CHANNEL: usize = 500;

type Stream = (mpsc::Sender<v1::FromWorker>, tonic::Streaming<v1::ToWorker>);

/// Says hello, hears the welcome and pings.
async fn start(channel: Channel) -> Stream {
    let (up, messages) = mpsc::channel(4);
    let mut greeting = hello(session(), 1);
    // The crowd sends no further signs of life, however slow the machine is.
    greeting.worker.ttl = PATIENCE * 4;
    up.send(ToLeader::Hello(greeting).into()).await.unwrap();
    let answer = WorkerClient::new(channel).session(ReceiverStream::new(messages)).await;
    let mut down = answer.unwrap().into_inner();
    let first = Down::try_from(down.message().await.unwrap().unwrap()).unwrap();
    assert!(matches!(first, Down::Other(ToWorker::Welcome { .. })), "{first:?}");
    up.send(ToLeader::Ping { number: 1 }.into()).await.unwrap();
    (up, down)
}

#[tokio::test(flavor = "multi_thread")]
async fn two_thousand_workers_are_served_through_one_standby_and_all_hear_of_a_change() {
    let pair = pair().await;
    let url = pair.standby.url();
    let mut starting = Vec::new();
    for _ in 0..WORKERS / PER_CHANNEL {
        let channel = Channel::from_shared(url.clone()).unwrap().connect().await.unwrap();
        starting.extend((0..PER_CHANNEL).map(|_| tokio::spawn(start(channel.clone()))));
    }
    let streams: Vec<Stream> =
        within("two thousand welcomes", join_all(starting)).await.into_iter().map(Result::unwrap).collect();
    assert_eq!(pair.leader.service().workers().await.unwrap().len(), WORKERS);
    assert_eq!(metric(&url, "ganger_relay_streams").await, Some(WORKERS as f64));
    const { assert!(WORKERS <= STREAMS * CONNECTIONS) };
    pair.standby.lose_the_leader();
    let end = |(_up, mut down): Stream| async move { while let Ok(Some(_)) = down.message().await {} };
    within("two thousand ends", join_all(streams.into_iter().map(end))).await;
    eventually("no streams", || async { metric(&url, "ganger_relay_streams").await == Some(0.0) }).await;
    pair.stop().await;
}
