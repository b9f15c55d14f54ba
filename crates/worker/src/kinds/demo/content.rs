//! What a demonstration's payload says: usually a text, sometimes a document.

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::error::JobError;

/// The word by which a payload asks to fail.
const INVALID: &str = "invalid_job";

/// A payload as text: a JSON string as what it says, anything else as it was written.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Content(pub(super) String);

impl Content {
    /// Fails for a payload that asks for it. It is tried again, as any failure: that is what it is there to show.
    pub(super) fn check(&self) -> Result<(), JobError> {
        if self.0.contains(INVALID) { Err(JobError::retry("Invalid job content")) } else { Ok(()) }
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Content, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Ok(Content(serde_json::from_str(raw.get()).unwrap_or_else(|_| raw.get().to_owned())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_that_contains_the_word_fails_and_may_be_tried_again() {
        for payload in [r#""this is an invalid_job""#, r#"{"x": ["invalid_job"]}"#, r#""\u0069nvalid_job""#] {
            let error = serde_json::from_str::<Content>(payload).unwrap().check().unwrap_err();
            assert_eq!(error.to_string(), "Invalid job content");
            assert!(!error.is_fatal());
        }
        for payload in ["\"\"", "\"a valid job\"", "{}", "null", "7"] {
            assert!(serde_json::from_str::<Content>(payload).unwrap().check().is_ok(), "{payload}");
        }
    }
}
