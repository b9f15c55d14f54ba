//! Lines into batches: at most 1,000 jobs or 4 MiB each, every payload byte for byte.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Read};

use bytes::Bytes;
use ganger_core::limits;
use serde::Deserialize;
use serde_json::value::RawValue;

/// The longest line that is read. A job is its payload and some names around it.
const LINE_BYTES: usize = limits::PAYLOAD_BYTES + (64 << 10);
/// What surrounds the jobs of a batch.
const FRAME: &[u8] = b"{\"jobs\":[";

/// Fields of an exported job that a new one has too.
const KEPT: [&str; 20] = [
    "kind",
    "queue",
    "payload",
    "priority",
    "threads",
    "min_threads",
    "fallback",
    "require",
    "max_attempts",
    "max_lost",
    "retry",
    "timeout",
    "unique_key",
    "unique_for",
    "concurrency_key",
    "fair_key",
    "fair_weight",
    "tags",
    "traceparent",
    "tracestate",
];
/// Those that mean something for jobs that were not over.
const MOMENTS: [&str; 2] = ["run_at", "expires_at"];
/// States of a job that is over.
const OVER: [&str; 3] = ["succeeded", "dead", "cancelled"];

/// How lines become jobs.
#[derive(Clone, Debug, Default)]
pub(super) struct Lines {
    /// For jobs that do not name a kind.
    pub(super) kind: Option<String>,
    /// For jobs that do not name a queue.
    pub(super) queue: Option<String>,
    /// A line is only the payload.
    pub(super) payloads: bool,
}

/// A request's worth of lines.
#[derive(Clone, Debug, Default)]
pub(super) struct Batch {
    /// The request: `{"jobs":[…]}`.
    pub(super) body: Bytes,
    /// The line, from 1, that each job came from.
    pub(super) jobs: Vec<u64>,
    /// Lines that are no jobs.
    pub(super) refused: Vec<Refused>,
    /// Bytes that were read for it.
    pub(super) bytes: u64,
    /// Lines that were read for it.
    pub(super) lines: u64,
}

/// A line that is no job.
#[derive(Clone, Debug)]
pub(super) struct Refused {
    /// From 1.
    pub(super) line: u64,
    /// What is wrong with it.
    pub(super) why: String,
}

/// Reads lines and groups them.
pub(super) struct Batches<R> {
    reader: R,
    lines: Lines,
    line: u64,
    /// A job that did not fit into the batch before.
    carried: Option<(u64, String)>,
    ended: bool,
}

impl<R: BufRead> Batches<R> {
    /// Batches of the lines of `reader`.
    pub(super) fn new(reader: R, lines: Lines) -> Batches<R> {
        Batches { reader, lines, line: 0, carried: None, ended: false }
    }

    fn next_batch(&mut self) -> io::Result<Batch> {
        let mut batch = Batch::default();
        let mut body = FRAME.to_vec();
        if let Some((line, job)) = self.carried.take() {
            push(&mut body, &mut batch, line, &job);
        }
        while batch.jobs.len() < limits::BATCH_JOBS && batch.refused.len() < limits::BATCH_JOBS {
            let Some(text) = self.next_line(&mut batch)? else {
                self.ended = true;
                break;
            };
            match text.and_then(|text| self.lines.job(&text)) {
                Ok(None) => {}
                Ok(Some(job))
                    if body.len() + job.len() + 3 > limits::BATCH_BYTES && !batch.jobs.is_empty() =>
                {
                    self.carried = Some((self.line, job));
                    break;
                }
                Ok(Some(job)) => push(&mut body, &mut batch, self.line, &job),
                Err(why) => batch.refused.push(Refused { line: self.line, why }),
            }
        }
        body.extend_from_slice(b"]}");
        batch.body = body.into();
        Ok(batch)
    }

