//! Names of queues and kinds, and the labels of workers.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::limits;

/// Labels of a worker, or those a job requires of one.
pub type Labels = BTreeMap<String, String>;

/// A text that may not name a queue or a kind.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Nothing there.
    #[error("is empty")]
    Empty,
    /// Longer than [`limits::NAME_BYTES`].
    #[error("is {0} bytes long, the limit is {max}", max = limits::NAME_BYTES)]
    TooLong(usize),
    /// A character outside the allowed ones.
    #[error("contains {0:?}; letters, digits and `_ . : -` are allowed")]
    Character(char),
}

fn check(text: &str) -> Result<(), NameError> {
    if text.is_empty() {
        return Err(NameError::Empty);
    }
    if text.len() > limits::NAME_BYTES {
        return Err(NameError::TooLong(text.len()));
    }
    match text.chars().find(|c| !(c.is_ascii_alphanumeric() || "_.:-".contains(*c))) {
        Some(bad) => Err(NameError::Character(bad)),
        None => Ok(()),
    }
}

macro_rules! name {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            /// The name as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = NameError;
            fn from_str(text: &str) -> Result<$name, NameError> {
                check(text)?;
                Ok($name(text.into()))
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(d: D) -> Result<$name, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(d)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

name!(
    /// What sort of job; picks the handler.
    Kind
);
name!(
    /// A named lane with its own policy and limits.
    QueueName
);
name!(
    /// A schedule.
    ScheduleName
);

impl Default for QueueName {
    fn default() -> QueueName {
        QueueName("default".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_taken_at_the_bound_and_refused_one_past_it() {
        assert!("a".repeat(limits::NAME_BYTES).parse::<Kind>().is_ok());
        let err = "a".repeat(limits::NAME_BYTES + 1).parse::<Kind>().unwrap_err();
        assert_eq!(err, NameError::TooLong(129));
        assert_eq!("".parse::<QueueName>(), Err(NameError::Empty));
        assert_eq!("a b".parse::<QueueName>(), Err(NameError::Character(' ')));
        assert!("video.encode:v2_x-1".parse::<Kind>().is_ok());
    }
}
