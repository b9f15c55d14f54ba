//! The options of a job as stored: only what differs from the default, nothing if nothing does.

use ganger_core::job::JobOptions;

use super::error::Failure;
use crate::options;

/// The text for the `options` column. The unique key has a column of its own.
pub(super) fn encode(options: &JobOptions) -> Result<Option<String>, Failure> {
    options::encode(options, &["unique_key"]).map_err(|error| Failure::unreadable("options", error))
}

/// The options of these columns.
pub(super) fn decode(text: Option<&str>, unique_key: Option<&str>) -> Result<JobOptions, Failure> {
    let options = options::decode(text).map_err(|error| Failure::unreadable("options", error))?;
    Ok(JobOptions { unique_key: unique_key.map(str::to_owned), ..options })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use ganger_core::Wall;

    use super::*;

    #[test]
    fn the_default_is_nothing_and_a_difference_is_all_that_is_written() {
        assert_eq!(encode(&JobOptions::default()).unwrap(), None);
        let keyed = JobOptions { unique_key: Some("k".into()), ..JobOptions::default() };
        assert_eq!(encode(&keyed).unwrap(), None);
        assert_eq!(decode(None, Some("k")).unwrap(), keyed);
        let twice = JobOptions { max_attempts: 2, ..JobOptions::default() };
        assert_eq!(encode(&twice).unwrap().as_deref(), Some(r#"{"max_attempts":2}"#));
    }

    #[test]
    fn every_option_reads_back() {
        let mut options = JobOptions {
            threads: 8,
            min_threads: 2,
            fallback: ganger_core::job::Fallback::Single,
            max_attempts: 9,
            timeout: None,
            max_lost: 1,
            expires_at: Some(Wall(1_700_000_000_123_456)),
            unique_key: Some("key".into()),
            unique_for: Duration::from_micros(1_500_001),
            tags: vec!["a".into(), "é\"".into()],
            traceparent: Some("00-abc".into()),
            ..JobOptions::default()
        };
        options.require.insert("gpu".into(), "yes".into());
        options.retry.factor = 1.1;
        let text = encode(&options).unwrap();
        assert_eq!(decode(text.as_deref(), options.unique_key.as_deref()).unwrap(), options);
    }
}
