//! What can be set for a queue.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Which of the workers that fit gets the next job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// The one whose last assignment is oldest.
    #[default]
    LeastRecentlyUsed,
    /// The next in order of arrival, in turn.
    RoundRobin,
    /// The one with the fewest free threads that still fit: packs.
    BestFit,
    /// The one with the most free threads.
    Spread,
}

impl Policy {
    /// Every policy.
    pub const ALL: [Policy; 4] =
        [Policy::LeastRecentlyUsed, Policy::RoundRobin, Policy::BestFit, Policy::Spread];

    /// The word for it, everywhere.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Policy::LeastRecentlyUsed => "least_recently_used",
            Policy::RoundRobin => "round_robin",
            Policy::BestFit => "best_fit",
            Policy::Spread => "spread",
        }
    }
}

/// How long final jobs are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Keep {
    /// No history at all.
    None,
    /// This long after they finished.
    For(Duration),
    /// Until a person removes them.
    Forever,
}

/// What happens to the jobs of a queue after they end. Dead ones are kept apart, and longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retention {
    /// Succeeded and cancelled jobs.
    pub finished: Keep,
    /// Dead jobs. [`Keep::None`] is not allowed here: a dead job is never dropped unseen.
    pub dead: Keep,
}

impl Retention {
    /// Whether succeeded and cancelled jobs are kept at all.
    #[must_use]
    pub fn keeps_finished(&self) -> bool {
        self.finished != Keep::None
    }
}

impl Default for Retention {
    fn default() -> Retention {
        Retention {
            finished: Keep::For(Duration::from_secs(7 * 86_400)),
            dead: Keep::For(Duration::from_secs(90 * 86_400)),
        }
    }
}

/// The settings of one queue. A queue that was never set has the default ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct QueueSettings {
    /// Nothing of it starts; submissions are accepted.
    pub paused: bool,
    /// Submissions are refused; what is there runs.
    pub draining: bool,
    /// Which worker gets the next job.
    pub policy: Policy,
    /// How long final jobs are kept.
    pub retention: Retention,
}
