//! What a scrape shows.

use super::labels::LABEL_VALUES;
use super::*;
use ganger_core::coordinator::gauges::{QueueThreads, WorkerUse};
use ganger_core::coordinator::port::Reconciled;
use ganger_core::coordinator::view::{QueueView, ScheduleCounts, Stats};
use ganger_core::disk::Disk;
use ganger_core::event::Difference;
use ganger_core::job::State;
use ganger_core::minutes::Counts;
use ganger_core::outcome::Outcome;
use ganger_core::queue::QueueSettings;
use ganger_core::reason::Reason;
use ganger_core::verdict::{Finding, Severity, Verdict};
use ganger_core::{JobId, SessionId, Term, Wall};

fn enqueued(metrics: &Metrics, queue: &str, kind: &str, jobs: u64) {
    let counts = Counts { enqueued: jobs, ..Counts::default() };
    metrics.counted(&[Bucket { queue: queue.parse().unwrap(), kind: kind.parse().unwrap(), counts }]);
}

fn ended(outcome: Outcome, reason: Reason, again: bool) -> Event {
    Event::Attempt {
        job: JobId::new(1_700_000_000_000, [0; 10]),
        queue: "mail".parse().unwrap(),
        kind: "noop".parse().unwrap(),
        attempt: 1,
        outcome,
        reason,
        again,
        worker: "w".into(),
        ran_us: 5_000,
        waited_us: 1_000,
        at: Wall(1_700_000_002_000_000),
    }
}

fn view(queue: &str, workers: usize) -> QueueView {
    QueueView {
        queue: queue.parse().unwrap(),
        settings: QueueSettings::default(),
        counts: [1, 9, 2, 3, 4, 5, 6, 7],
        oldest_ready: Some(Duration::from_millis(1500)),
        workers,
    }
}

fn gauges(queues: Vec<(QueueView, QueueThreads)>) -> Gauges {
    let stats = Stats {
        term: Term::default(),
        counts: Vec::new(),
        workers: vec![(WorkerState::Busy, 3)],
        threads: 8,
        threads_used: 5,
        backlog: 7,
        cannot_start: 0,
        closed_keys: 2,
        store_trouble: None,
        schedules: ScheduleCounts { known: 4, paused: 2, overdue: 1 },
    };
    let finding = |severity| Finding { severity, text: String::new(), queue: None };
    let findings = vec![finding(Severity::Bad), finding(Severity::Watch), finding(Severity::Watch)];
    let verdict = Verdict { severity: Severity::Bad, text: String::new(), findings };
    let (workers, schedule_lag) = (WorkerUse::default(), Duration::from_millis(2500));
    Gauges { stats, queues, workers, schedule_lag, verdict }
}

fn has(text: &str, lines: &[&str]) {
    for line in lines {
        assert!(text.lines().any(|l| l == *line), "{line} in\n{text}");
    }
}

#[test]
fn kinds_at_the_bound_have_their_own_series_and_those_past_it_share_one() {
    let metrics = Metrics::new("1");
    for n in 1..=LABEL_VALUES + 50 {
        enqueued(&metrics, "q", &format!("k{n}"), 1);
    }
    let text = metrics.scrape(Cluster::Unknown).unwrap();
    has(
        &text,
        &[
            "ganger_jobs_enqueued_total{queue=\"q\",kind=\"k200\"} 1",
            "ganger_jobs_enqueued_total{queue=\"q\",kind=\"_other\"} 50",
        ],
    );
    assert!(!text.contains("k201"));
}

/// The same for queues, of counters and of gauges.
#[test]
fn queues_at_the_bound_have_their_own_series_and_those_past_it_share_one() {
    let metrics = Metrics::new("1");
    let threads = QueueThreads { used: 1, free: 2 };
    let queues = (1..=LABEL_VALUES + 2).map(|n| (view(&format!("q{n}"), n), threads));
    let text = metrics.scrape(Cluster::Counted(&gauges(queues.collect()), &[])).unwrap();
    has(
        &text,
        &[
            "ganger_queue_jobs{queue=\"q200\",state=\"dead\"} 6",
            "ganger_queue_jobs{queue=\"_other\",state=\"dead\"} 12",
            "ganger_dead_jobs{queue=\"_other\"} 12",
            "ganger_queue_threads{queue=\"_other\",state=\"free\"} 4",
            "ganger_queue_workers{queue=\"_other\"} 201",
            "ganger_queue_oldest_ready_age_seconds{queue=\"_other\"} 1.5",
        ],
    );
    assert!(!text.contains("q201"));
    enqueued(&metrics, "one-more", "k", 3);
    let text = metrics.scrape(Cluster::Unknown).unwrap();
    has(&text, &["ganger_jobs_enqueued_total{queue=\"_other\",kind=\"k\"} 3"]);
}

