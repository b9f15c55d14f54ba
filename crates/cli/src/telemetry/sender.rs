//! The way of spans to the collector: a bounded queue, batches, and patience.
//!
//! # What can go wrong
//! - *The collector is away or slow.* A batch is tried again for a while, with growing pauses; meanwhile the queue fills,
//!   and what does not fit is dropped and counted. One line says that it is away and why, one that it is back and how many
//!   spans were lost.
//! - *It refuses a batch for good.* After some tries the batch is dropped, so that it does not stand in the way.
//! - *The process stops.* What is in the queue is sent once; the caller bounds how long that may take.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use opentelemetry::Context;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{Span, SpanData, SpanExporter, SpanProcessor};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use crate::config::OtlpBounds;

/// Tries of one batch.
const TRIES: u32 = 6;
/// The pause after the first failure; doubles after each further one.
const PAUSE: Duration = Duration::from_millis(500);
/// The longest pause.
const PAUSE_MAX: Duration = Duration::from_secs(10);

/// Where spans end.
#[derive(Debug)]
pub(super) struct Ended {
    queue: mpsc::Sender<SpanData>,
    lost: Arc<AtomicU64>,
}

/// A queue for so many spans, and how many were lost.
pub(super) fn queue(bound: usize) -> (Ended, mpsc::Receiver<SpanData>, Arc<AtomicU64>) {
    let (queue, waiting) = mpsc::channel(bound);
    let lost = Arc::new(AtomicU64::new(0));
    (Ended { queue, lost: lost.clone() }, waiting, lost)
}

impl SpanProcessor for Ended {
    fn on_start(&self, _: &mut Span, _: &Context) {}

    fn on_end(&self, span: SpanData) {
        if span.span_context.is_sampled() && self.queue.try_send(span).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn force_flush(&self) -> OTelSdkResult {
        Ok(())
    }

    fn shutdown_with_timeout(&self, _: Duration) -> OTelSdkResult {
        Ok(())
    }

    fn set_resource(&mut self, _: &Resource) {}
}

/// Sends what is in the queue.
pub(super) struct Sender<E> {
    pub(super) exporter: E,
    pub(super) waiting: mpsc::Receiver<SpanData>,
    pub(super) counts: Arc<AtomicU64>,
    pub(super) url: String,
    pub(super) bounds: OtlpBounds,
}

/// How the collector is.
enum Standing {
    Well,
    /// It was said that it is not.
    Away,
}

impl<E: SpanExporter> Sender<E> {
    /// Sends until it is told to stop and the queue is empty.
    pub(super) async fn run(mut self, stop: CancellationToken) {
        let mut standing = Standing::Well;
        loop {
            let mut batch = Vec::new();
            tokio::select! {
                _ = self.waiting.recv_many(&mut batch, self.bounds.batch) => {}
                () = stop.cancelled() => break,
            }
            if batch.is_empty() {
                return;
            }
            // For company.
            if batch.len() < self.bounds.batch {
                let _ = tokio::time::timeout(self.bounds.delay, stop.cancelled()).await;
            }
            while let Some(span) = self.more(batch.len()) {
                batch.push(span);
            }
            self.send(batch, &mut standing, &stop).await;
        }
        self.waiting.close();
        let mut batch = Vec::new();
        while self.waiting.recv_many(&mut batch, self.bounds.batch).await > 0 {
            let spans = batch.len() as u64;
            if self.once(std::mem::take(&mut batch)).await.is_err() {
                self.counts.fetch_add(spans + self.waiting.len() as u64, Ordering::Relaxed);
                break;
            }
        }
        let lost = self.counts.load(Ordering::Relaxed);
        if lost > 0 {
            warn!(spans.lost = lost, "{lost} spans never reached {}", self.url);
        }
    }

    fn more(&mut self, has: usize) -> Option<SpanData> {
        (has < self.bounds.batch).then(|| self.waiting.try_recv().ok()).flatten()
    }

    async fn send(&mut self, batch: Vec<SpanData>, standing: &mut Standing, stop: &CancellationToken) {
        let mut pause = PAUSE;
        for _ in 0..TRIES {
            match self.once(batch.clone()).await {
                Ok(()) => {
                    self.went_well(standing);
                    return;
                }
                Err(why) => self.went_wrong(standing, &why),
            }
            if tokio::time::timeout(pause, stop.cancelled()).await.is_ok() {
                break;
            }
            pause = (pause * 2).min(PAUSE_MAX);
        }
        self.counts.fetch_add(batch.len() as u64, Ordering::Relaxed);
    }

    async fn once(&self, batch: Vec<SpanData>) -> Result<(), String> {
        match tokio::time::timeout(self.bounds.timeout, self.exporter.export(batch)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err("it did not answer in time".to_owned()),
        }
    }

    fn went_well(&self, standing: &mut Standing) {
        let lost = self.counts.swap(0, Ordering::Relaxed);
        match (std::mem::replace(standing, Standing::Well), lost) {
            (Standing::Away, lost) => {
                info!(spans.lost = lost, "spans reach {} again; {lost} were lost meanwhile", self.url);
            }
            (Standing::Well, 0) => {}
            (Standing::Well, lost) => {
                warn!(spans.lost = lost, "{lost} spans were lost: more end than {} takes", self.url);
            }
        }
    }

    fn went_wrong(&self, standing: &mut Standing, why: &str) {
        if let Standing::Well = std::mem::replace(standing, Standing::Away) {
            warn!(
                "cannot send spans to {}: {why}; work goes on without them, and it is tried again",
                self.url
            );
        }
    }
}

impl<E> fmt::Debug for Sender<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").field("url", &self.url).finish_non_exhaustive()
    }
}
