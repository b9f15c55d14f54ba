//! How much one caller may have at a time, so that no single token can take a whole server.
//!
//! Each bound has a default and can be set. They hold where callers are told apart: a server that authenticates nobody
//! cannot tell one from another, and only its connections are bounded.

use std::fmt;
use std::str::FromStr;

/// What is bounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Bound {
    /// Connections of everybody together.
    Connections,
    /// Open streams of live events of one caller.
    EventStreams,
    /// Requests of one caller that wait for a job to end.
    Waits,
    /// Imports of one caller under way.
    Imports,
    /// Open sessions of workers with one token or certificate.
    Sessions,
    /// Bytes of jobs that one caller may enqueue per second; what comes faster is read more slowly.
    EnqueueBytes,
}

impl Bound {
    /// Every bound.
    pub const ALL: [Bound; 6] = [
        Bound::Connections,
        Bound::EventStreams,
        Bound::Waits,
        Bound::Imports,
        Bound::Sessions,
        Bound::EnqueueBytes,
    ];

    /// Its name in a setting.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Bound::Connections => "connections",
            Bound::EventStreams => "event-streams",
            Bound::Waits => "waits",
            Bound::Imports => "imports",
            Bound::Sessions => "sessions",
            Bound::EnqueueBytes => "enqueue-bytes",
        }
    }

    /// What holds if nobody says.
    #[must_use]
    pub const fn default_value(self) -> usize {
        match self {
            Bound::Connections => 24_000,
            Bound::EventStreams => 32,
            Bound::Waits => 256,
            Bound::Imports => 8,
            Bound::Sessions => 1_000,
            Bound::EnqueueBytes => 16 << 20,
        }
    }
}

/// The bounds of a server: `event-streams=64,waits=1000`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds([usize; Bound::ALL.len()]);

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds(Bound::ALL.map(Bound::default_value))
    }
}

impl Bounds {
    /// One of them.
    #[must_use]
    pub fn of(&self, bound: Bound) -> usize {
        self.0[bound as usize]
    }

    /// The same with one of them changed.
    #[must_use]
    pub fn with(mut self, bound: Bound, value: usize) -> Bounds {
        self.0[bound as usize] = value;
        self
    }
}

impl FromStr for Bounds {
    type Err = String;

    fn from_str(text: &str) -> Result<Bounds, String> {
        let mut bounds = Bounds::default();
        for pair in text.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').ok_or_else(|| format!("`{pair}` is not NAME=NUMBER"))?;
            let Some(bound) = Bound::ALL.into_iter().find(|bound| bound.as_str() == name.trim()) else {
                let known = Bound::ALL.map(Bound::as_str).join(", ");
                return Err(format!("there is no limit `{}`; there are {known}", name.trim()));
            };
            match value.trim().parse::<u32>() {
                Ok(value) if value > 0 => bounds.0[bound as usize] = value as usize,
                Ok(_) | Err(_) => return Err(format!("`{}` must be a number from 1 on", bound.as_str())),
            }
        }
        Ok(bounds)
    }
}

impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (nth, bound) in Bound::ALL.into_iter().enumerate() {
            write!(f, "{}{}={}", if nth > 0 { "," } else { "" }, bound.as_str(), self.of(bound))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_said_stays_as_it_is() {
        let bounds: Bounds = "waits=7, event-streams=64".parse().unwrap();
        assert_eq!((bounds.of(Bound::Waits), bounds.of(Bound::EventStreams)), (7, 64));
        assert_eq!(bounds.of(Bound::Sessions), Bound::Sessions.default_value());
        assert_eq!(bounds.to_string().parse(), Ok(bounds), "what is shown can be read again");
        assert_eq!("".parse(), Ok(Bounds::default()));
    }

    #[test]
    fn a_bound_that_is_none_is_refused_with_those_that_there_are() {
        let unknown = "streams=1".parse::<Bounds>().unwrap_err();
        assert!(unknown.contains("event-streams"), "{unknown}");
        for wrong in ["waits", "waits=0", "waits=-1", "waits=many", "waits=4294967296"] {
            assert!(wrong.parse::<Bounds>().is_err(), "{wrong}");
        }
    }
}
