//! The style of the tree, as far as a machine can check it. Uses nothing but the standard library.

use std::fs;
use std::path::{Path, PathBuf};

const MOST_LINES: usize = 500;
const MOST_LINES_OF_A_FUNCTION: usize = 70;

/// Who may depend on whom: arrows point down only.
const ALLOWED: &[(&str, &[&str])] = &[
    ("core", &[]),
    ("store", &["core"]),
    ("proto", &["core"]),
    ("server", &["core", "store", "proto"]),
    ("worker", &["core", "proto"]),
    ("cli", &["core", "store", "proto", "server", "worker"]),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace is there")
}

/// Every file of that extension below a folder, generated code and build output left out.
fn files(below: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![below.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let name = entry.file_name().to_string_lossy().into_owned();
            if path.is_dir() {
                if !["target", "generated", ".git", "node_modules"].contains(&name.as_str()) {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|e| e == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn complain(what: &str, offenders: &[String]) {
    assert!(offenders.is_empty(), "{what}:\n  {}", offenders.join("\n  "));
}

#[test]
fn no_file_is_longer_than_five_hundred_lines() {
    let long = files(&root().join("crates"), "rs").into_iter().filter_map(|path| {
        let lines = read(&path).lines().count();
        (lines > MOST_LINES).then(|| format!("{lines} {}", path.display()))
    });
    complain("split these by responsibility", &long.collect::<Vec<_>>());
}

#[test]
fn no_function_is_longer_than_seventy_lines() {
    let mut long = Vec::new();
    for path in files(&root().join("crates"), "rs") {
        let text = read(&path);
        let mut begun: Option<(usize, &str)> = None;
        for (number, line) in text.lines().enumerate() {
            // Rustfmt closes a function at the indentation at which it began.
            let indent = &line[..line.len() - line.trim_start().len()];
            let head = line.trim_start().split(['(', '<']).next().unwrap_or_default();
            if head.split(' ').rev().nth(1) == Some("fn") && !line.ends_with([';', '}']) {
                begun = Some((number, indent));
            } else if let Some((first, at)) = begun
                && indent == at
                && line.trim() == "}"
            {
                if number - first + 1 > MOST_LINES_OF_A_FUNCTION {
                    long.push(format!("{}:{} has {} lines", path.display(), first + 1, number - first + 1));
                }
                begun = None;
            }
        }
    }
    complain("split these by step", &long);
}

#[test]
fn every_file_says_what_it_is_for() {
    let silent = files(&root().join("crates"), "rs")
        .into_iter()
        .filter(|path| !read(path).starts_with("//!"))
        .map(|path| path.display().to_string());
    complain("these do not begin with `//!`", &silent.collect::<Vec<_>>());
}

#[test]
fn crates_depend_downwards_only() {
    let mut wrong = Vec::new();
    for (name, allowed) in ALLOWED {
        let manifest = read(&root().join("crates").join(name).join("Cargo.toml"));
        let shipped = manifest.split("[dev-dependencies]").next().unwrap_or_default();
        for (other, _) in ALLOWED {
            if shipped.contains(&format!("\nganger-{other}")) && !allowed.contains(other) {
                wrong.push(format!("{name} depends on {other}"));
            }
        }
    }
    complain("arrows point down only", &wrong);
}

#[test]
fn sql_lives_in_the_store_and_in_files() {
    let mut wrong = Vec::new();
    let verbs = ["SELECT ", "INSERT INTO", "DELETE FROM", "UPDATE job", "CREATE TABLE", "PRAGMA "];
    for path in files(&root().join("crates"), "rs") {
        // One test plays the users, whose transactions are in SQL.
        let users = path.ends_with("cli/tests/sql.rs");
        if users || path.ends_with("core/tests/tidy.rs") || path.starts_with(root().join("crates/store")) {
            continue;
        }
        for (number, line) in read(&path).lines().enumerate() {
            if verbs.iter().any(|verb| line.contains(verb)) {
                wrong.push(format!("{}:{}", path.display(), number + 1));
            }
        }
    }
    complain("SQL outside the store", &wrong);
    let unexplained = files(&root().join("crates/store"), "sql")
        .into_iter()
        .filter(|path| !read(path).starts_with("--"))
        .map(|path| path.display().to_string());
    complain("these do not begin by saying what they do", &unexplained.collect::<Vec<_>>());
}

#[test]
fn every_error_code_has_a_page_and_every_page_a_code() {
    let source = read(&root().join("crates/server/src/http/problem.rs"));
    let pages: Vec<String> = files(&root().join("docs/errors"), "md")
        .iter()
        .filter_map(|path| path.file_stem().map(|stem| stem.to_string_lossy().into_owned()))
        .collect();
    assert!(pages.len() > 10, "the pages were not found");
    let orphans: Vec<String> =
        pages.iter().filter(|page| !source.contains(&format!("\"{page}\""))).cloned().collect();
    complain("pages without a code", &orphans);
}

/// The target of a Markdown link, if it is a path of this repository.
fn local_links(text: &str) -> Vec<String> {
    let parts = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let paths = parts.map(|target| target.split('#').next().unwrap_or_default());
    paths.filter(|path| !path.is_empty() && !path.contains("://")).map(str::to_owned).collect()
}

#[test]
fn every_link_between_documents_leads_somewhere() {
    let mut broken = Vec::new();
    for path in files(&root(), "md") {
        let folder = path.parent().expect("a file is in a folder");
        for link in local_links(&read(&path)) {
            if !folder.join(&link).exists() {
                broken.push(format!("{} links to {link}", path.display()));
            }
        }
    }
    complain("broken links", &broken);
}

/// The map of the code names files as `core/src/job.rs`; what it names must exist.
#[test]
fn what_the_map_names_exists() {
    let mut missing = Vec::new();
    for document in ["ARCHITECTURE.md", "STYLE.md", "CONTRIBUTING.md", "docs/guarantees.md"] {
        for word in read(&root().join(document)).split('`').skip(1).step_by(2) {
            let inside = ALLOWED.iter().any(|(name, _)| word.starts_with(&format!("{name}/")));
            if inside && !word.contains(['*', ' ']) && !root().join("crates").join(word).exists() {
                missing.push(format!("{document} names {word}"));
            }
        }
    }
    complain("named, but not there", &missing);
}

#[test]
fn nothing_is_left_unfinished() {
    let marks = ["TO".to_owned() + "DO", "FIX".to_owned() + "ME", "X".repeat(3), "to".to_owned() + "do!("];
    let mut found = Vec::new();
    for path in files(&root().join("crates"), "rs") {
        for (number, line) in read(&path).lines().enumerate() {
            if marks.iter().any(|mark| line.contains(mark.as_str())) {
                found.push(format!("{}:{}", path.display(), number + 1));
            }
        }
    }
    complain("unfinished", &found);
}

#[test]
fn the_time_and_the_environment_are_read_only_in_their_homes() {
    // Clippy forbids the calls; this looks at the places where that was silenced.
    let homes = ["build.rs", "clock.rs", "config.rs", "environment.rs"];
    let lint = "clippy::disallowed".to_owned() + "_methods";
    let mut wrong = Vec::new();
    for path in files(&root().join("crates"), "rs") {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let test = path.to_string_lossy().contains("/tests/");
        if read(&path).contains(&lint) && !homes.contains(&name.as_str()) && !test {
            wrong.push(path.display().to_string());
        }
    }
    complain("clocks or environment outside their home", &wrong);
}
