//! Whether a job is meant.

use std::time::Duration;

use serde_json::Value as Json;

use super::{
    Expr, Filter, JsonField, JsonTest, LengthField, MomentField, NumberField, NumberTest, Term, TextField,
    TextTest, Value,
};
use crate::fingerprint::Fingerprint;
use crate::ids::JobId;
use crate::job::State;
use crate::outcome::Outcome;
use crate::time::Wall;

/// Shorter words are not looked for in ids, in which they would be found by chance.
const ID_WORD: usize = 6;

/// What a filter may ask of a job.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'j> {
    /// Its identity.
    pub id: JobId,
    /// Where it is.
    pub state: State,
    /// Picks its handler.
    pub kind: &'j str,
    /// The lane it waits in.
    pub queue: &'j str,
    /// Larger runs first.
    pub priority: i8,
    /// For finding it again.
    pub tags: &'j [String],
    /// At most one live job of its kind has it.
    pub unique_key: Option<&'j str>,
    /// Number of its last attempt.
    pub attempt: u32,
    /// Attempts allowed.
    pub max_attempts: u32,
    /// Threads it wants.
    pub threads: u16,
    /// When it was taken in.
    pub created_at: Wall,
    /// When it may run, or last might.
    pub run_at: Wall,
    /// When it became final.
    pub finished_at: Option<Wall>,
    /// How long it waited for a worker.
    pub waited: Option<Duration>,
    /// How long its last attempt ran.
    pub ran: Option<Duration>,
    /// How its last recorded attempt ended.
    pub outcome: Option<Outcome>,
    /// The error of that attempt.
    pub error: Option<&'j str>,
    /// The worker of that attempt.
    pub worker: Option<&'j str>,
    /// Why it died or was cancelled.
    pub reason: Option<&'j str>,
    /// Name of the schedule that made it.
    pub schedule: Option<&'j str>,
    /// Its input.
    pub payload: &'j str,
    /// What its handler returned.
    pub result: Option<&'j str>,
}

impl Filter {
    /// Whether a job is meant, at this moment.
    #[must_use]
    pub fn admits(&self, job: &Facts<'_>, now: Wall) -> bool {
        holds(&self.expr, job, now)
    }
}

fn holds(expr: &Expr, job: &Facts<'_>, now: Wall) -> bool {
    match expr {
        Expr::All(parts) => parts.iter().all(|part| holds(part, job, now)),
        Expr::Any(parts) => parts.iter().any(|part| holds(part, job, now)),
        Expr::Not(inner) => !holds(inner, job, now),
        Expr::Term(term) => term_holds(term, job, now),
    }
}

fn term_holds(term: &Term, job: &Facts<'_>, now: Wall) -> bool {
    match term {
        Term::State(states) => states.contains(&job.state),
        Term::Outcome(outcomes) => job.outcome.is_some_and(|outcome| outcomes.contains(&outcome)),
        Term::Id(ids) => ids.contains(&job.id),
        Term::Text(field, test) => text_holds(*field, test, job),
        Term::Number(field, test) => {
            let number = match field {
                NumberField::Priority => job.priority.into(),
                NumberField::Attempt => job.attempt.into(),
                NumberField::MaxAttempts => job.max_attempts.into(),
                NumberField::Threads => job.threads.into(),
            };
            match test {
                NumberTest::OneOf(numbers) => numbers.contains(&number),
                NumberTest::Compare(order, other) => order.holds(number, *other),
            }
        }
        Term::Length(field, order, other) => {
            let length = match field {
                LengthField::Age => Some(now.since(job.created_at)),
                LengthField::Wait => job.waited,
                LengthField::Ran => job.ran,
            };
            length.is_some_and(|length| order.holds(length, *other))
        }
        Term::Moment(field, order, other) => {
            let moment = match field {
                MomentField::Created => Some(job.created_at),
                MomentField::RunAt => Some(job.run_at),
                MomentField::Finished => job.finished_at,
            };
            moment.is_some_and(|moment| order.holds(moment, *other))
        }
        Term::Json(JsonField::Payload, path, test) => json_holds(Some(job.payload), path, test),
        Term::Json(JsonField::Result, path, test) => json_holds(job.result, path, test),
        Term::Word(word) => {
            let texts = [job.unique_key, job.error, job.reason];
            texts.into_iter().flatten().any(|text| has(text, word))
                || (word.len() >= ID_WORD && has(&job.id.to_string(), word))
        }
    }
}

