//! The language in which people say which jobs they mean.
//!
//! ```text
//! state:dead kind:mail.* payload.user.id:42      every condition holds
//! queue:mail,sms                                 one of several values
//! -tag:eu  -(state:queued age<5s)                not
//! ran>5s  attempt>=3  created<2026-11-15         comparisons
//! error~"connection reset"                       a part of the text, whatever its case
//! timeout or (queue:mail priority>0)             words look in id, unique key and error; `or`, parentheses
//! ```
//! One parser for REST, the command line and bulk operations. It is pure and bounded; a text it does not
//! understand is refused with the byte at which it stopped making sense and what could stand there. What is
//! parsed prints back as a text that parses to the same.
//!
//! A new field is a variant of one of the field enums here, its name, and its line in `eval.rs`.

mod eval;
mod narrow;
mod parse;
mod print;
#[cfg(test)]
mod tests;
mod units;

use std::time::Duration;

use crate::ids::JobId;
use crate::job::State;
use crate::outcome::Outcome;
use crate::time::Wall;

pub use eval::Facts;
pub use narrow::Narrowed;

/// Longest filter, in bytes.
pub const FILTER_BYTES: usize = 4_096;
/// Most conditions of a filter.
pub const FILTER_TERMS: usize = 64;
/// Most values of one condition.
pub const FILTER_VALUES: usize = 64;
/// Deepest nesting of parentheses and negations.
pub const FILTER_DEPTH: usize = 16;
/// Most parts of a path into a payload or a result.
pub const PATH_PARTS: usize = 16;

/// A condition on jobs, as parsed.
#[derive(Clone, Debug, PartialEq)]
pub struct Filter {
    /// What must hold.
    pub expr: Expr,
}

/// How conditions are put together.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// Every one holds; at least two.
    All(Vec<Expr>),
    /// One of them holds; at least two.
    Any(Vec<Expr>),
    /// It does not hold.
    Not(Box<Expr>),
    /// One condition.
    Term(Term),
}

/// One condition.
#[derive(Clone, Debug, PartialEq)]
pub enum Term {
    /// In one of these states.
    State(Vec<State>),
    /// Its last recorded attempt ended in one of these ways.
    Outcome(Vec<Outcome>),
    /// One of these jobs.
    Id(Vec<JobId>),
    /// A text.
    Text(TextField, TextTest),
    /// A number.
    Number(NumberField, NumberTest),
    /// A length of time.
    Length(LengthField, Compare, Duration),
    /// A moment.
    Moment(MomentField, Compare, Wall),
    /// Something in the payload or the result.
    Json(JsonField, Vec<String>, JsonTest),
    /// A word somewhere: in the id, the unique key, the error.
    Word(String),
}

/// Fields that are texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextField {
    /// The queue.
    Queue,
    /// The kind.
    Kind,
    /// Any of the tags.
    Tag,
    /// The unique key.
    Key,
    /// The worker of the last recorded attempt.
    Worker,
    /// The error of the last recorded attempt.
    Error,
    /// Why it died or was cancelled.
    Reason,
    /// The failure group of the last recorded attempt.
    Failure,
    /// The schedule that made it.
    Schedule,
}

/// Fields that are numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberField {
    /// Larger runs first.
    Priority,
    /// Number of its last attempt.
    Attempt,
    /// Attempts allowed.
    MaxAttempts,
    /// Threads it wants.
    Threads,
}

/// Fields that are lengths of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LengthField {
    /// Since it was taken in.
    Age,
    /// How long it waited, ready to run, before its last attempt; so far, if it waits now.
    Wait,
    /// How long its last attempt ran; so far, if it runs now.
    Ran,
}

/// Fields that are moments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MomentField {
    /// When it was taken in.
    Created,
    /// When it may run, or last might.
    RunAt,
    /// When it became final.
    Finished,
}

/// Fields that are JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonField {
    /// Its input.
    Payload,
    /// What its handler returned.
    Result,
}

/// An order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    More,
    /// `>=`
    AtLeast,
}

/// What is asked of a text.
#[derive(Clone, Debug, PartialEq)]
pub enum TextTest {
    /// It is one of these.
    OneOf(Vec<Value>),
    /// This is a part of it, whatever the case.
    Contains(String),
}

/// What is asked of a number.
#[derive(Clone, Debug, PartialEq)]
pub enum NumberTest {
    /// It is one of these.
    OneOf(Vec<i64>),
    /// It compares so.
    Compare(Compare, i64),
}

/// What is asked of a value in JSON.
#[derive(Clone, Debug, PartialEq)]
pub enum JsonTest {
    /// It is one of these: a text, or a number, `true`, `false` or `null` unless quoted.
    OneOf(Vec<Value>),
    /// It is a number that compares so.
    Compare(Compare, f64),
    /// This is a part of its text, whatever the case.
    Contains(String),
}

