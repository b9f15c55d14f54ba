//! The supervisor: keeps a number of worker processes running.
//!
//! A child that crashes is started again, with growing delays, and its death is reported to the server
//! at once, so that its jobs run elsewhere within seconds instead of after the session's TTL. The
//! supervisor chooses each child's first session id; a child whose session was closed goes on under
//! another, which it writes to its session file, so the supervisor always knows whom to report.
//!
//! # Who outlives whom
//! - *A child dies:* reported, and started again. One that ended well (drained) is left alone.
//! - *The supervisor is told to stop:* children get SIGTERM, a grace to drain, then SIGKILL. Told again, it
//!   tells them again, so that they leave at once and take along what their jobs have started.
//! - *The supervisor itself is killed:* each child's stdin is a pipe held by the supervisor; it closes,
//!   and the child drains ([`drain_when_orphaned`]).

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use ganger_core::SessionId;
use ganger_proto::v1::{self, worker_client::WorkerClient};
use rustix::process::{Pid, Signal};
use tokio::process::{Child, Command};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tonic::transport::Endpoint;

use crate::addresses;
use crate::backoff::Backoff;
use crate::clock;
use crate::credential::Credential;
use crate::handle::WorkerHandle;

/// Delays between starts of a child that crashes.
const RESTART: Backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(30));
/// A child that lived this long was healthy: its next delay is the first again.
const HEALTHY: Duration = Duration::from_secs(60);
/// Between telling a child again and SIGKILL.
const HURRY: Duration = Duration::from_secs(3);
/// After this long a report is pointless: the session has run out by itself.
const REPORT_FOR: Duration = Duration::from_secs(15);
/// How long one report may take.
const REPORT_TRY: Duration = Duration::from_secs(2);
/// Delays between tries to report.
const REPORT: Backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(1));

/// How many children, and how they are treated.
#[derive(Clone, Debug)]
pub struct SupervisorOptions {
    /// How many children.
    pub processes: usize,
    /// Where session files go: a directory of this supervisor's own.
    pub directory: PathBuf,
    /// Between SIGTERM and SIGKILL; longer than a child's own drain.
    pub grace: Duration,
    /// Once this is cancelled, after a stop, children are told again, which ends them at once.
    pub hurry: CancellationToken,
}

/// A child that is to be started.
#[derive(Clone, Debug)]
pub struct Place {
    /// Which child, from 0.
    pub index: usize,
    /// Its first session.
    pub session: SessionId,
    /// Where it writes its present session.
    pub session_file: PathBuf,
}

/// Keeps children running until told to stop, or until all of them ended well. `make_command` says
/// how to start one; `report` tells the server about a death and is tried again, for a while, if it fails.
pub async fn supervise<C, R, F>(
    options: SupervisorOptions,
    stop: CancellationToken,
    make_command: C,
    report: R,
) where
    C: Fn(&Place) -> Command + Send + Sync + 'static,
    R: Fn(SessionId) -> F + Send + Sync + 'static,
    F: Future<Output = Result<(), String>> + Send + 'static,
{
    let (make_command, report) = (Arc::new(make_command), Arc::new(report));
    let mut children = JoinSet::new();
    for index in 0..options.processes {
        let (options, stop) = (options.clone(), stop.clone());
        let (make_command, report) = (make_command.clone(), report.clone());
        children.spawn(async move { keep(index, &options, &stop, &*make_command, &report).await });
    }
    while children.join_next().await.is_some() {}
}

/// Reports deaths to the server at this address, or to the first that answers of several between commas.
pub fn report_to(
    url: String,
    credential: Credential,
) -> impl Fn(SessionId) -> futures::future::BoxFuture<'static, Result<(), String>> {
    move |session| {
        let (url, credential) = (url.clone(), credential.clone());
        Box::pin(async move {
            let mut last = Ok(());
            for address in addresses::parse(&url, &credential).map_err(|e| e.to_string())? {
                last = report_death(address.endpoint, credential.clone(), session).await;
                if last.is_ok() {
                    break;
                }
            }
            last
        })
    }
}

async fn report_death(endpoint: Endpoint, credential: Credential, session: SessionId) -> Result<(), String> {
    let channel = endpoint.connect().await.map_err(|e| e.to_string())?;
    let request = v1::ReportDeathRequest { session: session.uuid().into_bytes().to_vec() };
    let mut client = WorkerClient::with_interceptor(channel, credential);
    client.report_death(request).await.map_err(|s| s.message().to_owned())?;
    Ok(())
}

