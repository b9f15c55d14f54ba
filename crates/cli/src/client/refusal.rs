//! A request that did not succeed, in words.

use std::error::Error;

use ganger_server::api::ProblemBody;

use super::answer::Answer;
use crate::config::{Origin, ServerUrls};
use crate::exit::Exit;
use crate::failure::Failure;

/// The server said no.
pub(super) fn refused(what: &str, answer: &Answer) -> Box<Failure> {
    let exit = Exit::of_status(answer.status);
    let what = format!("cannot {what}");
    let Ok(problem) = serde_json::from_str::<ProblemBody>(&answer.body) else {
        if answer.body.contains("speaks TLS") {
            let why = "the server speaks TLS, and was asked without";
            return Failure::new(exit, what, why, "use https:// in --url or GANGER_URL");
        }
        return Failure::new(
            exit,
            what,
            format!("the server answered {} without saying why", answer.status),
            "check that the URL is that of a Ganger server (--url or GANGER_URL)",
        );
    };
    let mut why = format!("{} ({} {})", problem.detail, problem.status, problem.code);
    // A single mistake is often named by the detail already.
    for field in problem.errors.iter().filter(|field| !problem.detail.contains(&field.detail)) {
        why.push_str(&format!("\n{}: {}", field.pointer, field.detail));
    }
    // The hint explains the document, of which a person sees only these lines.
    let fix = match problem.errors.is_empty() {
        true => problem.hint.unwrap_or_default(),
        false => "correct that and try again".to_owned(),
    };
    let mut failure = Failure::new(exit, what, why, fix);
    failure.problem = Some(answer.body.clone());
    failure
}

/// The server did not answer.
pub(super) fn unreachable(
    what: &str,
    url: &ServerUrls,
    origin: &Origin,
    error: &reqwest::Error,
) -> Box<Failure> {
    let cause = root_cause(error);
    if error.is_timeout() && !error.is_connect() {
        return Failure::new(
            Exit::Unreachable,
            format!("cannot {what}: {url} did not answer in time"),
            cause,
            "look at `ganger health --ready` and at the server's log",
        );
    }
    // A plain server answers a TLS greeting with something that is no TLS.
    let wrong_scheme =
        !url.is_plain() && (cause.contains("InvalidContentType") || cause.contains("corrupt message"));
    let fix = if wrong_scheme {
        "the server seems to speak plain HTTP: use http:// in --url or GANGER_URL"
    } else if cause.contains("certificate") {
        "name the authority of its certificate with --ca or GANGER_CA, and the server as its certificate does"
    } else {
        "start a server with `ganger dev`, or name another one with --url or GANGER_URL"
    };
    Failure::new(
        Exit::Unreachable,
        format!("cannot {what}: no server at {url}"),
        format!("{cause} (the URL comes from: {origin})"),
        fix,
    )
}

/// The innermost reason, which is the one that says something.
pub(super) fn root_cause(error: &dyn Error) -> String {
    let mut cause = error;
    // A chain of causes is as long as the code that built it: a handful.
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, body: &str) -> Answer {
        Answer { status, retry_after: None, body: body.to_owned() }
    }

    #[test]
    fn a_problem_becomes_three_lines_and_keeps_its_document() {
        let body = r#"{"type":"/problems/validation","title":"t","status":422,"code":"validation",
            "detail":"the job is out of bounds","hint":"lower it",
            "errors":[{"pointer":"/threads","detail":"is 2000"},{"pointer":"/kind","detail":"is empty"}]}"#;
        let failure = refused("enqueue", &answer(422, body));
        assert_eq!(failure.exit, Exit::Conflict);
        let text = failure.render(false, false);
        assert!(
            text.starts_with("error: cannot enqueue\n  why: the job is out of bounds (422 validation)\n"),
            "{text}"
        );
        assert!(text.contains("/threads: is 2000\n") && text.contains("/kind: is empty"), "{text}");
        assert!(text.ends_with("\n  do: correct that and try again"), "{text}");
        assert_eq!(failure.render(true, false), body);
    }

    #[test]
    fn a_single_mistake_is_shown_once_and_nothing_points_at_a_document_that_is_not_shown() {
        for (detail, told) in [("the job has 1 mistake", true), ("`threads` is 2000", false)] {
            let body = format!(
                r#"{{"type":"/problems/validation","title":"t","status":422,"code":"validation_failed","detail":"{detail}",
                "hint":"Each entry of `errors` names a field and what is wrong with it.",
                "errors":[{{"pointer":"/threads","detail":"is 2000"}}]}}"#
            );
            let text = refused("enqueue", &answer(422, &body)).render(false, false);
            assert_eq!(text.contains("/threads: is 2000"), told, "{text}");
            assert!(!text.contains("`errors`"), "{text}");
        }
    }

    #[test]
    fn an_answer_that_is_no_problem_document_points_at_the_url() {
        let failure = refused("list jobs", &answer(404, "<html>nginx</html>"));
        assert_eq!(failure.exit, Exit::NotFound);
        assert!(failure.fix.contains("--url"), "{}", failure.fix);
    }
}
