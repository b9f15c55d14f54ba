//! A data directory: its file system, its database, its room, and how long the disk takes.

use std::path::Path;
use std::time::Duration;

use ganger_store::StoreError;
use ganger_store::inspect::{Clocks, DirReport, Unusual};

use super::Watch;
use super::finding::Findings;
use crate::clock;
use crate::humane::{grouped, short};

/// A sync that takes longer makes every batch of jobs wait as long.
const SLOW_SYNC: Duration = Duration::from_millis(50);

/// Looks at the data directory of the settings.
pub(super) async fn look(dir: &Path, found: &mut Findings) {
    let path = dir.to_owned();
    let looking = tokio::task::spawn_blocking(move || {
        let watch = Watch::start();
        let clocks = Clocks { elapsed: &|| watch.0.elapsed(), now: &clock::now };
        ganger_store::sqlite::inspect(&path, clocks)
    });
    match looking.await {
        Ok(Ok(Some(report))) => judge(dir, &report, found),
        Ok(Ok(None)) => found.skipped("store", format!("there is no data directory {}", dir.display())),
        Ok(Err(error)) => unreadable(dir, &error, found),
        Err(error) => {
            found.found("store", format!("the look at {} broke off: {error}", dir.display()), "run it again")
        }
    }
}

fn unreadable(dir: &Path, error: &StoreError, found: &mut Findings) {
    let advice = format!("run it as the user that owns {}, and check that the disk works", dir.display());
    found.told("store", &error.to_string(), &advice);
}

fn judge(dir: &Path, report: &DirReport, found: &mut Findings) {
    let place = dir.display();
    match &report.database {
        Some(database) if database.journal != "wal" => found.found(
            "store",
            format!("the database in {place} has the journal {}, wal is needed", database.journal),
            "put it on a local disk: some file systems cannot have one; a server refuses to start on it",
        ),
        Some(database) => {
            let used = if report.in_use { "in use by a server" } else { "not in use" };
            let reads = short(database.reads.median());
            found.ok("store", format!("SQLite in {place}, {used}, journal wal, a read takes {reads}"));
        }
        None => found.skipped("store", format!("there is no database in {place} yet")),
    }
    match report.unusual {
        Some(Unusual::Network) => found.found(
            "file system",
            format!("{place} is on a network file system, whose locks and syncs cannot be relied upon"),
            "use a local disk, or PostgreSQL (--store postgres://…) to share a store between machines",
        ),
        Some(Unusual::Memory) => found.found(
            "file system",
            format!("{place} is in memory: every job is gone when the machine restarts"),
            "move it to a disk with --data",
        ),
        Some(Unusual::Container) => found.found(
            "file system",
            format!("{place} is inside a container: every job is gone when it is replaced"),
            "mount a volume there",
        ),
        None => found.ok("file system", "a local disk"),
    }
    if report.open_to_others {
        found.found(
            "permissions",
            format!("other users of this machine may look into {place}, where payloads and tokens are"),
            format!("chmod 700 {place}"),
        );
    } else {
        found.ok("permissions", "the data directory is for its owner only");
    }
    room(report, found);
    let (median, longest) = (report.syncs.median(), report.syncs.longest());
    let seen = format!("a write takes {} until it is on disk, at the most {}", short(median), short(longest));
    if median > SLOW_SYNC {
        let advice =
            "every acknowledged job waits for it: use a faster disk, or one that nothing else writes to";
        found.found("disk latency", seen, advice);
    } else {
        found.ok("disk latency", seen);
    }
}

fn room(report: &DirReport, found: &mut Findings) {
    let mib = |bytes: u64| grouped(bytes >> 20);
    let disk = report.disk;
    let seen = format!("{} MiB of {} MiB free", mib(disk.free_bytes), mib(disk.total_bytes));
    if disk.is_low() {
        found.found(
            "disk",
            seen,
            "make room, or shorten retention (`ganger queue set --keep-finished`); nothing is acknowledged on a full disk",
        );
    } else {
        found.ok("disk", seen);
    }
}
