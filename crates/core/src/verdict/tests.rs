//! Situations, and what is said of them.

use super::*;

fn queue(name: &str) -> QueueFacts {
    QueueFacts {
        queue: name.parse().unwrap(),
        paused: false,
        waiting: 0,
        running: 0,
        oldest: None,
        comes: 0.0,
        starts: 0.0,
        unserved: Vec::new(),
    }
}

/// A queue with so many jobs, of which the first has waited so many seconds; so many come and start per second.
fn busy(name: &str, waiting: u64, oldest: u64, comes: f64, starts: f64) -> QueueFacts {
    QueueFacts { waiting, oldest: Some(Duration::from_secs(oldest)), comes, starts, ..queue(name) }
}

fn held(name: &str, waiting: u64) -> QueueFacts {
    QueueFacts { paused: true, ..busy(name, waiting, 9_999, 0.0, 0.0) }
}

fn nobody(name: &str, waiting: u64, oldest: u64) -> QueueFacts {
    let why = "no worker handles video.encode".to_owned();
    let unserved = vec![Unserved { why, waiting, oldest: Duration::from_secs(oldest) }];
    QueueFacts { waiting, unserved, ..queue(name) }
}

fn verdict(running: u64, mut queues: Vec<QueueFacts>) -> (Severity, String) {
    if let Some(first) = queues.first_mut() {
        first.running = running;
    }
    let verdict = Verdict::of(&Facts { queues, ..Facts::default() });
    assert!(verdict.findings.len() <= FINDINGS);
    assert_eq!(verdict.findings.is_empty(), verdict.severity == Severity::Ok);
    (verdict.severity, verdict.text)
}

#[test]
fn each_situation_has_its_sentence() {
    use Severity::{Bad, Ok, Watch};
    for (running, queues, severity, text) in [
        (0, vec![], Ok, "0 queues, nothing waiting"),
        (0, vec![queue("a")], Ok, "1 queue, nothing waiting"),
        (0, vec![queue("a"), queue("b"), queue("c")], Ok, "3 queues, nothing waiting"),
        (2, vec![queue("a")], Ok, "1 queue, 0 waiting, 2 running"),
        (4, vec![busy("a", 1, 0, 9.0, 25.0)], Ok, "1 queue, 1 waiting, 4 running, 25 jobs/s"),
        (4, vec![busy("a", 9, 59, 9.0, 2.54)], Ok, "1 queue, 9 waiting, 4 running, 2.5 jobs/s"),
        // One second more, and somebody looks.
        (4, vec![busy("a", 9, 60, 9.0, 2.0)], Watch, "a is falling behind: oldest 1 m 0 s"),
        (4, vec![busy("mail", 9, 252, 9.0, 2.0)], Watch, "mail is falling behind: oldest 4 m 12 s"),
        (4, vec![busy("mail", 9, 300, 9.0, 2.0)], Bad, "mail is falling behind: oldest 5 m 0 s"),
        (4, vec![busy("mail", 9, 300, 2.0, 2.0)], Bad, "mail is falling behind: oldest 5 m 0 s"),
        // A day's work that gets done is no emergency.
        (
            4,
            vec![busy("etl", 7_200, 90_000, 1.0, 3.0)],
            Watch,
            "etl is catching up: oldest 1 d 1 h, about 1 h 0 m left",
        ),
        // Long jobs may take every thread for hours.
        (2, vec![busy("a", 3, 9_999, 0.1, 0.0)], Watch, "a waits for free threads: oldest 2 h 46 m, 2 run"),
        (0, vec![busy("a", 3, 61, 0.0, 0.0)], Watch, "a stands still: oldest 1 m 1 s, 3 wait"),
        (0, vec![busy("a", 3, 301, 0.0, 0.0)], Bad, "a stands still: oldest 5 m 1 s, 3 wait"),
        // A worker that is restarted is back within seconds.
        (0, vec![nobody("v", 12, 9)], Ok, "1 queue, 12 waiting, 0 running"),
        (0, vec![nobody("v", 12, 10)], Watch, "no worker handles video.encode (12 jobs wait)"),
        (0, vec![nobody("v", 1, 300)], Bad, "no worker handles video.encode (1 job waits)"),
        // What was paused was paused by somebody: it is said, and no more.
        (0, vec![held("a", 0)], Ok, "1 queue, nothing waiting"),
        (0, vec![held("a", 2)], Watch, "a is paused, 2 jobs wait there"),
        (0, vec![held("a", 1), held("b", 3)], Watch, "2 queues are paused, 4 jobs wait there"),
        (
            0,
            vec![QueueFacts { paused: true, ..nobody("v", 5, 999) }],
            Watch,
            "v is paused, 5 jobs wait there",
        ),
        // The worst is named, and how much more there is.
        (
            0,
            vec![busy("a", 1, 100, 1.0, 0.5), busy("b", 1, 400, 1.0, 0.5), held("c", 1)],
            Bad,
            "b is falling behind: oldest 6 m 40 s (and 2 more)",
        ),
        (
            0,
            vec![busy("a", 1, 100, 1.0, 0.5), busy("b", 1, 200, 1.0, 0.5)],
            Watch,
            "b is falling behind: oldest 3 m 20 s (and 1 more)",
        ),
    ] {
        assert_eq!(verdict(running, queues.clone()), (severity, text.to_owned()), "{queues:?}");
    }
}

#[test]
fn a_store_that_refuses_comes_before_everything() {
    let queues = vec![busy("a", 1, 100_000, 1.0, 0.5)];
    let facts = Facts { store_trouble: Some("the disk is full".into()), queues, ..Facts::default() };
    let verdict = Verdict::of(&facts);
    assert_eq!(verdict.text, "nothing can be written: the disk is full (and 1 more)");
    assert_eq!((verdict.severity, verdict.findings.len()), (Severity::Bad, 2));
}

#[test]
fn so_many_findings_are_told_and_all_are_counted() {
    let queues: Vec<QueueFacts> =
        (0..FINDINGS + 5).map(|n| busy(&format!("q{n}"), 1, 70, 1.0, 0.0)).collect();
    let verdict = Verdict::of(&Facts { queues, ..Facts::default() });
    assert_eq!(verdict.findings.len(), FINDINGS);
    assert!(verdict.text.ends_with(&format!("(and {} more)", FINDINGS + 4)), "{}", verdict.text);
}

#[test]
fn a_duration_in_a_sentence_has_at_most_two_units() {
    for (millis, text) in [
        (0, "0.0 s"),
        (9_940, "9.9 s"),
        (10_000, "10 s"),
        (252_000, "4 m 12 s"),
        (3_600_000, "1 h 0 m"),
        (90_000_000, "1 d 1 h"),
    ] {
        assert_eq!(long(Duration::from_millis(millis)), text);
    }
    assert_eq!(
        (Rate(25.4).to_string(), Rate(2.54).to_string(), Rate(0.016).to_string()),
        ("25".into(), "2.5".into(), "0.02".into())
    );
}
