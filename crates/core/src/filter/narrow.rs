//! What of a filter an index can do: conditions that every job it admits must meet.
//!
//! A store looks only at jobs that meet these, and asks the filter about each of them. So nothing here has to be
//! complete, but all of it must follow from the filter.

use super::{Compare, Expr, Filter, LengthField, MomentField, Term, TextField, TextTest, Value};
use crate::ids::JobId;
use crate::job::State;
use crate::name::{Kind, QueueName};
use crate::time::Wall;

/// Conditions that follow from a filter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Narrowed {
    /// Any of these states; `None` means all.
    pub states: Option<Vec<State>>,
    /// Only these jobs.
    pub ids: Option<Vec<JobId>>,
    /// Of this queue.
    pub queue: Option<QueueName>,
    /// Of this kind.
    pub kind: Option<Kind>,
    /// With this tag.
    pub tag: Option<String>,
    /// With this unique key.
    pub unique_key: Option<String>,
    /// Taken in at this moment or later.
    pub created_from: Option<Wall>,
    /// Taken in before this moment.
    pub created_before: Option<Wall>,
}

impl Filter {
    /// What follows from it, at this moment.
    #[must_use]
    pub fn narrowed(&self, now: Wall) -> Narrowed {
        let mut narrowed = Narrowed::default();
        match &self.expr {
            Expr::All(parts) => {
                for part in parts {
                    narrowed.by(part, now);
                }
            }
            Expr::Any(_) | Expr::Not(_) | Expr::Term(_) => narrowed.by(&self.expr, now),
        }
        narrowed
    }
}

impl Narrowed {
    fn by(&mut self, expr: &Expr, now: Wall) {
        match expr {
            Expr::Term(term) => self.by_term(term, now),
            Expr::All(parts) => parts.iter().for_each(|part| self.by(part, now)),
            Expr::Not(inner) => {
                if let Expr::Term(Term::State(states)) = &**inner {
                    self.keep_states(|state| !states.contains(&state));
                }
            }
            Expr::Any(_) => {}
        }
    }

    fn by_term(&mut self, term: &Term, now: Wall) {
        match term {
            Term::State(states) => self.keep_states(|state| states.contains(&state)),
            Term::Id(ids) => {
                let kept = |before: Vec<JobId>| before.into_iter().filter(|id| ids.contains(id)).collect();
                self.ids = Some(self.ids.take().map_or_else(|| ids.clone(), kept));
            }
            Term::Text(field, TextTest::OneOf(values)) => {
                if let [value] = values.as_slice()
                    && (value.quoted || !value.text.contains('*'))
                {
                    self.by_text(*field, value);
                }
            }
            // A moment of creation is known to the microsecond, so that `>` is `>=` of the next one.
            Term::Moment(MomentField::Created, order, at) => match order {
                Compare::Less => self.before(*at),
                Compare::AtMost => self.before(Wall(at.0.saturating_add(1))),
                Compare::More => self.from(Wall(at.0.saturating_add(1))),
                Compare::AtLeast => self.from(*at),
            },
            Term::Length(LengthField::Age, order, length) => match order {
                Compare::Less | Compare::AtMost => self.from(now - *length),
                // Whatever is younger than nothing is as old as nothing.
                Compare::More | Compare::AtLeast if length.is_zero() => {}
                Compare::More | Compare::AtLeast => self.before(Wall((now - *length).0.saturating_add(1))),
            },
            Term::Outcome(_)
            | Term::Text(_, TextTest::Contains(_))
            | Term::Number(..)
            | Term::Length(..)
            | Term::Moment(..)
            | Term::Json(..)
            | Term::Word(_) => {}
        }
    }

    fn by_text(&mut self, field: TextField, value: &Value) {
        // The first of several conditions on one field is enough: the filter itself checks the others.
        match field {
            TextField::Queue => self.queue = self.queue.take().or_else(|| value.text.parse().ok()),
            TextField::Kind => self.kind = self.kind.take().or_else(|| value.text.parse().ok()),
            TextField::Tag => self.tag = self.tag.take().or_else(|| Some(value.text.clone())),
            TextField::Key => self.unique_key = self.unique_key.take().or_else(|| Some(value.text.clone())),
            // The last attempt of a job that succeeded did not fail.
            TextField::Failure => self.keep_states(|state| state != State::Succeeded),
            TextField::Worker | TextField::Error | TextField::Reason | TextField::Schedule => {}
        }
    }

    fn keep_states(&mut self, keep: impl Fn(State) -> bool) {
        let before = self.states.take().unwrap_or_else(|| State::ALL.to_vec());
        self.states = Some(before.into_iter().filter(|state| keep(*state)).collect());
    }

    fn from(&mut self, at: Wall) {
        self.created_from = self.created_from.max(Some(at));
    }

    fn before(&mut self, at: Wall) {
        self.created_before = Some(self.created_before.map_or(at, |before| before.min(at)));
    }
}
