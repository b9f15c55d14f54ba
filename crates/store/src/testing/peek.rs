//! What a test may see of a database that servers are using, and do to it. Asked by `psql`, each time anew, so that it works while
//! everything around it is killed; `None` while the database does not answer.

use std::process::{Command, Stdio};

/// Term, last batch and name of the leader.
#[must_use]
pub fn leader(url: &str) -> Option<(u64, u64, String)> {
    let row = ask(url, "SELECT l.term, b.number, l.server FROM ganger.leader l, ganger.batch b")?;
    let mut columns = row.splitn(3, '|');
    let mut number = || columns.next()?.parse().ok();
    let (term, batch) = (number()?, number()?);
    Some((term, batch, columns.next()?.to_owned()))
}

/// When the first of the present leases was given in this term or later, in microseconds since the epoch.
#[must_use]
pub fn first_dispatch(url: &str, term: u64) -> Option<u64> {
    number(url, &format!("SELECT min(at) FROM ganger.assignment WHERE first_fence >= int8send({term})"))
}

/// Assignments of this term.
#[must_use]
pub fn leases_of(url: &str, term: u64) -> Option<u64> {
    let of = "substring(first_fence FOR 8) = int8send";
    number(url, &format!("SELECT count(*) FROM ganger.assignment WHERE {of}({term})"))
}

/// Live jobs.
#[must_use]
pub fn live_jobs(url: &str) -> Option<u64> {
    number(url, "SELECT count(*) FROM ganger.job")
}

/// What is recorded of jobs that ended well or were cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// Rows of the history.
    pub rows: u64,
    /// Jobs in it.
    pub jobs: u64,
    /// Those that succeeded at their first attempt.
    pub at_once: u64,
    /// As the counters have it.
    pub counted: u64,
    /// Assignments that are left over.
    pub assignments: u64,
}

/// What is recorded of jobs that ended well or were cancelled.
#[must_use]
pub fn recorded(url: &str) -> Option<Recorded> {
    let row = ask(
        url,
        "SELECT count(*), count(DISTINCT id), count(*) FILTER (WHERE state = 0 AND attempt = 1 AND lost = 0),
            (SELECT sum(count) FROM ganger.counter), (SELECT count(*) FROM ganger.assignment)
         FROM ganger.job_history",
    )?;
    let mut columns = row.split('|').map(|column| column.parse().ok());
    let mut next = || columns.next()?;
    Some(Recorded { rows: next()?, jobs: next()?, at_once: next()?, counted: next()?, assignments: next()? })
}

/// Live jobs with a unique key.
#[must_use]
pub fn unique_jobs(url: &str) -> Option<u64> {
    number(url, "SELECT count(*) FROM ganger.job WHERE unique_key IS NOT NULL")
}

/// The ids of the open sessions, in order.
#[must_use]
pub fn open_sessions(url: &str) -> Option<String> {
    ask(url, "SELECT string_agg(id::text, ' ' ORDER BY id) FROM ganger.session WHERE record IS NOT NULL")
}

/// Writes as a zombie would that no guard holds back: takes the number of the leader's next batch, and nothing else.
///
/// # Panics
/// If the database does not answer.
pub fn take_the_next_batch(url: &str) {
    let taken = ask(url, "UPDATE ganger.batch SET number = number + 1 RETURNING number");
    assert!(taken.is_some(), "the database does not let a zombie write");
}

/// Lets the server log every statement from now on.
pub(super) fn log_statements(url: &str) {
    for statement in ["ALTER SYSTEM SET log_statement = 'all'", "SELECT pg_reload_conf()"] {
        assert!(ask(url, statement).is_some(), "the database refuses `{statement}`");
    }
    super::server::wait_until(|| ask(url, "SHOW log_statement").as_deref() == Some("all"));
}

/// Changes settings of the server that need no restart.
pub(super) fn set(url: &str, settings: &[&str]) {
    let changes = settings.iter().map(|setting| format!("ALTER SYSTEM SET {setting}"));
    for statement in changes.chain(["SELECT pg_reload_conf()".to_owned()]) {
        assert!(ask(url, &statement).is_some(), "the database refuses `{statement}`");
    }
}

/// The names of all databases of the server, in order.
#[must_use]
pub fn databases(url: &str) -> Option<String> {
    ask(url, "SELECT string_agg(datname, ' ' ORDER BY datname) FROM pg_database")
}

fn number(url: &str, statement: &str) -> Option<u64> {
    ask(url, statement)?.parse().ok()
}

/// One row, columns between bars.
fn ask(url: &str, statement: &str) -> Option<String> {
    let asked = Command::new("psql").args([url, "-XAtqc", statement]).stderr(Stdio::null()).output();
    let asked = asked.unwrap_or_else(|error| panic!("cannot run psql: {error}"));
    asked.status.success().then(|| String::from_utf8_lossy(&asked.stdout).trim().to_owned())
}
