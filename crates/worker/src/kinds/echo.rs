//! `echo`: returns its payload, byte for byte.

use serde_json::value::RawValue;

use crate::context::Ctx;
use crate::error::JobError;
use crate::job::Job;

pub(super) const ECHO: Job<Box<RawValue>, Box<RawValue>> = Job::new("echo");

pub(super) async fn run(_: Ctx, payload: Box<RawValue>) -> Result<Box<RawValue>, JobError> {
    Ok(payload)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_payload_comes_back_unchanged() {
        let text = r#"{"b":1,  "a":12345678901234567890123, "a":1.50}"#;
        let payload = RawValue::from_string(text.into()).unwrap();
        assert_eq!(run(Ctx::for_test("echo"), payload).await.unwrap().get(), text);
    }
}
