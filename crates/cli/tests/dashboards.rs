//! Dashboards and alerts, asked of a real Prometheus that scrapes a real server with jobs that end, fail, time out and are retried,
//! a schedule, and a worker that is killed: every query must return data, and none may be wrong.

mod common;
mod watching;

use std::collections::BTreeSet;
use std::process::Command;
use std::time::Duration;

use common::{Instance, PATIENCE, Process, code, eventually, free_port, stderr, stdout};
use watching::manual;
use watching::prometheus::{Prometheus, deploy};
use watching::queries::{self, Query};

/// Between two rounds of questions.
const LOOK: Duration = Duration::from_millis(250);

/// Numbers that must have risen, so that what is shown is not a row of zeros.
const MOVED: [&str; 16] = [
    "sum(ganger_jobs_enqueued_total{queue=\"mail\"})",
    "sum(increase(ganger_jobs_finished_total{outcome=\"succeeded\"}[5m]))",
    "sum(increase(ganger_jobs_finished_total{outcome=\"dead\"}[5m]))",
    "sum(increase(ganger_attempts_total{outcome=\"timeout\",reason=\"timed_out\"}[5m]))",
    "sum(increase(ganger_retries_total{reason=\"failed\"}[5m]))",
    "sum(increase(ganger_retries_total{reason=\"session_closed\"}[5m]))",
    "sum(increase(ganger_leases_expired_total{queue=\"doomed\"}[5m]))",
    "sum(increase(ganger_sessions_lost_total[5m]))",
    "sum(increase(ganger_occurrences_total{fate=\"fired\"}[5m]))",
    "sum(increase(ganger_reconciler_passes_total[5m]))",
    "sum(ganger_reconciler_jobs_compared_total)",
    "max(ganger_dead_jobs{queue=\"mail\"})",
    "max(ganger_queue_jobs{queue=\"nobody\",state=\"queued\"})",
    "max(ganger_queue_oldest_ready_age_seconds{queue=\"nobody\"})",
    "max(ganger_queue_threads{queue=\"mail\",state=\"free\"})",
    "max(ganger_workers{state=\"available\"})",
];

#[test]
fn every_query_of_every_panel_and_alert_returns_data() {
    let server = Instance::start("server", &["--reconcile-every", "1s"]);
    let prometheus = Prometheus::watching(&server.url);
    let _working = under_load(&server, &prometheus);
    let mut all = [queries::of_dashboard("overview"), queries::of_dashboard("queue")].concat();
    let panels = all.len();
    assert!(panels > 90, "the dashboards were read: {panels}");
    let alerts = eventually("the rules are loaded", || {
        Some(queries::of_alerts(&prometheus)).filter(|alerts| !alerts.is_empty())
    });
    let alerts_count = alerts.len();
    assert!(alerts_count >= 12, "{alerts_count}");
    all.extend(alerts);

    until_none(&mut all, |query| query.complaint(&prometheus));
    until_none(&mut MOVED.to_vec(), |query| not_above_zero(&prometheus, query));
    for rule in prometheus.alerts() {
        assert_eq!(rule["health"], "ok", "{rule}");
    }
    let pending = "ALERTS{alertname=\"GangerNoWorkersForQueue\",queue=\"nobody\"}";
    assert_eq!(prometheus.query(pending).map(|series| series.len()), Ok(1), "nobody serves that queue");
    bites(&prometheus);
}

/// A check that cannot fail checks nothing: a panel with a misspelt metric, label or function is noticed.
fn bites(prometheus: &Prometheus) {
    for wrong in [
        "sum(rate(ganger_jobs_finishd_total{queue=~\".*\"}[15s])) or on() vector(0)",
        "sum(rate(ganger_jobs_finished_total{outcome=\"completed\"}[15s])) or on() vector(0)",
        "sum(ganger_leader) + sum(ganger_laeder) or on() vector(0)",
        "sum(rat(ganger_jobs_finished_total[15s]))",
    ] {
        let query = Query { place: "made up".into(), text: wrong.into(), may_be_empty: false };
        assert!(query.complaint(prometheus).is_some(), "{wrong}");
    }
    let alert = Query {
        place: "alert".into(),
        text: "max(ganger_schedule_lagg_seconds) > 60".into(),
        may_be_empty: true,
    };
    assert!(alert.complaint(prometheus).is_some(), "an alert that can never be raised");
}

