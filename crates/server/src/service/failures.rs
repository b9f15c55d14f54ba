//! Groups of failures, and what can be done with the dead jobs of one.

use std::collections::HashMap;
use std::time::Duration;

use ganger_core::filter::Filter;
use ganger_core::fingerprint::trend::{Trend, Window};
use ganger_core::fingerprint::{FailureGroup, Fingerprint};
use ganger_core::name::Kind;
use ganger_core::timeline::{Span, Timeline};

use super::{Answer, NewTarget, Service, ServiceError};

/// Groups that were seen within this time are listed, unless told otherwise.
pub const FAILURES_WINDOW: Duration = Duration::from_secs(24 * 3600);

/// Said of a window in which nothing could be seen.
pub const NO_WINDOW: &str = "must be longer than zero, such as `1h`, `24h` or `7d`";

/// Groups of failures that were seen in a window.
#[derive(Clone, Debug, PartialEq)]
pub struct FailuresSeen {
    /// The window in whole steps; `None` if it is longer than failures are counted over time.
    pub window: Option<Window>,
    /// The groups, the last seen first, each with what happened in the window.
    pub groups: Vec<(FailureGroup, Option<Recent>)>,
}

/// What a group did in a window.
#[derive(Clone, Debug, PartialEq)]
pub struct Recent {
    /// Failures in each step, the oldest first.
    pub trend: Vec<u64>,
    /// What part of the attempts of its kind that is, of those that started in the window; `None` if that is not known.
    pub share: Option<f64>,
}

impl Recent {
    /// Failures in the window.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.trend.iter().sum()
    }
}

impl Service {
    /// Groups of failures that were seen in the last so long, of a kind or of all, the last seen first.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn failures(&self, window: Duration, kind: Option<Kind>, limit: usize) -> Answer<FailuresSeen> {
        let now = self.0.clock.now().wall;
        let (since, window) = (now - window, Window::of(window, now));
        let since = window.map_or(since, |window| window.from());
        let groups = self.0.store.failures(since, kind.as_ref(), limit).await?;
        let Some(window) = window.filter(|_| !groups.is_empty()) else {
            return Ok(FailuresSeen {
                window,
                groups: groups.into_iter().map(|group| (group, None)).collect(),
            });
        };
        let names: Vec<Fingerprint> = groups.iter().map(|group| group.fingerprint).collect();
        let trends = self.0.store.failure_trends(&names, window).await?;
        let mut trends: HashMap<Fingerprint, Trend> =
            trends.into_iter().map(|trend| (trend.fingerprint, trend)).collect();
        let mut span = Span::sum_by_kind(window.from(), now);
        span.kind = kind;
        let runs = self.0.store.timeline(&span).await?;
        let recent = |group: FailureGroup| {
            let trend =
                trends.remove(&group.fingerprint).map_or_else(|| window.nothing(), |trend| trend.counts);
            let share = share(trend.iter().sum(), &group.kind, &runs);
            (group, Some(Recent { trend, share }))
        };
        Ok(FailuresSeen { window: Some(window), groups: groups.into_iter().map(recent).collect() })
    }

    /// One group of failures.
    ///
    /// # Errors
    /// There is no such group, or the store cannot be read.
    pub async fn failure(&self, fingerprint: Fingerprint) -> Answer<FailureGroup> {
        let found = self.0.store.failure(fingerprint).await?;
        found.ok_or(ServiceError::NoSuchFailure(fingerprint))
    }

    /// The dead jobs whose last attempt failed as those of a group.
    ///
    /// # Errors
    /// There is no such group, or the store cannot be read.
    pub async fn dead_of_failure(&self, fingerprint: Fingerprint) -> Answer<NewTarget> {
        let group = self.failure(fingerprint).await?;
        let text = format!("state:dead kind:\"{}\" failure:{fingerprint}", group.kind);
        let filter =
            Filter::parse(&text).map_err(|error| ServiceError::Filter("fingerprint", Box::new(error)))?;
        Ok(NewTarget::Filter(text, filter))
    }
}

/// What part of the attempts of a kind failed so. An attempt may have started before the window and failed in it.
fn share(failures: u64, kind: &Kind, runs: &Timeline) -> Option<f64> {
    let started = runs.lines.get(kind.as_str())?.get(&0)?.started;
    #[expect(clippy::cast_precision_loss, reason = "a share is shown with three digits")]
    let share = failures as f64 / started as f64;
    (runs.complete && started > 0).then_some(share.min(1.0))
}