#[test]
fn what_is_counted_is_there_under_its_names() {
    let metrics = Metrics::new("1.2.3");
    enqueued(&metrics, "mail", "noop", 2);
    metrics.renewed();
    metrics.leadership(true, 4, false);
    metrics.commit(Duration::from_millis(2), 30);
    metrics.stream_clients(2);
    metrics.disk(Some(Disk { free_bytes: 5, total_bytes: 100, used_bytes: 3 }));
    metrics.request("/v1/jobs/{id}", &Method::GET, StatusCode::OK, Duration::from_millis(1));
    metrics.observe_event(&ended(Outcome::Ok, Reason::Returned, false));
    metrics.observe_event(&ended(Outcome::Error, Reason::Fatal, false));
    metrics.observe_event(&ended(Outcome::Lost, Reason::SessionClosed, true));
    metrics.observe_event(&ended(Outcome::Released, Reason::Snoozed, true));
    let (job, session) = (JobId::new(1_700_000_000_000, [0; 10]), SessionId::new(1, [0; 10]));
    let (queue, kind) = ("mail".parse().unwrap(), "noop".parse().unwrap());
    let (state, created_at) = (State::Succeeded, Wall(1_700_000_000_000_000));
    let at = Wall(1_700_000_002_000_000);
    metrics.observe_event(&Event::Job { job, queue, kind, state, attempt: 1, created_at, at });
    for state in [WorkerState::Lost, WorkerState::Gone] {
        metrics.observe_event(&Event::Worker { session, worker: "w".into(), state, at });
    }
    let text = metrics.scrape(Cluster::Unknown).unwrap();
    let lane = "queue=\"mail\",kind=\"noop\"";
    let lines = [
        format!("ganger_jobs_enqueued_total{{{lane}}} 2"),
        format!("ganger_jobs_finished_total{{{lane},outcome=\"succeeded\"}} 1"),
        format!("ganger_jobs_finished_total{{{lane},outcome=\"dead\"}} 0"),
        format!("ganger_attempts_total{{{lane},outcome=\"ok\",reason=\"returned\"}} 1"),
        format!("ganger_attempts_total{{{lane},outcome=\"error\",reason=\"fatal\"}} 1"),
        format!("ganger_attempts_total{{{lane},outcome=\"released\",reason=\"snoozed\"}} 1"),
        format!("ganger_retries_total{{{lane},reason=\"session_closed\"}} 1"),
        format!("ganger_retries_total{{{lane},reason=\"timed_out\"}} 0"),
        format!("ganger_job_end_to_end_seconds_sum{{{lane}}} 2.0"),
        format!("ganger_job_wait_seconds_count{{{lane}}} 4"),
        format!("ganger_job_run_seconds_count{{{lane}}} 4"),
    ];
    has(&text, &lines.each_ref().map(String::as_str));
    has(
        &text,
        &[
            "ganger_leases_lost_total 0",
            "ganger_leases_expired_total{queue=\"mail\"} 1",
            "ganger_sessions_lost_total 1",
            "ganger_store_commit_seconds_count 1",
            "ganger_store_batch_changes_sum 30.0",
            "ganger_api_request_seconds_count{route=\"/v1/jobs/{id}\",method=\"GET\",status_class=\"2xx\"} 1",
            "ganger_events_dropped_total 0",
            "ganger_stream_clients 2",
            "ganger_store_disk_free_bytes 5",
            "ganger_store_disk_total_bytes 100",
            "ganger_store_disk_used_bytes 3",
            "ganger_leader 1",
            "ganger_term 4",
            "ganger_leader_renewals_total 1",
            "ganger_store_up 0",
        ],
    );
    assert!(text.contains("ganger_build_info{version=\"1.2.3\",commit=\""), "{text}");
    assert!(!text.contains("reason=\"snoozed\"} 2") && !text.contains("retries_total{reason=\"snoozed\""));
    assert!(text.ends_with("# EOF\n"));
}

