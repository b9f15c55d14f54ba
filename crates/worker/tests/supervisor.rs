//! The supervisor with real child processes.

mod support;

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ganger_worker::Credential;
use ganger_worker::SessionId;
use ganger_worker::supervisor::{Place, SupervisorOptions, report_to, supervise};
use support::{Leader, soon};
use tokio::process::Command;
use tokio_util::sync::CancellationToken;

fn options(directory: &Path, processes: usize) -> SupervisorOptions {
    let (grace, hurry) = (Duration::from_secs(10), CancellationToken::new());
    SupervisorOptions { processes, directory: directory.into(), grace, hurry }
}

fn shell(place: &Place, directory: &Path, script: &str) -> Command {
    let mut command = Command::new("sh");
    command.arg("-c").arg(script);
    command
        .current_dir(directory)
        .env("SESSION", place.session.to_string())
        .env("INDEX", place.index.to_string());
    command
}

async fn appears(path: &Path) {
    soon(async {
        while !path.exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
}

/// It is killed at its first start, and ends well at its second.
#[tokio::test]
async fn a_child_that_dies_is_reported_to_the_server_and_started_again() {
    let mut leader = Leader::start().await;
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path().to_owned();
    let script = "echo $SESSION >> starts; test $(wc -l < starts) -ge 2 || kill -9 $$";
    let make = move |place: &Place| shell(place, &at, script);
    soon(supervise(
        options(dir.path(), 1),
        CancellationToken::new(),
        make,
        report_to(leader.url(), Credential::default()),
    ))
    .await;

    let starts = std::fs::read_to_string(dir.path().join("starts")).unwrap();
    let sessions: Vec<SessionId> = starts.lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(sessions.len(), 2);
    assert_ne!(sessions[0], sessions[1], "a session is one life");
    assert_eq!(soon(leader.deaths.recv()).await, Some(sessions[0]));
    assert!(leader.deaths.try_recv().is_err(), "the second ended well");
}

/// The server had closed the child's first session; it died under another.
#[tokio::test]
async fn the_session_that_died_is_the_one_the_child_wrote_last() {
    let dir = tempfile::tempdir().unwrap();
    let (at, reborn) = (dir.path().to_owned(), SessionId::new(5, [9; 10]));
    let script = format!("test -e once && exit 0; touch once; echo {reborn} > session-0; exit 1");
    let make = move |place: &Place| shell(place, &at, &script);
    let reported = Arc::new(Mutex::new(Vec::new()));
    let report = {
        let reported = reported.clone();
        move |session| {
            let mut all = reported.lock().unwrap();
            all.push(session);
            // The server is away at first.
            let answer = if all.len() < 3 { Err("away".to_owned()) } else { Ok(()) };
            std::future::ready(answer)
        }
    };
    soon(supervise(options(dir.path(), 1), CancellationToken::new(), make, report)).await;
    assert_eq!(*reported.lock().unwrap(), [reborn; 3]);
}

#[tokio::test]
async fn told_to_stop_it_tells_its_children_and_waits_for_them() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path().to_owned();
    let script =
        "trap 'echo bye > ended-$INDEX; exit 0' TERM; touch ready-$INDEX; while :; do sleep 0.02; done";
    let make = move |place: &Place| shell(place, &at, script);
    let stop = CancellationToken::new();
    let report = |_| std::future::ready(Err("nobody died".to_owned()));
    let supervising = tokio::spawn(supervise(options(dir.path(), 2), stop.clone(), make, report));
    appears(&dir.path().join("ready-0")).await;
    appears(&dir.path().join("ready-1")).await;
    stop.cancel();
    soon(supervising).await.unwrap();
    assert!(dir.path().join("ended-0").exists() && dir.path().join("ended-1").exists());
}

#[tokio::test]
async fn a_child_that_does_not_stop_is_killed_after_the_grace_and_reported() {
    let mut leader = Leader::start().await;
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path().to_owned();
    let script = "trap '' TERM; touch ready; while :; do sleep 0.02; done";
    let make = move |place: &Place| shell(place, &at, script);
    let stop = CancellationToken::new();
    let options = SupervisorOptions { grace: Duration::from_millis(100), ..options(dir.path(), 1) };
    let supervising =
        tokio::spawn(supervise(options, stop.clone(), make, report_to(leader.url(), Credential::default())));
    appears(&dir.path().join("ready")).await;
    stop.cancel();
    soon(supervising).await.unwrap();
    assert!(leader.deaths.try_recv().is_ok());
}

/// Reading stdin, a child notices when its supervisor is gone; while it is there, nothing ends.
#[tokio::test]
async fn a_child_sees_its_stdin_close_only_when_the_supervisor_goes() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path().to_owned();
    // The background process survives the child, as a child survives a killed supervisor.
    let script = "exec 3<&0; (cat <&3 > /dev/null; touch orphaned) & touch ready; wait";
    let make = move |place: &Place| shell(place, &at, script);
    let report = |_| std::future::ready(Ok(()));
    let supervising = tokio::spawn(supervise(options(dir.path(), 1), CancellationToken::new(), make, report));
    appears(&dir.path().join("ready")).await;
    assert!(!dir.path().join("orphaned").exists());
    supervising.abort();
    appears(&dir.path().join("orphaned")).await;
}
