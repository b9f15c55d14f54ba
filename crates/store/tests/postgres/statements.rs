//! Every statement prepares, and finds its rows by an index however many there are.

use std::path::Path;

use ganger_core::limits;
use ganger_store::testing::{reader, writer};
use tokio_postgres::Client;
use tokio_postgres::types::Type;

use crate::support::{connect, fresh};

/// Tables that hold many rows. The others have a handful; or one per worker, per failure, or per day, queue and kind; or as
/// many as people have made by hand, as schedules, documents and closed keys; or no more than there are leases, as
/// assignments and what users' transactions complete.
const LARGE: [&str; 15] = [
    "job",
    "job_history",
    "job_dead",
    "payload",
    "attempt",
    "session",
    "idempotency",
    "unique_key",
    "log",
    "failure_trend",
    "inbox",
    "edge",
    "minute",
    "occurrence",
    "effect_mark",
];
/// Statements that read a whole table because that is what they are for, once per term.
const WHOLE: [&str; 2] = ["load_jobs", "load_marks"];

/// The files, without the comment at the head of each.
fn statements() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/postgres/sql");
    let mut found: Vec<(String, String)> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            let text = std::fs::read_to_string(&path).unwrap();
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            let head = text.lines().take_while(|line| line.starts_with("--")).count();
            assert!(head > 0, "{name} does not say what it does");
            let body: Vec<&str> = text.lines().skip(head).collect();
            assert!(!body.join("\n").contains("--"), "{name} has a comment that is not at its head");
            (name, body.join("\n"))
        })
        .collect();
    found.sort();
    assert!(found.len() > 60, "the statements were not found");
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn every_statement_fits_the_schema() {
    let (_store, url) = fresh().await;
    let client = connect(&url).await;
    for (name, text) in statements() {
        client.prepare(&text).await.unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn with_fifty_thousand_jobs_no_statement_scans_a_table() {
    no_statement_scans_a_table(50_000).await;
}

/// Takes minutes: `cargo test -p ganger-store --test postgres -- --ignored a_million`.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes"]
async fn with_a_million_jobs_no_statement_scans_a_table() {
    no_statement_scans_a_table(1_000_000).await;
}

/// The live tables are empty whenever everything is done. If they are analysed in that moment, whether by hand or by the database itself,
/// it believes them to be empty until the next time.
#[tokio::test(flavor = "multi_thread")]
async fn what_writes_finds_rows_by_their_keys_in_tables_that_are_believed_to_be_empty() {
    let (_store, url) = fresh().await;
    let client = connect(&url).await;
    fill(&client, 20_000).await;
    // Analysed with their pages there, and nothing in them.
    let emptied = LARGE.map(|table| format!("DELETE FROM ganger.{table}; ANALYZE ganger.{table};"));
    client.batch_execute(&emptied.concat()).await.unwrap();
    let (settings, statements) = writer();
    client.batch_execute(settings).await.unwrap();
    let mut walks = Vec::new();
    let mut pairs = Vec::new();
    // Once per term: the last of each table by its id, and the sessions that are open.
    let meant = ["largest_id", "load_sessions"];
    let written = |(name, text): &(&str, &str)| !text.starts_with("COPY") && !meant.contains(name);
    for (name, text) in statements.into_iter().filter(written) {
        let plan = plan(&client, name, text).await;
        if compares_each_with_each(name, &plan) {
            pairs.push(format!("{name}\n{plan}"));
        }
        let lines: Vec<&str> = plan.lines().collect();
        for (place, line) in lines.iter().enumerate() {
            let conditions = lines.get(place + 1).is_some_and(|next| next.contains("Index Cond:"));
            let is_walk = line.contains("Seq Scan on ")
                || (line.contains("Index Scan") || line.contains("Index Only Scan")) && !conditions;
            let of =
                |table: &&str| line.contains(&format!(" {table} ")) || line.contains(&format!("{table}_"));
            if is_walk && LARGE.iter().any(of) {
                walks.push(format!("{name}: {}\n{plan}", line.trim()));
            }
        }
    }
    assert!(walks.is_empty(), "{} walks\n{}", walks.len(), walks.join("\n"));
    assert!(pairs.is_empty(), "{} compare each with each\n{}", pairs.len(), pairs.join("\n"));
}

/// A day that fills quickly is analysed minutes later, and its jobs are listed meanwhile.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_of_jobs_is_found_by_their_ids_in_tables_that_nobody_has_analysed() {
    let (_store, url) = fresh().await;
    let client = connect(&url).await;
    fill(&client, 50_000).await;
    client.batch_execute(reader()).await.unwrap();
    let rows = limits::PAGE_MAX;
    let page =
        format!("SELECT array_agg(id)::text FROM (SELECT id FROM ganger.job_history LIMIT {rows}) AS page");
    let ids = format!("'{}'", client.query_one(&page, &[]).await.unwrap().get::<_, String>(0));
    let (mut pages, mut scans) = (0, Vec::new());
    for (name, text) in statements() {
        if writer().1.iter().any(|(of, _)| *of == name) {
            continue;
        }
        let statement = client.prepare(&text).await.unwrap();
        if statement.params() != [Type::UUID_ARRAY] {
            continue;
        }
        pages += 1;
        let plan = plan_of(&client, &name, &text, &format!("({ids})")).await;
        // Not the whole plan: it names every id.
        scans.extend(
            plan.lines()
                .filter(|line| line.contains("Seq Scan on job"))
                .map(|line| format!("{name}: {line}")),
        );
    }
    assert!(pages >= 3, "statements that read a page of jobs: {pages}");
    assert!(scans.is_empty(), "{}", scans.join("\n"));
}

/// Whether a plan compares every row of a batch with every other, which looks cheap where few are expected. Days are few.
fn compares_each_with_each(name: &str, plan: &str) -> bool {
    name != "list_days" && plan.contains("Join Filter:")
}

async fn no_statement_scans_a_table(rows: i32) {
    let (_store, url) = fresh().await;
    let client = connect(&url).await;
    fill(&client, rows).await;
    client.batch_execute("ANALYZE; SET plan_cache_mode = force_generic_plan").await.unwrap();
    // What is written, as it is planned there; what is read must do without the settings of its connections.
    let writing = connect(&url).await;
    let (settings, written) = writer();
    writing.batch_execute(settings).await.unwrap();
    let (mut scans, mut pairs) = (Vec::new(), Vec::new());
    for (name, text) in statements().iter().filter(|(name, _)| !WHOLE.contains(&name.as_str())) {
        if text.starts_with("COPY") {
            continue;
        }
        let is_written = written.iter().any(|(of, _)| of == name);
        let plan = plan(if is_written { &writing } else { &client }, name, text).await;
        if is_written && compares_each_with_each(name, &plan) {
            pairs.push(format!("{name}\n{plan}"));
        }
        for line in plan.lines().filter(|line| line.contains("Seq Scan on ")) {
            let table = line.split("Seq Scan on ").nth(1).unwrap_or_default();
            let table = table.split_whitespace().next().unwrap_or_default();
            if LARGE.contains(&table) || table.starts_with("job_history_") {
                scans.push(format!("{name}: {}\n{plan}", line.trim()));
            }
        }
    }
    assert!(scans.is_empty(), "{}", scans.join("\n"));
    assert!(pairs.is_empty(), "{} compare each with each\n{}", pairs.len(), pairs.join("\n"));
}

/// The plan of a statement, whatever its parameters are.
async fn plan(client: &Client, name: &str, text: &str) -> String {
    let statement = client.prepare(text).await.unwrap_or_else(|error| panic!("{name}: {error}"));
    let arguments = vec!["NULL"; statement.params().len()].join(", ");
    let arguments = if arguments.is_empty() { arguments } else { format!("({arguments})") };
    plan_of(client, name, text, &arguments).await
}

/// The plan of a statement with these arguments.
async fn plan_of(client: &Client, name: &str, text: &str, arguments: &str) -> String {
    client.batch_execute(&format!("PREPARE planned AS {text}")).await.unwrap();
    let explain = format!("EXPLAIN EXECUTE planned {arguments}");
    let lines = client.simple_query(&explain).await.unwrap_or_else(|error| panic!("{name}: {error}"));
    client.batch_execute("DEALLOCATE planned").await.unwrap();
    let mut plan = String::new();
    for line in lines {
        if let tokio_postgres::SimpleQueryMessage::Row(row) = line {
            plan.push_str(row.get(0).unwrap_or_default());
            plan.push('\n');
        }
    }
    plan
}

/// So many live jobs, as many finished ones over three days, and their company.
async fn fill(client: &Client, rows: i32) {
    client.batch_execute("SELECT ganger.make_day(day) FROM generate_series(20254, 20256) day").await.unwrap();
    let common = "gen_random_uuid(), n, 1750000000000000 + n, 1750000000000000 + n";
    for (table, columns, values) in [
        (
            "job",
            "id, seq, created_at, due_at, attempt, burnt, lost, priority, retrying, cancel_wanted, kind, queue, payload",
            format!("{common}, 0, 0, 0, 0, false, false, 'kind-' || n % 5, 'queue-' || n % 10, 'null'"),
        ),
        (
            "job_history",
            "id, seq, created_at, due_at, finished_at, attempt, burnt, lost, priority, state, cancel_wanted, kind, queue,
             payload",
            format!(
                "{common}, 20254 * 86400000000 + n % 3 * 86400000000, 1, 1, 0, 0, (n % 50 = 0)::integer * 2, false,
                 'kind-' || n % 5, 'queue-' || n % 10, 'null'"
            ),
        ),
        (
            "job_dead",
            "id, seq, created_at, due_at, finished_at, attempt, burnt, lost, priority, state, cancel_wanted, kind, queue,
             payload",
            format!("{common}, 1750000000000000 + n, 1, 1, 0, 0, 1, false, 'kind-' || n % 5, 'queue-' || n % 10, 'null'"),
        ),
        ("payload", "job, body", "gen_random_uuid(), 'null'".into()),
        ("attempt", "job, number, record", "gen_random_uuid(), 1, 'x'".into()),
        ("log", "job, attempt, text", "gen_random_uuid(), 1, 'x'".into()),
        ("session", "id, record", "gen_random_uuid(), CASE WHEN n % 1000 = 0 THEN '{}' END".into()),
        (
            "idempotency",
            "scope, key, fingerprint, until, answer",
            "'scope', n::text::bytea, 'x', 1750000000000000 + n, 'x'".into(),
        ),
        ("unique_key", "kind, key, job, until", "'kind', n::text, gen_random_uuid(), n".into()),
        ("failure_trend", "fingerprint, bucket, count", "n % 1000, n / 1000, 1".into()),
        ("inbox", "job, request", "gen_random_uuid(), '{}'".into()),
        ("edge", "child, parent, on_dead", "gen_random_uuid(), gen_random_uuid(), 0".into()),
        (
            "minute",
            "minute, queue, kind, numbers, wait, run",
            "n / 10, 'queue-' || n % 10, 'kind', '{}', '{}', '{}'".into(),
        ),
        (
            "occurrence",
            "schedule, due_at, decided_at, count, cause, state, why",
            "md5((n % 1000)::text)::uuid, n, n, 1, 'due', 'skipped', 'x'".into(),
        ),
        ("effect_mark", "job, fence", "gen_random_uuid(), 'x'".into()),
    ] {
        let insert =
            format!("INSERT INTO ganger.{table} ({columns}) SELECT {values} FROM generate_series(1, {rows}) n");
        client.batch_execute(&insert).await.unwrap_or_else(|error| panic!("{table}: {error}"));
    }
    let groups = "INSERT INTO ganger.failure (fingerprint, count, first_at, last_at, job, kind, error)
                  SELECT n, 1, n, n, gen_random_uuid(), 'kind', 'x' FROM generate_series(0, 999) n";
    client.batch_execute(groups).await.unwrap();
}
