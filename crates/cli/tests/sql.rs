//! Jobs submitted and ended in SQL, through the binary.

mod common;

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use common::{Instance, PATIENCE, code, command, eventually, stderr, stdout};
use ganger_store::testing::Postgres;
use serde_json::{Value, json};
use tokio_postgres::Client;
use uuid::Uuid;

/// Transactions of the crowd, half of which roll back.
const TRANSACTIONS: usize = 1_000;
/// Connections of the crowd.
const CONNECTIONS: usize = 20;

/// A process, killed when dropped.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A running server.
struct Server {
    _process: Process,
    url: String,
}

impl Server {
    fn start(directory: &Path, store: &str) -> Server {
        let args = ["server", "--listen", "127.0.0.1:0", "--store", store, "-o", "json"];
        let mut child =
            command(directory, &args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let ready: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error} in `{line}`"));
        Server { _process: Process(child), url: ready["url"].as_str().unwrap().to_owned() }
    }
}

fn run(directory: &Path, args: &[&str]) -> Value {
    let output = command(directory, &[args, &["-o", "json"]].concat()).output().unwrap();
    assert_eq!(code(&output), 0, "{args:?}: {}", stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

async fn connect(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

async fn number(client: &Client, query: &str) -> i64 {
    client.query_one(query, &[]).await.unwrap().get(0)
}

/// A condition of the database that comes true.
async fn until(client: &Client, what: &str, condition: &str) {
    let query = format!("SELECT ({condition})::boolean");
    let coming = async {
        while !client.query_one(&query, &[]).await.unwrap().get::<_, bool>(0) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, coming).await.unwrap_or_else(|_| panic!("waited in vain: {what}"));
}

/// Some of the crowd's transactions. The ids of those jobs that were committed.
async fn submit(store: String, share: usize) -> Vec<Uuid> {
    let client = connect(&store).await;
    let mut committed = Vec::new();
    for n in (share..TRANSACTIONS).step_by(CONNECTIONS) {
        client.batch_execute("BEGIN").await.unwrap();
        let enqueue = "SELECT ganger.enqueue('noop', json_build_object('n', $1::bigint))";
        let id: Uuid = client.query_one(enqueue, &[&(n as i64)]).await.unwrap().get(0);
        if (n / CONNECTIONS).is_multiple_of(2) {
            client.batch_execute("COMMIT").await.unwrap();
            committed.push(id);
        } else {
            client.batch_execute("ROLLBACK").await.unwrap();
        }
    }
    committed
}

/// A thousand transactions at once, half of them rolled back, while the leader is killed: exactly the committed jobs run,
/// and each of them once.
#[tokio::test(flavor = "multi_thread")]
async fn exactly_the_committed_jobs_run_whoever_leads() {
    let store = Postgres::shared().database().await;
    let home = tempfile::tempdir().unwrap();
    let dir = home.path();
    let alice = Server::start(dir, &store);
    let bob = Server::start(dir, &store);
    let both = format!("{},{}", alice.url, bob.url);
    let worker = ["worker", "start", "--url", &both, "--threads", "8"];
    let worker = command(dir, &worker).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let _worker = Process(worker);

    let eyes = connect(&store).await;
    let crowd: Vec<_> = (0..CONNECTIONS).map(|share| tokio::spawn(submit(store.clone(), share))).collect();
    until(&eyes, "some are taken in", "(SELECT last_seq FROM ganger.batch) > 20").await;
    drop(alice);
    let mut committed = BTreeSet::new();
    for member in crowd {
        committed.extend(member.await.unwrap());
    }
    assert_eq!(committed.len(), TRANSACTIONS / 2);
    until(&eyes, "the inbox is empty", "NOT EXISTS (SELECT 1 FROM ganger.inbox)").await;
    until(&eyes, "all jobs are final", "NOT EXISTS (SELECT 1 FROM ganger.job)").await;

    let ended = eyes.query("SELECT id, state FROM ganger.job_history", &[]).await.unwrap();
    assert_eq!(ended.len(), committed.len(), "each once");
    let ended: BTreeSet<Uuid> = ended.iter().map(|row| row.get(0)).collect();
    assert_eq!(ended, committed);
    assert_eq!(number(&eyes, "SELECT count(*) FROM ganger.job_dead").await, 0);
    assert_eq!(number(&eyes, "SELECT sum(count)::bigint FROM ganger.counter").await, 500);
    let stats = run(dir, &["stats", "--url", &bob.url]);
    assert_eq!(stats["jobs"]["succeeded"], 500, "{stats}");
}

/// Nobody waits for an answer, so what cannot be run is dead with the reason, and holds up nobody.
#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_cannot_be_run_is_dead_with_the_reason() {
    let store = Postgres::shared().database().await;
    let home = tempfile::tempdir().unwrap();
    let dir = home.path();
    let server = Server::start(dir, &store);
    run(dir, &["queue", "drain", "closed", "--url", &server.url]);
    let client = connect(&store).await;
    let mut dead = Vec::new();
    for arguments in [
        "'report', '[1]', options => '{\"threads\": 0}'",
        "'report', options => '{\"tip\": 1}'",
        "'report', queue => 'closed'",
        "'exec', '{\"command\": [\"true\"]}'",
    ] {
        let row = client.query_one(&format!("SELECT ganger.enqueue({arguments})"), &[]).await.unwrap();
        dead.push(row.get::<_, Uuid>(0));
    }
    let good: Uuid = client.query_one("SELECT ganger.enqueue('report')", &[]).await.unwrap().get(0);
    until(&client, "all are taken in", "(SELECT count(*) FROM ganger.job) = 1").await;
    let get = |id: Uuid| run(dir, &["job", "get", &id.to_string(), "--url", &server.url]);
    assert_eq!(get(good)["state"], "queued");
    for (id, reason) in dead.iter().zip(["threads", "tip", "draining", "exec"]) {
        let job = get(*id);
        assert_eq!(job["state"], "dead", "{job}");
        assert!(job["reason"].as_str().is_some_and(|why| why.contains(reason)), "{reason}: {job}");
    }
    let stats = run(dir, &["stats", "--url", &server.url]);
    assert_eq!((&stats["jobs"]["dead"], &stats["jobs"]["queued"]), (&json!(4), &json!(1)), "{stats}");
}

/// A worker over plain HTTP: what it claimed.
async fn claim(url: &str, lease: &str) -> Value {
    let body = json!({"max": 1, "wait": "20s", "lease": lease, "kinds": ["pay"]}).to_string();
    let request = reqwest::Client::new().post(format!("{url}/v1/queues/default:claim")).body(body);
    let answer = request.header("content-type", "application/json").send().await.unwrap();
    let text = answer.text().await.unwrap();
    let claimed: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error} in {text}"));
    claimed["jobs"][0].clone()
}

/// A handler's transaction: an effect, and the end of its job.
async fn pay(client: &Client, job: &Value) -> Result<(), tokio_postgres::Error> {
    client.batch_execute("BEGIN").await?;
    let paid = client.execute("INSERT INTO paid VALUES ($1)", &[&job["id"].as_str()]).await;
    let complete = "SELECT ganger.complete($1::text, $2, '{\"paid\": true}')";
    let completed = client.execute(complete, &[&job["id"].as_str(), &job["fence"].as_str()]).await;
    let ended = if paid.is_ok() && completed.is_ok() { "COMMIT" } else { "ROLLBACK" };
    let ended = client.batch_execute(ended).await;
    paid.and(completed).map(drop).and(ended)
}

/// A worker is gone for good after its commit and before its report: its lease runs out, and the job has succeeded,
/// once, with its one effect.
#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_is_gone_after_its_commit_has_done_its_job_once() {
    let store = Postgres::shared().database().await;
    let home = tempfile::tempdir().unwrap();
    let dir = home.path();
    let server = Server::start(dir, &store);
    let marked = run(dir, &["kind", "set", "pay", "--transactional", "on", "--url", &server.url]);
    assert_eq!(marked, json!({"kind": "pay", "transactional": true}));
    let client = connect(&store).await;
    client.batch_execute("CREATE TABLE paid (job text); SELECT ganger.enqueue('pay')").await.unwrap();
    let job = claim(&server.url, "2s").await;
    pay(&client, &job).await.unwrap();
    let id = job["id"].as_str().unwrap();
    // To the leader it still runs: it must not be brought back under its feet.
    let replay = command(dir, &["job", "replay", id, "--url", &server.url]).output().unwrap();
    assert!(code(&replay) != 0 && stderr(&replay).contains("running"), "{}", stderr(&replay));
    eventually("the lease runs out", || {
        let stats = run(dir, &["stats", "--url", &server.url]);
        (stats["jobs"]["running"] == 0 && stats["jobs"]["succeeded"] == 1).then_some(())
    });
    let got = run(dir, &["job", "get", id, "--url", &server.url]);
    assert_eq!((&got["state"], &got["attempt"]), (&json!("succeeded"), &json!(1)), "{got}");
    assert_eq!(number(&client, "SELECT count(*) FROM paid").await, 1);
    assert_eq!(number(&client, "SELECT count(*) FROM ganger.assignment").await, 0);
    assert_eq!(number(&client, "SELECT sum(count)::bigint FROM ganger.counter").await, 1);
    run(dir, &["job", "replay", id, "--url", &server.url]);
}

