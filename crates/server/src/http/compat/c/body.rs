//! What profile C sends and is sent.

use std::time::Duration;

use ganger_core::rules::Death;
use ganger_core::{JobId, Wall, limits};
use ganger_store::read::StoredJob;
use serde::{Deserialize, Serialize};
use serde_json::value::to_raw_value;
use sha2::{Digest as _, Sha256};
use utoipa::ToSchema;

use super::WELCOME;
use crate::api::{HumanDuration, NewJobRequest, RetryRequest};

/// Attempts of a mail, the first included: the others wait 1, 2, 4 and 8 seconds.
const ATTEMPTS: u32 = 5;

/// Who signs up or logs in.
#[derive(Deserialize, ToSchema)]
pub(super) struct Credentials {
    pub(super) username: String,
    pub(super) password: String,
}

/// A refresh token that is to be taken for the next one.
#[derive(Deserialize, ToSchema)]
pub(super) struct RefreshToken {
    pub(super) refresh_token: String,
}

/// What a login gives.
#[derive(Serialize, ToSchema)]
pub(super) struct Tokens {
    /// Good for a quarter of an hour.
    pub(super) access_token: String,
    /// Good for the next one, once.
    pub(super) refresh_token: String,
}

/// One sentence.
#[derive(Serialize, ToSchema)]
pub(super) struct Message {
    pub(super) message: String,
}

/// Who is to be welcomed.
#[derive(Debug, Deserialize, Serialize, ToSchema)]
pub(super) struct NewMail {
    #[schema(example = "ada@example.com")]
    pub(super) email: String,
    #[schema(example = "Ada")]
    pub(super) name: String,
}

impl NewMail {
    /// The job that it stands for.
    ///
    /// # Errors
    /// Never: two texts are JSON.
    pub(super) fn job(&self) -> Result<NewJobRequest, serde_json::Error> {
        let seconds = |n| Some(HumanDuration(Duration::from_secs(n)));
        Ok(NewJobRequest {
            kind: WELCOME.into(),
            payload: Some(to_raw_value(self)?),
            max_attempts: Some(ATTEMPTS),
            retry: Some(RetryRequest {
                base: seconds(1),
                factor: Some(2.0),
                max: seconds(8),
                jitter: Some(0.0),
            }),
            unique_key: Some(self.unique_key()?),
            unique_for: Some(HumanDuration(limits::FOREVER)),
            ..NewJobRequest::default()
        })
    }

    /// Two people have the same key only if address and name are the same: JSON has no delimiter that could be part of a
    /// text. One that is too long for a key is known by its hash.
    fn unique_key(&self) -> Result<String, serde_json::Error> {
        let key = serde_json::to_string(&["welcome", &self.email, &self.name])?;
        if key.len() <= limits::KEY_BYTES {
            return Ok(key);
        }
        let hash = Sha256::digest(key.as_bytes());
        Ok(format!("welcome sha256 {}", hash.iter().map(|byte| format!("{byte:02x}")).collect::<String>()))
    }
}

/// A mail that will not be tried again by itself.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct FailedJob {
    /// As in `X-Job-Id`.
    #[schema(value_type = String)]
    id: JobId,
    email: String,
    name: String,
    /// Of the last attempt; `delivery unknown` if nobody knows whether the mail was sent.
    error: String,
    attempts: u32,
    #[schema(value_type = String, format = DateTime)]
    failed_at: Wall,
}

impl FailedJob {
    pub(super) fn of(job: &StoredJob) -> FailedJob {
        // A job of this kind may have come by another door, with any payload.
        let given: serde_json::Value = serde_json::from_str(&job.spec.payload).unwrap_or_default();
        let text = |field: &str| given[field].as_str().unwrap_or_default().to_owned();
        let reason = job.end.as_ref().and_then(|end| end.reason.clone()).unwrap_or_default();
        let said = job.last_attempt.as_ref().and_then(|attempt| attempt.error.clone());
        FailedJob {
            id: job.id,
            email: text("email"),
            name: text("name"),
            error: said.filter(|_| reason != Death::Unknown.reason()).unwrap_or(reason),
            attempts: job.standing.attempt,
            failed_at: job.end.as_ref().map_or(job.due_at, |end| end.at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(email: &str, name: &str) -> String {
        NewMail { email: email.into(), name: name.into() }.unique_key().unwrap()
    }

    #[test]
    fn a_key_names_address_and_name_and_nothing_else_has_it() {
        assert_eq!(key("ada@example.com", "Ada"), r#"["welcome","ada@example.com","Ada"]"#);
        assert_ne!(key("a@b", r#"c","d"#), key(r#"a@b","c"#, "d"));
        let room = limits::KEY_BYTES - key("a@b", "").len();
        assert_eq!(key("a@b", &"n".repeat(room)).len(), limits::KEY_BYTES);
        let long = key("a@b", &"n".repeat(room + 1));
        assert_eq!(long.len(), "welcome sha256 ".len() + 64);
        assert_ne!(long, key("a@c", &"n".repeat(room + 1)));
    }

    #[test]
    fn a_mail_is_tried_five_times_and_its_key_held_for_ever() {
        let job = NewMail { email: "a@b".into(), name: "A".into() }.job().unwrap();
        assert_eq!(job.payload.as_ref().unwrap().get(), r#"{"email":"a@b","name":"A"}"#);
        let text = serde_json::to_value(&job).unwrap();
        assert_eq!((&text["max_attempts"], &text["unique_for"]), (&5.into(), &"forever".into()));
        assert_eq!(
            text["retry"],
            serde_json::json!({"base": "1s", "factor": 2.0, "max": "8s", "jitter": 0.0})
        );
    }
}
