//! What failed lately in each queue, for the verdict.
//!
//! The leader counts what is, the store what was. It is read at most every few seconds, however often somebody looks, and a store
//! that does not answer in time keeps nobody from the rest of the verdict.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use ganger_core::fingerprint::Fingerprint;
use ganger_core::fingerprint::trend::Window;
use ganger_core::name::QueueName;
use ganger_core::timeline::Span;
use ganger_core::verdict::failing::{BEFORE, RECENT};
use ganger_core::verdict::{Cause, Ended, Failing};
use ganger_core::{JobId, Mono};
use tokio::sync::Mutex;

use super::{Answer, Service};

/// It is read again after this.
const FRESH: Duration = Duration::from_secs(5);
/// A store that takes longer is not waited for.
const WITHIN: Duration = Duration::from_secs(1);
/// Groups of failures among which the causes are looked for.
const GROUPS: usize = 50;

/// What was read last, and when.
#[derive(Default)]
pub struct FailingLately(Mutex<Option<(Mono, Arc<[Failing]>)>>);

impl Service {
    /// Queues in which attempts failed lately.
    pub(super) async fn failing_lately(&self) -> Arc<[Failing]> {
        let mut kept = self.0.failing.0.lock().await;
        let now = self.0.clock.now().mono;
        if let Some((at, failing)) = &*kept
            && now.since(*at) < FRESH
        {
            return failing.clone();
        }
        let read = tokio::time::timeout(WITHIN, self.read_failing()).await;
        let failing = match read {
            Ok(Ok(failing)) => failing.into(),
            Ok(Err(_)) | Err(_) => kept.take().map(|(_, failing)| failing).unwrap_or_default(),
        };
        *kept = Some((now, Arc::clone(&failing)));
        failing
    }

    async fn read_failing(&self) -> Answer<Vec<Failing>> {
        let now = self.0.clock.now().wall;
        let minutes = u16::try_from(BEFORE + RECENT).unwrap_or(u16::MAX);
        let span = Span::minutes_by_queue(minutes, now);
        let timeline = self.0.store.timeline(&span).await?;
        let mut failing: Vec<Failing> = Vec::new();
        for (name, points) in &timeline.lines {
            let Ok(queue) = name.parse() else { continue };
            let mut minutes = vec![Ended::default(); span.points()];
            for (at, counts) in points {
                if let Some(minute) = minutes.get_mut(*at) {
                    *minute = Ended::from(counts);
                }
            }
            if minutes.iter().any(|minute| minute.failed > 0 || minute.dead > 0) {
                failing.push(Failing { queue, first: span.first(), minutes, cause: None });
            }
        }
        if !failing.is_empty() {
            let mut causes = self.causes(now - span.step() * u32::from(minutes)).await?;
            for queue in &mut failing {
                queue.cause = causes.remove(&queue.queue);
            }
        }
        Ok(failing)
    }

    /// Why most attempts failed since then, by the queue in which they last did.
    async fn causes(&self, since: ganger_core::Wall) -> Answer<HashMap<QueueName, Cause>> {
        let now = self.0.clock.now().wall;
        let groups = self.0.store.failures(since, None, GROUPS).await?;
        let names: Vec<Fingerprint> = groups.iter().map(|group| group.fingerprint).collect();
        let trends = match Window::of(now.since(since), now) {
            Some(window) if !names.is_empty() => self.0.store.failure_trends(&names, window).await?,
            Some(_) | None => Vec::new(),
        };
        let counts: HashMap<Fingerprint, u64> =
            trends.into_iter().map(|trend| (trend.fingerprint, trend.counts.iter().sum())).collect();
        let ids: Vec<JobId> = groups.iter().map(|group| group.job).collect();
        let jobs = self.0.store.jobs(&ids, now).await?;
        let queues: HashMap<JobId, QueueName> =
            jobs.into_iter().map(|job| (job.id, job.spec.queue)).collect();
        let mut causes: HashMap<QueueName, (u64, Cause)> = HashMap::new();
        for group in groups {
            let Some(queue) = queues.get(&group.job) else { continue };
            let count = counts.get(&group.fingerprint).copied().unwrap_or(0);
            if causes.get(queue).is_none_or(|(most, _)| count > *most) {
                let cause = Cause { error: group.error, first_at: group.first_at };
                causes.insert(queue.clone(), (count, cause));
            }
        }
        Ok(causes.into_iter().map(|(queue, (_, cause))| (queue, cause)).collect())
    }
}
