//! What can be set for a queue.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::job::{SpecError, not_longer, within};
use crate::limits;

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

impl Retention {
    fn check(&self) -> Result<(), SpecError> {
        self.finished.check("retention.finished")?;
        if self.dead == Keep::None {
            let problem = "cannot be `none`: a dead job is never dropped unseen";
            return Err(SpecError::new("retention.dead", problem));
        }
        self.dead.check("retention.dead")
    }
}

impl Keep {
    fn check(self, field: &'static str) -> Result<(), SpecError> {
        let days = limits::KEPT.as_secs() / 86_400;
        match self {
            Keep::For(time) if time.is_zero() => {
                Err(SpecError::new(field, "must be longer than 0; \"none\" keeps nothing"))
            }
            Keep::For(time) if time > limits::KEPT => {
                Err(SpecError::new(field, format!("is longer than {days} days; \"forever\" has no end")))
            }
            Keep::For(_) | Keep::None | Keep::Forever => Ok(()),
        }
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    /// What all its jobs together may do.
    pub limits: Limits,
    /// What the jobs of each of its `concurrency_key`s together may do.
    pub keys: Limits,
    /// How long a submission waits for room if there is none; zero refuses it at once.
    pub block: Duration,
    /// How waiting makes up for priority.
    pub ageing: Option<Ageing>,
    /// Its share of the starts among the queues of the same precedence that a worker serves.
    pub weight: u16,
    /// A worker starts jobs of queues with a larger precedence first.
    pub precedence: i8,
}

impl Default for QueueSettings {
    fn default() -> QueueSettings {
        QueueSettings {
            paused: false,
            draining: false,
            policy: Policy::default(),
            retention: Retention::default(),
            limits: Limits::default(),
            keys: Limits::default(),
            block: Duration::ZERO,
            ageing: None,
            weight: 1,
            precedence: 0,
        }
    }
}

/// What jobs together may do. What is not set is not limited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// Leases at a time, from the moment at which they are given to their end.
    pub max_running: Option<u32>,
    /// Leases over time.
    pub rate: Option<Rate>,
    /// Jobs that wait, for whatever reason. Submissions beyond are refused, or held.
    pub max_depth: Option<u32>,
}

/// So many per period, and so many at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rate {
    /// So many
    pub n: u32,
    /// in so long.
    pub per: Duration,
    /// So many at once after a pause.
    pub burst: u32,
}

impl Rate {
    /// A rate whose burst is not given: a tenth of its period's worth.
    #[must_use]
    pub fn new(n: u32, per: Duration) -> Rate {
        Rate { n, per, burst: (n / 10).max(1) }
    }
}

/// How waiting makes up for priority: a job gains one for each so long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ageing {
    /// One priority for each so long.
    pub every: Duration,
    /// It gains at most so much.
    pub at_most: u8,
}

impl Ageing {
    /// What a priority is worth after a wait.
    #[must_use]
    pub fn aged(&self, priority: i8, waited: Duration) -> i8 {
        let steps = waited.as_micros() / self.every.as_micros().max(1);
        let gain = u8::try_from(steps).unwrap_or(u8::MAX).min(self.at_most);
        priority.saturating_add_unsigned(gain)
    }
}

impl QueueSettings {
    /// Checks every bound; the error names the field and the limit.
    ///
    /// # Errors
    /// The first field that is out of bounds.
    pub fn check(&self) -> Result<(), SpecError> {
        self.retention.check()?;
        within("weight", self.weight.into(), 1, limits::QUEUE_WEIGHT.into())?;
        self.limits.check(["limits.max_running", "limits.rate", "limits.burst", "limits.max_depth"])?;
        self.keys.check([
            "key_limits.max_running",
            "key_limits.rate",
            "key_limits.burst",
            "key_limits.max_depth",
        ])?;
        if self.block > limits::HELD_FOR {
            let most = limits::HELD_FOR.as_secs();
            return Err(SpecError::new("block", format!("is longer than {most} seconds")));
        }
        if let Some(ageing) = &self.ageing {
            not_longer("ageing.every", ageing.every)?;
            if ageing.every < limits::AGEING {
                let least = limits::AGEING.as_millis();
                return Err(SpecError::new("ageing.every", format!("is shorter than {least} ms")));
            }
            within("ageing.at_most", ageing.at_most.into(), 1, u8::MAX.into())?;
        }
        Ok(())
    }
}

