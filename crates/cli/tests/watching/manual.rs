//! Metrics as a scrape tells them, and as docs/metrics.md lists them.

use std::collections::BTreeSet;

/// One of them.
#[derive(Debug)]
pub(crate) struct Metric {
    /// Without a suffix.
    pub(crate) name: String,
    /// Counter, gauge, histogram or info.
    pub(crate) sort: String,
    /// The names of its labels, as far as they are known.
    pub(crate) labels: Option<BTreeSet<String>>,
}

/// Those of a chapter: rows of a table that begin with a name. Labels are in the third column, where there are five.
pub(crate) fn metrics(chapter: &str) -> Vec<Metric> {
    let rows = chapter.lines().filter(|line| line.starts_with("| `ganger_"));
    let read = |row: &str| {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let words =
            |cell: &str| cell.split_whitespace().map(|word| word.trim_matches('`').to_owned()).collect();
        Metric {
            name: cells[0].trim_matches('`').to_owned(),
            sort: cells[1].to_owned(),
            labels: (cells.len() == 5).then(|| words(cells[2])),
        }
    };
    rows.map(read).collect()
}

/// Those of a scrape, without what other schedulers called theirs.
pub(crate) fn exported(text: &str) -> Vec<Metric> {
    let types = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' '));
    let read = |(name, sort): (&str, &str)| Metric {
        name: name.to_owned(),
        sort: sort.to_owned(),
        labels: text.lines().find_map(|line| labels_of(line, name)),
    };
    types.filter(|(name, _)| name.starts_with("ganger_")).map(read).collect()
}

/// The labels of a sample of this metric, without the bounds of a histogram.
fn labels_of(line: &str, name: &str) -> Option<BTreeSet<String>> {
    let rest = line.strip_prefix(name)?;
    let rest =
        ["_total", "_bucket", "_info"].iter().find_map(|suffix| rest.strip_prefix(suffix)).unwrap_or(rest);
    if rest.starts_with(' ') {
        return Some(BTreeSet::new());
    }
    let (inside, _) = rest.strip_prefix('{')?.rsplit_once("} ")?;
    // Values have no quotes here, and commas only between labels.
    let names =
        inside.split("\",").filter_map(|label| label.split_once('=')).map(|(name, _)| name.to_owned());
    Some(names.filter(|name| name != "le").collect())
}
