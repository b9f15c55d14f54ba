//! The text that an attempt logs, bounded.

use ganger_core::limits;

/// Appends to a log and keeps the last [`limits::LOG_BYTES`] of it, from the beginning of a line
/// where there is one.
pub(crate) fn append_log(log: &mut String, text: &str) {
    log.push_str(text);
    if log.len() <= limits::LOG_BYTES {
        return;
    }
    let mut from = log.len() - limits::LOG_BYTES;
    while !log.is_char_boundary(from) {
        from += 1;
    }
    let mid_line = log.as_bytes()[from - 1] != b'\n';
    if mid_line
        && let Some(end) = log[from..].find('\n')
        && from + end + 1 < log.len()
    {
        from += end + 1;
    }
    log.drain(..from);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_whole_at_its_bound_and_loses_its_first_line_one_past_it() {
        let mut log = "first\n".to_owned();
        append_log(&mut log, &format!("{}\n", "x".repeat(limits::LOG_BYTES - 7)));
        assert_eq!(log.len(), limits::LOG_BYTES);
        assert!(log.starts_with("first\n"));

        append_log(&mut log, "\n");
        assert!(log.starts_with('x'));
        assert_eq!(log.len(), limits::LOG_BYTES - 5);
    }

    #[test]
    fn a_line_longer_than_the_bound_is_cut_between_characters() {
        let mut log = String::new();
        append_log(&mut log, &"é".repeat(limits::LOG_BYTES));
        assert_eq!(log.len(), limits::LOG_BYTES);
        append_log(&mut log, "x");
        assert_eq!(log.len(), limits::LOG_BYTES - 1);
        assert!(log.starts_with('é') && log.ends_with('x'));
    }
}
