//! Several servers on one PostgreSQL, through the binary.

mod common;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Output, Stdio};

use common::{code, command, eventually, stderr, stdout};
use ganger_store::testing::Postgres;
use serde_json::Value;

/// A running server, killed when dropped.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start(directory: &Path, store: &str) -> Server {
        Server::start_with(directory, store, &[])
    }

    fn start_with(directory: &Path, store: &str, more: &[&str]) -> Server {
        let args = ["server", "--listen", "127.0.0.1:0", "--store", store, "-o", "json"];
        let args = [&args, more].concat();
        let mut child =
            command(directory, &args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let ready: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error} in `{line}`"));
        let url = ready["url"].as_str().unwrap().to_owned();
        assert!(!line.contains("password"), "{line}");
        Server { child, url }
    }

    /// What this server says about the cluster.
    fn cluster(&self, directory: &Path) -> Value {
        let args = ["cluster", "status", "-o", "json", "--url", &self.url];
        let output = command(directory, &args).output().unwrap();
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn run(directory: &Path, args: &[&str]) -> Output {
    let output = command(directory, args).output().unwrap();
    assert_eq!(code(&output), 0, "{args:?}: {}", stderr(&output));
    output
}

async fn database() -> String {
    Postgres::shared().database().await
}

/// P1, P9: the leader is killed while a job runs; the other server leads, and the job's one attempt is recorded.
#[tokio::test(flavor = "multi_thread")]
async fn a_killed_leader_is_replaced_and_the_running_job_goes_on() {
    let store = database().await;
    let home = tempfile::tempdir().unwrap();
    let dir = home.path();
    let alice = Server::start(dir, &store);
    let bob = Server::start(dir, &store);
    let before = bob.cluster(dir);
    assert_eq!(
        (&before["role"], &before["leader"]["address"]),
        (&"standby".into(), &alice.url.as_str().into())
    );
    let table = stdout(&run(dir, &["cluster", "status", "--url", &bob.url]));
    assert!(table.contains("leader") && table.contains("standby") && table.contains("in term 1"), "{table}");

    let both = format!("{},{}", alice.url, bob.url);
    let worker = ["worker", "start", "--url", &both, "--threads", "2"];
    let mut worker = command(dir, &worker).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let enqueue = ["enqueue", "sleep", "-p", "{\"seconds\":4}", "--url", &both, "-o", "name"];
    let job = stdout(&run(dir, &enqueue)).trim().to_owned();
    let state = |url: &str| {
        let output = command(dir, &["job", "get", &job, "--url", url, "-o", "json"]).output().unwrap();
        serde_json::from_slice::<Value>(&output.stdout).ok()
    };
    eventually("the job runs", || state(&alice.url).filter(|job| job["state"] == "running"));
    let killed = alice.url.clone();
    drop(alice);
    let after = eventually("bob leads", || Some(bob.cluster(dir)).filter(|seen| seen["role"] == "leader"));
    assert_eq!(after["leader"]["term"], before["leader"]["term"].as_u64().unwrap() + 1);
    let ended = eventually("the job ends", || state(&bob.url).filter(|job| job["state"] == "succeeded"));
    assert_eq!(ended["attempt"], 1, "{ended}");
    // A client that knows both finds the one that is there.
    run(dir, &["stats", "--url", &format!("{killed},{}", bob.url)]);
    let _ = worker.kill();
    let _ = worker.wait();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_is_migrated_by_hand_and_its_password_is_never_told() {
    let store = database().await;
    let home = tempfile::tempdir().unwrap();
    let dir = home.path();
    let version = |verb: &[&str]| -> u64 {
        let mut args = vec!["migrate"];
        args.extend_from_slice(verb);
        args.extend(["--store", &store, "-o", "json"]);
        serde_json::from_slice::<Value>(&run(dir, &args).stdout).unwrap()["version"].as_u64().unwrap()
    };
    assert_eq!(version(&["status"]), 0);
    let newest = version(&["up"]);
    assert!(newest > 0 && version(&["status"]) == newest);
    assert_eq!(version(&["down", "--to", "0", "--yes"]), 0);

    let nowhere = "postgres://ganger:hush@127.0.0.1:1/d";
    for args in [
        &["migrate", "status", "--store", nowhere][..],
        &["migrate", "down", "--to", "0", "--store", nowhere],
        &["server", "--store", "mysql://ganger:hush@h/d"],
        &["config", "show", "--store", nowhere],
        &["migrate", "status", "--store", nowhere, "--data", "d"],
    ] {
        let output = command(dir, args).output().unwrap();
        let said = format!("{}{}", stdout(&output), stderr(&output));
        assert!(!said.contains("hush"), "{args:?} told: {said}");
        assert!(args[0] == "config" || code(&output) != 0, "{args:?}: {said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_must_not_join_leaves_the_database_as_it_was() {
    let store = database().await;
    let home = tempfile::tempdir().unwrap();
    let dir = home.path();
    let open = ["server", "--listen", "0.0.0.0:0", "--insecure-no-auth", "--store", &store];
    let secret = ["--advertise", "http://ganger.example:1"];
    for (args, secret, why) in [
        (&secret[..], None, "secret"),
        (&secret, Some("short"), "at least"),
        (&[], Some("a secret that is long enough for anyone"), "--advertise"),
    ] {
        let mut command = command(dir, &open);
        command.args(args).envs(secret.map(|secret| ("GANGER_CLUSTER_SECRET", secret)));
        let refused = command.output().unwrap();
        assert!(code(&refused) != 0 && stderr(&refused).contains(why), "{why}: {}", stderr(&refused));
    }
    let status = run(dir, &["migrate", "status", "--store", &store, "-o", "json"]);
    assert_eq!(serde_json::from_slice::<Value>(&status.stdout).unwrap()["version"], 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_database_remarks_is_not_told_to_an_operator() {
    let store = database().await;
    let home = tempfile::tempdir().unwrap();
    // What was there before is what it remarks upon.
    run(home.path(), &["migrate", "up", "--store", &store]);
    run(home.path(), &["migrate", "down", "--to", "0", "--yes", "--store", &store]);
    let args = ["server", "--listen", "127.0.0.1:0", "--store", &store];
    let mut server =
        command(home.path(), &args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut log = BufReader::new(server.stderr.take().unwrap());
    let mut said = String::new();
    while !said.contains("listens on") {
        assert!(log.read_line(&mut said).unwrap() > 0, "it ended: {said}");
    }
    let _ = server.kill();
    let _ = server.wait();
    assert!(!said.contains("skipping") && !said.contains("NOTICE"), "{said}");
}

/// The server lives, says why it is not ready, and needs no restart.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_whose_database_is_away_starts_and_leads_when_it_is_back() {
    let mut postgres = Postgres::start();
    let store = postgres.database().await;
    postgres.stop();
    let home = tempfile::tempdir().unwrap();
    let server = Server::start(home.path(), &store);
    let health = |flag: &str| command(home.path(), &["health", flag, "--url", &server.url]).output().unwrap();
    assert_eq!(code(&health("--live")), 0);
    let red = health("--ready");
    assert!(code(&red) != 0 && stdout(&red).contains("store"), "{}", stdout(&red));
    postgres.restart();
    eventually("readiness", || (code(&health("--ready")) == 0).then_some(()));
    assert_eq!(server.cluster(home.path())["role"], "leader");
}

/// Two clusters of one user, each with two servers, and no data directory anywhere.
#[tokio::test(flavor = "multi_thread")]
async fn each_store_has_its_own_tokens_and_its_servers_share_them() {
    let (one, two) = (database().await, database().await);
    let (home, other_machine) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let more = ["--auth", "on", "--allow-exec"];
    let alice = Server::start_with(home.path(), &one, &more);
    let bob = Server::start_with(other_machine.path(), &one, &more);
    let carol = Server::start_with(home.path(), &two, &more);
    // By the port alone: nobody says which store, or where its tokens are.
    let runs = |directory: &Path, server: &Server| {
        let args = ["enqueue", "exec", "-p", r#"{"argv":["true"]}"#, "--url", &server.url];
        code(&command(directory, &args).output().unwrap()) == 0
    };
    eventually("the first cluster takes its tokens", || runs(home.path(), &alice).then_some(()));
    eventually("so does the second", || runs(home.path(), &carol).then_some(()));
    assert!(runs(home.path(), &alice), "the second has not overwritten those of the first");
    let tokens = |directory: &Path| {
        let stores = directory.join(".local/share/ganger/stores");
        let mut found: Vec<String> = std::fs::read_dir(stores)
            .unwrap()
            .map(|store| std::fs::read_to_string(store.unwrap().path().join("exec-token")).unwrap())
            .collect();
        found.sort();
        found
    };
    let (here, there) = (tokens(home.path()), tokens(other_machine.path()));
    assert_eq!((here.len(), there.len()), (2, 1));
    assert!(here.contains(&there[0]) && here[0] != here[1], "servers of one store share their exec token");
    drop((alice, bob));

    // Whoever has the credentials of the database gets in again.
    let made = run(other_machine.path(), &["token", "recover", "--store", &two, "-o", "json"]);
    let made: Value = serde_json::from_slice(&made.stdout).unwrap();
    let mut list = command(other_machine.path(), &["token", "list", "--url", &carol.url]);
    list.env("GANGER_TOKEN", made["token"].as_str().unwrap());
    eventually("the recovered token holds", || (code(&list.output().unwrap()) == 0).then_some(()));
}
