//! Looking at a store from outside, for `ganger doctor`: how it is set, and how fast it really is.
//!
//! Nothing is changed by it. What it measures is what every acknowledged job waits for: a commit that is on disk.

use std::time::Duration;

use ganger_core::Wall;
use ganger_core::disk::Disk;

/// How often each thing is measured.
pub const TRIES: usize = 9;

/// The clocks of whoever looks.
#[derive(Clone, Copy)]
pub struct Clocks<'a> {
    /// A running stopwatch.
    pub elapsed: &'a (dyn Fn() -> Duration + Sync),
    /// The time of day.
    pub now: &'a (dyn Fn() -> Wall + Sync),
}

/// How long something took, [`TRIES`] times.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Times(Vec<Duration>);

impl Times {
    /// In any order.
    #[must_use]
    pub fn new(mut times: Vec<Duration>) -> Times {
        times.sort_unstable();
        Times(times)
    }

    /// Half of them were faster.
    #[must_use]
    pub fn median(&self) -> Duration {
        self.0.get(self.0.len() / 2).copied().unwrap_or_default()
    }

    /// The slowest.
    #[must_use]
    pub fn longest(&self) -> Duration {
        self.0.last().copied().unwrap_or_default()
    }
}

/// A PostgreSQL database, as a client sees it.
#[derive(Clone, Debug)]
pub struct PgReport {
    /// Its version, for people.
    pub version: String,
    /// By how many microseconds its clock is ahead of ours, give or take half a round trip.
    pub ahead_micros: i64,
    /// Its connections are encrypted.
    pub encrypted: bool,
    /// It is a copy that cannot be written to.
    pub read_only: bool,
    /// Connections that are open now, of everybody.
    pub connections: u32,
    /// Connections that it allows to those who are not its superuser.
    pub connections_max: u32,
    /// It cleans up by itself.
    pub autovacuum: bool,
    /// Size of the database.
    pub bytes: u64,
    /// Settings that break a promise, each in a sentence that ends with what to do.
    pub dangers: Vec<String>,
    /// Questions that need nothing from the disk.
    pub reads: Times,
    /// Commits that are durable when they are answered.
    pub commits: Times,
}

/// A data directory.
#[derive(Clone, Debug)]
pub struct DirReport {
    /// Its database, if it has one.
    pub database: Option<DatabaseReport>,
    /// What it is on, if that is not an ordinary disk.
    pub unusual: Option<Unusual>,
    /// Others than its owner may look into it.
    pub open_to_others: bool,
    /// A server uses it at this moment.
    pub in_use: bool,
    /// Room on its disk.
    pub disk: Disk,
    /// Writes of four kibibytes that are on disk when they are answered.
    pub syncs: Times,
}

/// The database of a data directory.
#[derive(Clone, Debug)]
pub struct DatabaseReport {
    /// Its journal; `wal` is needed.
    pub journal: String,
    /// Questions that need little from the disk.
    pub reads: Times,
}

/// A file system that is not an ordinary disk of this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unusual {
    /// On another machine: its locks and its syncs cannot be relied upon.
    Network,
    /// In memory: gone when the machine restarts.
    Memory,
    /// The layer of a container: gone with it.
    Container,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_times_are_shorter_than_the_median() {
        let ms = Duration::from_millis;
        let times = Times::new(vec![ms(9), ms(1), ms(3)]);
        assert_eq!((times.median(), times.longest()), (ms(3), ms(9)));
        assert_eq!(Times::default().median(), Duration::ZERO);
    }
}
