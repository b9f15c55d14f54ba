//! What a workload is given: a running server with nothing in it, a client, and what it was asked for.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

use ganger_core::event::WorkerState;
use ganger_server::api::{CountsBody, KeepBody, QueueBody, QueuePut, RetentionPut, WorkersBody};
use tokio::process::Child;

use super::meter::{cpu_seconds, cpu_seconds_of_all, resident};
use super::processes::{self, Directory};
use super::sizes::Sizes;
use super::target::Target;
use crate::client::{Call, Client};
use crate::clock::Stopwatch;
use crate::config::{Origin, ServerUrl};
use crate::exit::Exit;
use crate::failure::{Failure, Fallible};
use crate::output::Out;

/// Between two looks.
const LOOK: std::time::Duration = std::time::Duration::from_millis(20);

/// A running server, and whatever works for it.
#[derive(Debug)]
pub(super) struct Stage<'a> {
    pub(super) sizes: &'a Sizes,
    pub(super) target: &'a Target,
    pub(super) out: Out,
    pub(super) client: Client,
    server: Child,
    worker: Option<Child>,
    url: ServerUrl,
    /// Processes of workers besides.
    crews: RefCell<Vec<u32>>,
    // Dropped last: the processes write into it.
    directory: Directory,
}

impl<'a> Stage<'a> {
    /// Starts a server, and nothing else.
    pub(super) async fn set(
        sizes: &'a Sizes,
        target: &'a Target,
        parent: &Path,
        out: Out,
    ) -> Fallible<Stage<'a>> {
        let directory = Directory::make(parent)?;
        let (server, url) = directory.server(target, "127.0.0.1:0").await?;
        let client = Client::to(url.clone().into(), Origin::Default)?;
        let (worker, crews) = (None, RefCell::default());
        Ok(Stage { sizes, target, out, client, server, worker, url, crews, directory })
    }

    /// Starts a worker with the kinds that are built in, and waits until it is there.
    pub(super) async fn hire(&mut self) -> Fallible<()> {
        self.worker = Some(self.directory.worker(self.target, &self.url, self.sizes.threads)?);
        let watch = Stopwatch::start();
        while !watch.left_of(processes::PATIENCE).is_zero() {
            let answer = self.client.send(&Call::get("list workers", "/v1/workers")).await?;
            let workers = answer.read::<WorkersBody>()?.items;
            if workers.iter().any(|worker| worker.state == WorkerState::Available) {
                return Ok(());
            }
            tokio::time::sleep(LOOK).await;
        }
        Err(Failure::new(Exit::Failure, "the worker does not connect", self.directory.log("worker"), ""))
    }

    /// Ends everything in order.
    pub(super) async fn clear(mut self) {
        if let Some(mut worker) = self.worker.take() {
            processes::stop(&mut worker).await;
        }
        processes::stop(&mut self.server).await;
    }

    /// Kills the server.
    pub(super) async fn kill(&mut self) {
        processes::kill(&mut self.server).await;
    }

    /// Starts the server again where it was.
    pub(super) async fn restart(&mut self) -> Fallible<()> {
        let address = self.url.to_string().trim_start_matches("http://").to_owned();
        let (server, _) = self.directory.server(self.target, &address).await?;
        self.server = server;
        Ok(())
    }

    /// A client of its own, with its own connections.
    pub(super) fn another_client(&self) -> Fallible<Client> {
        Client::to(self.url.clone().into(), Origin::Default)
    }

    /// Where the server listens.
    pub(super) fn url(&self) -> String {
        self.url.to_string()
    }

    /// Where the data is.
    pub(super) fn directory(&self) -> &Directory {
        &self.directory
    }

    /// The process of the server.
    pub(super) fn server_pid(&self) -> Option<u32> {
        self.server.id()
    }

    /// Resident memory of the server, in bytes.
    pub(super) fn resident(&self) -> u64 {
        self.server_pid().and_then(resident).unwrap_or_default()
    }

    /// From now on that process counts among the workers.
    pub(super) fn joined(&self, crew: u32) {
        self.crews.borrow_mut().push(crew);
    }

    /// CPU seconds so far, by process.
    pub(super) fn cpu(&self) -> BTreeMap<String, f64> {
        let mut all = BTreeMap::new();
        let mut tell = |process: &str, seconds: Option<f64>| {
            if let Some(seconds) = seconds {
                *all.entry(process.to_owned()).or_default() += seconds;
            }
        };
        tell("server", self.server_pid().and_then(cpu_seconds));
        tell("loader", cpu_seconds(std::process::id()));
        for pid in self.worker.iter().filter_map(Child::id).chain(self.crews.borrow().iter().copied()) {
            tell("worker", cpu_seconds(pid));
        }
        tell("database", self.target.database_pid().and_then(cpu_seconds_of_all));
        tell("redis", self.target.redis_pid().and_then(cpu_seconds));
        all
    }

    /// Stops or starts a queue.
    pub(super) async fn pause(&self, queue: &str, paused: bool) -> Fallible<()> {
        self.put(queue, &QueuePut { paused: Some(paused), ..QueuePut::default() }).await
    }

    /// Stops a queue, and makes it keep its jobs or not, as the user wants.
    pub(super) async fn prepare(&self, queue: &str) -> Fallible<()> {
        let finished = (!self.sizes.keeps()).then_some(KeepBody(ganger_core::queue::Keep::None));
        let retention = finished.map(|keep| RetentionPut { finished: Some(keep), dead: None });
        self.put(queue, &QueuePut { paused: Some(true), retention, ..QueuePut::default() }).await
    }

    async fn put(&self, queue: &str, change: &QueuePut) -> Fallible<()> {
        let body = super::json(change)?;
        let call = Call::put(format!("set queue {queue}"), format!("/v1/queues/{queue}"), body);
        self.client.send(&call).await.map(drop)
    }

    /// The jobs of a queue, by state.
    pub(super) async fn counts(&self, queue: &str) -> Fallible<CountsBody> {
        let call = Call::get(format!("get queue {queue}"), format!("/v1/queues/{queue}"));
        Ok(self.client.send(&call).await?.read::<QueueBody>()?.jobs)
    }

    /// Tells the user what is being done.
    pub(super) fn note(&self, text: &str) {
        self.out.note(text);
    }
}
