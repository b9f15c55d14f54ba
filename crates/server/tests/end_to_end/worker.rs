//! A worker that speaks the protocol by hand, so that a test can say exactly what it hears and says.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use ganger_core::change::WorkerInfo;
use ganger_core::message::{AttemptReport, Hello, ToLeader, ToWorker};
use ganger_core::outcome::Report;
use ganger_core::{SessionId, Term};
use ganger_proto::v1::worker_client::WorkerClient;
use ganger_proto::{Down, Parcel, v1};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Status, Streaming};

use crate::common::within;

/// One stream of a worker.
pub struct Worker {
    pub session: SessionId,
    pub stream: u64,
    pub term: Term,
    up: mpsc::Sender<v1::FromWorker>,
    down: Streaming<v1::ToWorker>,
    /// Assigned and not yet looked at.
    parcels: VecDeque<Parcel>,
}

pub fn session() -> SessionId {
    SessionId::new(1_700_000_000_000, uuid::Uuid::new_v4().as_bytes()[..10].try_into().unwrap())
}

/// A worker of four threads that takes everything.
pub fn hello(session: SessionId, stream: u64) -> Hello {
    Hello {
        session,
        stream,
        worker: WorkerInfo {
            name: "by-hand".into(),
            queues: vec![],
            kinds: vec![],
            threads: 4,
            labels: BTreeMap::new(),
            version: "test".into(),
            local: false,
            claim: false,
            ttl: Duration::from_secs(10),
        },
        highest: Term::default(),
        draining: false,
    }
}

impl Worker {
    /// A fresh session, welcomed and resumed.
    pub async fn start(url: &str) -> Worker {
        Worker::greet(url, hello(session(), 1)).await.unwrap()
    }

    /// The same session on its next stream.
    pub async fn again(url: &str, before: &Worker) -> Worker {
        let mut hello = hello(before.session, before.stream + 1);
        hello.highest = before.term;
        Worker::greet(url, hello).await.unwrap()
    }

    /// Says hello, hears the welcome and pings.
    pub async fn greet(url: &str, hello: Hello) -> Result<Worker, Status> {
        let mut worker = Worker::open(url, hello).await?;
        match worker.hear().await? {
            Some(ToWorker::Welcome { term, .. }) => worker.term = term,
            other => panic!("expected a welcome, heard {other:?}"),
        }
        worker.say(ToLeader::Ping { number: 1 }).await;
        Ok(worker)
    }

    /// Says hello and no more.
    pub async fn open(url: &str, hello: Hello) -> Result<Worker, Status> {
        let (session, stream) = (hello.session, hello.stream);
        let (up, down) = connect(url, ToLeader::Hello(hello).into()).await?;
        Ok(Worker { session, stream, term: Term::default(), up, down, parcels: Default::default() })
    }

    pub async fn say(&self, message: ToLeader) {
        self.up.send(message.into()).await.unwrap();
    }

    /// The next message that is no assignment; those are kept for [`Worker::work`].
    pub async fn hear(&mut self) -> Result<Option<ToWorker>, Status> {
        loop {
            let Some(message) = within("a message", self.down.message()).await? else { return Ok(None) };
            match Down::try_from(message).unwrap() {
                Down::Assign(parcels) => self.parcels.extend(parcels),
                Down::Other(message) => return Ok(Some(message)),
            }
        }
    }

    /// The next lease.
    pub async fn work(&mut self) -> Parcel {
        loop {
            if let Some(parcel) = self.parcels.pop_front() {
                return parcel;
            }
            let message = within("work", self.down.message()).await.unwrap().expect("the stream is open");
            if let Down::Assign(parcels) = Down::try_from(message).unwrap() {
                self.parcels.extend(parcels);
            }
        }
    }

    pub async fn report(&self, parcel: &Parcel, report: Report) {
        let (job, fence) = (parcel.work.job, parcel.work.fence);
        let ran = Duration::from_millis(1);
        self.say(ToLeader::Results(vec![AttemptReport { job, fence, report, ran }])).await;
    }

    /// Hears that this report may be forgotten.
    pub async fn acknowledged(&mut self, parcel: &Parcel) {
        loop {
            let heard = self.hear().await.unwrap().expect("the stream is open");
            if matches!(heard, ToWorker::Ack(fences) if fences.contains(&parcel.work.fence)) {
                return;
            }
        }
    }

    /// Hears that this should stop.
    pub async fn told_to_stop(&mut self, parcel: &Parcel) {
        loop {
            let heard = self.hear().await.unwrap().expect("the stream is open");
            if matches!(heard, ToWorker::Cancel { fence, .. } if fence == parcel.work.fence) {
                return;
            }
        }
    }

    /// Hears that the stream is over.
    pub async fn stream_ends(&mut self) {
        while let Ok(Some(_)) = self.hear().await {}
    }
}

/// Opens a stream with this first message.
pub async fn connect(
    url: &str,
    first: v1::FromWorker,
) -> Result<(mpsc::Sender<v1::FromWorker>, Streaming<v1::ToWorker>), Status> {
    let mut client = WorkerClient::connect(url.to_owned()).await.unwrap();
    let (up, messages) = mpsc::channel(16);
    up.send(first).await.unwrap();
    let down = within("an answer", client.session(ReceiverStream::new(messages))).await?;
    Ok((up, down.into_inner()))
}
