//! The README's examples run: every `console` block after a `<!-- test -->` comment.
//!
//! A line that begins with `$ ` is a command, for `sh`, with `ganger` in its path and a server of its own
//! at the default place; the commands of a block run in one shell. The lines that follow a command must
//! appear in its output, in that order; `…` in a line stands for any text. Commands that serve
//! (`ganger dev`, `make …`) are not for such blocks: the server is there already.

mod common;

use std::path::Path;
use std::process::Command;

use common::{Instance, binary};

const MARK: &str = "<!-- test -->";

/// A command of the README and what it should print.
#[derive(Debug, PartialEq, Eq)]
struct Example {
    line: usize,
    command: String,
    expected: Vec<String>,
}

#[test]
fn the_examples_of_the_readme_do_what_they_say() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let blocks = blocks(&std::fs::read_to_string(&path).expect("there is a README"));
    assert!(!blocks.is_empty(), "no example of the README is marked with {MARK}");
    let dev = Instance::dev();
    let directory = tempfile::tempdir().unwrap();
    for block in blocks {
        run(&dev, directory.path(), &block);
    }
}

/// Runs the commands of a block in one shell, each with its output in files of its own.
fn run(dev: &Instance, directory: &Path, block: &[Example]) {
    let mut script = String::new();
    for (i, example) in block.iter().enumerate() {
        // The README speaks of the default port; here the server has another.
        let command = example.command.replace("http://127.0.0.1:8080", &dev.url);
        script.push_str(&format!("{{\n{command}\n}} >out.{i} 2>err.{i}\necho $? >code.{i}\n"));
    }
    let status = Command::new("sh")
        .args(["-c", &script])
        .current_dir(directory)
        .env_clear()
        .env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", binary().parent().unwrap().display()))
        .env("HOME", directory)
        .env("GANGER_URL", &dev.url)
        .env("GANGER_DATA", &dev.data)
        .status()
        .unwrap();
    assert!(status.success(), "the shell failed: {status}");
    for (i, example) in block.iter().enumerate() {
        let read = |name: &str| std::fs::read_to_string(directory.join(format!("{name}.{i}"))).unwrap();
        check(example, read("code").trim(), &format!("{}{}", read("out"), read("err")));
    }
}

fn check(example: &Example, code: &str, printed: &str) {
    let place = format!("README.md:{}: `{}`", example.line, example.command);
    assert_eq!(code, "0", "{place} failed:\n{printed}");
    let mut lines = printed.lines();
    for expected in &example.expected {
        assert!(
            lines.any(|line| matches(expected, line)),
            "{place} did not print\n  {expected}\nbut\n{printed}"
        );
    }
}

/// The marked blocks of a README. A command may go on over lines that end with a backslash.
fn blocks(text: &str) -> Vec<Vec<Example>> {
    let mut found: Vec<Vec<Example>> = Vec::new();
    let (mut marked, mut inside) = (false, false);
    for (number, line) in text.lines().enumerate() {
        match line.trim() {
            MARK => marked = true,
            "```console" if marked => {
                inside = true;
                found.push(Vec::new());
            }
            "```" if inside => (marked, inside) = (false, false),
            trimmed => {
                if let Some(block) = found.last_mut().filter(|_| inside) {
                    take(block, number + 1, line, trimmed);
                }
            }
        }
    }
    found
}

fn take(block: &mut Vec<Example>, number: usize, line: &str, trimmed: &str) {
    if let Some(last) = block.last_mut()
        && last.expected.is_empty()
        && last.command.ends_with('\\')
    {
        last.command.push('\n');
        last.command.push_str(line.trim_start_matches('>'));
    } else if let Some(command) = trimmed.strip_prefix("$ ") {
        block.push(Example { line: number, command: command.to_owned(), expected: Vec::new() });
    } else if let Some(last) = block.last_mut()
        && !trimmed.is_empty()
    {
        last.expected.push(trimmed.to_owned());
    }
}

/// Whether a line is as expected; `…` stands for any text. Spaces may differ in number.
fn matches(expected: &str, line: &str) -> bool {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (expected, line) = (words(expected), words(line));
    let parts: Vec<&str> = expected.split('…').map(str::trim).collect();
    let Some((first, rest)) = parts.split_first() else { return false };
    let Some(mut left) = line.strip_prefix(first) else { return false };
    let Some((last, middle)) = rest.split_last() else { return left.is_empty() };
    for part in middle {
        match left.find(part) {
            Some(at) => left = &left[at + part.len()..],
            None => return false,
        }
    }
    left.ends_with(last)
}

#[test]
fn only_marked_console_blocks_are_examples() {
    let text = "```console\n$ no\n```\n<!-- test -->\n```console\n$ ganger x \\\n  -y\nout …\n\n$ two\n```\n```console\n$ no\n```\n";
    let commands: Vec<(usize, String, Vec<String>)> =
        blocks(text).into_iter().flatten().map(|e| (e.line, e.command, e.expected)).collect();
    assert_eq!(
        commands,
        [(6, "ganger x \\\n  -y".into(), vec!["out …".into()]), (10, "two".into(), Vec::new())]
    );
}

#[test]
fn an_ellipsis_stands_for_any_text() {
    for (expected, line, fits) in [
        ("job_… queued", "job_01J9 queued", true),
        ("job_…", "job_01J9", true),
        ("… 3 of …", "did 3 of 9", true),
        ("hello", "hello", true),
        ("hello", "hello world", false),
        ("a … c", "a b", false),
        ("STATE  ID", "STATE      ID", true),
    ] {
        assert_eq!(matches(expected, line), fits, "{expected} / {line}");
    }
}