fn text_holds(field: TextField, test: &TextTest, job: &Facts<'_>) -> bool {
    let fits = |text: &str| match test {
        TextTest::OneOf(values) => values.iter().any(|value| value.fits(text)),
        TextTest::Contains(part) => has(text, part),
    };
    match field {
        TextField::Queue => fits(job.queue),
        TextField::Kind => fits(job.kind),
        TextField::Tag => job.tags.iter().any(|tag| fits(tag)),
        TextField::Key => job.unique_key.is_some_and(fits),
        TextField::Worker => job.worker.is_some_and(fits),
        TextField::Error => job.error.is_some_and(fits),
        TextField::Reason => job.reason.is_some_and(fits),
        TextField::Schedule => job.schedule.is_some_and(fits),
        TextField::Failure => {
            let group = job.outcome.and_then(|outcome| Fingerprint::of(job.kind, outcome, job.error));
            group.is_some_and(|group| fits(&group.to_string()))
        }
    }
}

impl Value {
    /// Whether a text is meant by it.
    fn fits(&self, text: &str) -> bool {
        if self.quoted || !self.text.contains('*') { self.text == text } else { glob(&self.text, text) }
    }

    fn fits_json(&self, json: &Json) -> bool {
        match json {
            Json::String(text) => self.fits(text),
            Json::Number(number) if !self.quoted => {
                let same = |other: f64| number.is_f64() && number.as_f64() == Some(other);
                number.to_string() == self.text || self.text.parse().is_ok_and(same)
            }
            Json::Bool(yes) if !self.quoted => self.text == if *yes { "true" } else { "false" },
            Json::Null if !self.quoted => self.text == "null",
            // One of several is enough.
            Json::Array(items) => items.iter().any(|item| !item.is_array() && self.fits_json(item)),
            Json::Number(_) | Json::Bool(_) | Json::Null | Json::Object(_) => false,
        }
    }
}

fn json_holds(text: Option<&str>, path: &[String], test: &JsonTest) -> bool {
    let Some(text) = text else { return false };
    if let (JsonTest::Contains(part), true) = (test, path.is_empty()) {
        return has(text, part);
    }
    let Ok(whole) = serde_json::from_str::<Json>(text) else { return false };
    let Some(found) = at_path(&whole, path) else { return false };
    match test {
        JsonTest::OneOf(values) => values.iter().any(|value| value.fits_json(found)),
        JsonTest::Compare(order, other) => found.as_f64().is_some_and(|number| order.holds(number, *other)),
        JsonTest::Contains(part) => found.as_str().is_some_and(|text| has(text, part)),
    }
}

fn at_path<'v>(whole: &'v Json, path: &[String]) -> Option<&'v Json> {
    path.iter().try_fold(whole, |json, name| match json {
        Json::Object(map) => map.get(name),
        Json::Array(items) => items.get(name.parse::<usize>().ok()?),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => None,
    })
}

/// Whether a text has this part, whatever the case of either.
fn has(text: &str, part: &str) -> bool {
    if text.is_ascii() && part.is_ascii() {
        let (text, part) = (text.as_bytes(), part.as_bytes());
        return part.is_empty() || text.windows(part.len()).any(|window| window.eq_ignore_ascii_case(part));
    }
    text.to_lowercase().contains(&part.to_lowercase())
}

/// Whether a text fits a pattern in which `*` stands for any text. Linear: each part is taken where it first fits.
fn glob(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        let Some(found) = rest.find(part) else { return false };
        rest = &rest[found + part.len()..];
    }
    rest.ends_with(last)
}
