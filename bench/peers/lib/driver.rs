//! What every driver in Rust shares: the settings, the payload, the tally of what was handled, and the lines that are printed.
//! The contract is in bench/README.md.

use std::future::Future;
use std::io::Write;
use std::pin::Pin;
use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::task::JoinSet;

/// Pings before the ones that count: connections and prepared statements are warm then.
const WARM_UP: usize = 10;
/// Without any progress for this long something is wrong.
const STUCK: Duration = Duration::from_secs(60);
/// The last of the wait for a tick, for which the driver does not sleep. Timers are rounded to milliseconds twice.
const AWAKE: Duration = Duration::from_millis(3);
/// Between two looks.
const LOOK: Duration = Duration::from_millis(2);

/// Is called with the number of each job that is handled.
pub type Handle = Arc<dyn Fn(usize) + Send + Sync>;
/// Stops a worker.
pub type Stop = Pin<Box<dyn Future<Output = anyhow::Result<()>> + Send>>;

/// The input of a job: an object of exactly the asked size as JSON, with the number of its job in it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Payload {
    pub n: usize,
    pub p: String,
}

/// What a worker is started for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aim {
    Drain,
    Ping,
}

/// One peer on one store. Clients are numbered from 0.
pub trait Peer: Send + Sync + 'static {
    /// Makes the schema.
    fn prepare(&self) -> impl Future<Output = anyhow::Result<()>> + Send;
    /// Enqueues these in one request.
    fn send_many(&self, client: usize, payloads: Vec<Payload>) -> impl Future<Output = anyhow::Result<()>> + Send;
    /// Enqueues one.
    fn send(&self, client: usize, payload: Payload) -> impl Future<Output = anyhow::Result<()>> + Send;
    /// Counts the jobs of the store that have not ended.
    fn left(&self) -> impl Future<Output = anyhow::Result<usize>> + Send;
    /// Starts a worker.
    fn worker(&self, aim: Aim, handle: Handle) -> impl Future<Output = anyhow::Result<Stop>> + Send;
}

/// What the environment asks for.
#[derive(Clone, Debug)]
pub struct Settings {
    pub store: String,
    pub jobs: usize,
    pub payload_bytes: usize,
    pub concurrency: usize,
    pub batch: usize,
    pub batch_clients: usize,
    pub clients: usize,
    pub pings: usize,
    pub interval: Duration,
}

/// The settings, read once.
pub fn settings() -> &'static Settings {
    static READ: OnceLock<Settings> = OnceLock::new();
    READ.get_or_init(|| Settings {
        store: std::env::var("BENCH_STORE").unwrap_or_default(),
        jobs: number("BENCH_JOBS", 10_000),
        payload_bytes: number("BENCH_PAYLOAD_BYTES", 100),
        concurrency: number("BENCH_CONCURRENCY", 8),
        batch: number("BENCH_BATCH", 1_000),
        batch_clients: number("BENCH_BATCH_CLIENTS", 4),
        clients: number("BENCH_CLIENTS", 8),
        pings: number("BENCH_PINGS", 100),
        interval: Duration::from_millis(number("BENCH_INTERVAL_MS", 100) as u64),
    })
}

/// How many clients the present action needs.
pub fn clients() -> usize {
    match action().as_str() {
        "batch" | "load" => settings().batch_clients,
        "single" => settings().clients,
        _ => 1,
    }
}

/// The input of the job of this number.
pub fn payload(n: usize) -> Payload {
    let bare = format!("{{\"n\":{n},\"p\":\"\"}}").len();
    Payload { n, p: "x".repeat(settings().payload_bytes.saturating_sub(bare)) }
}

/// Runs the action that the command line names: as a task of the runtime, like the clients of any program. What waits outside of it is
/// woken by another thread each time.
pub async fn drive(peer: impl Peer) -> anyhow::Result<()> {
    let mut result = tokio::spawn(act(Arc::new(peer))).await??;
    result["action"] = json!(action());
    say(&result);
    // A runtime that is left may wait for threads that nobody needs.
    std::process::exit(0);
}

