//! The files of the repository, YAML among them, and what the binary says about what they name.

use std::path::{Path, PathBuf};

use serde::Deserialize as _;
use serde_yaml_ng::Value;

use crate::common;

/// How deep `<<` may lead.
const DEPTH: usize = 8;

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// A file below it.
pub(crate) fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The documents of a YAML file, with `<<` resolved.
pub(crate) fn documents(path: &str) -> Vec<Value> {
    let text = read(path);
    let each = serde_yaml_ng::Deserializer::from_str(&text).map(|document| {
        let mut value = Value::deserialize(document).unwrap_or_else(|error| panic!("{path}: {error}"));
        // What is merged in may itself merge something in.
        for _ in 0..DEPTH {
            value.apply_merge().unwrap_or_else(|error| panic!("{path}: {error}"));
        }
        value
    });
    each.filter(|value| !value.is_null()).collect()
}

/// The texts of a list; nothing where there is none.
pub(crate) fn texts(value: &Value) -> Vec<String> {
    let list = value.as_sequence().into_iter().flatten();
    list.map(|item| item.as_str().unwrap_or_else(|| panic!("{item:?} is no text")).to_owned()).collect()
}

/// The keys of a mapping; nothing where there is none.
pub(crate) fn keys(value: &Value) -> Vec<String> {
    let keys = value.as_mapping().into_iter().flat_map(|mapping| mapping.keys());
    keys.map(|key| key.as_str().unwrap().to_owned()).collect()
}

/// The text below a path of keys.
pub(crate) fn text<'a>(value: &'a Value, path: &[&str]) -> &'a str {
    let found = path.iter().fold(value, |value, key| &value[*key]);
    found.as_str().unwrap_or_else(|| panic!("{path:?} is no text in {value:?}"))
}

/// The binary understands this command line. It is not carried out.
pub(crate) fn is_a_command(args: &[String]) {
    let with = |more: &[&'static str]| {
        let mut all: Vec<&str> = args.iter().map(String::as_str).collect();
        all.extend_from_slice(more);
        common::ganger(&all)
    };
    let help = with(&["--help"]);
    assert!(help.status.success(), "ganger {args:?}: {}", common::stderr(&help));
    assert!(!with(&["--no-such-flag", "--help"]).status.success(), "ganger {args:?}: anything is accepted");
}

/// Every variable of ours is a setting, and its value can be one.
pub(crate) fn are_settings(variables: &[(String, String)]) {
    let directory = tempfile::tempdir().unwrap();
    let ours: Vec<_> = variables.iter().filter(|(name, _)| name.starts_with("GANGER_")).collect();
    let mut command = common::command(directory.path(), &["config", "show", "-o", "json"]);
    command.env_remove("GANGER_AUTH").envs(ours.iter().map(|(name, value)| (name, value)));
    let shown = command.output().unwrap();
    assert!(shown.status.success(), "{ours:?}: {}", common::stderr(&shown));
    let shown = common::stdout(&shown);
    for (name, _) in ours {
        assert!(shown.contains(&format!("env {name}\"")), "{name} is no setting: {shown}");
    }
}
