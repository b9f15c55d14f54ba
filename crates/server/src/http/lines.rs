//! Lines out of a stream of bytes, in bounded memory.

use bytes::Bytes;

/// One line of an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// Its bytes, without the newline.
    Whole(Vec<u8>),
    /// It was longer than the limit; its bytes were dropped as they came.
    TooLong,
}

/// Cuts chunks into lines of at most `limit` bytes. Holds at most one line.
#[derive(Debug)]
pub(super) struct Lines {
    limit: usize,
    partial: Vec<u8>,
    skipping: bool,
}

impl Lines {
    pub(super) fn new(limit: usize) -> Lines {
        Lines { limit, partial: Vec::new(), skipping: false }
    }

    /// Takes the next line out of the chunk, which loses what was used. `None`: the chunk is used up.
    pub(super) fn next(&mut self, chunk: &mut Bytes) -> Option<Line> {
        let Some(end) = chunk.iter().position(|byte| *byte == b'\n') else {
            self.keep(chunk);
            chunk.clear();
            return None;
        };
        let rest = chunk.split_to(end);
        // The newline itself.
        let _ = chunk.split_to(1);
        self.keep(&rest);
        Some(self.take())
    }

    /// The last line, if the stream did not end with a newline.
    pub(super) fn last(&mut self) -> Option<Line> {
        if self.skipping || !self.partial.is_empty() { Some(self.take()) } else { None }
    }

    fn keep(&mut self, bytes: &[u8]) {
        if self.skipping {
            return;
        }
        if self.partial.len() + bytes.len() > self.limit {
            self.skipping = true;
            self.partial = Vec::new();
            return;
        }
        self.partial.extend_from_slice(bytes);
    }

    fn take(&mut self) -> Line {
        if std::mem::take(&mut self.skipping) {
            return Line::TooLong;
        }
        let mut line = std::mem::take(&mut self.partial);
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        Line::Whole(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(chunks: &[&str], limit: usize) -> Vec<Line> {
        let mut lines = Lines::new(limit);
        let mut found = Vec::new();
        for chunk in chunks {
            let mut chunk = Bytes::copy_from_slice(chunk.as_bytes());
            while let Some(line) = lines.next(&mut chunk) {
                found.push(line);
            }
        }
        found.extend(lines.last());
        found
    }

    fn whole(text: &str) -> Line {
        Line::Whole(text.into())
    }

    #[test]
    fn lines_are_found_however_the_bytes_arrive() {
        let expected = vec![whole("ab"), whole(""), whole("cd")];
        assert_eq!(cut(&["ab\n\ncd"], 10), expected);
        assert_eq!(cut(&["a", "b", "\r\n", "\n", "c", "d\n"], 10), expected);
        assert_eq!(cut(&[""], 10), []);
    }

    #[test]
    fn a_line_is_taken_at_the_bound_and_dropped_one_past_it() {
        assert_eq!(cut(&["1234\n12345\n1\n"], 4), [whole("1234"), Line::TooLong, whole("1")]);
        assert_eq!(cut(&["123", "45", "67\nab"], 4), [Line::TooLong, whole("ab")]);
        assert_eq!(cut(&["12345"], 4), [Line::TooLong]);
    }
}