async fn act(peer: Arc<impl Peer>) -> anyhow::Result<Value> {
    match action().as_str() {
        "prepare" => {
            peer.prepare().await?;
            Ok(json!({}))
        }
        "load" => {
            in_batches(&peer).await?;
            enqueued(&*peer, Duration::ZERO).await
        }
        "work" => work(&*peer).await,
        "batch" => {
            let took = timed(in_batches(&peer)).await?;
            enqueued(&*peer, took).await
        }
        "single" => {
            let took = timed(one_by_one(&peer)).await?;
            enqueued(&*peer, took).await
        }
        "ping" => ping(&*peer).await,
        _ => bail!("usage: driver prepare|load|work|batch|single|ping, settings in BENCH_… (see bench/README.md)"),
    }
}

fn action() -> String {
    std::env::args().nth(1).unwrap_or_default()
}

fn number(name: &str, fallback: usize) -> usize {
    let Ok(text) = std::env::var(name) else { return fallback };
    let number = text.parse().ok().filter(|number| *number > 0);
    number.unwrap_or_else(|| panic!("{name} must be a whole number of at least 1"))
}

fn say(line: &Value) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush()).expect("somebody listens");
}

fn mark(name: &str) {
    say(&json!({ "mark": name }));
}

async fn timed(sending: impl Future<Output = anyhow::Result<()>>) -> anyhow::Result<Duration> {
    mark("begin");
    let began = Instant::now();
    sending.await?;
    let took = began.elapsed();
    mark("end");
    Ok(took)
}

/// Sends every job in batches, from several clients.
async fn in_batches(peer: &Arc<impl Peer>) -> anyhow::Result<()> {
    let settings = settings();
    let client = |peer: Arc<_>, nth: usize, next: Arc<AtomicUsize>| async move {
        loop {
            let first = next.fetch_add(settings.batch, Ordering::Relaxed);
            if first >= settings.jobs {
                return Ok(());
            }
            let some = first..(first + settings.batch).min(settings.jobs);
            Peer::send_many(&*peer, nth, some.map(payload).collect()).await?;
        }
    };
    each_client(peer, settings.batch_clients, client).await
}

/// Each client waits for its answer before it sends the next.
async fn one_by_one(peer: &Arc<impl Peer>) -> anyhow::Result<()> {
    let settings = settings();
    let client = |peer: Arc<_>, nth: usize, next: Arc<AtomicUsize>| async move {
        loop {
            let n = next.fetch_add(1, Ordering::Relaxed);
            if n >= settings.jobs {
                return Ok(());
            }
            Peer::send(&*peer, nth, payload(n)).await?;
        }
    };
    each_client(peer, settings.clients, client).await
}

/// Runs the clients beside each other, each as a task, and tells the first failure. They share the number of the next job.
async fn each_client<P: Peer, F>(
    peer: &Arc<P>,
    clients: usize,
    client: impl Fn(Arc<P>, usize, Arc<AtomicUsize>) -> F,
) -> anyhow::Result<()>
where
    F: Future<Output = anyhow::Result<()>> + Send + 'static,
{
    let next = Arc::new(AtomicUsize::new(0));
    let mut running: JoinSet<_> = (0..clients).map(|nth| client(Arc::clone(peer), nth, Arc::clone(&next))).collect();
    while let Some(ended) = running.join_next().await {
        ended??;
    }
    Ok(())
}

async fn enqueued(peer: &impl Peer, took: Duration) -> anyhow::Result<Value> {
    let (jobs, since) = (settings().jobs, Instant::now());
    // What was answered by a buffer gets there a little later.
    loop {
        let found = peer.left().await?;
        if found == jobs {
            break;
        }
        ensure!(found < jobs && since.elapsed() < STUCK, "{found} of {jobs} jobs are in the store");
        tokio::time::sleep(LOOK).await;
    }
    Ok(json!({ "jobs": jobs, "seconds": took.as_secs_f64(), "verified": "counted" }))
}