    /// One line; an `Err` inside is a line that cannot be read, after which the next one follows.
    fn next_line(&mut self, batch: &mut Batch) -> io::Result<Option<Result<String, String>>> {
        let mut bytes = Vec::new();
        let read = (&mut self.reader).take(LINE_BYTES as u64 + 1).read_until(b'\n', &mut bytes)?;
        if read == 0 {
            return Ok(None);
        }
        self.line += 1;
        batch.lines += 1;
        batch.bytes += read as u64;
        if bytes.len() > LINE_BYTES && bytes.last() != Some(&b'\n') {
            batch.bytes += self.skip_line()?;
            return Ok(Some(Err(format!("it is longer than {LINE_BYTES} bytes"))));
        }
        Ok(Some(String::from_utf8(bytes).map_err(|_| "it is not UTF-8".into())))
    }

    /// Passes over the rest of a line without keeping it.
    fn skip_line(&mut self) -> io::Result<u64> {
        let mut skipped = 0;
        loop {
            let buffer = self.reader.fill_buf()?;
            if buffer.is_empty() {
                return Ok(skipped);
            }
            let (length, done) = match buffer.iter().position(|byte| *byte == b'\n') {
                Some(end) => (end + 1, true),
                None => (buffer.len(), false),
            };
            self.reader.consume(length);
            skipped += length as u64;
            if done {
                return Ok(skipped);
            }
        }
    }
}

impl<R: BufRead> Iterator for Batches<R> {
    type Item = io::Result<Batch>;

    fn next(&mut self) -> Option<io::Result<Batch>> {
        if self.ended && self.carried.is_none() {
            return None;
        }
        let batch = self.next_batch();
        if batch.is_err() {
            self.ended = true;
            self.carried = None;
        }
        Some(batch)
    }
}

impl Lines {
    /// The job that a line stands for; `None` for an empty line.
    fn job(&self, text: &str) -> Result<Option<String>, String> {
        let text = text.trim();
        if text.is_empty() {
            return Ok(None);
        }
        let not_json = |error: serde_json::Error| format!("it is not JSON: {error}");
        let mut fields = if self.payloads {
            let payload = serde_json::from_str::<&RawValue>(text).map_err(not_json)?;
            BTreeMap::from([("payload".to_owned(), payload)])
        } else {
            if !text.starts_with('{') {
                return Err("it is not a JSON object; use --payloads if lines are payloads".into());
            }
            serde_json::from_str::<Fields<'_>>(text).map_err(not_json)?.0
        };
        if is_exported(&fields) {
            as_new(&mut fields);
        }
        let kind = self.kind.as_ref().map(serde_json::value::to_raw_value).transpose().map_err(not_json)?;
        let queue = self.queue.as_ref().map(serde_json::value::to_raw_value).transpose().map_err(not_json)?;
        for (name, default) in [("kind", &kind), ("queue", &queue)] {
            if let Some(default) = default {
                fields.entry(name.to_owned()).or_insert(default);
            }
        }
        if !fields.contains_key("kind") {
            return Err("it names no `kind`, and there is no --kind".into());
        }
        serde_json::to_string(&fields).map(Some).map_err(not_json)
    }
}

/// Whether a line is of `ganger job export`: a job that exists, or did.
fn is_exported(fields: &BTreeMap<String, &RawValue>) -> bool {
    ["id", "state", "created_at"].iter().all(|name| fields.contains_key(*name))
}

/// Keeps of an exported job what a new one can be asked for. A job that was over is due at once.
fn as_new(fields: &mut BTreeMap<String, &RawValue>) {
    let over = fields.get("state").is_some_and(|state| OVER.contains(&state.get().trim_matches('"')));
    fields.retain(|name, _| KEPT.contains(&name.as_str()) || (!over && MOMENTS.contains(&name.as_str())));
}

/// The members of an object, each as it was written.
#[derive(Deserialize)]
struct Fields<'a>(#[serde(borrow)] BTreeMap<String, &'a RawValue>);

