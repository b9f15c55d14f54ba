//! How things are, and what happened over time.

use std::time::Duration;

use ganger_core::Wall;
use ganger_core::coordinator::gauges::Gauges;
use ganger_core::coordinator::view::Stats;
use ganger_core::disk::Disk;
use ganger_core::job::SpecError;
use ganger_core::timeline::{SHORTEST_STEP, Span, SpanError, Timeline};
use ganger_core::verdict::Verdict;

use super::{Answer, Service};

/// How much is shown when nobody says how much.
const SHOWN: Duration = Duration::from_secs(3600);

/// A disk that hangs must not keep anybody from being told the rest.
const DISK_WITHIN: Duration = Duration::from_secs(1);

impl Service {
    /// The span from one moment to another: the last hour, in minutes, unless told otherwise.
    ///
    /// # Errors
    /// There is no such span; the field names what is to blame.
    pub fn span(
        &self,
        from: Option<Wall>,
        to: Option<Wall>,
        step: Option<Duration>,
    ) -> Result<Span, SpecError> {
        let to = to.unwrap_or(self.0.clock.now().wall);
        let from = from.unwrap_or(to - SHOWN);
        Span::new(from, to, step.unwrap_or(SHORTEST_STEP)).map_err(|error| {
            let field = match error {
                SpanError::Backwards => "from",
                SpanError::Step | SpanError::TooMany(_) => "step",
            };
            SpecError::new(field, error.to_string())
        })
    }

    /// The whole in numbers, and how things are.
    ///
    /// # Errors
    /// There is no leader.
    pub async fn stats_and_verdict(&self) -> Answer<(Stats, Verdict)> {
        let (stats, mut facts) = self.look(|c, now| (c.stats(), c.facts(now))).await?;
        facts.failing = self.failing_lately().await;
        Ok((stats, Verdict::of(&facts)))
    }

    /// Everything that a scrape shows of the cluster, at one moment.
    ///
    /// # Errors
    /// This server does not lead.
    pub async fn gauges(&self) -> Answer<Gauges> {
        let (mut gauges, mut facts) = self.look(|c, now| (c.gauges(now), c.facts(now))).await?;
        facts.failing = self.failing_lately().await;
        gauges.verdict = Verdict::of(&facts);
        Ok(gauges)
    }

    /// The disk that the store is on, where that is one of this machine and answers in time.
    pub async fn disk(&self) -> Option<Disk> {
        tokio::time::timeout(DISK_WITHIN, self.0.store.disk()).await.ok()?.ok()?
    }

    /// What happened over time. Any server can tell, whoever leads.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn timeline(&self, span: Span) -> Answer<Timeline> {
        Ok(self.0.store.timeline(&span).await?)
    }
}
