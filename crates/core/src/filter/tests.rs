//! The language: what it says, what it refuses and where, and that it prints back.

use std::time::Duration;

use proptest::prelude::*;

use super::*;

fn facts() -> Facts<'static> {
    Facts {
        id: JobId::new(1_700_000_000_000, [7; 10]),
        state: State::Dead,
        kind: "mail.send",
        queue: "mail",
        priority: 5,
        tags: &[],
        unique_key: Some("Order 42"),
        attempt: 3,
        max_attempts: 3,
        threads: 1,
        created_at: Wall(1_700_000_000_000_000),
        run_at: Wall(1_700_000_000_000_000),
        finished_at: Some(Wall(1_700_000_060_000_000)),
        waited: Some(Duration::from_secs(2)),
        ran: Some(Duration::from_millis(1_500)),
        outcome: Some(Outcome::Error),
        error: Some("Connection reset by 10.0.0.7"),
        worker: Some("w-3"),
        reason: Some("no attempts left"),
        schedule: Some("nightly"),
        payload: r#"{"user":{"id":42,"plan":"pro","big":12345678901234567},"tags":["a","b"],"ok":true,"none":null,"r":1.50}"#,
        result: None,
    }
}

fn says(text: &str) -> bool {
    let filter = Filter::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let now = Wall(1_700_000_100_000_000);
    let holds = filter.admits(&facts(), now);
    // Whatever narrows a filter must follow from it.
    if holds {
        let n = filter.narrowed(now);
        let f = facts();
        assert!(n.states.is_none_or(|states| states.contains(&f.state)), "{text}");
        assert!(n.ids.is_none_or(|ids| ids.contains(&f.id)), "{text}");
        assert!(n.queue.is_none_or(|queue| queue.as_str() == f.queue), "{text}");
        assert!(n.kind.is_none_or(|kind| kind.as_str() == f.kind), "{text}");
        assert!(n.unique_key.is_none_or(|key| Some(key.as_str()) == f.unique_key), "{text}");
        assert!(n.created_from.is_none_or(|at| f.created_at >= at), "{text}");
        assert!(n.created_before.is_none_or(|at| f.created_at < at), "{text}");
    }
    holds
}

/// Conditions that hold for [`facts`].
const HOLD: &[&str] = &[
    "state:dead",
    "state:queued,dead",
    "-state:queued",
    "queue:mail",
    "queue:sms,mail",
    "kind:mail.*",
    "kind:*send",
    "kind:m*.s*d",
    "kind:\"mail.send\"",
    "key:\"Order 42\"",
    "key~order",
    "error~\"CONNECTION reset\"",
    "reason~attempts",
    "worker:w-*",
    "schedule:nightly",
    "schedule:*",
    "schedule~IGHT",
    "outcome:error,timeout",
    "priority:5",
    "priority>4",
    "priority>=5",
    "attempt<=3",
    "max_attempts:3",
    "threads:1",
    "age>1m",
    "age<2m",
    "wait>=2s",
    "ran>1s500us",
    "ran<2s",
    "created>=2023-11-14",
    "created<2023-11-15T00:00:00Z",
    "created>=2023-11-14T22:13:20Z",
    "age>=100s",
    "age<=100s",
    "finished>2023-11-14",
    "run_at<2024-01-01",
    "payload.user.id:42",
    "payload.user.plan:pro,free",
    "payload.user.id>41.5",
    "payload.tags:b",
    "payload.tags.0:a",
    "payload.ok:true",
    "payload.none:null",
    "payload.r:1.5",
    "payload.user.plan~R",
    "payload.user.big:12345678901234567",
    "payload~\"plan\"",
    "reset",
    "\"order 42\"",
    "RESET queue:mail",
    "state:queued or queue:mail",
    "(state:queued or state:dead) kind:mail.*",
    "-(state:queued kind:mail.*)",
    "state:queued OR state:dead and queue:mail",
    "--state:dead",
];

/// Conditions that do not.
const DO_NOT_HOLD: &[&str] = &[
    "state:queued",
    "kind:mail",
    "kind:\"mail.*\"",
    "kind:send*",
    "tag:eu",
    "payload.user.id:\"42\"",
    "payload.user:42",
    "payload.missing:1",
    "payload.tags.7:a",
    "result.x:1",
    "result~x",
    "priority<5",
    "age>2m",
    "finished<2023-11-14",
    "nothing",
    "outcome:ok",
    "schedule:weekly",
    "failure:0123456789abcdef",
    "payload.user.plan>1",
    "job_0",
];