/// In a child: drains the worker when the supervisor is gone, which closes the child's stdin.
pub fn drain_when_orphaned(handle: WorkerHandle) {
    // A thread of its own: the runtime could not end while one of its threads reads stdin.
    std::thread::spawn(move || {
        let mut ignored = [0u8; 64];
        let mut stdin = std::io::stdin().lock();
        while let Ok(1..) = stdin.read(&mut ignored) {}
        tracing::warn!("the supervisor is gone: draining");
        handle.drain();
    });
}

async fn keep<R, F>(
    index: usize,
    options: &SupervisorOptions,
    stop: &CancellationToken,
    make_command: &(impl Fn(&Place) -> Command + ?Sized),
    report: &Arc<R>,
) where
    R: Fn(SessionId) -> F + Send + Sync + 'static,
    F: Future<Output = Result<(), String>> + Send + 'static,
{
    let mut delays = RESTART;
    let mut reports = JoinSet::new();
    while !stop.is_cancelled() {
        let place = Place {
            index,
            session: clock::fresh_session(),
            session_file: options.directory.join(format!("session-{index}")),
        };
        let began = clock::instant();
        match live(&place, options, stop, make_command(&place)).await {
            Ok(status) if status.success() => break,
            Ok(status) => {
                let session = present_session(&place);
                tracing::warn!(session.id = %session, "worker process {index} died: {status}");
                reports.spawn(tell(report.clone(), session));
            }
            Err(error) => tracing::error!("cannot run worker process {index}: {error}"),
        }
        // Reports that are over are forgotten; those under way are bounded in time.
        while reports.try_join_next().is_some() {}
        if clock::instant().saturating_duration_since(began) >= HEALTHY {
            delays.reset();
        }
        tokio::select! {
            () = tokio::time::sleep(delays.next()) => {}
            () = stop.cancelled() => {}
        }
    }
    while reports.join_next().await.is_some() {}
}

/// One life of a child, to its end.
async fn live(
    place: &Place,
    options: &SupervisorOptions,
    stop: &CancellationToken,
    mut command: Command,
) -> std::io::Result<ExitStatus> {
    // Before the child starts: it may die before it writes anything.
    tokio::fs::write(&place.session_file, place.session.to_string()).await?;
    let mut child = command.stdin(Stdio::piped()).kill_on_drop(true).spawn()?;
    // Waiting would close the child's stdin, which tells it that the supervisor is gone.
    let _leash = child.stdin.take();
    tokio::select! {
        status = child.wait() => status,
        () = stop.cancelled() => end(&mut child, options).await,
    }
}

async fn end(child: &mut Child, options: &SupervisorOptions) -> std::io::Result<ExitStatus> {
    terminate(child);
    tokio::select! {
        status = child.wait() => return status,
        () = tokio::time::sleep(options.grace) => {}
        () = options.hurry.cancelled() => {
            terminate(child);
            if let Ok(status) = tokio::time::timeout(HURRY, child.wait()).await {
                return status;
            }
        }
    }
    child.start_kill()?;
    child.wait().await
}

fn terminate(child: &Child) {
    let pid = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    if let Some(pid) = pid {
        // It may have ended in this moment; then the wait that follows returns at once.
        let _ = rustix::process::kill_process(pid, Signal::TERM);
    }
}

/// The session the child last wrote, or the one it was started with.
fn present_session(place: &Place) -> SessionId {
    read_session(&place.session_file).unwrap_or(place.session)
}

fn read_session(path: &Path) -> Option<SessionId> {
    std::fs::read_to_string(path).ok()?.trim().parse().ok()
}

async fn tell<R, F>(report: Arc<R>, session: SessionId)
where
    R: Fn(SessionId) -> F,
    F: Future<Output = Result<(), String>>,
{
    let mut delays = REPORT;
    let telling = async {
        loop {
            match tokio::time::timeout(REPORT_TRY, report(session)).await {
                Ok(Ok(())) => return,
                Ok(Err(reason)) => tracing::warn!("cannot report the death of {session}: {reason}"),
                Err(_) => tracing::warn!("cannot report the death of {session}: no answer"),
            }
            tokio::time::sleep(delays.next()).await;
        }
    };
    if tokio::time::timeout(REPORT_FOR, telling).await.is_err() {
        tracing::warn!("gave up reporting the death of {session}; its session runs out by itself");
    }
}
