//! The flags that say when a failed job is tried again.

use clap::Args;
use ganger_server::api::{HumanDuration, RetryRequest};

/// Delays between attempts.
#[derive(Args, Debug, Default)]
pub(super) struct RetryFlags {
    /// Delay before the second attempt [default: 1s]
    #[arg(long, value_name = "DURATION")]
    retry_base: Option<HumanDuration>,
    /// What the delay is multiplied with after each further failure [default: 2]
    #[arg(long, value_name = "NUMBER")]
    retry_factor: Option<f64>,
    /// Longest delay between attempts [default: 1h]
    #[arg(long, value_name = "DURATION")]
    retry_max: Option<HumanDuration>,
    /// Random addition, as a fraction of the delay [default: 0.2]
    #[arg(long, value_name = "FRACTION")]
    retry_jitter: Option<f64>,
}

impl RetryFlags {
    /// What they say, over what was said before; nothing if neither says anything.
    pub(super) fn over(self, before: Option<RetryRequest>) -> Option<RetryRequest> {
        let given = self.retry_base.is_some()
            || self.retry_factor.is_some()
            || self.retry_max.is_some()
            || self.retry_jitter.is_some();
        if !given {
            return before;
        }
        let before = before.unwrap_or_default();
        Some(RetryRequest {
            base: self.retry_base.or(before.base),
            factor: self.retry_factor.or(before.factor),
            max: self.retry_max.or(before.max),
            jitter: self.retry_jitter.or(before.jitter),
        })
    }
}