fn push(body: &mut Vec<u8>, batch: &mut Batch, line: u64, job: &str) {
    if !batch.jobs.is_empty() {
        body.push(b',');
    }
    body.extend_from_slice(job.as_bytes());
    batch.jobs.push(line);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batches(text: impl AsRef<[u8]>, lines: Lines) -> Vec<Batch> {
        Batches::new(text.as_ref(), lines).map(Result::unwrap).collect()
    }

    fn text(batch: &Batch) -> &str {
        std::str::from_utf8(&batch.body).unwrap()
    }

    #[test]
    fn a_line_of_an_export_is_asked_for_anew() {
        let line = |state: &str| {
            format!(
                "{{\"id\":\"job_1\",\"kind\":\"k\",\"state\":\"{state}\",\"created_at\":\"x\",\"run_at\":\"y\",\"attempt\":3,\"payload\":[1, 2],\"worker\":\"w\"}}"
            )
        };
        let found = batches(format!("{}\n{}\n", line("dead"), line("scheduled")), Lines::default());
        assert_eq!(
            text(&found[0]),
            r#"{"jobs":[{"kind":"k","payload":[1, 2]},{"kind":"k","payload":[1, 2],"run_at":"y"}]}"#
        );
    }

    #[test]
    fn a_line_is_a_job_and_its_payload_stays_as_it_is() {
        let lines = Lines { kind: Some("k".into()), ..Lines::default() };
        let found = batches("{\"payload\":{\"n\": 123456789012345678901}}\n\n{\"kind\":\"own\"}\n", lines);
        assert_eq!(
            text(&found[0]),
            r#"{"jobs":[{"kind":"k","payload":{"n": 123456789012345678901}},{"kind":"own"}]}"#
        );
        assert_eq!(found[0].jobs, [1, 3], "an empty line is no job, but it counts as a line");
    }

    #[test]
    fn a_line_can_be_only_the_payload() {
        let lines = Lines { kind: Some("k".into()), queue: Some("q".into()), payloads: true };
        let found = batches("[1,2]\n\"x\"", lines);
        assert_eq!(
            text(&found[0]),
            r#"{"jobs":[{"kind":"k","payload":[1,2],"queue":"q"},{"kind":"k","payload":"x","queue":"q"}]}"#
        );
    }

    #[test]
    fn a_batch_is_full_at_the_bound_and_the_next_one_begins_past_it() {
        let line = "{\"kind\":\"noop\"}\n";
        let found = batches(line.repeat(limits::BATCH_JOBS + 1), Lines::default());
        assert_eq!(found.iter().map(|batch| batch.jobs.len()).collect::<Vec<_>>(), [limits::BATCH_JOBS, 1]);
        let wide = format!("{{\"kind\":\"noop\",\"payload\":\"{}\"}}\n", "a".repeat(1_000_000));
        let found = batches(wide.repeat(5), Lines::default());
        assert_eq!(found.iter().map(|batch| batch.jobs.len()).collect::<Vec<_>>(), [4, 1]);
        assert!(found.iter().all(|batch| batch.body.len() <= limits::BATCH_BYTES));
        assert_eq!(found[1].jobs, [5]);
    }

    #[test]
    fn a_bad_line_is_refused_with_its_number_and_the_rest_goes_on() {
        let mut input = b"{\"kind\":\"a\"}\nnope\n{\"a\":}\n{}\n\xff\n".to_vec();
        input.extend_from_slice("x".repeat(LINE_BYTES + 1).as_bytes());
        input.extend_from_slice(b"\n{\"kind\":\"b\"}");
        let found = batches(input, Lines::default());
        assert_eq!(found[0].jobs, [1, 7]);
        let lines: Vec<u64> = found[0].refused.iter().map(|refused| refused.line).collect();
        assert_eq!(lines, [2, 3, 4, 5, 6]);
    }
}
