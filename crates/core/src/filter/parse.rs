//! From a text to a filter, by recursive descent.

use super::units::{parse_length, parse_moment};
use super::{
    Compare, Expr, FILTER_BYTES, FILTER_DEPTH, FILTER_TERMS, FILTER_VALUES, Filter, FilterError, JsonField,
    JsonTest, LengthField, MomentField, NumberField, NumberTest, PATH_PARTS, Term, TextField, TextTest,
    Value,
};
use crate::ids::JobId;
use crate::job::State;
use crate::outcome::Outcome;

type Parsed<T> = Result<T, FilterError>;

/// Every field, for whoever misspells one.
const FIELDS: &[&str] = &[
    "state",
    "outcome",
    "id",
    "queue",
    "kind",
    "tag",
    "key",
    "worker",
    "error",
    "reason",
    "failure",
    "schedule",
    "priority",
    "attempt",
    "max_attempts",
    "threads",
    "age",
    "wait",
    "ran",
    "created",
    "run_at",
    "finished",
    "payload.<path>",
    "result.<path>",
];
const ORDERS: &[&str] = &["<", "<=", ">", ">="];

pub(super) fn parse(text: &str) -> Parsed<Filter> {
    if text.len() > FILTER_BYTES {
        let problem = format!("the filter has {} bytes, the limit is {FILTER_BYTES}", text.len());
        return Err(FilterError { position: FILTER_BYTES, problem, expected: Vec::new() });
    }
    let mut parser = Parser { text, at: 0, terms: 0 };
    parser.skip();
    if parser.rest().is_empty() {
        return Err(parser.refuse("the filter is empty", &["a condition"]));
    }
    let expr = parser.any(0)?;
    parser.skip();
    if !parser.rest().is_empty() {
        return Err(parser.refuse("there is no parenthesis to close", &["a condition", "or"]));
    }
    Ok(Filter { expr })
}

/// What may follow a field.
#[derive(Clone, Copy, PartialEq)]
enum Operator {
    Is,
    Has,
    Order(Compare),
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    terms: usize,
}

impl<'t> Parser<'t> {
    fn any(&mut self, depth: usize) -> Parsed<Expr> {
        let mut branches = vec![self.all(depth)?];
        while self.keyword("or") {
            branches.push(self.all(depth)?);
        }
        Ok(one_or(branches, Expr::Any))
    }

    fn all(&mut self, depth: usize) -> Parsed<Expr> {
        let mut parts = vec![self.part(depth)?];
        // Bounded by the length of the text: every part takes some of it.
        loop {
            let told = self.keyword("and");
            self.skip();
            let over = self.rest().is_empty() || self.rest().starts_with(')') || self.sees("or");
            if over && !told {
                return Ok(one_or(parts, Expr::All));
            }
            parts.push(self.part(depth)?);
        }
    }

    fn part(&mut self, depth: usize) -> Parsed<Expr> {
        self.skip();
        if depth > FILTER_DEPTH {
            return Err(self.refuse(format!("it is nested deeper than {FILTER_DEPTH}"), &[]));
        }
        if self.take('-') {
            return Ok(Expr::Not(Box::new(self.part(depth + 1)?)));
        }
        if self.rest().starts_with('(') {
            let opened = self.at;
            self.at += 1;
            let inner = self.any(depth + 1)?;
            self.skip();
            if !self.take(')') {
                return Err(self.refuse(format!("the parenthesis of byte {opened} is not closed"), &[")"]));
            }
            return Ok(inner);
        }
        if self.rest().is_empty()
            || self.rest().starts_with([')', ','])
            || self.sees("or")
            || self.sees("and")
        {
            return Err(self.refuse("a condition is missing", &["a condition"]));
        }
        self.terms += 1;
        if self.terms > FILTER_TERMS {
            return Err(self.refuse(format!("it has more than {FILTER_TERMS} conditions"), &[]));
        }
        self.term().map(Expr::Term)
    }