#[test]
fn what_should_not_happen_is_counted_and_is_there_before_it_does() {
    let metrics = Metrics::new("1");
    let zero =
        ["ganger_reconciler_differences_total{what=\"lease\"} 0", "ganger_schedule_overdue_events_total 0"];
    has(&metrics.scrape(Cluster::Unknown).unwrap(), &zero);
    let (job, at) = (JobId::new(1, [0; 10]), Wall(0));
    metrics.observe_event(&Event::Difference { job, what: Difference::Lease, at });
    metrics.observe_event(&Event::ScheduleOverdue { schedule: "tick".parse().unwrap(), due_at: at, at });
    metrics.reconciled(&Reconciled { pages: 2, compared: 9, skipped: 1, differences: 1 });
    let text = metrics.scrape(Cluster::Unknown).unwrap();
    has(
        &text,
        &[
            "ganger_reconciler_differences_total{what=\"lease\"} 1",
            "ganger_schedule_overdue_events_total 1",
            "ganger_reconciler_passes_total 1",
            "ganger_reconciler_pages_total 2",
            "ganger_reconciler_jobs_compared_total 9",
            "ganger_reconciler_jobs_skipped_total 1",
        ],
    );
}

/// The leader counts; another server passes on what it is told, and says if it is told nothing, or half.
#[test]
fn the_gauges_of_the_cluster_are_the_same_wherever_they_are_asked_for() {
    let (leader, standby) = (Metrics::new("1"), Metrics::new("1"));
    let seen = gauges(vec![(view("mail", 3), QueueThreads { used: 5, free: 1 })]);
    let operations = [(Action::Replay, 1)];
    let lines = [
        "ganger_queue_jobs{queue=\"mail\",state=\"dead\"} 6",
        "ganger_dead_jobs{queue=\"mail\"} 6",
        "ganger_queue_oldest_ready_age_seconds{queue=\"mail\"} 1.5",
        "ganger_queue_workers{queue=\"mail\"} 3",
        "ganger_queue_paused{queue=\"mail\"} 0",
        "ganger_queue_threads{queue=\"mail\",state=\"used\"} 5",
        "ganger_queue_threads{queue=\"mail\",state=\"free\"} 1",
        "ganger_workers{state=\"busy\"} 3",
        "ganger_workers{state=\"available\"} 0",
        "ganger_threads{state=\"free\"} 3",
        "ganger_store_backlog 7",
        "ganger_closed_keys 2",
        "ganger_findings{severity=\"watch\"} 2",
        "ganger_findings{severity=\"bad\"} 1",
        "ganger_schedules 4",
        "ganger_schedules_paused 2",
        "ganger_schedules_overdue 1",
        "ganger_schedule_lag_seconds 2.5",
        "ganger_operations_running{action=\"replay\"} 1",
    ];
    let own = leader.scrape(Cluster::Counted(&seen, &operations)).unwrap();
    has(&own, &lines);
    has(&own, &["ganger_cluster_known 1"]);
    let told = leader.scrape_cluster(&seen, &operations).unwrap();
    assert!(!told.contains("ganger_leader") && !told.contains("_total"), "nothing that is added up: {told}");
    let passed_on = standby.scrape(Cluster::Told(&told)).unwrap();
    has(&passed_on, &lines);
    has(&passed_on, &["ganger_cluster_known 1"]);
    assert_eq!(passed_on.matches("# EOF\n").count(), 1);
    for unknown in [Cluster::Unknown, Cluster::Told(&told[..told.len() / 2])] {
        let text = standby.scrape(unknown).unwrap();
        has(&text, &["ganger_cluster_known 0", "ganger_leader 0"]);
        assert!(!text.contains("ganger_queue_jobs"), "{text}");
    }
}

/// A queue that is gone must not keep its last numbers for ever.
#[test]
fn gauges_show_only_what_is_there_now() {
    let metrics = Metrics::new("1");
    let seen = gauges(vec![(view("old", 0), QueueThreads::default())]);
    assert!(metrics.scrape(Cluster::Counted(&seen, &[])).unwrap().contains("queue=\"old\""));
    let text = metrics.scrape(Cluster::Counted(&gauges(Vec::new()), &[])).unwrap();
    assert!(!text.contains("queue=\"old\""));
}
