//! From a filter to a text that parses to the same filter.

use std::fmt;

use super::parse::is_special;
use super::units::print_length;
use super::{Expr, Filter, JsonTest, NumberTest, Term, TextTest, Value};

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.expr {
            Expr::All(parts) => joined(f, parts, " "),
            Expr::Any(parts) => alternatives(f, parts),
            Expr::Not(_) | Expr::Term(_) => self.expr.fmt(f),
        }
    }
}

/// With parentheses around everything that has parts.
impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expr::Not(inner) => write!(f, "-{inner}"),
            Expr::Term(term) => term.fmt(f),
            Expr::All(parts) => {
                f.write_str("(")?;
                joined(f, parts, " ")?;
                f.write_str(")")
            }
            Expr::Any(parts) => {
                f.write_str("(")?;
                alternatives(f, parts)?;
                f.write_str(")")
            }
        }
    }
}

/// `or` binds less than what stands beside each other. Parentheses that need not be there could nest deeper than may be read.
fn alternatives(f: &mut fmt::Formatter<'_>, parts: &[Expr]) -> fmt::Result {
    for (place, part) in parts.iter().enumerate() {
        if place > 0 {
            f.write_str(" or ")?;
        }
        match part {
            Expr::All(parts) => joined(f, parts, " ")?,
            Expr::Any(_) | Expr::Not(_) | Expr::Term(_) => write!(f, "{part}")?,
        }
    }
    Ok(())
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Term::State(states) => {
                f.write_str("state:")?;
                joined(f, &states.iter().map(|state| state.as_str()).collect::<Vec<_>>(), ",")
            }
            Term::Outcome(outcomes) => {
                f.write_str("outcome:")?;
                joined(f, &outcomes.iter().map(|outcome| outcome.as_str()).collect::<Vec<_>>(), ",")
            }
            Term::Id(ids) => {
                f.write_str("id:")?;
                joined(f, ids, ",")
            }
            Term::Text(field, TextTest::OneOf(values)) => {
                write!(f, "{}:", field.as_str())?;
                joined(f, values, ",")
            }
            Term::Text(field, TextTest::Contains(text)) => write!(f, "{}~{}", field.as_str(), Quoted(text)),
            Term::Number(field, NumberTest::OneOf(numbers)) => {
                write!(f, "{}:", field.as_str())?;
                joined(f, numbers, ",")
            }
            Term::Number(field, NumberTest::Compare(order, number)) => {
                write!(f, "{}{}{number}", field.as_str(), order.as_str())
            }
            Term::Length(field, order, length) => {
                write!(f, "{}{}{}", field.as_str(), order.as_str(), print_length(*length))
            }
            Term::Moment(field, order, at) => write!(f, "{}{}{at}", field.as_str(), order.as_str()),
            Term::Json(field, path, test) => {
                f.write_str(field.as_str())?;
                for part in path {
                    write!(f, ".{part}")?;
                }
                match test {
                    JsonTest::OneOf(values) => {
                        f.write_str(":")?;
                        joined(f, values, ",")
                    }
                    JsonTest::Compare(order, number) => write!(f, "{}{number}", order.as_str()),
                    JsonTest::Contains(text) => write!(f, "~{}", Quoted(text)),
                }
            }
            Term::Word(word) if is_plain(word) => f.write_str(word),
            Term::Word(word) => Quoted(word).fmt(f),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.quoted { Quoted(&self.text).fmt(f) } else { f.write_str(&self.text) }
    }
}

struct Quoted<'t>(&'t str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"")?;
        for c in self.0.chars() {
            if matches!(c, '"' | '\\') {
                f.write_str("\\")?;
            }
            write!(f, "{c}")?;
        }
        f.write_str("\"")
    }
}

/// Whether a word is one without quotes too.
fn is_plain(word: &str) -> bool {
    !word.is_empty()
        && !word.starts_with('-')
        && !word.contains(|c| is_special(c) || matches!(c, ':' | '~' | '<' | '>'))
        && !word.eq_ignore_ascii_case("or")
        && !word.eq_ignore_ascii_case("and")
}

fn joined<T: fmt::Display>(f: &mut fmt::Formatter<'_>, parts: &[T], between: &str) -> fmt::Result {
    for (place, part) in parts.iter().enumerate() {
        if place > 0 {
            f.write_str(between)?;
        }
        part.fmt(f)?;
    }
    Ok(())
}
