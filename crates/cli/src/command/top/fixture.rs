//! A model with something in it, for tests.

use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ganger_core::Wall;
use serde_json::json;

use super::fetch::{Fetch, Fetched};
use super::model::{Link, Model, Moment};
use super::theme::Theme;
use super::update::{Effect, Message, update};
use crate::exit::Exit;
use crate::failure::Failure;

pub(super) const JOB: &str = "job_01J9X7QK5V8M3N2P4R6S8T0V1W";
const WORKER: &str = "wrk_01J9X7QK5V8M3N2P4R6S8T0V1W";
/// 14:02:11 in London.
const NOW: &str = "2026-11-16T14:02:11Z";

/// A model that is live, with queues, jobs and the rest, on a screen of that size.
pub(super) fn model(width: u16, height: u16) -> Model {
    let mut model =
        Model::new("http://127.0.0.1:8080".into(), false, Theme::new(true, true), jiff::tz::TimeZone::UTC);
    let _ = update(&mut model, Message::Resize(width, height));
    at(&mut model, 1.0);
    let _ = update(&mut model, Message::Linked(Link::Open));
    for (fetch, answer) in answers() {
        let _ = update(&mut model, Message::Fetched(fetch, Ok(answer)));
    }
    model
}

/// Lets the clock show so many seconds since the start.
pub(super) fn at(model: &mut Model, seconds: f64) {
    let wall: Wall = NOW.parse().expect("a moment");
    let since_start = Duration::from_secs_f64(seconds);
    let _ = update(model, Message::Tick(Moment { since_start, wall: wall + since_start }));
}

/// Types keys, and gives what is to be done about them.
pub(super) fn press(model: &mut Model, keys: &str) -> Vec<Effect> {
    let one = |letter| {
        let code = match letter {
            '\n' => KeyCode::Enter,
            '\t' => KeyCode::Tab,
            '\x1b' => KeyCode::Esc,
            letter => KeyCode::Char(letter),
        };
        update(model, Message::Key(KeyEvent::new(code, KeyModifiers::NONE)))
    };
    keys.chars().flat_map(one).collect()
}

/// A refusal.
pub(super) fn denied() -> Box<Failure> {
    Failure::new(
        Exit::Denied,
        "cannot list queues",
        "a token is needed (401 unauthenticated)",
        "set GANGER_TOKEN",
    )
}

fn answers() -> Vec<(Fetch, Fetched)> {
    let read = "the fixture is what the server would send";
    let queue = |name: &str, paused: bool, queued: u64, dead: u64, oldest: Option<u64>| {
        json!({
            "queue": name, "paused": paused, "draining": false, "policy": "least_recently_used",
            "retention": { "finished": "7d", "dead": "90d" }, "oldest_ready_ms": oldest, "workers": 1,
            "jobs": { "queued": queued, "running": 4, "retrying": 2, "dead": dead, "scheduled": 7 },
        })
    };
    let queues = json!({ "items": [
        queue("mail", false, 4_120, 14, Some(252_000)),
        queue("media", true, 310, 0, Some(2_000)),
        queue("reports", false, 0, 0, None),
    ]});
    let job = |id: &str, state: &str, error: Option<&str>| {
        json!({
            "id": id, "kind": "email.send", "queue": "mail", "state": state, "priority": 0,
            "created_at": "2026-11-16T14:00:00Z", "run_at": "2026-11-16T14:00:00Z", "attempt": 1,
            "attempts_used": 1, "max_attempts": 8, "max_lost": 3, "threads": 1, "min_threads": 1,
            "fallback": "widest", "retry": { "base": "1s", "factor": 2.0, "max": "1h", "jitter": 0.2 },
            "timeout": "1h", "last_error": error, "total_time_ms": 10, "worker": "w-1", "tags": ["eu"],
        })
    };
    let jobs = json!({
        "items": [
            job(JOB, "dead", Some("TimeoutError: smtp\u{1b}[2J.example.com")),
            job("job_01J9X7QK5V8M3N2P4R6S8T0V2W", "running", None),
        ],
        "scan": { "mode": "index", "examined": 2, "complete": true },
    });
    let failures = json!({ "items": [{
        "fingerprint": "9f86d081884c7d65", "kind": "email.send", "count": 14, "job": JOB,
        "first_at": "2026-11-16T13:00:00Z", "last_at": "2026-11-16T14:02:00Z", "error": "TimeoutError: smtp",
    }]});
    let workers = json!({ "items": [{
        "id": WORKER, "name": "w-1", "state": "busy", "queues": [], "kinds": ["email.send"], "threads": 4,
        "threads_used": 4, "stuck": 0, "labels": {}, "version": "0.1.0", "local": false,
        "opened_at": "2026-11-16T13:00:00Z", "silent_ms": 200,
        "leases": [{ "job": JOB, "attempt": 1, "threads": 1, "fence": "1", "since": "2026-11-16T14:02:00Z" }],
    }]});
    let schedules = json!({ "items": [{
        "name": "nightly", "cron": "30 2 * * *", "time_zone": "UTC", "misfire": "fire_once", "overlap": "skip",
        "jitter": "0s", "paused": false, "job": { "kind": "report.build" },
        "status": { "created_at": NOW, "updated_at": NOW, "next": "2026-11-17T02:30:00Z", "live": [] },
    }]});
    let stats = json!({
        "term": 1, "jobs": { "queued": 4430 }, "by_kind": [], "workers": { "busy": 1 }, "threads": 4,
        "threads_used": 4, "store_backlog": 0,
    });
    let jobs_of = |filter: &str| Fetch::Jobs { filter: filter.into() };
    vec![
        (Fetch::Workers, Fetched::Workers(serde_json::from_value(workers).expect(read))),
        (Fetch::Stats, Fetched::Stats(serde_json::from_value(stats).expect(read))),
        (Fetch::Queues, Fetched::Queues(serde_json::from_value(queues).expect(read))),
        (jobs_of(""), Fetched::Jobs(serde_json::from_value(jobs).expect(read))),
        (Fetch::Failures, Fetched::Failures(serde_json::from_value(failures).expect(read))),
        (Fetch::Schedules, Fetched::Schedules(serde_json::from_value(schedules).expect(read))),
        (Fetch::Operations, Fetched::Operations(serde_json::from_value(json!({ "items": [] })).expect(read))),
    ]
}