/// A value as it was written. Without quotes `*` stands for any text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// Without its quotes.
    pub text: String,
    /// Whether it had quotes: then it is exactly this text.
    pub quoted: bool,
}

/// A text that is not a filter: where it stopped making sense, and what could stand there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem} (at byte {position}){}", wanted(.expected))]
pub struct FilterError {
    /// Byte of the text, from 0.
    pub position: usize,
    /// What is wrong there.
    pub problem: String,
    /// What could stand there instead.
    pub expected: Vec<&'static str>,
}

fn wanted(expected: &[&'static str]) -> String {
    if expected.is_empty() { String::new() } else { format!("; expected {}", expected.join(", ")) }
}

impl Filter {
    /// Reads a filter.
    ///
    /// # Errors
    /// If it is empty, malformed or too large, with the place and what was expected there.
    pub fn parse(text: &str) -> Result<Filter, FilterError> {
        parse::parse(text)
    }

    /// Both hold.
    #[must_use]
    pub fn and(self, other: Filter) -> Filter {
        Filter { expr: Expr::All(vec![self.expr, other.expr]) }
    }

    /// The same jobs at this moment, in words whose meaning does not move on with the time: ages become moments.
    #[must_use]
    pub fn pinned(&self, now: Wall) -> Filter {
        Filter { expr: pinned(&self.expr, now) }
    }

    /// Whether it asks for what is in payloads or results: its answer tells something about them.
    #[must_use]
    pub fn asks_for_contents(&self) -> bool {
        contents(&self.expr)
    }

    /// Jobs of queues that match one of these, in which `*` stands for any text.
    #[must_use]
    pub fn in_queues(globs: &[String]) -> Filter {
        let value = |glob: &String| Value { text: glob.clone(), quoted: false };
        let test = TextTest::OneOf(globs.iter().map(value).collect());
        Filter { expr: Expr::Term(Term::Text(TextField::Queue, test)) }
    }

    /// Jobs in one of these states.
    #[must_use]
    pub fn in_states(states: &[State]) -> Filter {
        Filter { expr: Expr::Term(Term::State(states.to_vec())) }
    }
}

fn contents(expr: &Expr) -> bool {
    match expr {
        Expr::All(parts) | Expr::Any(parts) => parts.iter().any(contents),
        Expr::Not(inner) => contents(inner),
        Expr::Term(Term::Json(..)) => true,
        Expr::Term(
            Term::State(_)
            | Term::Outcome(_)
            | Term::Id(_)
            | Term::Text(..)
            | Term::Number(..)
            | Term::Length(..)
            | Term::Moment(..)
            | Term::Word(_),
        ) => false,
    }
}

fn pinned(expr: &Expr, now: Wall) -> Expr {
    let each = |parts: &[Expr]| parts.iter().map(|part| pinned(part, now)).collect();
    match expr {
        Expr::All(parts) => Expr::All(each(parts)),
        Expr::Any(parts) => Expr::Any(each(parts)),
        Expr::Not(inner) => Expr::Not(Box::new(pinned(inner, now))),
        Expr::Term(Term::Length(LengthField::Age, order, length)) => {
            // Older than a length is taken in before a moment.
            let order = match order {
                Compare::Less => Compare::More,
                Compare::AtMost => Compare::AtLeast,
                Compare::More => Compare::Less,
                Compare::AtLeast => Compare::AtMost,
            };
            Expr::Term(Term::Moment(MomentField::Created, order, now - *length))
        }
        Expr::Term(term) => Expr::Term(term.clone()),
    }
}

impl Compare {
    /// As it is written.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Compare::Less => "<",
            Compare::AtMost => "<=",
            Compare::More => ">",
            Compare::AtLeast => ">=",
        }
    }

    fn holds<T: PartialOrd>(self, left: T, right: T) -> bool {
        match self {
            Compare::Less => left < right,
            Compare::AtMost => left <= right,
            Compare::More => left > right,
            Compare::AtLeast => left >= right,
        }
    }
}

macro_rules! names {
    ($field:ident: $($name:ident = $text:literal),*) => {
        impl $field {
            const ALL: &'static [$field] = &[$($field::$name),*];

            /// As it is written.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $($field::$name => $text),* }
            }

            fn named(text: &str) -> Option<$field> {
                $field::ALL.iter().copied().find(|field| field.as_str() == text)
            }
        }
    };
}

names!(TextField: Queue = "queue", Kind = "kind", Tag = "tag", Key = "key", Worker = "worker", Error = "error",
    Reason = "reason", Failure = "failure", Schedule = "schedule");
names!(NumberField: Priority = "priority", Attempt = "attempt", MaxAttempts = "max_attempts", Threads = "threads");
names!(LengthField: Age = "age", Wait = "wait", Ran = "ran");
names!(MomentField: Created = "created", RunAt = "run_at", Finished = "finished");
names!(JsonField: Payload = "payload", Result = "result");
