//! A PostgreSQL database: its settings, its clock, its room for connections, and how long a commit takes.

use std::time::Duration;

use ganger_store::inspect::{Clocks, PgReport};
use ganger_store::postgres;

use super::Watch;
use super::finding::Findings;
use super::server::skew;
use crate::clock;
use crate::config::Place;
use crate::humane::{grouped, short};

/// Every batch of jobs waits for one commit.
const SLOW_COMMIT: Duration = Duration::from_millis(50);
/// A database this far away is on another continent.
const SLOW_READ: Duration = Duration::from_millis(20);
/// Connections that one server opens: eight that read, one that writes, and those of the election, its watch and the inbox.
const CONNECTIONS: u32 = 12;
/// Servers that there should be room for: two, and one that replaces one of them.
const SERVERS: u32 = 3;

/// Looks at the database of the settings.
pub(super) async fn look(url: &str, found: &mut Findings) {
    let place = Place::Postgres(url.to_owned());
    let watch = Watch::start();
    let clocks = Clocks { elapsed: &|| watch.0.elapsed(), now: &clock::now };
    match postgres::inspect(url, clocks).await {
        Ok(report) => judge(&place, url, &report, found),
        Err(error) => {
            let advice = "check the address in --store or GANGER_STORE, its user and password, and that the database runs";
            found.told("store", &format!("cannot open {place}: {error}"), advice);
        }
    }
}

fn judge(place: &Place, url: &str, report: &PgReport, found: &mut Findings) {
    let size = grouped(report.bytes >> 20);
    found.ok("store", format!("PostgreSQL {} at {place}, {size} MiB", report.version));
    if report.dangers.is_empty() {
        found.ok("durability", "fsync, full_page_writes and synchronous_commit keep what was acknowledged");
    }
    for danger in &report.dangers {
        found.told("durability", danger, "correct the setting");
    }
    if report.read_only {
        found.found(
            "primary",
            "this database is a copy that cannot be written to",
            "name the primary in --store",
        );
    } else {
        found.ok("primary", "it can be written to");
    }
    if report.autovacuum {
        found.ok("autovacuum", "on");
    } else {
        let advice = "set autovacuum = on: tables of jobs grow and slow down without it";
        found.found("autovacuum", "the database does not clean up by itself", advice);
    }
    connections(report, found);
    latency(report, found);
    skew("database clock", "the database", report.ahead_micros, report.reads.longest(), found);
    if report.encrypted || postgres::is_local(url) {
        found.ok(
            "database TLS",
            if report.encrypted { "the connection is encrypted" } else { "it is on this machine" },
        );
    } else {
        let advice =
            "add ?sslmode=verify-full&sslrootcert=FILE to its address, or keep it on a network of its own";
        found.found("database TLS", "jobs travel to the database in the clear", advice);
    }
}

fn connections(report: &PgReport, found: &mut Findings) {
    let (open, most) = (report.connections, report.connections_max);
    let needed = CONNECTIONS * SERVERS;
    let seen = format!("{open} of {most} connections are open; a server needs {CONNECTIONS}");
    if most < needed {
        let advice = format!("set max_connections so that at least {needed} are left for {SERVERS} servers");
        found.found("connections", seen, advice);
    } else if open + CONNECTIONS > most {
        let advice = "raise max_connections, or find out who holds them (pg_stat_activity): another server would find none";
        found.found("connections", seen, advice);
    } else {
        found.ok("connections", seen);
    }
}

fn latency(report: &PgReport, found: &mut Findings) {
    let (read, commit) = (report.reads.median(), report.commits.median());
    let seen = format!(
        "an answer takes {}, a durable commit {}, at the most {}",
        short(read),
        short(commit),
        short(report.commits.longest())
    );
    if read > SLOW_READ {
        let advice = "every acknowledged job waits for it: move the servers and the database closer together";
        found.found("database latency", seen, advice);
    } else if commit > SLOW_COMMIT {
        let advice =
            "every acknowledged job waits for it: put the log of the database (pg_wal) on a faster disk";
        found.found("database latency", seen, advice);
    } else {
        found.ok("database latency", seen);
    }
}
