//! How many workers a queue could use: what an autoscaler asks.
//!
//! The answer is the number of workers whose threads would hold everything of the queue that runs, and everything that could
//! start if there were room. So it is zero for a queue with nothing to do, and it never asks for a worker that a limit
//! would keep idle:
//!
//! - *A paused queue* counts only what still runs.
//! - *A queue at its `max_running`* counts no more jobs than that, the waiting ones at their average width.
//! - *Work that waits for its time, for a parent, for its retry, or for a key that is closed or at its limit* could not
//!   start, and does not count.
//!
//! An autoscaler that follows it never ends a worker by force: a worker that is told to stop drains, and what it hands back
//! is ready again.

/// Threads of a worker, where nobody says and no worker is there to be looked at.
pub const THREADS_PER_WORKER: u16 = 4;
/// Workers that are asked for at most, where nobody says.
pub const WORKERS: u32 = 100;
/// The largest bound on workers that may be asked for.
pub const MOST_WORKERS: u32 = 100_000;

/// What a queue has to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// Nothing of it starts.
    pub paused: bool,
    /// Jobs that could start.
    pub ready: u64,
    /// Threads that they would be given by workers of the width that is reckoned with. What needs more than such a worker has is left
    /// out: more of them would not help it.
    pub ready_threads: u64,
    /// Jobs that run.
    pub running: u64,
    /// Threads that they hold.
    pub running_threads: u64,
    /// No more jobs than this run at a time.
    pub max_running: Option<u32>,
    /// Workers that serve it.
    pub workers: u64,
    /// Threads of the narrowest of them.
    pub narrowest: Option<u16>,
}

/// What whoever asks knows of his workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Threads that a new worker brings; as many as the narrowest present one, if he does not say.
    pub threads_per_worker: Option<u16>,
    /// Never ask for more workers than this.
    pub max: u32,
}

impl Bounds {
    /// Threads of a worker that is reckoned with, where the narrowest that serves the queue has so many.
    #[must_use]
    pub fn width(self, narrowest: Option<u16>) -> u16 {
        self.threads_per_worker.or(narrowest).unwrap_or(THREADS_PER_WORKER).max(1)
    }
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { threads_per_worker: None, max: WORKERS }
    }
}

/// What to do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scaling {
    /// Threads that would be in use if there were room for all.
    pub threads: u64,
    /// Threads of a worker that was reckoned with.
    pub threads_per_worker: u16,
    /// Workers that would hold them.
    pub desired_workers: u32,
}

impl Load {
    /// How many workers there should be.
    #[must_use]
    pub fn scaling(&self, bounds: Bounds) -> Scaling {
        let threads = self.running_threads.saturating_add(self.startable_threads());
        let threads_per_worker = bounds.width(self.narrowest);
        let workers = threads.div_ceil(threads_per_worker.into());
        let desired_workers = u32::try_from(workers).unwrap_or(u32::MAX).min(bounds.max);
        Scaling { threads, threads_per_worker, desired_workers }
    }

    /// Threads of what could start if there were room.
    fn startable_threads(&self) -> u64 {
        if self.paused || self.ready == 0 {
            return 0;
        }
        let allowed = self.max_running.map_or(u64::MAX, |max| u64::from(max).saturating_sub(self.running));
        if allowed >= self.ready {
            return self.ready_threads;
        }
        // Nobody knows which of them will start: each counts as wide as they are on average.
        let threads = u128::from(self.ready_threads) * u128::from(allowed);
        u64::try_from(threads.div_ceil(u128::from(self.ready))).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn desired(load: Load, threads: u16, max: u32) -> u32 {
        load.scaling(Bounds { threads_per_worker: Some(threads), max }).desired_workers
    }

    #[test]
    fn a_queue_with_nothing_to_do_needs_nobody() {
        assert_eq!(Load::default().scaling(Bounds::default()).desired_workers, 0);
    }

    #[test]
    fn there_are_workers_for_what_runs_and_for_what_waits_and_no_part_of_one() {
        let load = Load { ready: 9, ready_threads: 9, running: 8, running_threads: 8, ..Load::default() };
        assert_eq!(desired(load, 8, 100), 3, "17 threads need three workers of eight");
        assert_eq!(desired(load, 17, 100), 1);
        assert_eq!(desired(load, 16, 100), 2);
        assert_eq!(desired(load, 1, 5), 5, "and never more than the bound");
        let wide = Load { ready: 2, ready_threads: 24, ..Load::default() };
        assert_eq!(desired(wide, 8, 100), 3, "threads are wanted, not jobs");
    }

    #[test]
    fn a_limit_that_would_keep_workers_idle_asks_for_none() {
        let load = Load { ready: 100, ready_threads: 200, running: 4, running_threads: 8, ..Load::default() };
        assert_eq!(desired(Load { paused: true, ..load }, 4, 100), 2, "what runs goes on");
        let limited = Load { max_running: Some(10), ..load };
        assert_eq!(limited.scaling(Bounds::default()).threads, 8 + 12, "six more, two threads each");
        assert_eq!(desired(Load { max_running: Some(4), ..load }, 4, 100), 2);
        assert_eq!(desired(Load { max_running: Some(3), ..load }, 4, 100), 2, "a limit that was lowered");
    }

    #[test]
    fn the_width_of_a_worker_is_what_is_said_then_what_is_seen_then_a_guess() {
        let load = Load { ready: 32, ready_threads: 32, narrowest: Some(16), ..Load::default() };
        assert_eq!(desired(load, 8, 100), 4);
        assert_eq!(load.scaling(Bounds::default()).desired_workers, 2);
        let unseen = Load { narrowest: None, ..load }.scaling(Bounds::default());
        assert_eq!((unseen.threads_per_worker, unseen.desired_workers), (THREADS_PER_WORKER, 8));
    }

    #[test]
    fn numbers_of_any_size_are_survived() {
        let load = Load {
            ready: u64::MAX,
            ready_threads: u64::MAX,
            running_threads: u64::MAX,
            max_running: Some(u32::MAX),
            ..Load::default()
        };
        assert_eq!(desired(load, 1, MOST_WORKERS), MOST_WORKERS);
        assert_eq!(desired(load, 0, 1), 1);
    }
}