#[test]
fn the_series_of_a_query_are_found() {
    let query =
        "sum by (le) (rate(ganger_a_total{x=~\"ganger_b\",y=\"1\"}[5m])) / ganger_c or up{job='x'} > 0";
    let found = queries::selectors(query);
    assert_eq!(found, ["ganger_a_total{x=~\"ganger_b\",y=\"1\"}", "ganger_c", "up{job='x'}"]);
}

/// What can be seen of a dashboard without Grafana: its rows, that no panel lies on another, and that links lead to a search
/// that the server understands.
#[test]
fn the_dashboards_are_laid_out_and_their_links_are_searches() {
    for (name, rows) in [
        ("overview", &["Health", "Flow", "Latency", "Failures", "Workers", "Store"][..]),
        ("queue", &["Health", "Flow", "Latency", "Failures", "Workers"]),
    ] {
        let board = queries::dashboard(name);
        let panels = board["panels"].as_array().expect("panels").clone();
        let titles = panels.iter().filter(|panel| panel["type"] == "row").map(|row| row["title"].clone());
        assert_eq!(titles.collect::<Vec<_>>(), rows);
        let mut taken = BTreeSet::new();
        for panel in &panels {
            let place = |side: &str| panel["gridPos"][side].as_u64().expect("a place");
            let (x, y, w, h) = (place("x"), place("y"), place("w"), place("h"));
            assert!(x + w <= 24, "{}", panel["title"]);
            let cells = (y..y + h).flat_map(|row| (x..x + w).map(move |column| (row, column)));
            assert!(cells.into_iter().all(|cell| taken.insert(cell)), "{} lies on another", panel["title"]);
            assert!(panel["type"] == "row" || panel["description"].is_string(), "{}", panel["title"]);
            for link in panel["fieldConfig"]["defaults"]["links"].as_array().into_iter().flatten() {
                let url = link["url"].as_str().expect("a link has an address");
                let search = url.strip_prefix("${ui}/ui/jobs?q=").expect("it leads to jobs");
                let search = search.replace("${__field.labels.queue:percentencode}", "mail");
                let search = search.replace("${__field.labels.kind:percentencode}", "email.send");
                let search = search.replace("%3A", ":").replace("%20", " ");
                assert!(ganger_core::filter::Filter::parse(&search).is_ok(), "{search}");
            }
        }
    }
}

#[test]
fn every_alert_is_raised_when_it_should_be_and_not_when_it_should_not() {
    let directory = deploy().join("prometheus");
    let promtool = |args: &[&str]| {
        let output = Command::new("promtool").args(args).current_dir(&directory).output();
        let output = output.expect("promtool is installed (scripts/setup)");
        let said = [output.stdout.clone(), output.stderr.clone()].concat();
        assert!(output.status.success(), "promtool {args:?}: {}", String::from_utf8_lossy(&said));
    };
    promtool(&["check", "config", "prometheus.yml"]);
    promtool(&["check", "rules", "rules/ganger.yml"]);
    promtool(&["test", "rules", "tests/ganger.yml"]);
    let read = |path: &str| std::fs::read_to_string(directory.join(path)).expect("it ships");
    let (rules, tests) = (read("rules/ganger.yml"), read("tests/ganger.yml"));
    let manual = read("../../docs/alerts.md");
    for alert in rules.lines().filter_map(|line| line.trim().strip_prefix("- alert: ")) {
        let stories = tests.split("  - name: ").filter(|story| story.starts_with(&format!("'{alert}: ")));
        let (quiet, raised): (Vec<&str>, Vec<&str>) = stories.partition(|s| s.contains("exp_samples: []"));
        assert!(
            !raised.is_empty() && !quiet.is_empty(),
            "{alert} has a story that raises it and one that does not"
        );
        assert!(rules.contains(&format!("docs/alerts.md#{}", alert.to_lowercase())), "{alert} has a runbook");
        assert!(manual.contains(&format!("\n## {alert}\n")), "docs/alerts.md says what to do about {alert}");
    }
}