/// A worker stands still until its job runs elsewhere, and then comes to its commit: nothing of it happens.
#[tokio::test(flavor = "multi_thread")]
async fn a_zombie_commits_neither_its_effect_nor_the_end_of_the_job() {
    let store = Postgres::shared().database().await;
    let home = tempfile::tempdir().unwrap();
    let dir = home.path();
    let server = Server::start(dir, &store);
    run(dir, &["kind", "set", "pay", "--transactional", "on", "--url", &server.url]);
    let (zombie, heir) = (connect(&store).await, connect(&store).await);
    zombie.batch_execute("CREATE TABLE paid (job text); SELECT ganger.enqueue('pay')").await.unwrap();
    let old = claim(&server.url, "1s").await;
    let new = claim(&server.url, "60s").await;
    assert_eq!((&new["id"], &new["attempt"]), (&old["id"], &json!(2)));
    let refused = pay(&zombie, &old).await.unwrap_err();
    let refused = refused.as_db_error().unwrap_or_else(|| panic!("{refused}"));
    assert_eq!(refused.code().code(), "ZG004");
    assert!(refused.message().starts_with("lease_lost"), "{refused}");
    pay(&heir, &new).await.unwrap();
    let token = new["lease_token"].as_str().unwrap();
    let report = reqwest::Client::new().post(format!("{}/v1/leases/{token}:complete", server.url));
    let report = report.header("content-type", "application/json").body("{}").send().await.unwrap();
    assert_eq!(report.status(), 200, "its own report is nothing new, and no trouble");
    let got = run(dir, &["job", "get", old["id"].as_str().unwrap(), "--url", &server.url]);
    assert_eq!((&got["state"], &got["attempt"]), (&json!("succeeded"), &json!(2)), "{got}");
    assert_eq!(number(&heir, "SELECT count(*) FROM paid").await, 1);
}

