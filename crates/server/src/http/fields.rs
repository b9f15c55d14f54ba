//! Reading a JSON object field by field, so that every mistake is named, each with its place.
//!
//! Values are kept as raw text until their field is read: a payload stays byte for byte what the client
//! sent, and an object with a million unknown fields costs no more than its bytes.

use std::borrow::Cow;
use std::fmt;
use std::ops::RangeInclusive;

use ganger_core::limits;
use serde::de::{self, DeserializeOwned, DeserializeSeed};
use serde_json::value::RawValue;

use super::problem::{Code, Problem};
use crate::api::FieldProblem;

/// Most unknown or repeated fields that one answer names.
const NAMED: usize = 8;

/// Checks that the bytes are UTF-8 and not nested deeper than any request needs to be.
///
/// # Errors
/// A `malformed_json` problem that says where.
pub(super) fn text(bytes: &[u8]) -> Result<&str, Problem> {
    let text = std::str::from_utf8(bytes).map_err(|e| {
        Problem::new(Code::MalformedJson, format!("the body is not UTF-8 at byte {}", e.valid_up_to()))
    })?;
    // A batch wraps its payloads into an object, an array and an object.
    if depth(text) > limits::JSON_DEPTH + 3 {
        return Err(Problem::new(
            Code::MalformedJson,
            format!("the body is nested deeper than {} levels", limits::JSON_DEPTH),
        ));
    }
    Ok(text)
}

/// The deepest nesting of arrays and objects. Only brackets outside of strings count; the text need
/// not be valid.
pub(crate) fn depth(text: &str) -> usize {
    let (mut depth, mut deepest) = (0usize, 0usize);
    let (mut in_string, mut escaped) = (false, false);
    for byte in text.bytes() {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'[' | b'{' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// A JSON object, its values not yet read.
pub(super) struct Object<'a> {
    known: &'static [&'static str],
    values: Vec<Option<&'a RawValue>>,
    base: String,
    errors: Vec<FieldProblem>,
}

impl<'a> Object<'a> {
    /// Splits an object into the fields of those names. Unknown and repeated ones are noted as errors.
    ///
    /// # Errors
    /// A `malformed_json` problem with line and column.
    pub(super) fn parse(
        text: &'a str,
        known: &'static [&'static str],
        base: &str,
    ) -> Result<Object<'a>, Problem> {
        let mut object =
            Object { known, values: vec![None; known.len()], base: base.into(), errors: Vec::new() };
        let mut json = serde_json::Deserializer::from_str(text);
        let read = Fill(&mut object).deserialize(&mut json).and_then(|()| json.end());
        read.map_err(|e| Problem::new(Code::MalformedJson, format!("the body is not a JSON object: {e}")))?;
        Ok(object)
    }

    /// The field as it was written; `null` counts as left out.
    pub(super) fn raw(&self, name: &str) -> Option<&'a RawValue> {
        let index = self.known.iter().position(|k| *k == name)?;
        self.values[index].filter(|raw| raw.get() != "null")
    }

    /// The field as a value of that type. A value of another type is noted as an error.
    pub(super) fn take<T: DeserializeOwned>(&mut self, name: &str) -> Option<T> {
        let raw = self.raw(name)?;
        match serde_json::from_str(raw.get()) {
            Ok(value) => Some(value),
            Err(error) => {
                self.refuse(name, without_place(&error));
                None
            }
        }
    }

    /// The field as an integer within that range.
    pub(super) fn integer(&mut self, name: &str, range: RangeInclusive<i64>) -> Option<i64> {
        let raw = self.raw(name)?;
        let (low, high) = (range.start(), range.end());
        match serde_json::from_str::<serde_json::Number>(raw.get()) {
            Ok(number) => match number.as_i64() {
                Some(value) if range.contains(&value) => return Some(value),
                _ => self.refuse(name, format!("is {number}, allowed are {low} to {high}")),
            },
            Err(_) => self.refuse(name, format!("must be a whole number from {low} to {high}")),
        }
        None
    }

    /// Notes an error at a field; `a.b` is the field `b` within `a`.
    pub(super) fn refuse(&mut self, name: &str, detail: impl Into<String>) {
        let pointer = format!("{}/{}", self.base, name.replace('.', "/"));
        self.errors.push(FieldProblem::new(pointer, detail));
    }

    /// Adds errors found elsewhere.
    pub(super) fn refuse_all(&mut self, errors: Vec<FieldProblem>) {
        self.errors.extend(errors);
    }

    /// Whether anything was refused.
    pub(super) fn is_refused(&self) -> bool {
        !self.errors.is_empty()
    }

    /// Ends the reading.
    ///
    /// # Errors
    /// Everything that was refused.
    pub(super) fn finish(self) -> Result<(), Vec<FieldProblem>> {
        if self.errors.is_empty() { Ok(()) } else { Err(self.errors) }
    }

    fn unknown(&mut self, name: &str) {
        if self.errors.len() >= NAMED {
            return;
        }
        let shown: String = name.chars().take(64).flat_map(char::escape_debug).collect();
        let detail = match suggestion(name, self.known) {
            Suggestion::NotYet => "is not supported by this version".to_string(),
            Suggestion::Like(other) => format!("is not a known field; did you mean `{other}`?"),
            Suggestion::None if self.known.is_empty() => {
                "is not expected: this request takes no fields".into()
            }
            Suggestion::None => format!("is not a known field; known are {}", self.known.join(", ")),
        };
        self.errors.push(FieldProblem::new(format!("{}/{shown}", self.base), detail));
    }
}