/// Names and types, and labels wherever there is a sample.
#[test]
fn the_manual_lists_exactly_what_a_server_and_a_worker_tell() {
    let redis = ganger_store::testing::Redis::start();
    let server = Instance::start("server", &["--redis", &redis.url()]);
    let health = format!("127.0.0.1:{}", free_port());
    let _worker = server.worker(&["start", "--threads", "1", "--health", &health]);
    server.enqueue(&["noop", "--wait"]);
    let read = |path: &str| std::fs::read_to_string(deploy().join(path)).expect("it ships");
    let manual = read("../docs/metrics.md");
    let (of_server, of_worker) = manual.split_once("\n## Of a worker\n").expect("a chapter about workers");
    for (url, chapter) in [(server.url.clone(), of_server), (format!("http://{health}"), of_worker)] {
        let told = eventually("metrics", || scraped(&format!("{url}/metrics")));
        let listed = manual::metrics(chapter);
        let names = |of: &[manual::Metric]| {
            of.iter().map(|m| (m.name.clone(), m.sort.clone())).collect::<BTreeSet<_>>()
        };
        let exported = manual::exported(&told);
        let (told_names, listed_names) = (names(&exported), names(&listed));
        let missing: Vec<_> = told_names.difference(&listed_names).collect();
        let made_up: Vec<_> = listed_names.difference(&told_names).collect();
        assert!(
            missing.is_empty() && made_up.is_empty(),
            "not in docs/metrics.md: {missing:?}; not told: {made_up:?}"
        );
        for metric in exported.iter().filter(|metric| metric.labels.is_some()) {
            let listed = listed.iter().find(|listed| listed.name == metric.name).expect("it is listed");
            if listed.labels.is_some() {
                assert_eq!(listed.labels, metric.labels, "the labels of {}", metric.name);
            }
        }
    }
}

fn scraped(url: &str) -> Option<String> {
    let output = Command::new("curl").args(["-sf", url]).output().expect("there is a `curl`");
    output.status.success().then(|| stdout(&output))
}

/// Work of every sort. What is returned goes on working until it is dropped.
fn under_load(server: &Instance, prometheus: &Prometheus) -> Process {
    let mut doomed = server.worker(&["start", "--queue", "doomed", "--ttl", "2s", "--threads", "1"]);
    let held = server.enqueue(&["sleep", "-q", "doomed", "-p", "{\"seconds\":600}"]);
    eventually("the doomed worker runs its job", || {
        (server.json(&["job", "get", &held])["state"] == "running").then_some(())
    });
    // Prometheus counts from the first value that it has seen: that should be zero, here and below.
    is_seen(prometheus, "ganger_leases_expired_total{queue=\"doomed\"}");
    doomed.0.kill().expect("it can be killed");
    let schedule = ["schedule", "create", "tick", "--every", "1s", "--kind", "noop", "--queue", "mail"];
    let made = server.ganger(&schedule);
    assert_eq!(code(&made), 0, "{}", stderr(&made));
    for _ in 0..3 {
        server.enqueue(&["noop", "-q", "mail"]);
        server.enqueue(&["fail", "-q", "mail", "-p", "{\"times\":1,\"message\":\"no luck\"}"]);
        server.enqueue(&["fail", "-q", "mail", "-p", "{\"times\":9}", "--max-attempts", "1"]);
        server.enqueue(&[
            "sleep",
            "-q",
            "mail",
            "-p",
            "{\"seconds\":60}",
            "--timeout",
            "1s",
            "--max-attempts",
            "2",
        ]);
    }
    server.enqueue(&["noop", "-q", "nobody"]);
    is_seen(prometheus, "ganger_attempts_total{queue=\"mail\",kind=\"sleep\"}");
    server.worker(&["start", "--queue", "mail", "--queue", "doomed", "--threads", "4"])
}

fn is_seen(prometheus: &Prometheus, series: &str) {
    eventually("it is seen before it moves", || {
        prometheus.query(series).is_ok_and(|seen| !seen.is_empty()).then_some(())
    });
}

fn not_above_zero(prometheus: &Prometheus, query: &&str) -> Option<String> {
    let series = prometheus.query(query).unwrap_or_else(|error| panic!("{error} in {query}"));
    let value = series.first().and_then(|one| one["value"][1].as_str()?.parse::<f64>().ok());
    (!value.is_some_and(|value| value > 0.0)).then(|| format!("{query} is {value:?}"))
}

/// Asks again until nobody complains.
fn until_none<T>(asked: &mut Vec<T>, complaint: impl Fn(&T) -> Option<String>) {
    let mut complaints = Vec::new();
    for _ in 0..PATIENCE.as_millis() / LOOK.as_millis() {
        complaints.clear();
        asked.retain(|one| complaint(one).map(|said| complaints.push(said)).is_some());
        if complaints.is_empty() {
            return;
        }
        std::thread::sleep(LOOK);
    }
    panic!("after {PATIENCE:?}:\n{}", complaints.join("\n"));
}
