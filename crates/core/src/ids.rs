//! Identities that people see: `job_01J9…`, `wrk_01J9…`.
//!
//! An id is a UUID underneath. It is shown as a prefix and 26 Crockford base32 characters, which
//! sort as the UUID does; a plain UUID is accepted wherever an id is read.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use uuid::Uuid;

/// Crockford's alphabet: no I, L, O or U, so that nothing is misread or rude.
const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const ENCODED_LEN: usize = 26;

/// The text is not an id of the expected sort.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a {what} id: expected `{prefix}` and 26 base32 characters, or a UUID")]
pub struct ParseIdError {
    text: String,
    what: &'static str,
    prefix: &'static str,
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $what:literal, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Uuid);

        impl $name {
            /// What every shown id of this sort begins with.
            pub const PREFIX: &'static str = $prefix;

            /// A time-ordered id (UUIDv7) from a moment and given random bits.
            #[must_use]
            pub fn new(unix_millis: u64, random: [u8; 10]) -> $name {
                $name(uuid::Builder::from_unix_timestamp_millis(unix_millis, &random).into_uuid())
            }

            /// Wraps an existing UUID.
            #[must_use]
            pub const fn from_uuid(uuid: Uuid) -> $name {
                $name(uuid)
            }

            /// The UUID underneath.
            #[must_use]
            pub const fn uuid(self) -> Uuid {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str($prefix)?;
                encode(self.0.as_u128(), f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = ParseIdError;
            fn from_str(text: &str) -> Result<$name, ParseIdError> {
                text.strip_prefix($prefix)
                    .and_then(decode)
                    .map(Uuid::from_u128)
                    .or_else(|| Uuid::try_parse(text).ok())
                    .map($name)
                    .ok_or_else(|| ParseIdError {
                        text: text.chars().take(64).collect(),
                        what: $what,
                        prefix: $prefix,
                    })
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.collect_str(self)
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

id!(
    /// A job, for ever: retries and replays keep it.
    JobId, "job", "job_"
);
id!(
    /// One life of a worker process. A restarted worker is another session.
    SessionId, "worker session", "wrk_"
);
id!(
    /// A schedule, until it is deleted.
    ScheduleId, "schedule", "sch_"
);

id!(
    /// A bulk operation.
    OperationId, "operation", "op_"
);

fn encode(value: u128, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut text = [0u8; ENCODED_LEN];
    let mut rest = value;
    for slot in text.iter_mut().rev() {
        *slot = ALPHABET[(rest & 31) as usize];
        rest >>= 5;
    }
    f.write_str(std::str::from_utf8(&text).map_err(|_| fmt::Error)?)
}

fn decode(text: &str) -> Option<u128> {
    if text.len() != ENCODED_LEN {
        return None;
    }
    let mut value: u128 = 0;
    for byte in text.bytes() {
        let digit = ALPHABET.iter().position(|a| *a == byte.to_ascii_uppercase())?;
        // 26 characters hold 130 bits: the first may only use its lowest three.
        if value >> 123 != 0 {
            return None;
        }
        value = value << 5 | digit as u128;
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_id_reads_back_in_both_forms(bits: u128) {
            let id = JobId::from_uuid(Uuid::from_u128(bits));
            prop_assert_eq!(id.to_string().parse::<JobId>().unwrap(), id);
            prop_assert_eq!(id.to_string().to_lowercase().parse::<JobId>().unwrap(), id);
            prop_assert_eq!(id.uuid().to_string().parse::<JobId>().unwrap(), id);
        }

        #[test]
        fn shown_ids_sort_as_their_uuids(a: u128, b: u128) {
            let (x, y) = (JobId::from_uuid(Uuid::from_u128(a)), JobId::from_uuid(Uuid::from_u128(b)));
            prop_assert_eq!(x.cmp(&y), x.to_string().cmp(&y.to_string()));
        }

        #[test]
        fn rubbish_is_refused_and_never_panics(text in ".{0,60}") {
            let _ = text.parse::<JobId>();
        }
    }

    #[test]
    fn an_id_of_another_sort_is_refused() {
        let id = SessionId::new(1, [7; 10]);
        let err = id.to_string().parse::<JobId>().unwrap_err();
        assert!(err.to_string().contains("is not a job id"), "{err}");
        assert!("job_ZZZZZZZZZZZZZZZZZZZZZZZZZZ".parse::<JobId>().is_err());
    }
}