#[test]
fn each_condition_tells_jobs_apart() {
    let id = facts().id.to_string();
    let of_id = [id.clone(), id[10..].to_lowercase()];
    for text in HOLD.iter().copied().chain(of_id.iter().map(String::as_str)) {
        assert!(says(text), "{text}");
        if !text.contains(" or ") && !text.contains(" OR ") {
            assert!(!says(&format!("-({text})")), "{text}");
        }
    }
    for text in DO_NOT_HOLD {
        assert!(!says(text), "{text}");
    }
    let group = crate::fingerprint::Fingerprint::of(
        "mail.send",
        Outcome::Error,
        Some("Connection reset by 10.9.9.9"),
    )
    .unwrap();
    assert!(says(&format!("failure:{group}")));
}

#[test]
fn what_is_not_a_filter_is_refused_where_it_stops_making_sense() {
    for (text, position, expected) in [
        ("", 0, "a condition"),
        ("   ", 3, "a condition"),
        ("state:dead colour:red", 11, "queue"),
        ("state:died", 6, "dead"),
        ("state>dead", 5, ":"),
        ("queue:", 6, "a value"),
        ("queue:a,", 8, "a value"),
        ("queue>a", 5, "~"),
        ("ran>soon", 4, "a duration such as 5s or 2h"),
        ("ran:5s", 3, ">"),
        ("created>yesterday", 8, "a moment such as 2026-11-15 (RFC 3339)"),
        ("priority>high", 9, "a number"),
        ("id:42", 3, "an id"),
        ("(state:dead", 11, ")"),
        ("state:dead)", 10, "a condition"),
        ("state:dead or", 13, "a condition"),
        ("or state:dead", 0, "a condition"),
        ("a and", 5, "a condition"),
        ("-", 1, "a condition"),
        ("error~\"open", 11, "\""),
        ("payload.a..b:1", 0, "payload.user.id"),
        ("payload.x>big", 10, "a number"),
        ("http://x", 0, "state"),
        (",", 0, "a condition"),
    ] {
        let error = Filter::parse(text).unwrap_err();
        assert_eq!(error.position, position, "{text}: {error}");
        assert!(error.expected.contains(&expected), "{text}: {error}");
    }
}

#[test]
fn a_filter_is_taken_at_each_bound_and_refused_one_past_it() {
    let text = |bytes: usize| format!("error~\"{}\"", "x".repeat(bytes - 8));
    assert!(Filter::parse(&text(FILTER_BYTES)).is_ok() && Filter::parse(&text(FILTER_BYTES + 1)).is_err());
    let terms = |count: usize| vec!["x"; count].join(" ");
    assert!(Filter::parse(&terms(FILTER_TERMS)).is_ok() && Filter::parse(&terms(FILTER_TERMS + 1)).is_err());
    let values = |count: usize| format!("tag:{}", vec!["x"; count].join(","));
    assert!(
        Filter::parse(&values(FILTER_VALUES)).is_ok() && Filter::parse(&values(FILTER_VALUES + 1)).is_err()
    );
    let numbers = |count: usize| format!("priority:{}", vec!["1"; count].join(","));
    assert!(
        Filter::parse(&numbers(FILTER_VALUES)).is_ok() && Filter::parse(&numbers(FILTER_VALUES + 1)).is_err()
    );
    let deep = |depth: usize| format!("{}x", "-".repeat(depth));
    assert!(Filter::parse(&deep(FILTER_DEPTH)).is_ok() && Filter::parse(&deep(FILTER_DEPTH + 1)).is_err());
    // What is written nests no deeper than what was read.
    let filter = Filter::parse(&format!("{}a b or -c", "-".repeat(FILTER_DEPTH))).unwrap();
    assert_eq!(Filter::parse(&filter.to_string()), Ok(filter));
    let path = |parts: usize| format!("payload{}:1", ".a".repeat(parts));
    assert!(Filter::parse(&path(PATH_PARTS)).is_ok() && Filter::parse(&path(PATH_PARTS + 1)).is_err());
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        "[a-z*0-9:._~<>-]{1,8}".prop_map(|text| Value { text, quoted: false }),
        any::<String>().prop_map(|text| Value { text: text.chars().take(9).collect(), quoted: true }),
    ]
}

fn order() -> impl Strategy<Value = Compare> {
    prop::sample::select(vec![Compare::Less, Compare::AtMost, Compare::More, Compare::AtLeast])
}

