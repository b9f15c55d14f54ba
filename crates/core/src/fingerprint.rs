//! Failures that are one failure: an error text without what differs from job to job, per kind.
//!
//! `job 42: cannot reach 10.0.0.7:25 after 3 tries` and the same of job 43 are one group. Numbers, ids, addresses,
//! times, paths and quoted texts are taken out; what is left of the message, and of the first frames of a stack,
//! is hashed. Two failures that fall together by accident are shown together, and nothing worse.

pub mod trend;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::ids::JobId;
use crate::name::Kind;
use crate::outcome::Outcome;
use crate::time::Wall;

/// How much of an error is looked at, in bytes.
const LOOKED_AT: usize = 4_096;
/// How much of a line counts, in bytes, once it is normalised.
const LINE: usize = 256;
/// Frames of a stack that count.
const FRAMES: usize = 3;
/// How much of an error is kept as the sample of its group, in bytes.
pub const SAMPLE_BYTES: usize = 2_048;
/// Most groups that are kept; retention forgets those that were not seen for longest.
pub const GROUPS: usize = 10_000;
/// A group that was not seen for so long is forgotten.
pub const FORGOTTEN_AFTER: std::time::Duration = std::time::Duration::from_secs(90 * 86_400);

/// Names a group of failures. Shown as sixteen hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(pub u64);

/// One attempt that failed, for its group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailureSeen {
    /// Its group.
    pub fingerprint: Fingerprint,
    /// The kind of its job.
    pub kind: Kind,
    /// Its job.
    pub job: JobId,
    /// Its error, cut to [`SAMPLE_BYTES`].
    pub error: String,
    /// When it ended.
    pub at: Wall,
}

/// A group of failures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureGroup {
    /// Its name.
    pub fingerprint: Fingerprint,
    /// The kind of its jobs.
    pub kind: Kind,
    /// Attempts that failed so.
    pub count: u64,
    /// When the first of them ended.
    pub first_at: Wall,
    /// When the last one ended.
    pub last_at: Wall,
    /// The error of the last one.
    pub error: String,
    /// The job of the last one.
    pub job: JobId,
}

impl Fingerprint {
    /// The group of an attempt; `None` if it did not fail.
    #[must_use]
    pub fn of(kind: &str, outcome: Outcome, error: Option<&str>) -> Option<Fingerprint> {
        if !outcome.is_failure() {
            return None;
        }
        let mut hash = Fnv(0xCBF2_9CE4_8422_2325);
        for part in [kind, outcome.as_str(), &normalised(error.unwrap_or_default())] {
            part.bytes().for_each(|byte| hash.add(byte));
            hash.add(0);
        }
        Some(Fingerprint(hash.0))
    }
}

impl FailureSeen {
    /// An attempt that ended so; `None` if it did not fail.
    #[must_use]
    pub fn of(
        kind: &Kind,
        job: JobId,
        outcome: Outcome,
        error: Option<&str>,
        at: Wall,
    ) -> Option<FailureSeen> {
        let fingerprint = Fingerprint::of(kind.as_str(), outcome, error)?;
        let error = error.unwrap_or(outcome.as_str());
        let error = error[..error.floor_char_boundary(SAMPLE_BYTES)].to_owned();
        Some(FailureSeen { fingerprint, kind: kind.clone(), job, error, at })
    }

    /// The group that it begins.
    #[must_use]
    pub fn first(&self) -> FailureGroup {
        FailureGroup {
            fingerprint: self.fingerprint,
            kind: self.kind.clone(),
            count: 1,
            first_at: self.at,
            last_at: self.at,
            error: self.error.clone(),
            job: self.job,
        }
    }
}

impl FailureGroup {
    /// Another failure of the group.
    pub fn add(&mut self, seen: &FailureSeen) {
        self.count += 1;
        self.first_at = self.first_at.min(seen.at);
        if seen.at >= self.last_at {
            self.last_at = seen.at;
            self.error.clone_from(&seen.error);
            self.job = seen.job;
        }
    }
}

