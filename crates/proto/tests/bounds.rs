//! What is taken at the bound and refused, or cut, one past it.

use std::time::Duration;

use ganger_core::message::{AttemptReport, ToLeader};
use ganger_core::outcome::Report;
use ganger_core::{Fence, JobId, limits};
use ganger_proto::convert::TTL_DEFAULT;
use ganger_proto::{DecodeError, Down, v1};

fn report(report: Report) -> AttemptReport {
    let job = JobId::new(1, [1; 10]);
    AttemptReport { job, fence: Fence::default(), report, ran: Duration::ZERO }
}

fn decoded(r: Report) -> Report {
    let wire = v1::Result::from(report(r));
    AttemptReport::try_from(wire).expect("a result is never refused for its size").report
}

fn hello() -> v1::Hello {
    v1::Hello { session: vec![1; 16], threads: 1, ..Default::default() }
}

fn refused(hello: v1::Hello) -> String {
    ganger_core::message::Hello::try_from(hello).expect_err("out of bounds").to_string()
}

#[test]
fn a_result_is_kept_at_the_bound_and_fatal_one_past_it() {
    let most = format!("\"{}\"", "x".repeat(limits::RESULT_BYTES - 2));
    assert_eq!(decoded(Report::Ok(most.clone())), Report::Ok(most.clone()));
    let Report::Fatal(text) = decoded(Report::Ok(format!("{most} "))) else { panic!("not fatal") };
    assert_eq!(text, "result_too_large: 1048577 bytes, the limit is 1048576");
}

#[test]
fn a_result_that_is_not_json_is_fatal() {
    let Report::Fatal(text) = decoded(Report::Ok("{oops".into())) else { panic!("not fatal") };
    assert!(text.starts_with("result_not_json: "), "{text}");
}

#[test]
fn an_error_text_is_cut_between_characters() {
    let long = format!("{}{}", "x".repeat(limits::ERROR_BYTES - 1), "é");
    assert_eq!(decoded(Report::Error(long)), Report::Error("x".repeat(limits::ERROR_BYTES - 1)));
    let fits = "x".repeat(limits::ERROR_BYTES);
    assert_eq!(decoded(Report::Fatal(fits.clone())), Report::Fatal(fits));
}

#[test]
fn a_delay_beyond_all_bounds_becomes_the_longest_one() {
    assert_eq!(
        decoded(Report::Snooze(limits::LONGEST + Duration::from_secs(1))),
        Report::Snooze(limits::LONGEST)
    );
    let mut wire = v1::Result::from(report(Report::Timeout));
    wire.ran = Some(prost_types::Duration { seconds: -5, nanos: -1 });
    assert_eq!(AttemptReport::try_from(wire).unwrap().ran, Duration::ZERO);
}

#[test]
fn a_message_holds_so_many_results_and_no_more() {
    let results = |n| ToLeader::Results(vec![report(Report::Timeout); n]);
    let max = limits::RESULTS_PER_MESSAGE;
    assert!(ToLeader::try_from(v1::FromWorker::from(results(max))).is_ok());
    let error = ToLeader::try_from(v1::FromWorker::from(results(max + 1))).unwrap_err();
    assert_eq!(error.to_string(), "field `results` has 65 results, the limit is 64");
}

#[test]
fn a_hello_out_of_bounds_is_refused_by_the_name_of_its_field() {
    let plain = ganger_core::message::Hello::try_from(hello()).unwrap();
    assert_eq!(plain.worker.ttl, TTL_DEFAULT);

    assert_eq!(
        refused(v1::Hello { threads: 0, ..hello() }),
        "field `hello.threads` is 0, allowed are 1 to 1024"
    );
    assert_eq!(
        refused(v1::Hello { threads: 1025, ..hello() }),
        "field `hello.threads` is 1025, allowed are 1 to 1024"
    );
    assert_eq!(
        refused(v1::Hello { session: vec![1; 15], ..hello() }),
        "field `session` has 15 bytes, an id has 16"
    );
    assert_eq!(
        refused(v1::Hello { queues: vec!["q".into(); limits::WORKER_NAMES + 1], ..hello() }),
        "field `hello.queues` has 257 names, the limit is 256"
    );
    let many = (0..=limits::LABELS).map(|i| (i.to_string(), String::new())).collect();
    assert_eq!(
        refused(v1::Hello { labels: many, ..hello() }),
        "field `hello.labels` has 33 labels, the limit is 32"
    );
    assert!(
        refused(v1::Hello { kinds: vec!["a b".into()], ..hello() })
            .starts_with("field `hello.kinds` contains")
    );
    assert!(refused(v1::Hello { name: "a\nb".into(), ..hello() }).contains("control character"));
}

#[test]
fn a_message_of_a_later_version_says_that_it_is_missing() {
    assert_eq!(Down::try_from(v1::ToWorker { message: None }), Err(DecodeError::Missing("message")));
}