/// Starts a worker and waits until no job is left in the store: a handler that returned is not enough.
async fn work(peer: &impl Peer) -> anyhow::Result<Value> {
    struct Tally {
        seen: Vec<AtomicU8>,
        handled: AtomicUsize,
        began: OnceLock<Instant>,
    }
    let jobs = settings().jobs;
    let tally = Arc::new(Tally {
        seen: (0..jobs).map(|_| AtomicU8::new(0)).collect(),
        handled: AtomicUsize::new(0),
        began: OnceLock::new(),
    });
    let counting = Arc::clone(&tally);
    let handle: Handle = Arc::new(move |n| {
        counting.began.get_or_init(|| {
            mark("begin");
            Instant::now()
        });
        counting.seen[n].fetch_add(1, Ordering::Relaxed);
        counting.handled.fetch_add(1, Ordering::Relaxed);
    });
    let stop = peer.worker(Aim::Drain, handle).await?;
    until(&tally.handled, jobs).await.context("handling")?;
    let since = Instant::now();
    while peer.left().await? > 0 {
        ensure!(since.elapsed() < STUCK, "jobs are left in the store");
        tokio::time::sleep(LOOK).await;
    }
    let took = tally.began.get().context("nothing was handled")?.elapsed();
    mark("end");
    stop.await?;
    for (n, times) in tally.seen.iter().enumerate() {
        let times = times.load(Ordering::Relaxed);
        ensure!(times == 1, "job {n} was handled {times} times");
    }
    Ok(json!({ "jobs": jobs, "seconds": took.as_secs_f64(), "verified": "each_once" }))
}

async fn until(count: &AtomicUsize, enough: usize) -> anyhow::Result<()> {
    let (mut last, mut since) = (0, Instant::now());
    loop {
        let now = count.load(Ordering::Relaxed);
        if now >= enough {
            return Ok(());
        }
        if now != last {
            (last, since) = (now, Instant::now());
        }
        ensure!(since.elapsed() < STUCK, "stuck at {now} of {enough}");
        tokio::time::sleep(LOOK).await;
    }
}

/// Waits for a moment, and the last of it awake, as every driver does: a timer of tokio is up to two milliseconds late, which is
/// no part of what is measured.
async fn at(moment: Instant) {
    if let Some(before) = moment.checked_sub(AWAKE) {
        tokio::time::sleep_until(before.into()).await;
    }
    while Instant::now() < moment {
        std::hint::spin_loop();
    }
}

/// One job at each tick of a fixed schedule; its start is taken against the tick, not against the moment it was sent.
async fn ping(peer: &impl Peer) -> anyhow::Result<Value> {
    let (settings, total) = (settings(), WARM_UP + settings().pings);
    let zero = Instant::now();
    let started: Arc<Vec<AtomicU64>> = Arc::new((0..total).map(|_| AtomicU64::new(0)).collect());
    let handled = Arc::new(AtomicUsize::new(0));
    let (starts, count) = (Arc::clone(&started), Arc::clone(&handled));
    let handle: Handle = Arc::new(move |n| {
        starts[n].store(zero.elapsed().as_micros() as u64, Ordering::Relaxed);
        count.fetch_add(1, Ordering::Relaxed);
    });
    let stop = peer.worker(Aim::Ping, handle).await?;
    tokio::time::sleep(Duration::from_millis(500)).await;
    let first = zero.elapsed() + settings.interval;
    let due = |n: usize| first + settings.interval * n as u32;
    for n in 0..total {
        at(zero + due(n)).await;
        if n == WARM_UP {
            mark("begin");
        }
        peer.send(0, payload(n)).await?;
    }
    until(&handled, total).await.context("starting")?;
    mark("end");
    stop.await?;
    let starts: Vec<u64> = (WARM_UP..total)
        .map(|n| started[n].load(Ordering::Relaxed).saturating_sub(due(n).as_micros() as u64))
        .collect();
    let seconds = (settings.interval * settings.pings as u32).as_secs_f64();
    Ok(json!({ "jobs": settings.pings, "seconds": seconds, "starts_us": starts }))
}