fn term() -> impl Strategy<Value = Term> {
    let values = || prop::collection::vec(value(), 1..4);
    let short = || any::<String>().prop_map(|text| text.chars().take(9).collect::<String>());
    let path = || prop::collection::vec("[a-z0-9_-]{1,4}", 1..4);
    let json = || prop::sample::select(JsonField::ALL);
    prop_oneof![
        prop::sample::subsequence(State::ALL.to_vec(), 1..3).prop_map(Term::State),
        prop::sample::subsequence(Outcome::ALL.to_vec(), 1..3).prop_map(Term::Outcome),
        any::<u128>().prop_map(|bits| Term::Id(vec![JobId::from_uuid(uuid::Uuid::from_u128(bits))])),
        (prop::sample::select(TextField::ALL), values()).prop_map(|(f, v)| Term::Text(f, TextTest::OneOf(v))),
        (prop::sample::select(TextField::ALL), short())
            .prop_map(|(f, t)| Term::Text(f, TextTest::Contains(t))),
        (prop::sample::select(NumberField::ALL), order(), any::<i64>())
            .prop_map(|(f, o, n)| Term::Number(f, NumberTest::Compare(o, n))),
        (prop::sample::select(NumberField::ALL), prop::collection::vec(any::<i64>(), 1..3))
            .prop_map(|(f, n)| Term::Number(f, NumberTest::OneOf(n))),
        (prop::sample::select(LengthField::ALL), order(), 0..31_000_000_000_000u64)
            .prop_map(|(f, o, us)| Term::Length(f, o, Duration::from_micros(us))),
        (prop::sample::select(MomentField::ALL), order(), 0..4_000_000_000_000_000i64)
            .prop_map(|(f, o, us)| Term::Moment(f, o, Wall(us))),
        (json(), path(), values()).prop_map(|(f, p, v)| Term::Json(f, p, JsonTest::OneOf(v))),
        (json(), path(), order(), -1e12..1e12f64).prop_map(|(f, p, o, n)| Term::Json(
            f,
            p,
            JsonTest::Compare(o, n)
        )),
        (json(), short()).prop_map(|(f, t)| Term::Json(f, Vec::new(), JsonTest::Contains(t))),
        short().prop_map(Term::Word),
    ]
}

fn expr() -> impl Strategy<Value = Expr> {
    term().prop_map(Expr::Term).prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 2..4).prop_map(Expr::All),
            prop::collection::vec(inner.clone(), 2..4).prop_map(Expr::Any),
            inner.prop_map(|inner| Expr::Not(Box::new(inner))),
        ]
    })
}

proptest! {
    #[test]
    fn a_filter_prints_as_a_text_that_parses_to_the_same(expr in expr()) {
        let filter = Filter { expr };
        let text = filter.to_string();
        prop_assert_eq!(Filter::parse(&text), Ok(filter), "{}", text);
    }

    #[test]
    fn rubbish_is_refused_or_understood_and_never_panics(text in "[ a-z:()<>~,\"\\\\*.0-9é-]{0,60}") {
        if let Ok(filter) = Filter::parse(&text) {
            let _ = filter.admits(&facts(), Wall(0));
            let _ = filter.narrowed(Wall(0));
            prop_assert_eq!(Filter::parse(&filter.to_string()), Ok(filter));
        }
    }
}

#[test]
fn a_pinned_filter_means_the_same_jobs_for_ever() {
    let now = Wall(1_700_000_100_000_000);
    for (text, holds) in [
        ("age>99s", true),
        ("age>100s", false),
        ("age>=100s", true),
        ("age<101s", true),
        ("-age<=100s", false),
    ] {
        let filter = Filter::parse(text).unwrap();
        let pinned = filter.pinned(now);
        assert_eq!(filter.admits(&facts(), now), holds, "{text}");
        for later in [now, now + Duration::from_secs(3600)] {
            assert_eq!(pinned.admits(&facts(), later), holds, "{text} as {pinned}");
        }
        assert_eq!(Filter::parse(&pinned.to_string()), Ok(pinned), "{text}");
    }
}

#[test]
fn a_filter_that_asks_for_what_is_in_jobs_says_so() {
    for text in [
        "payload.a:1",
        "result~x",
        "-payload.a:1",
        "state:dead or (queue:a -(kind:b payload.c>1))",
        "payload~x",
    ] {
        assert!(Filter::parse(text).unwrap().asks_for_contents(), "{text}");
    }
    for text in HOLD.iter().filter(|text| !text.contains("payload") && !text.contains("result")) {
        assert!(!Filter::parse(text).unwrap().asks_for_contents(), "{text}");
    }
}

#[test]
fn a_filter_for_some_queues_is_the_one_that_a_person_would_write() {
    let of = |globs: &[&str]| Filter::in_queues(&globs.iter().map(ToString::to_string).collect::<Vec<_>>());
    assert_eq!(of(&["mail", "sms*"]), Filter::parse("queue:mail,sms*").unwrap());
    let now = facts().created_at;
    assert!(of(&["ma*l", "x"]).admits(&facts(), now) && !of(&["mai", "mail.*"]).admits(&facts(), now));
    assert_eq!(of(&["mail"]).narrowed(now).queue, Some("mail".parse().unwrap()));
}