/// An error text without what differs from job to job.
#[must_use]
pub fn normalised(error: &str) -> String {
    let error = &error[..error.floor_char_boundary(LOOKED_AT)];
    let lines: Vec<&str> = error.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let is_frame = |line: &&&str| line.starts_with("at ") || line.starts_with("File \"");
    // Python tells the message last, and the innermost frame before it.
    let python = lines.first().is_some_and(|line| line.starts_with("Traceback "));
    let message = if python { lines.last() } else { lines.first() };
    let frames: Vec<&&str> = if python {
        lines.iter().rev().filter(is_frame).take(FRAMES).collect()
    } else {
        lines.iter().skip(1).filter(is_frame).take(FRAMES).collect()
    };
    let mut text = String::new();
    for line in message.into_iter().chain(frames) {
        let mut plain = normalised_line(line);
        plain.truncate(plain.floor_char_boundary(LINE));
        text.push_str(&plain);
        text.push('\n');
    }
    text
}

fn normalised_line(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    // Bounded: each round takes at least one character.
    while let Some(c) = rest.chars().next() {
        if matches!(c, '"' | '\'' | '`')
            && !out.ends_with(char::is_alphanumeric)
            && let Some(end) = rest[c.len_utf8()..].find(c)
        {
            out.push_str("<text>");
            rest = &rest[end + 2 * c.len_utf8()..];
            continue;
        }
        let word = |c: char| {
            c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '/' | '\\' | '@' | '%' | '+')
        };
        let end = rest.find(|c| !word(c)).unwrap_or(rest.len());
        if end == 0 {
            out.push(c);
            rest = &rest[c.len_utf8()..];
            continue;
        }
        let (found, after) = rest.split_at(end);
        let bare = found.trim_end_matches(['.', ':', '-', '/']);
        out.push_str(&normalised_word(bare));
        out.push_str(&found[bare.len()..]);
        rest = after;
    }
    out
}

fn normalised_word(word: &str) -> String {
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let letters = word.chars().filter(|c| c.is_alphabetic()).count();
    let all = |allowed: fn(char) -> bool| !word.is_empty() && word.chars().all(allowed);
    let hex = |c: char| c.is_ascii_hexdigit();
    if word.contains("://") {
        return "<url>".into();
    }
    if word.contains('@') && word.contains('.') {
        return "<email>".into();
    }
    if word.len() > 1 && (word.starts_with('/') || word.contains('\\') || word.matches('/').count() > 1) {
        return "<path>".into();
    }
    if word.len() == 36 && word.matches('-').count() == 4 && word.chars().all(|c| hex(c) || c == '-') {
        return "<id>".into();
    }
    if digits >= 8 && letters <= 2 && word.get(4..5) == Some("-") && word.get(7..8) == Some("-") {
        return "<time>".into();
    }
    if digits >= 4 && word.matches('.').count() == 3 && all(|c| c.is_ascii_digit() || c == '.' || c == ':') {
        return "<address>".into();
    }
    if word.starts_with("0x") || (digits > 0 && word.len() >= 8 && word.chars().all(hex)) {
        return "<hex>".into();
    }
    if word.len() >= 16 && digits >= 3 && letters >= 3 && all(|c| c.is_alphanumeric() || c == '_' || c == '-')
    {
        return "<id>".into();
    }
    without_numbers(word)
}

/// Each number of a word, with its point, becomes one mark.
fn without_numbers(word: &str) -> String {
    let mut out = String::with_capacity(word.len());
    let mut chars = word.chars().peekable();
    let mut in_number = false;
    while let Some(c) = chars.next() {
        let goes_on = in_number && c == '.' && chars.peek().is_some_and(char::is_ascii_digit);
        if c.is_ascii_digit() || goes_on {
            if !in_number {
                out.push_str("<n>");
            }
            in_number = true;
        } else {
            in_number = false;
            out.push(c);
        }
    }
    out
}

