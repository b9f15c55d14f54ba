//! What a scrape shows.

use super::*;
use ganger_core::outcome::Outcome;
use ganger_core::queue::QueueSettings;
use ganger_core::{JobId, Term, Wall};

#[test]
fn kinds_beyond_the_bound_are_counted_together() {
    let metrics = Metrics::new("1");
    for n in 0..LABEL_VALUES + 50 {
        metrics.enqueued("q", &format!("k{n}"), 1);
    }
    let text = metrics.scrape(None, None).unwrap();
    assert!(text.contains("ganger_jobs_enqueued_total{queue=\"q\",kind=\"k199\"} 1"), "{text}");
    assert!(text.contains("ganger_jobs_enqueued_total{queue=\"q\",kind=\"_other\"} 50"));
    assert!(!text.contains("k200"));
}

#[test]
fn the_basic_set_is_there_under_its_names() {
    let metrics = Metrics::new("1.2.3");
    metrics.enqueued("mail", "noop", 2);
    metrics.renewed();
    metrics.leadership(true, 4, false);
    metrics.commit(Duration::from_millis(2), 30);
    metrics.request("/v1/jobs/{id}", &Method::GET, StatusCode::OK, Duration::from_millis(1));
    let job = JobId::new(1_700_000_000_000, [0; 10]);
    let at = Wall(1_700_000_002_000_000);
    let (queue, kind) = ("mail".parse().unwrap(), "noop".parse().unwrap());
    metrics.observe_event(&Event::Attempt {
        job,
        queue,
        kind,
        attempt: 1,
        outcome: Outcome::Ok,
        worker: "w".into(),
        ran_us: 5_000,
        waited_us: 1_000,
        at,
    });
    let (queue, kind) = ("mail".parse().unwrap(), "noop".parse().unwrap());
    let (state, created_at) = (State::Succeeded, Wall(1_700_000_000_000_000));
    metrics.observe_event(&Event::Job { job, queue, kind, state, attempt: 1, created_at, at });
    let stats = Stats {
        term: Term::default(),
        counts: Vec::new(),
        workers: vec![(WorkerState::Busy, 3)],
        threads: 8,
        threads_used: 5,
        backlog: 7,
        closed_keys: 0,
        store_trouble: None,
        schedules: ScheduleCounts::default(),
    };
    let view = QueueView {
        queue: "mail".parse().unwrap(),
        settings: QueueSettings::default(),
        counts: [1, 9, 2, 3, 4, 5, 6, 7],
        oldest_ready: Some(Duration::from_millis(1500)),
        workers: 3,
    };
    let text = metrics.scrape(Some(&stats), Some(&[view])).unwrap();
    for expected in [
        "ganger_jobs_enqueued_total{queue=\"mail\",kind=\"noop\"} 2",
        "ganger_jobs_finished_total{queue=\"mail\",kind=\"noop\",outcome=\"succeeded\"} 1",
        "ganger_attempts_total{queue=\"mail\",kind=\"noop\",outcome=\"ok\"} 1",
        "ganger_job_end_to_end_seconds_sum{queue=\"mail\",kind=\"noop\"} 2.0",
        "ganger_job_wait_seconds_count{queue=\"mail\",kind=\"noop\"} 1",
        "ganger_job_run_seconds_count{queue=\"mail\",kind=\"noop\"} 1",
        "ganger_queue_jobs{queue=\"mail\",state=\"dead\"} 6",
        "ganger_queue_oldest_ready_age_seconds{queue=\"mail\"} 1.5",
        "ganger_workers{state=\"busy\"} 3",
        "ganger_worker_threads{state=\"free\"} 3",
        "ganger_leases_lost_total 0",
        "ganger_store_commit_seconds_count 1",
        "ganger_store_batch_changes_sum 30.0",
        "ganger_store_backlog 7",
        "ganger_api_request_seconds_count{route=\"/v1/jobs/{id}\",method=\"GET\",status_class=\"2xx\"} 1",
        "ganger_events_dropped_total 0",
        "ganger_leader 1",
        "ganger_term 4",
        "ganger_leader_renewals_total 1",
        "ganger_store_up 0",
        "ganger_build_info{version=\"1.2.3\"} 1",
    ] {
        assert!(text.contains(expected), "{expected} in\n{text}");
    }
    assert!(text.ends_with("# EOF\n"));
}

/// A queue that is gone must not keep its last numbers for ever.
#[test]
fn gauges_show_only_what_is_there_now() {
    let metrics = Metrics::new("1");
    let view = QueueView {
        queue: "old".parse().unwrap(),
        settings: QueueSettings::default(),
        counts: [1; 8],
        oldest_ready: None,
        workers: 0,
    };
    assert!(metrics.scrape(None, Some(&[view])).unwrap().contains("queue=\"old\""));
    assert!(!metrics.scrape(None, Some(&[])).unwrap().contains("queue=\"old\""));
}
