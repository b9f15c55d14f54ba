//! Terms and fences: who may schedule, and who may report.
//!
//! A **term** is one leader's reign: a number that only grows, and a random id. The id matters:
//! after an asynchronous database failover the new primary may hand out the same number again,
//! and two reigns with one number must not be taken for each other.
//!
//! A **lease** is a session's right to one attempt of one job. It is proved by its **fence**: the
//! term in which it was given and a sequence within that term. Fences only grow. A report is
//! applied only under the fence of the job's current lease, so a worker that lost its lease,
//! however late it wakes, changes nothing.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// One leader's reign.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Term {
    /// Durable; one more at each takeover.
    pub number: u64,
    /// Random; tells two terms of the same number apart.
    pub id: u64,
}

/// Proof of a lease. Compared whole: the term's id is part of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Fence {
    /// The reign in which the lease was given.
    pub term: Term,
    /// Position within the term; grows with every lease given.
    pub seq: u64,
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.number)
    }
}

/// `number.sequence.id`, the last in hexadecimal.
impl fmt::Display for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{:016x}", self.term.number, self.seq, self.term.id)
    }
}

/// The text is not a fence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a fence: expected `number.sequence.id`")]
pub struct ParseFenceError;

impl FromStr for Fence {
    type Err = ParseFenceError;
    fn from_str(text: &str) -> Result<Fence, ParseFenceError> {
        let mut parts = text.split('.');
        let mut next = || parts.next().ok_or(ParseFenceError);
        let (number, seq, id) = (next()?, next()?, next()?);
        if parts.next().is_some() {
            return Err(ParseFenceError);
        }
        Ok(Fence {
            term: Term {
                number: number.parse().map_err(|_| ParseFenceError)?,
                id: u64::from_str_radix(id, 16).map_err(|_| ParseFenceError)?,
            },
            seq: seq.parse().map_err(|_| ParseFenceError)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_reads_back_and_grows_with_the_term_first() {
        let early = Fence { term: Term { number: 2, id: 9 }, seq: 700 };
        let late = Fence { term: Term { number: 3, id: 1 }, seq: 1 };
        assert!(early < late);
        assert_eq!(early.to_string().parse::<Fence>().unwrap(), early);
        for bad in ["", "1.2", "1.2.3.4", "a.1.2", "1.1.zz"] {
            assert!(bad.parse::<Fence>().is_err(), "{bad}");
        }
    }

    #[test]
    fn two_terms_of_one_number_are_told_apart() {
        assert_ne!(Term { number: 4, id: 1 }, Term { number: 4, id: 2 });
    }
}