struct Fnv(u64);

impl Fnv {
    fn add(&mut self, byte: u8) {
        self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The text does not name a group of failures.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a failure group is named by sixteen hexadecimal digits")]
pub struct NotAFingerprint;

impl FromStr for Fingerprint {
    type Err = NotAFingerprint;
    fn from_str(text: &str) -> Result<Fingerprint, NotAFingerprint> {
        let plain = text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = plain.then(|| u64::from_str_radix(text, 16).ok()).flatten();
        number.map(Fingerprint).ok_or(NotAFingerprint)
    }
}

impl Serialize for Fingerprint {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Fingerprint {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Fingerprint, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(d)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_differs_from_job_to_job_is_taken_out() {
        for (text, plain) in [
            (
                "job 42: cannot reach 10.0.0.7:25 after 3 tries",
                "job <n>: cannot reach <address> after <n> tries\n",
            ),
            ("no user 'ann' in \"mail\"", "no user <text> in <text>\n"),
            ("it doesn't answer", "it doesn't answer\n"),
            ("GET https://a.example/x?y=1 said 503", "GET <url>?y=<n> said <n>\n"),
            ("open /var/lib/x/42.db: no such file", "open <path>: no such file\n"),
            ("job_01J9X7QK5V8M3N2P4R6S8T0V1W is gone", "<id> is gone\n"),
            ("id 8e03978e-40d5-43e8-bc93-6894a57f9324.", "id <id>.\n"),
            ("at 2026-11-15T19:00:00Z: late", "at <time>: late\n"),
            ("pointer 0xdeadbeef, digest 9f86d081884c7d65", "pointer <hex>, digest <hex>\n"),
            ("took 12.5s; mail ann@b.example", "took <n>s; mail <email>\n"),
            ("", ""),
        ] {
            assert_eq!(normalised(text), plain, "{text}");
        }
    }

    #[test]
    fn a_stack_counts_by_its_message_and_first_frames() {
        let python = |line: u8| {
            format!(
                "Traceback (most recent call last):\n  File \"/app/a.py\", line {line}, in run\n    f(x)\nValueError: bad {line}\n"
            )
        };
        assert_eq!(normalised(&python(1)), normalised(&python(2)));
        assert!(normalised(&python(1)).starts_with("ValueError: bad <n>\nFile <text>, line <n>, in run\n"));
        let java = "boom\n  at a.B.c(B.java:12)\n  at d.E.f(E.java:9)\nsomething else\n";
        assert_eq!(normalised(java), "boom\nat a.B.c(B.java:<n>)\nat d.E.f(E.java:<n>)\n");
    }

    #[test]
    fn a_group_is_of_one_kind_and_one_sort_of_failure() {
        let of = |kind, outcome, error| Fingerprint::of(kind, outcome, Some(error)).unwrap();
        assert_eq!(of("a", Outcome::Error, "x 1"), of("a", Outcome::Error, "x 2"));
        assert_ne!(of("a", Outcome::Error, "x"), of("b", Outcome::Error, "x"));
        assert_ne!(of("a", Outcome::Error, "x"), of("a", Outcome::Timeout, "x"));
        for outcome in [Outcome::Ok, Outcome::Released, Outcome::Cancelled] {
            assert_eq!(Fingerprint::of("a", outcome, None), None);
        }
        let shown = of("a", Outcome::Error, "x").to_string();
        assert_eq!(shown.parse::<Fingerprint>().unwrap().to_string(), shown);
        assert!("+123456789abcdef".parse::<Fingerprint>().is_err());
    }

    proptest! {
        #[test]
        fn any_text_has_a_group(text in any::<String>()) {
            prop_assert!(normalised(&text).len() <= (LINE + 1) * (FRAMES + 1));
        }
    }
}
