//! Reading a Dockerfile: its instructions, one by one, continued lines joined.

/// One instruction.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// `FROM`, `COPY`, …
    pub(crate) verb: String,
    /// What follows it.
    pub(crate) rest: String,
}

/// The instructions of a file.
pub(crate) fn steps(text: &str) -> Vec<Step> {
    let mut joined = String::new();
    for line in text.lines().filter(|line| !line.trim_start().starts_with('#')) {
        match line.strip_suffix('\\') {
            Some(head) => joined.push_str(head),
            None => {
                joined.push_str(line);
                joined.push('\n');
            }
        }
    }
    let full = joined.lines().filter_map(|line| line.trim().split_once(' '));
    full.map(|(verb, rest)| Step { verb: verb.into(), rest: rest.trim().into() }).collect()
}

/// A command that is written as a list, as it must be where there may be no shell.
pub(crate) fn list(rest: &str) -> Vec<String> {
    serde_json::from_str(rest).unwrap_or_else(|error| panic!("{rest} is no list: {error}"))
}

/// The words of `COPY` and `FROM`: options, and the rest.
pub(crate) fn words(rest: &str) -> (Vec<(String, String)>, Vec<String>) {
    let (options, plain): (Vec<&str>, Vec<&str>) =
        rest.split_whitespace().partition(|word| word.starts_with("--"));
    let options = options.iter().map(|word| word[2..].split_once('=').unwrap_or((&word[2..], "")));
    let options = options.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    (options, plain.into_iter().map(str::to_owned).collect())
}

/// Which files of a tree belong to the context, by the lines of a `.dockerignore`: the last that fits decides. It knows as much of
/// the language as ours uses.
pub(crate) fn is_in_context(ignore: &str, path: &str) -> bool {
    let lines = ignore.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.fold(true, |kept, line| {
        let (pattern, keeps) = line.strip_prefix('!').map_or((line, false), |pattern| (pattern, true));
        if fits(pattern, path) { keeps } else { kept }
    })
}

/// A pattern fits a path, or one of the folders that it is in.
fn fits(pattern: &str, path: &str) -> bool {
    let segments: Vec<&str> = path.split('/').collect();
    match pattern.strip_prefix("**/") {
        Some(name) => segments.iter().any(|segment| segment_fits(name, segment)),
        None => {
            let wanted: Vec<&str> = pattern.split('/').collect();
            wanted.len() <= segments.len() && wanted.iter().zip(&segments).all(|(w, s)| segment_fits(w, s))
        }
    }
}

fn segment_fits(pattern: &str, segment: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == segment,
        Some((head, tail)) => {
            segment.len() >= head.len() + tail.len() && segment.starts_with(head) && segment.ends_with(tail)
        }
    }
}

#[test]
fn a_context_is_what_the_last_line_that_fits_says() {
    let ignore = "# all\n*\n!crates\n!LICENSE*\n!docs/errors\n**/tests\n**/*.env\n";
    for (path, kept) in [
        ("crates/cli/src/main.rs", true),
        ("crates/cli/tests/help.rs", false),
        ("crates/x.env", false),
        ("LICENSE-MIT", true),
        ("docs/errors/a.md", true),
        ("docs/grpc.md", false),
        ("deploy/.env", false),
    ] {
        assert_eq!(is_in_context(ignore, path), kept, "{path}");
    }
}

#[test]
fn instructions_are_read_with_their_continued_lines() {
    let steps = steps("# no\nFROM a AS b\nRUN x \\\n  && y\n\nCMD [\"z\"]\n");
    let read: Vec<_> = steps.iter().map(|step| (step.verb.as_str(), step.rest.as_str())).collect();
    assert_eq!(read, [("FROM", "a AS b"), ("RUN", "x   && y"), ("CMD", "[\"z\"]")]);
    assert_eq!(words("--from=a --chown=1:2 x y").1, ["x", "y"]);
}
