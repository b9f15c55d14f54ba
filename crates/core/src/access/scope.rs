//! Which queues a caller may see: names in which `*` stands for anything.

use serde::{Deserialize, Serialize};

use crate::limits;
use crate::name::QueueName;

/// Names of queues with `*` for any run of characters. A queue must match one of them, as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct QueueScope(Vec<String>);

/// What is wrong with a list of queues.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScopeError {
    /// It would let nobody do anything.
    #[error("is empty; `*` stands for every queue")]
    Empty,
    /// Too many.
    #[error("has {0} entries, the limit is {max}", max = limits::SCOPE_GLOBS)]
    TooMany(usize),
    /// One could never match a queue.
    #[error("`{0}` is not the name of a queue, in which `*` stands for anything")]
    NotAName(String),
}

impl QueueScope {
    /// Every queue.
    #[must_use]
    pub fn all() -> QueueScope {
        QueueScope(vec!["*".into()])
    }

    /// Those that match one of these.
    ///
    /// # Errors
    /// There is none, there are too many, or one is no name.
    pub fn parse<T: Into<String>>(globs: impl IntoIterator<Item = T>) -> Result<QueueScope, ScopeError> {
        let globs: Vec<String> = globs.into_iter().map(Into::into).collect();
        if globs.is_empty() {
            return Err(ScopeError::Empty);
        }
        if globs.len() > limits::SCOPE_GLOBS {
            return Err(ScopeError::TooMany(globs.len()));
        }
        let is_name = |glob: &str| {
            // What is left of it must be a name, and `*` alone is fine.
            glob.len() <= limits::NAME_BYTES && glob.replace('*', "x").parse::<QueueName>().is_ok()
        };
        match globs.iter().find(|glob| !is_name(glob)) {
            Some(bad) => Err(ScopeError::NotAName(bad.chars().take(limits::NAME_BYTES).collect())),
            None => Ok(QueueScope(globs)),
        }
    }

    /// Whether it is every queue there is or will be.
    #[must_use]
    pub fn is_all(&self) -> bool {
        self.0.iter().any(|glob| glob.bytes().all(|b| b == b'*'))
    }

    /// Whether it has this one.
    #[must_use]
    pub fn contains(&self, queue: &QueueName) -> bool {
        self.0.iter().any(|glob| matches(glob.as_bytes(), queue.as_str().as_bytes()))
    }

    /// As they were given.
    #[must_use]
    pub fn globs(&self) -> &[String] {
        &self.0
    }
}

impl TryFrom<Vec<String>> for QueueScope {
    type Error = ScopeError;
    fn try_from(globs: Vec<String>) -> Result<QueueScope, ScopeError> {
        QueueScope::parse(globs)
    }
}

impl From<QueueScope> for Vec<String> {
    fn from(scope: QueueScope) -> Vec<String> {
        scope.0
    }
}

/// Never goes back further than to the last star, so it is bounded by the product of both lengths.
fn matches(glob: &[u8], text: &[u8]) -> bool {
    let (mut g, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match (glob.get(g), star) {
            (Some(b'*'), _) => {
                star = Some((g, t));
                g += 1;
            }
            (Some(c), _) if *c == text[t] => {
                g += 1;
                t += 1;
            }
            // Let the last star have one more.
            (_, Some((at, from))) => {
                star = Some((at, from + 1));
                g = at + 1;
                t = from + 1;
            }
            (_, None) => return false,
        }
    }
    glob[g..].iter().all(|c| *c == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has(globs: &[&str], queue: &str) -> bool {
        QueueScope::parse(globs.iter().copied()).unwrap().contains(&queue.parse().unwrap())
    }

    #[test]
    fn a_queue_must_match_as_a_whole() {
        for (globs, queue, expected) in [
            (&["mail"][..], "mail", true),
            (&["mail"], "mail.out", false),
            (&["mail"], "email", false),
            (&["mail*"], "mail", true),
            (&["mail*"], "mail.out", true),
            (&["*.out"], "mail.out", true),
            (&["*.out"], "mail.outer", false),
            (&["a*b*c"], "a-x-b-b-c", true),
            (&["a*b*c"], "a-x-b-b", false),
            (&["*"], "anything", true),
            (&["x", "y*"], "yes", true),
        ] {
            assert_eq!(has(globs, queue), expected, "{globs:?} {queue}");
        }
    }

    /// A matcher that went back to every star would not live to see the end of this.
    #[test]
    fn many_stars_cost_little() {
        let glob = "*a".repeat(limits::NAME_BYTES / 2);
        assert!(!has(&[&glob], &"b".repeat(limits::NAME_BYTES)));
    }

    #[test]
    fn a_list_is_taken_at_the_bound_and_refused_one_past_it() {
        let many = |n: usize| QueueScope::parse((0..n).map(|i| format!("q{i}")));
        assert!(many(limits::SCOPE_GLOBS).is_ok());
        assert_eq!(many(limits::SCOPE_GLOBS + 1), Err(ScopeError::TooMany(limits::SCOPE_GLOBS + 1)));
        assert_eq!(many(0), Err(ScopeError::Empty));
        assert!(QueueScope::parse(["a b"]).is_err() && QueueScope::parse([""]).is_err());
        assert!(QueueScope::all().is_all() && !QueueScope::parse(["a*"]).unwrap().is_all());
    }
}
