//! The two clocks, always given and never taken.
//!
//! Deadlines between processes are measured on the monotonic clock ([`Mono`]): it cannot jump.
//! What people read and what survives a restart is the wall clock ([`Wall`]).

use std::fmt;
use std::ops::{Add, Sub};
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A moment of one process's monotonic clock, in microseconds since an arbitrary origin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mono(pub u64);

/// A moment of the wall clock, in microseconds since the Unix epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Wall(pub i64);

/// Both clocks, read at the same moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Now {
    /// For deadlines.
    pub mono: Mono,
    /// For people and for what is stored.
    pub wall: Wall,
}

impl Mono {
    /// How long ago `earlier` was; zero if it lies in the future.
    #[must_use]
    pub fn since(self, earlier: Mono) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for Mono {
    type Output = Mono;
    fn add(self, d: Duration) -> Mono {
        Mono(self.0.saturating_add(micros(d)))
    }
}

impl Sub<Duration> for Mono {
    type Output = Mono;
    fn sub(self, d: Duration) -> Mono {
        Mono(self.0.saturating_sub(micros(d)))
    }
}

impl Wall {
    /// How long ago `earlier` was; zero if it lies in the future.
    #[must_use]
    pub fn since(self, earlier: Wall) -> Duration {
        Duration::from_micros(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// Milliseconds since the Unix epoch; zero for moments before it.
    #[must_use]
    pub fn unix_millis(self) -> u64 {
        u64::try_from(self.0 / 1000).unwrap_or(0)
    }
}

impl Add<Duration> for Wall {
    type Output = Wall;
    fn add(self, d: Duration) -> Wall {
        Wall(self.0.saturating_add_unsigned(micros(d)))
    }
}

impl Sub<Duration> for Wall {
    type Output = Wall;
    fn sub(self, d: Duration) -> Wall {
        Wall(self.0.saturating_sub_unsigned(micros(d)))
    }
}

/// RFC 3339 in UTC, with as many fractional digits as are needed.
impl fmt::Display for Wall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_microsecond(self.0) {
            Ok(t) => t.fmt(f),
            Err(_) => write!(f, "{}us", self.0),
        }
    }
}

impl std::str::FromStr for Wall {
    type Err = jiff::Error;
    fn from_str(s: &str) -> Result<Wall, jiff::Error> {
        Ok(Wall(s.parse::<jiff::Timestamp>()?.as_microsecond()))
    }
}

impl Serialize for Wall {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Wall {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Wall, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(d)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// A duration in whole microseconds, saturating.
#[must_use]
pub fn micros(d: Duration) -> u64 {
    u64::try_from(d.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wall_moment_reads_as_rfc_3339_and_back() {
        let at = Wall(1_700_000_000_123_456);
        assert_eq!(at.to_string(), "2023-11-14T22:13:20.123456Z");
        assert_eq!(at.to_string().parse::<Wall>().unwrap(), at);
        assert_eq!("2023-11-14T23:13:20+01:00".parse::<Wall>().unwrap(), Wall(1_700_000_000_000_000));
    }

    #[test]
    fn the_future_is_never_a_negative_age() {
        assert_eq!(Mono(5).since(Mono(9)), Duration::ZERO);
        assert_eq!(Wall(5).since(Wall(9)), Duration::ZERO);
        assert_eq!(Mono(u64::MAX) + Duration::MAX, Mono(u64::MAX));
    }
}