impl Limits {
    fn check(&self, [running, rate, burst, depth]: [&'static str; 4]) -> Result<(), SpecError> {
        if let Some(max) = self.max_running {
            within(running, max.into(), 1, limits::MAX_RUNNING.into())?;
        }
        if let Some(set) = &self.rate {
            within(rate, set.n.into(), 1, limits::RATE.into())?;
            within(burst, set.burst.into(), 1, limits::RATE.into())?;
            not_longer(rate, set.per)?;
            if set.per < limits::RATE_PERIOD {
                return Err(SpecError::new(rate, "has a period shorter than 1 ms"));
            }
        }
        match self.max_depth {
            Some(max) => within(depth, max.into(), 1, limits::MAX_DEPTH.into()),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(change: impl FnOnce(&mut QueueSettings)) -> String {
        let mut settings = QueueSettings::default();
        change(&mut settings);
        settings.check().unwrap_err().to_string()
    }

    #[test]
    fn every_bound_of_a_queue_holds_at_the_bound_and_refuses_one_past_it() {
        let rate = Rate { n: limits::RATE, per: limits::LONGEST, burst: limits::RATE };
        let most = Limits {
            max_running: Some(limits::MAX_RUNNING),
            rate: Some(rate),
            max_depth: Some(limits::MAX_DEPTH),
        };
        let ageing = Some(Ageing { every: limits::AGEING, at_most: 255 });
        let block = limits::HELD_FOR;
        let weight = limits::QUEUE_WEIGHT;
        let settings =
            QueueSettings { limits: most, keys: most, block, ageing, weight, ..QueueSettings::default() };
        assert_eq!(settings.check(), Ok(()));
        assert!(refused(|s| s.weight = limits::QUEUE_WEIGHT + 1).contains("allowed are 1 to 1000"));
        assert!(refused(|s| s.weight = 0).contains("`weight` is 0, allowed are 1 to 1000"));

        let past = |at: u32| format!("is {}, allowed are 1 to {at}", at + 1);
        let running = refused(|s| s.limits.max_running = Some(limits::MAX_RUNNING + 1));
        assert_eq!(running, format!("`limits.max_running` {}", past(limits::MAX_RUNNING)));
        let depth = refused(|s| s.keys.max_depth = Some(limits::MAX_DEPTH + 1));
        assert_eq!(depth, format!("`key_limits.max_depth` {}", past(limits::MAX_DEPTH)));
        let fast = Rate { n: limits::RATE + 1, ..rate };
        assert_eq!(refused(|s| s.limits.rate = Some(fast)), format!("`limits.rate` {}", past(limits::RATE)));
        let burst = Rate { burst: limits::RATE + 1, ..rate };
        let burst = refused(|s| s.keys.rate = Some(burst));
        assert_eq!(burst, format!("`key_limits.burst` {}", past(limits::RATE)));
        let short = Rate { per: limits::RATE_PERIOD - Duration::from_micros(1), ..rate };
        assert!(refused(|s| s.limits.rate = Some(short)).contains("shorter than 1 ms"));
        assert!(refused(|s| s.limits.max_running = Some(0)).contains("is 0, allowed are 1"));
        assert!(refused(|s| s.block = limits::HELD_FOR + Duration::from_micros(1)).contains("30 seconds"));
        let kept = |time| Retention { finished: Keep::For(time), dead: Keep::For(time) };
        let longest = QueueSettings { retention: kept(limits::KEPT), ..QueueSettings::default() };
        assert_eq!(longest.check(), Ok(()));
        assert!(
            refused(|s| s.retention = kept(limits::KEPT + Duration::from_micros(1))).contains("3660 days")
        );
        assert!(refused(|s| s.retention = kept(Duration::ZERO)).starts_with("`retention.finished` must"));
        assert!(refused(|s| s.retention.dead = Keep::None).starts_with("`retention.dead` cannot"));
        let quick = Ageing { every: limits::AGEING - Duration::from_micros(1), at_most: 1 };
        assert!(refused(|s| s.ageing = Some(quick)).contains("shorter than 100 ms"));
    }

    #[test]
    fn waiting_is_worth_priority_up_to_its_bound_and_never_beyond_the_best() {
        let ageing = Ageing { every: Duration::from_secs(10), at_most: 3 };
        let after = |priority, seconds| ageing.aged(priority, Duration::from_secs(seconds));
        assert_eq!([after(-5, 0), after(-5, 9), after(-5, 10), after(-5, 29)], [-5, -5, -4, -3]);
        assert_eq!([after(-5, 30), after(-5, 99_999)], [-2, -2]);
        assert_eq!(after(126, 99_999), 127);
    }
}
