//! `ganger top` in a real terminal: tmux types the keys and reads the screen.

mod common;
mod terminal;

use common::{Instance, code, command, eventually, free_port, stderr};
use terminal::Terminal;

/// Three jobs that wait, one that died, one that ended well, and a schedule.
fn filled(data: &std::path::Path, listen: &str) -> Instance {
    let instance = Instance::on("dev", &["--worker", "4"], data, listen);
    assert_eq!(code(&instance.ganger(&["queue", "pause", "parked"])), 0);
    for _ in 0..3 {
        instance.enqueue(&["noop", "-q", "parked"]);
    }
    instance.enqueue(&["fail", "--max-attempts", "1", "-p", "{\"times\":9,\"message\":\"no such mailbox\"}"]);
    instance.enqueue(&["echo", "-q", "mail", "-p", "\"hello\""]);
    let made = instance.ganger(&["schedule", "create", "nightly", "--cron", "30 2 * * *", "--kind", "noop"]);
    assert_eq!(code(&made), 0, "{}", stderr(&made));
    eventually("the jobs have run", || {
        let jobs = &instance.json(&["stats"])["jobs"];
        (jobs["dead"] == 1 && jobs["succeeded"] == 1).then_some(())
    });
    instance
}

/// A line of the screen that has all of these.
fn line(screen: &str, parts: &[&str]) -> bool {
    screen.lines().any(|line| parts.iter().all(|part| line.contains(part)))
}

#[test]
fn it_shows_what_is_there_drills_changes_and_survives_its_server() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let data = directory.path().join("data");
    let listen = format!("127.0.0.1:{}", free_port());
    let mut instance = filled(&data, &listen);
    let terminal = Terminal::open(120, 40);
    terminal.run(&["top", "--url", &instance.url], &[]);
    terminal.shows("the queues, live", |screen| {
        line(screen, &["parked", "‖ paused", " 3 "])
            && line(screen, &["default", "○ open", "0/4"])
            && screen.contains("● live")
    });

    terminal.keys(&["2"]);
    terminal.shows("the jobs", |screen| {
        line(screen, &["⬢ dead", "fail", "no such mailbox"]) && line(screen, &["✔ succeeded", "echo"])
    });
    terminal.keys(&["/", "state:dead", "Enter"]);
    terminal.shows("only the dead one", |screen| screen.contains("⬢ dead") && !screen.contains("succeeded"));
    terminal.keys(&["Enter"]);
    terminal.shows("the job, opened", |screen| {
        line(screen, &["attempt 1", "error"]) && line(screen, &["last error", "no such mailbox"])
    });
    terminal.keys(&["e"]);
    terminal.shows("its explanation", |screen| screen.contains("explained"));
    terminal.keys(&["Escape"]);
    terminal.shows("the list again", |screen| screen.contains("AGE"));
    terminal.keys(&["/", "C-u", "ran>soon", "Enter"]);
    terminal.shows("what is wrong with a filter", |screen| screen.contains("invalid_filter"));
    terminal.keys(&["3"]);
    terminal.shows("the failures", |screen| line(screen, &["fail", "no such mailbox", " 1 "]));
    terminal.keys(&["4"]);
    terminal.shows("the workers", |screen| line(screen, &["local-1", "○ available", "0/4"]));
    terminal.keys(&["5"]);
    terminal.shows("the schedules", |screen| line(screen, &["nightly", "30 2 * * *"]));
    terminal.keys(&["6"]);
    terminal.shows("no operation", |screen| screen.contains("no operation is remembered"));

    terminal.keys(&[":", "queue mail", "Enter"]);
    terminal.shows("the queue is chosen", |screen| screen.contains("▸mail"));
    let paused = |instance: &Instance| instance.json(&["queue", "get", "mail"])["paused"] == true;
    terminal.keys(&["P"]);
    terminal.shows("the question", |screen| screen.contains("Pause queue mail?"));
    assert!(!paused(&instance), "nothing happens before the answer");
    terminal.keys(&["n"]);
    terminal.shows("that nothing was changed", |screen| screen.contains("nothing was changed"));
    terminal.keys(&["P", "y"]);
    terminal.shows("the queue is paused", |screen| line(screen, &["mail", "‖ paused"]));
    assert!(paused(&instance));

    instance.kill();
    terminal.shows("that the server is away", |screen| {
        screen.contains("✗ offline") && screen.contains("what is shown is old")
    });
    instance = Instance::on("dev", &["--worker", "4"], &data, &listen);
    terminal
        .shows("that it is back", |screen| screen.contains("● live") && line(screen, &["mail", "‖ paused"]));

    terminal.resize(80, 24);
    terminal.shows("a small screen", |screen| {
        let lines: Vec<&str> = screen.lines().collect();
        lines[0].ends_with("● live")
            && lines[1].contains("6 Operations")
            && lines.iter().all(|line| line.chars().count() <= 80)
            && line(screen, &["parked", " 3 "])
    });
    terminal.keys(&["q"]);
    terminal.is_restored();
    drop(instance);
}

#[test]
fn read_only_and_without_colour_it_only_looks() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let listen = format!("127.0.0.1:{}", free_port());
    let instance = filled(&directory.path().join("data"), &listen);
    let terminal = Terminal::open(80, 24);
    terminal.run(&["top", "--read-only", "--ascii", "--url", &instance.url], &[("NO_COLOR", "1")]);
    terminal.shows("the queues in ASCII", |screen| {
        line(screen, &["parked", "= paused", " 3 "]) && screen.contains("* live")
    });
    assert!(terminal.screen().is_ascii(), "{}", terminal.screen());
    terminal.keys(&["P"]);
    terminal.shows("that it will not", |screen| screen.contains("this is --read-only"));
    assert_eq!(terminal.colours(), Vec::<u32>::new(), "NO_COLOR means none");
    terminal.keys(&["T", "2"]);
    terminal.shows("the jobs", |screen| screen.contains("x dead"));
    assert_eq!(terminal.colours(), Vec::<u32>::new(), "of no theme");
    terminal.terminate("ganger top");
    terminal.is_restored();

    terminal.run(&["top", "--url", &instance.url], &[]);
    terminal.shows("it is live", |screen| screen.contains("● live"));
    assert!(!terminal.colours().is_empty(), "with colours there are some");
    terminal.keys(&["C-c"]);
    terminal.is_restored();
}

/// Nobody who may not look sees anything but why; and a server that never was is told at once.
#[test]
fn who_may_not_look_is_told_why_and_so_is_who_has_no_server() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let data = directory.path().join("data");
    let instance = Instance::with("server", &["--auth", "on"], &data, "127.0.0.1:0", &[]);
    let terminal = Terminal::open(100, 30);
    terminal.run(&["top", "--url", &instance.url], &[]);
    terminal.shows("the problem", |screen| screen.contains("✗ refused") && screen.contains("401"));
    terminal.keys(&["q"]);
    terminal.is_restored();
    let nowhere = format!("http://127.0.0.1:{}", free_port());
    terminal.run(&["top", "--url", &nowhere], &[]);
    terminal.shows("that nobody is there", |screen| {
        screen.contains("✗ offline") && screen.contains("ganger dev")
    });
    terminal.keys(&["q"]);
    terminal.is_restored();
}

#[test]
fn without_a_terminal_it_points_elsewhere() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let output = command(directory.path(), &["top"]).output().expect("it runs");
    assert_eq!(code(&output), 2);
    let told = stderr(&output);
    assert!(
        told.contains("not one") && told.contains("ganger stats") && told.contains("ganger job list"),
        "{told}"
    );
}
