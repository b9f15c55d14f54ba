//! How things are, and what happened over time.

use ganger_core::coordinator::view::Stats;
use ganger_core::timeline::{Span, Timeline};
use ganger_core::verdict::Verdict;

use super::{Answer, Service};

impl Service {
    /// The whole in numbers, and how things are.
    ///
    /// # Errors
    /// There is no leader.
    pub async fn stats_and_verdict(&self) -> Answer<(Stats, Verdict)> {
        self.look(|c, now| (c.stats(), c.verdict(now))).await
    }

    /// What happened over time. Any server can tell, whoever leads.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn timeline(&self, span: Span) -> Answer<Timeline> {
        Ok(self.0.store.timeline(&span).await?)
    }
}
