//! Schedules from the command line: made, looked at, fired, applied from a file.

mod common;

use common::{Instance, code, eventually, stderr, stdout};

#[test]
fn a_schedule_is_made_looked_at_fired_and_deleted() {
    let instance = Instance::dev();
    let made = instance.ganger(&["schedule", "create", "tick", "--every", "1s", "--kind", "noop"]);
    assert_eq!(code(&made), 0, "{}", stderr(&made));
    let cron = ["schedule", "create", "nightly", "--cron", "30 2 * * MON-FRI"];
    let rest = ["--zone", "Europe/Berlin", "--kind", "echo", "-p", "{\"days\":1}"];
    let made = instance.ganger(&[&cron[..], &rest[..]].concat());
    assert_eq!(code(&made), 0, "{}", stderr(&made));

    let listed = stdout(&instance.ganger(&["schedule", "list"]));
    assert!(listed.contains("tick") && listed.contains("nightly"), "{listed}");
    let next = instance.ganger(&["schedule", "next", "nightly", "3"]);
    assert_eq!(stdout(&next).matches("02:30").count(), 3, "{}{}", stdout(&next), stderr(&next));

    eventually("the schedule has fired by itself", || {
        stdout(&instance.ganger(&["schedule", "history", "tick"])).contains("fired").then_some(())
    });
    assert_eq!(code(&instance.ganger(&["schedule", "pause", "tick"])), 0);
    let run = instance.ganger(&["schedule", "run", "nightly"]);
    assert_eq!(code(&run), 0, "{}", stderr(&run));
    assert!(stdout(&instance.ganger(&["schedule", "history", "nightly"])).contains("fired"));
    assert_eq!(code(&instance.ganger(&["schedule", "delete", "nightly"])), 0);
    assert_eq!(code(&instance.ganger(&["schedule", "get", "nightly"])), 5);
}

/// A schedule is read again at every start, and an instant that fired before does not fire after.
#[test]
fn a_schedule_survives_the_death_of_its_server() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let data = directory.path().join("data");
    let listen = format!("127.0.0.1:{}", common::free_port());
    let mut instance = Instance::on("server", &[], &data, &listen);
    let flags = ["--every", "1s", "--kind", "noop", "--overlap", "allow"];
    let made = instance.ganger(&[&["schedule", "create", "tick"][..], &flags].concat());
    assert_eq!(code(&made), 0, "{}", stderr(&made));
    let due = |instance: &Instance| -> Vec<String> {
        let rows = instance.json(&["schedule", "history", "tick", "--limit", "500"]);
        let rows = rows["items"].as_array().expect("a list").clone();
        rows.iter().map(|row| row["due_at"].as_str().expect("a moment").to_owned()).collect()
    };
    for deaths in 0..3 {
        let before = due(&instance).len();
        eventually("it fires", || (due(&instance).len() > before).then_some(()));
        instance.kill();
        instance = Instance::on("server", &[], &data, &listen);
        assert!(due(&instance).len() > deaths, "what fired is still known");
    }
    let all = due(&instance);
    let once: std::collections::BTreeSet<&String> = all.iter().collect();
    assert_eq!(once.len(), all.len(), "an instant fires once: {all:?}");
}

#[test]
fn what_never_fires_or_says_two_things_is_refused_with_the_reason() {
    let instance = Instance::server();
    for (when, told) in [
        (&["--cron", "0 0 30 2 *"][..], "never"),
        (&["--cron", "61 * * * *"], "61"),
        (&["--cron", "@daily", "--every", "5s"], "cannot be used with"),
        (&[], "required"),
        (&["--cron", "@daily", "--zone", "Mars/Olympus"], "Mars/Olympus"),
    ] {
        let refused = instance.ganger(&[&["schedule", "create", "bad", "--kind", "a"], when].concat());
        assert_ne!(code(&refused), 0, "{when:?}");
        assert!(stderr(&refused).contains(told), "{when:?}: {}", stderr(&refused));
    }
    assert!(!stdout(&instance.ganger(&["schedule", "list"])).contains("bad"));
}

#[test]
fn applying_a_file_twice_changes_nothing_the_second_time() {
    let instance = Instance::server();
    let file = instance.data.join("schedules.toml");
    let written = |cron: &str| {
        let text = format!(
            "[[schedule]]\nname = \"weekly\"\ncron = \"{cron}\"\ntime_zone = \"America/New_York\"\n\
             job = {{ kind = \"noop\" }}\n"
        );
        std::fs::write(&file, text).expect("the data directory can be written to");
    };
    let apply = |more: &[&str]| {
        let path = file.to_str().expect("a plain path");
        let output = instance.ganger(&[&["schedule", "apply", path, "-o", "json"], more].concat());
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        stdout(&output)
    };
    written("@weekly");
    assert!(apply(&["--dry-run"]).contains("create"));
    assert!(!stdout(&instance.ganger(&["schedule", "list"])).contains("weekly"));
    assert!(apply(&[]).contains("create"));
    assert!(apply(&[]).contains("keep"));
    written("@monthly");
    assert!(apply(&[]).contains("change"));
    std::fs::write(&file, "").expect("the data directory can be written to");
    apply(&["--prune"]);
    assert!(!stdout(&instance.ganger(&["schedule", "list"])).contains("weekly"));
}