#[test]
fn a_kind_is_not_transactional_where_jobs_are_in_a_file() {
    let dev = Instance::dev();
    let home = tempfile::tempdir().unwrap();
    let set = |word: &str| {
        let args = ["kind", "set", "pay", "--transactional", word, "--url", &dev.url];
        command(home.path(), &args).output().unwrap()
    };
    let refused = set("on");
    assert!(code(&refused) != 0 && stderr(&refused).contains("PostgreSQL"), "{}", stderr(&refused));
    assert_eq!(code(&set("off")), 0);
    let listed = command(home.path(), &["kind", "list", "--url", &dev.url]).output().unwrap();
    assert!(stdout(&listed).contains("pay") && stdout(&listed).contains("off"), "{}", stdout(&listed));
}

/// The examples of the page about SQL.
#[tokio::test(flavor = "multi_thread")]
async fn the_examples_of_the_page_run() {
    let store = Postgres::shared().database().await;
    let home = tempfile::tempdir().unwrap();
    let _server = Server::start(home.path(), &store);
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/sql.md");
    let page = std::fs::read_to_string(page).unwrap();
    let client = connect(&store).await;
    let blocks: Vec<&str> =
        page.split("```sql\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(blocks.len() >= 3);
    // A role belongs to the whole cluster, which other tests share.
    let role = format!("billing_{}", Uuid::new_v4().simple());
    for block in blocks {
        client
            .batch_execute(&block.replace("billing", &role))
            .await
            .unwrap_or_else(|e| panic!("{block}: {e:?}"));
    }
    until(&client, "all are taken in", "(SELECT count(*) FROM ganger.job) = 4").await;
    assert_eq!(number(&client, "SELECT count(*) FROM ganger.job_dead").await, 0);
    client.batch_execute(&format!("DROP OWNED BY {role}; DROP ROLE {role}")).await.unwrap();
}
