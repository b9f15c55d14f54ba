//! How much comes and how much starts, per queue, in the last minute.
//!
//! Counted with the batches that are handed over, so that no job costs anything. What a batch counts for that is refused is
//! counted twice here; nothing but an estimate follows from it.

use std::collections::VecDeque;
use std::time::Duration;

use crate::coordinator::Coordinator;
use crate::minutes::{Counted, Maybe};
use crate::time::{Mono, Now};

/// The pace is measured over so many steps of this long.
const STEP: Duration = Duration::from_secs(5);
const STEPS: usize = 12;

/// The pace of a queue.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pace {
    steps: VecDeque<Step>,
}

#[derive(Clone, Copy, Debug)]
struct Step {
    began: Mono,
    came: u64,
    started: u64,
}

impl Pace {
    fn add(&mut self, now: Mono, came: u64, started: u64) {
        match self.steps.back_mut() {
            Some(step) if now.since(step.began) < STEP => {
                step.came += came;
                step.started += started;
            }
            Some(_) | None => {
                self.steps.push_back(Step { began: now, came, started });
                if self.steps.len() > STEPS {
                    self.steps.pop_front();
                }
            }
        }
    }

    /// Jobs taken in per second.
    pub(crate) fn comes(&self, now: Mono) -> f64 {
        self.per_second(now, |step| step.came)
    }

    /// Jobs started per second.
    pub(crate) fn starts(&self, now: Mono) -> f64 {
        self.per_second(now, |step| step.started)
    }

    fn per_second(&self, now: Mono, count: impl Fn(&Step) -> u64) -> f64 {
        let window = STEP * u32::try_from(STEPS).unwrap_or(u32::MAX);
        let recent = self.steps.iter().filter(|step| now.since(step.began) <= window);
        let Some(first) = recent.clone().next() else { return 0.0 };
        let counted: u64 = recent.map(count).sum();
        // A burst of a moment says nothing about a second.
        counted as f64 / now.since(first.began).as_secs_f64().max(1.0)
    }

    fn is_over(&self, now: Mono) -> bool {
        self.steps.back().is_none_or(|last| now.since(last.began) > STEP * 24)
    }
}

impl Coordinator {
    /// Notes what a batch brings and starts.
    pub(crate) fn keep_pace(&mut self, now: Now, counted: &Counted) {
        for bucket in &counted.buckets {
            let (came, started) = (bucket.counts.enqueued, bucket.counts.started);
            self.paced(now, &bucket.queue, came, started);
        }
        for unsettled in &counted.unsettled {
            if let (Maybe::Started { .. }, Some(bucket)) =
                (&unsettled.what, counted.buckets.get(unsettled.bucket))
            {
                self.paced(now, &bucket.queue, 0, 1);
            }
        }
    }

    fn paced(&mut self, now: Now, queue: &crate::name::QueueName, came: u64, started: u64) {
        if came + started == 0 {
            return;
        }
        if let Some(pace) = self.paces.get_mut(queue) {
            pace.add(now.mono, came, started);
            return;
        }
        // A queue that nobody uses any more is not remembered for ever.
        self.paces.retain(|_, pace| !pace.is_over(now.mono));
        self.paces.entry(queue.clone()).or_default().add(now.mono, came, started);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Mono {
        Mono(seconds * 1_000_000)
    }

    #[test]
    fn the_pace_is_that_of_the_last_minute() {
        let mut pace = Pace::default();
        assert_eq!((pace.comes(at(0)), pace.starts(at(0))), (0.0, 0.0));
        for second in 0..60 {
            pace.add(at(second), 2, 1);
        }
        assert!((pace.comes(at(60)) - 2.0).abs() < 0.1 && (pace.starts(at(60)) - 1.0).abs() < 0.1);
        // It fades when nothing comes, and is forgotten.
        assert!(pace.comes(at(100)) < 1.5);
        assert_eq!(pace.comes(at(200)), 0.0);
        assert!(pace.is_over(at(200)) && !pace.is_over(at(100)));
    }

    #[test]
    fn a_burst_is_not_taken_for_a_rate() {
        let mut pace = Pace::default();
        pace.add(at(9), 500, 0);
        assert_eq!(pace.comes(at(9)), 500.0);
        assert_eq!(pace.comes(at(19)), 50.0);
    }
}
