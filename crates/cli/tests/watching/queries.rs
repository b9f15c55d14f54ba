//! The queries of dashboards and alerts, and what is wrong with them.
//!
//! A panel shows a zero where there is no data yet (`or on() vector(0)`), so that it always returns something, also if
//! the name of its metric is misspelt. A query is therefore asked without that too, and each of its selectors by itself.

use serde_json::Value;

use super::prometheus::{Prometheus, deploy};

/// What a panel falls back to.
const FALLBACKS: [&str; 2] = [" or on() vector(0)", " or vector(0)"];

/// A query, and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Query {
    /// Dashboard and panel, or the alert.
    pub(crate) place: String,
    /// In the language of Prometheus, without variables.
    pub(crate) text: String,
    /// An alert that is not raised returns nothing, and so does an annotation.
    pub(crate) may_be_empty: bool,
}

/// A dashboard as it ships.
pub(crate) fn dashboard(name: &str) -> Value {
    let path = deploy().join(format!("grafana/dashboards/{name}.json"));
    let text = std::fs::read_to_string(path).expect("the dashboard ships");
    serde_json::from_str(&text).expect("a dashboard is JSON")
}

/// Every query of a dashboard: panels, variables, annotations.
pub(crate) fn of_dashboard(name: &str) -> Vec<Query> {
    let board = dashboard(name);
    let mut queries = Vec::new();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    for panel in list(&board["panels"]).iter().flat_map(|p| [vec![p.clone()], list(&p["panels"])].concat()) {
        for target in list(&panel["targets"]) {
            queries.push(Query::new(name, &panel["title"], &target["expr"], false));
        }
    }
    for variable in list(&board["templating"]["list"]).iter().filter(|v| v["type"] == "query") {
        // `label_values(SELECTOR, label)` is a function of Grafana, not of Prometheus.
        let text = variable["query"]["query"].as_str().expect("a query");
        let selector = selectors(text).first().expect("it names a metric").clone();
        queries.push(Query::new(name, &variable["name"], &selector.into(), false));
    }
    for annotation in list(&board["annotations"]["list"]).iter().filter(|a| a["expr"].is_string()) {
        queries.push(Query::new(name, &annotation["name"], &annotation["expr"], true));
    }
    queries
}

/// Every alert as Prometheus has loaded it.
pub(crate) fn of_alerts(prometheus: &Prometheus) -> Vec<Query> {
    let query = |rule: &Value| Query::new("alert", &rule["name"], &rule["query"], true);
    prometheus.alerts().iter().map(query).collect()
}

impl Query {
    fn new(board: &str, title: &Value, text: &Value, may_be_empty: bool) -> Query {
        let place = format!("{board}: {}", title.as_str().expect("a title"));
        let text = text.as_str().unwrap_or_else(|| panic!("{place} has a query"));
        let text = text.replace("$__rate_interval", "15s").replace("$__range", "5m");
        let text = text.replace("$queue", ".*").replace("$kind", ".*");
        assert!(!text.contains('$'), "{place} has a variable that is not known here: {text}");
        Query { place, text, may_be_empty }
    }

    /// What is wrong with it; nothing if all is well.
    pub(crate) fn complaint(&self, prometheus: &Prometheus) -> Option<String> {
        let bare = FALLBACKS.iter().fold(self.text.clone(), |text, fallback| text.replace(fallback, ""));
        let asked = [(self.text.clone(), self.may_be_empty), (bare, self.may_be_empty)].into_iter();
        let parts = selectors(&self.text).into_iter().map(|selector| (selector, false));
        for (text, may_be_empty) in asked.chain(parts) {
            match prometheus.query(&text) {
                Ok(series) if series.is_empty() && !may_be_empty => {
                    return Some(format!("{}: no data for {text}", self.place));
                }
                Ok(_) => {}
                Err(error) => return Some(format!("{}: {error} in {text}", self.place)),
            }
        }
        None
    }
}

/// The series that a query names: each metric with the labels that it is asked for.
pub(crate) fn selectors(query: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = query;
    while let Some(start) = rest.find(|c: char| c.is_ascii_alphabetic() || "_\"'".contains(c)) {
        rest = &rest[start..];
        if let Some(quote) = rest.chars().next().filter(|c| "\"'".contains(*c)) {
            let end = rest[1..].find(quote).expect("a string has an end");
            rest = &rest[end + 2..];
            continue;
        }
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        rest = after;
        if word.starts_with("ganger_") || ["up", "ALERTS"].contains(&word) {
            // Values of labels have no braces here.
            let labels = after.strip_prefix('{').and_then(|inside| inside.split_once('}'));
            let labels = labels.map_or(String::new(), |(inside, _)| format!("{{{inside}}}"));
            rest = &after[labels.len()..];
            found.push(format!("{word}{labels}"));
        }
    }
    found
}
