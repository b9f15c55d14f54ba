//! The options of a job as stored: what the database looks at has columns of its own; of the rest only what
//! differs from the default, nothing if nothing does.

use ganger_core::job::JobOptions;
use ganger_core::time::micros;

use super::error::Failure;
use crate::options;

/// Stands before and after each tag. No tag contains a control character.
const SEPARATOR: char = '\u{1f}';
/// Fields that have columns.
const COLUMNS: [&str; 2] = ["unique_key", "tags"];

/// The text for the `options` column.
pub(super) fn encode(options: &JobOptions) -> Result<Option<String>, Failure> {
    options::encode(options, &COLUMNS).map_err(|error| Failure::unreadable("options", error))
}

/// The number for the `unique_for` column, by which the database holds a key after success: nothing if there is none,
/// or if it is free at once.
pub(super) fn encode_unique_for(options: &JobOptions) -> Option<i64> {
    (options.unique_key.is_some() && !options.unique_for.is_zero())
        .then(|| i64::try_from(micros(options.unique_for)).unwrap_or(i64::MAX))
}

/// The text for the `tags` column.
pub(super) fn encode_tags(options: &JobOptions) -> Option<String> {
    let mut text = String::new();
    for tag in &options.tags {
        text.push(SEPARATOR);
        text.push_str(tag);
    }
    (!text.is_empty()).then(|| {
        text.push(SEPARATOR);
        text
    })
}

/// What to look for in the `tags` column to find a tag; nothing if no job can have such a one.
pub(super) fn tag_pattern(tag: &str) -> Option<String> {
    is_plain(tag).then(|| format!("{SEPARATOR}{tag}{SEPARATOR}"))
}

/// Whether a text could be a tag or a key: others were refused when the job came in.
pub(super) fn is_plain(text: &str) -> bool {
    !text.chars().any(char::is_control)
}

/// The options of these columns.
pub(super) fn decode(
    own: Option<&str>,
    unique_key: Option<&str>,
    tags: Option<&str>,
) -> Result<JobOptions, Failure> {
    let mut options = options::decode(own).map_err(|error| Failure::unreadable("options", error))?;
    options.unique_key = unique_key.map(str::to_owned);
    if let Some(tags) = tags {
        options.tags = tags.trim_matches(SEPARATOR).split(SEPARATOR).map(str::to_owned).collect();
    }
    Ok(options)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use ganger_core::Wall;

    use super::*;

    fn read_back(options: &JobOptions) -> JobOptions {
        let own = encode(options).unwrap();
        decode(own.as_deref(), options.unique_key.as_deref(), encode_tags(options).as_deref()).unwrap()
    }

    #[test]
    fn the_default_is_nothing_and_a_difference_is_all_that_is_written() {
        assert_eq!(encode(&JobOptions::default()).unwrap(), None);
        let keyed =
            JobOptions { unique_key: Some("k".into()), tags: vec!["t".into()], ..JobOptions::default() };
        assert_eq!(encode(&keyed).unwrap(), None);
        assert_eq!(read_back(&keyed), keyed);
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
            unique_for: Duration::from_nanos(1_500_000_001),
            tags: vec!["a".into(), "é\"".into()],
            traceparent: Some("00-abc".into()),
            ..JobOptions::default()
        };
        options.require.insert("gpu".into(), "yes".into());
        options.retry.factor = 1.1;
        assert_eq!(read_back(&options), options);
    }

    #[test]
    fn a_tag_is_found_whole_or_not_at_all() {
        let options = JobOptions { tags: vec!["red".into(), "blue".into()], ..JobOptions::default() };
        let column = encode_tags(&options).unwrap();
        assert!(column.contains(&tag_pattern("red").unwrap()));
        assert!(!column.contains(&tag_pattern("re").unwrap()));
        assert_eq!(tag_pattern("red\u{1f}blue"), None);
    }
}