/// Fills an object from a deserializer.
struct Fill<'o, 'a>(&'o mut Object<'a>);

impl<'a> DeserializeSeed<'a> for Fill<'_, 'a> {
    type Value = ();
    fn deserialize<D: de::Deserializer<'a>>(self, d: D) -> Result<(), D::Error> {
        d.deserialize_map(self)
    }
}

impl<'a> de::Visitor<'a> for Fill<'_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: de::MapAccess<'a>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<Cow<'a, str>>()? {
            let value = map.next_value::<&'a RawValue>()?;
            match self.0.known.iter().position(|known| *known == name) {
                Some(index) if self.0.values[index].is_some() => {
                    if self.0.errors.len() < NAMED {
                        self.0.refuse(&name, "is given more than once");
                    }
                }
                Some(index) => self.0.values[index] = Some(value),
                None => self.0.unknown(&name),
            }
        }
        Ok(())
    }
}

/// Splits a JSON array of at most `limit` elements, their values not yet read.
///
/// # Errors
/// It is not an array, or a longer one.
pub(super) fn elements(raw: &RawValue, limit: usize) -> Result<Vec<&RawValue>, String> {
    let mut json = serde_json::Deserializer::from_str(raw.get());
    let read = de::Deserializer::deserialize_seq(&mut json, Elements(limit));
    read.map_err(|error| without_place(&error))
}

struct Elements(usize);

impl<'a> de::Visitor<'a> for Elements {
    type Value = Vec<&'a RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON array")
    }

    fn visit_seq<A: de::SeqAccess<'a>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = seq.next_element::<&'a RawValue>()? {
            if values.len() == self.0 {
                return Err(de::Error::custom(format!("has more than {} elements", self.0)));
            }
            values.push(value);
        }
        Ok(values)
    }
}

enum Suggestion {
    NotYet,
    Like(&'static str),
    None,
}

/// What other systems call our fields.
const ALIASES: [(&str, &str); 14] = [
    ("type", "kind"),
    ("name", "kind"),
    ("task", "kind"),
    ("args", "payload"),
    ("data", "payload"),
    ("body", "payload"),
    ("input", "payload"),
    ("params", "payload"),
    ("eta", "run_at"),
    ("scheduled_at", "run_at"),
    ("retries", "max_attempts"),
    ("labels", "require"),
    ("key", "unique_key"),
    ("topic", "queue"),
];

/// Fields of the design that this version does not have.
const NOT_YET: [&str; 3] = ["fair_key", "fair_weight", "concurrency_key"];

fn suggestion(name: &str, known: &'static [&'static str]) -> Suggestion {
    if NOT_YET.contains(&name) {
        return Suggestion::NotYet;
    }
    let alias = ALIASES.iter().find(|(theirs, ours)| *theirs == name && known.contains(ours));
    if let Some((_, ours)) = alias {
        return Suggestion::Like(ours);
    }
    let near = known.iter().map(|k| (distance(name, k), *k)).filter(|(d, _)| *d <= 2).min();
    near.map_or(Suggestion::None, |(_, k)| Suggestion::Like(k))
}