    fn term(&mut self) -> Parsed<Term> {
        let named = |c: char| c.is_alphanumeric() || c == '_' || c == '.' || c == '-';
        let end = self.rest().find(|c| !named(c)).unwrap_or(self.rest().len());
        let (name, after) = self.rest().split_at(end);
        if name.is_empty() || !after.starts_with([':', '~', '<', '>']) {
            let word = self.value("a condition")?.text;
            return Ok(word.parse().map_or(Term::Word(word), |id| Term::Id(vec![id])));
        }
        let started = self.at;
        self.at += end;
        let operator = self.operator();
        self.field(started, name, operator)
    }

    fn operator(&mut self) -> Operator {
        for (text, operator) in [
            (":", Operator::Is),
            ("~", Operator::Has),
            ("<=", Operator::Order(Compare::AtMost)),
            ("<", Operator::Order(Compare::Less)),
            (">=", Operator::Order(Compare::AtLeast)),
        ] {
            if self.rest().starts_with(text) {
                self.at += text.len();
                return operator;
            }
        }
        self.at += 1;
        Operator::Order(Compare::More)
    }

    fn field(&mut self, started: usize, name: &str, operator: Operator) -> Parsed<Term> {
        let at_operator = started + name.len();
        let wrong = |expected: &'static [&'static str]| {
            let problem = format!("`{name}` cannot be compared like that");
            Err(FilterError { position: at_operator, problem, expected: expected.to_vec() })
        };
        let is = operator == Operator::Is;
        match name {
            "state" | "outcome" | "id" if !is => wrong(&[":"]),
            "state" => Ok(Term::State(self.values("a state", State::parse)?)),
            "outcome" => Ok(Term::Outcome(self.values("an outcome", Outcome::parse)?)),
            "id" => Ok(Term::Id(self.values("an id", |text| text.parse::<JobId>().ok())?)),
            _ => {
                if let Some(field) = TextField::named(name) {
                    return match operator {
                        Operator::Is => Ok(Term::Text(field, TextTest::OneOf(self.written()?))),
                        Operator::Has => {
                            Ok(Term::Text(field, TextTest::Contains(self.value("a text")?.text)))
                        }
                        Operator::Order(_) => wrong(&[":", "~"]),
                    };
                }
                if let Some(field) = NumberField::named(name) {
                    return match operator {
                        Operator::Is => {
                            Ok(Term::Number(field, NumberTest::OneOf(self.values("a number", number)?)))
                        }
                        Operator::Order(order) => {
                            Ok(Term::Number(field, NumberTest::Compare(order, self.one("a number", number)?)))
                        }
                        Operator::Has => wrong(&[":", "<", "<=", ">", ">="]),
                    };
                }
                if let Some(field) = LengthField::named(name) {
                    let Operator::Order(order) = operator else { return wrong(ORDERS) };
                    return Ok(Term::Length(
                        field,
                        order,
                        self.one("a duration such as 5s or 2h", parse_length)?,
                    ));
                }
                if let Some(field) = MomentField::named(name) {
                    let Operator::Order(order) = operator else { return wrong(ORDERS) };
                    return Ok(Term::Moment(
                        field,
                        order,
                        self.one("a moment such as 2026-11-15 (RFC 3339)", parse_moment)?,
                    ));
                }
                self.json(started, name, operator)
            }
        }
    }

    fn json(&mut self, started: usize, name: &str, operator: Operator) -> Parsed<Term> {
        let (root, path) = name.split_once('.').map_or((name, None), |(root, path)| (root, Some(path)));
        let Some(field) = JsonField::named(root) else {
            let problem = format!("there is no field `{name}`; a text with that character needs quotes");
            return Err(FilterError { position: started, problem, expected: FIELDS.to_vec() });
        };
        let path: Vec<String> =
            path.map(|path| path.split('.').map(str::to_owned).collect()).unwrap_or_default();
        if path.len() > PATH_PARTS || path.iter().any(String::is_empty) {
            let problem = format!("`{name}` is not a path of at most {PATH_PARTS} names");
            return Err(FilterError { position: started, problem, expected: vec!["payload.user.id"] });
        }
        let test = match operator {
            Operator::Is => JsonTest::OneOf(self.written()?),
            Operator::Has => JsonTest::Contains(self.value("a text")?.text),
            Operator::Order(order) => JsonTest::Compare(order, self.one("a number", real)?),
        };
        Ok(Term::Json(field, path, test))
    }

    /// Values between commas, as they are written.
    fn written(&mut self) -> Parsed<Vec<Value>> {
        let mut values = vec![self.value("a value")?];
        while self.take(',') {
            if values.len() == FILTER_VALUES {
                return Err(self.refuse(format!("a condition has more than {FILTER_VALUES} values"), &[]));
            }
            values.push(self.value("a value")?);
        }
        Ok(values)
    }

    /// Values between commas, each read so.
    fn values<T>(&mut self, what: &'static str, read: impl Fn(&str) -> Option<T>) -> Parsed<Vec<T>> {
        let mut values = vec![self.one(what, &read)?];
        while self.take(',') {
            if values.len() == FILTER_VALUES {
                return Err(self.refuse(format!("a condition has more than {FILTER_VALUES} values"), &[]));
            }
            values.push(self.one(what, &read)?);
        }
        Ok(values)
    }

    fn one<T>(&mut self, what: &'static str, read: impl Fn(&str) -> Option<T>) -> Parsed<T> {
        let position = self.at;
        let text = self.value(what)?.text;
        read(&text).ok_or_else(|| {
            let shown: String = text.chars().take(64).collect();
            let expected = match what {
                "a state" => State::ALL.iter().map(|state| state.as_str()).collect(),
                "an outcome" => Outcome::ALL.iter().map(|outcome| outcome.as_str()).collect(),
                _ => vec![what],
            };
            FilterError { position, problem: format!("`{shown}` is not {what}"), expected }
        })
    }

    /// One value: a text in quotes, or up to the next space, comma or parenthesis.
    fn value(&mut self, what: &'static str) -> Parsed<Value> {
        if self.rest().starts_with('"') {
            return self.quoted();
        }
        let end = self.rest().find(is_special).unwrap_or(self.rest().len());
        if end == 0 {
            return Err(self.refuse(format!("{what} is missing"), &[what]));
        }
        let text = self.rest()[..end].to_owned();
        self.at += end;
        Ok(Value { text, quoted: false })
    }

    fn quoted(&mut self) -> Parsed<Value> {
        let opened = self.at;
        let mut text = String::new();
        let mut escaped = false;
        for (place, c) in self.rest().char_indices().skip(1) {
            match c {
                _ if escaped => {
                    text.push(c);
                    escaped = false;
                }
                '\\' => escaped = true,
                '"' => {
                    self.at += place + 1;
                    return Ok(Value { text, quoted: true });
                }
                _ => text.push(c),
            }
        }
        self.at = self.text.len();
        Err(self.refuse(format!("the quote of byte {opened} is not closed"), &["\""]))
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn skip(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn take(&mut self, c: char) -> bool {
        let there = self.rest().starts_with(c);
        self.at += if there { c.len_utf8() } else { 0 };
        there
    }

    /// Whether this keyword comes next, in small or capital letters, as a word of its own.
    fn sees(&self, keyword: &str) -> bool {
        let rest = self.rest();
        rest.get(..keyword.len()).is_some_and(|head| head.eq_ignore_ascii_case(keyword))
            && rest[keyword.len()..].chars().next().is_none_or(is_special)
    }

    fn keyword(&mut self, keyword: &str) -> bool {
        self.skip();
        let there = self.sees(keyword);
        self.at += if there { keyword.len() } else { 0 };
        there
    }

    fn refuse(&self, problem: impl Into<String>, expected: &[&'static str]) -> FilterError {
        FilterError { position: self.at, problem: problem.into(), expected: expected.to_vec() }
    }
}

/// What ends a value that has no quotes.
pub(super) fn is_special(c: char) -> bool {
    c.is_whitespace() || matches!(c, '(' | ')' | ',' | '"')
}

fn one_or(mut parts: Vec<Expr>, several: fn(Vec<Expr>) -> Expr) -> Expr {
    if parts.len() > 1 { several(parts) } else { parts.remove(0) }
}

fn number(text: &str) -> Option<i64> {
    text.parse().ok()
}

fn real(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}
