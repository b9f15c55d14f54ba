//! Settings and their origins, through the binary.

mod common;

use common::{code, command, stderr, stdout};

/// `ganger config show` in a directory with its own files and environment.
fn show(
    directory: &std::path::Path,
    variables: &[(&str, &str)],
    args: &[&str],
) -> Vec<(String, String, String)> {
    let mut all = vec!["config", "show", "-o", "json"];
    all.extend_from_slice(args);
    let output = command(directory, &all).envs(variables.iter().copied()).output().unwrap();
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let body: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let items = body["items"].as_array().unwrap();
    items.iter().map(|i| (text(&i["setting"]), text(&i["value"]), text(&i["origin"]))).collect()
}

fn url(entries: &[(String, String, String)]) -> (&str, &str) {
    let entry = entries.iter().find(|(setting, ..)| setting == "url").unwrap();
    (&entry.1, &entry.2)
}

#[test]
fn each_setting_is_shown_with_the_place_that_won() {
    let dir = tempfile::tempdir().unwrap();
    let user = dir.path().join(".config/ganger");
    std::fs::create_dir_all(&user).unwrap();
    assert_eq!(url(&show(dir.path(), &[], &[])), ("http://127.0.0.1:8080", "default"));

    std::fs::write(user.join("config.toml"), "url = \"http://127.0.0.1:1\"\n").unwrap();
    let entries = show(dir.path(), &[], &[]);
    assert_eq!(url(&entries).0, "http://127.0.0.1:1");
    assert!(url(&entries).1.ends_with(".config/ganger/config.toml"), "{:?}", url(&entries));

    std::fs::write(dir.path().join("ganger.toml"), "url = \"http://127.0.0.1:2\"\n").unwrap();
    let entries = show(dir.path(), &[], &[]);
    assert_eq!(url(&entries).0, "http://127.0.0.1:2");
    assert!(url(&entries).1.ends_with("ganger.toml"), "{:?}", url(&entries));

    let env = [("GANGER_URL", "http://127.0.0.1:3")];
    assert_eq!(url(&show(dir.path(), &env, &[])), ("http://127.0.0.1:3", "env GANGER_URL"));
    let flag = ["--url", "http://127.0.0.1:4"];
    assert_eq!(url(&show(dir.path(), &env, &flag)), ("http://127.0.0.1:4", "flag --url"));
}

#[test]
fn an_unknown_setting_in_a_file_is_refused_naming_file_and_line() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("ganger.toml"), "# mine\nurll = \"http://127.0.0.1:1\"\n").unwrap();
    let output = command(dir.path(), &["config", "show"]).output().unwrap();
    assert_eq!(code(&output), 2);
    let text = stderr(&output);
    assert!(text.contains("ganger.toml") && text.contains("line 2") && text.contains("urll"), "{text}");
}

#[test]
fn a_value_that_cannot_be_used_names_its_origin() {
    let dir = tempfile::tempdir().unwrap();
    let output = command(dir.path(), &["stats"]).env("GANGER_URL", "localhost").output().unwrap();
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("env GANGER_URL"), "{}", stderr(&output));
}

#[test]
fn names_alone_are_one_per_line() {
    let dir = tempfile::tempdir().unwrap();
    let output = command(dir.path(), &["config", "show", "-o", "name"]).output().unwrap();
    let text = stdout(&output);
    assert_eq!(text.lines().next(), Some("url"));
    assert!(text.lines().all(|line| !line.contains(' ')), "{text}");
}