/// Levenshtein's distance; names of very different length are far apart without looking.
fn distance(a: &str, b: &str) -> usize {
    if a.len().abs_diff(b.len()) > 2 {
        return usize::MAX;
    }
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let cost = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = cost.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

/// The message of a serde error without line and column, which would be those of the field alone.
pub(super) fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split_once(" at line ").map_or(text.clone(), |(message, _)| message.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[&str] = &["kind", "payload", "priority", "threads"];

    fn errors(json: &str) -> Vec<String> {
        let object = Object::parse(json, KNOWN, "").unwrap();
        object.finish().unwrap_err().into_iter().map(|e| format!("{} {}", e.pointer, e.detail)).collect()
    }

    #[test]
    fn unknown_and_repeated_fields_are_named_with_a_suggestion() {
        assert_eq!(errors(r#"{"knd": 1}"#), ["/knd is not a known field; did you mean `kind`?"]);
        assert_eq!(errors(r#"{"type": 1}"#), ["/type is not a known field; did you mean `kind`?"]);
        assert_eq!(errors(r#"{"fair_key": 1}"#), ["/fair_key is not supported by this version"]);
        assert_eq!(errors(r#"{"kind": 1, "kind": 2}"#), ["/kind is given more than once"]);
        let many: String = (0..100_000).map(|i| format!("\"x{i}\":1,")).collect();
        assert_eq!(errors(&format!("{{{many}\"y\":1}}")).len(), NAMED);
    }

    #[test]
    fn what_is_not_an_object_says_where_it_breaks() {
        for bad in ["", "[]", "null", "1", "{", "{\"a\"}", "{\"a\":}", "{} x", "{\"a\":\u{1}}", "\"\\ud800\""]
        {
            let Err(problem) = Object::parse(bad, KNOWN, "") else { panic!("{bad} was taken") };
            assert_eq!(problem.code, Code::MalformedJson);
            assert!(problem.detail.contains("line"), "{bad}: {}", problem.detail);
        }
    }

    #[test]
    fn integers_keep_to_their_range() {
        let json = r#"{"priority": 128, "threads": "2", "kind": 1e400}"#;
        let mut object = Object::parse(json, KNOWN, "/jobs/3").unwrap();
        assert_eq!(object.integer("priority", -128..=127), None);
        assert_eq!(object.integer("threads", 1..=8), None);
        assert_eq!(object.integer("kind", 0..=1), None);
        let errors = object.finish().unwrap_err();
        assert_eq!(errors[0], FieldProblem::new("/jobs/3/priority", "is 128, allowed are -128 to 127"));
        assert_eq!(errors[1].detail, "must be a whole number from 1 to 8");
        assert_eq!(errors.len(), 3);
    }

    #[test]
    fn an_array_is_taken_at_the_bound_and_refused_one_past_it() {
        let raw = |text: &str| RawValue::from_string(text.into()).unwrap();
        assert_eq!(elements(&raw("[1, [2], {}]"), 3).unwrap().len(), 3);
        assert_eq!(elements(&raw("[1, [2], {}]"), 2).unwrap_err(), "has more than 2 elements");
        assert!(elements(&raw("{}"), 2).unwrap_err().contains("expected a JSON array"));
    }

    #[test]
    fn depth_counts_brackets_outside_of_strings() {
        assert_eq!(depth(r#"{"a": [1, {"b": "[[[[{\"["}]}"#), 3);
        assert_eq!(depth("]]]]"), 0);
        assert!(text("[".repeat(100_000).as_bytes()).is_err());
        assert!(text(&[b'"', 0xff]).is_err());
    }
}
