//! What was looked at, what was found, and what to do about it.

use serde_json::{Value, json};

/// How it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// As it should be.
    Ok,
    /// Something should be done.
    Finding,
    /// It could not be looked at, or there is nothing to look at.
    Skipped,
}

impl State {
    /// The word for it.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            State::Ok => "ok",
            State::Finding => "finding",
            State::Skipped => "skipped",
        }
    }
}

/// One thing that was looked at.
#[derive(Clone, Debug)]
pub(super) struct Finding {
    /// Its stable name.
    pub(super) check: &'static str,
    /// How it is.
    pub(super) state: State,
    /// What was seen.
    pub(super) found: String,
    /// What to do; empty unless it is a finding.
    pub(super) advice: String,
}

/// Everything that was looked at, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Findings(Vec<Finding>);

impl Findings {
    /// It is as it should be.
    pub(super) fn ok(&mut self, check: &'static str, found: impl Into<String>) {
        self.add(check, State::Ok, found.into(), String::new());
    }

    /// Something should be done.
    pub(super) fn found(&mut self, check: &'static str, found: impl Into<String>, advice: impl Into<String>) {
        self.add(check, State::Finding, found.into(), advice.into());
    }

    /// It was not looked at, and why.
    pub(super) fn skipped(&mut self, check: &'static str, why: impl Into<String>) {
        self.add(check, State::Skipped, why.into(), String::new());
    }

    /// A sentence of the server or the store, whose advice comes after its last semicolon.
    pub(super) fn told(&mut self, check: &'static str, sentence: &str, otherwise: &str) {
        match sentence.rsplit_once("; ") {
            Some((found, advice)) => self.found(check, found, advice),
            None => self.found(check, sentence, otherwise),
        }
    }

    /// All of them.
    pub(super) fn each(&self) -> &[Finding] {
        &self.0
    }

    /// How many ask for something to be done.
    pub(super) fn count(&self) -> usize {
        self.0.iter().filter(|finding| finding.state == State::Finding).count()
    }

    /// Whether any does.
    pub(super) fn any(&self) -> bool {
        self.count() > 0
    }

    fn add(&mut self, check: &'static str, state: State, found: String, advice: String) {
        self.0.push(Finding { check, state, found, advice });
    }
}

/// As JSON.
pub(super) fn document(finding: &Finding) -> Value {
    let Finding { check, state, found, advice } = finding;
    let advice = (!advice.is_empty()).then_some(advice);
    json!({ "check": check, "state": state.as_str(), "found": found, "advice": advice })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_advice_of_a_sentence_is_what_comes_last() {
        let mut found = Findings::default();
        found.told("a", "it is off: jobs are lost; set it on", "");
        found.told("b", "it is off", "look at it");
        found.ok("c", "fine");
        found.skipped("d", "not here");
        let seen: Vec<_> = found.each().iter().map(|f| (f.found.as_str(), f.advice.as_str())).collect();
        assert_eq!(seen[0], ("it is off: jobs are lost", "set it on"));
        assert_eq!(seen[1], ("it is off", "look at it"));
        assert_eq!((found.count(), found.any()), (2, true));
        assert_eq!(document(&found.each()[2])["advice"], Value::Null);
    }
}
