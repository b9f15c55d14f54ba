//! What the disk and SQLite themselves can do, one commit after the other, without anything of ours around it.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use ganger_store::sqlite::{self, CeilingOptions};
use serde::Serialize;

use super::report::{Spread, histogram};
use super::{BULK, KIND, payload, per_second};
use crate::clock::Stopwatch;
use crate::exit::Exit;
use crate::failure::{Failure, Fallible};

/// Commits that are timed.
const COMMITS: usize = 200;
/// What one commit writes: a page of a log.
const PAGE: [u8; 4_096] = [0x5a; 4_096];

/// What the disk and SQLite themselves can do.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Ceiling {
    /// A page appended and synced.
    pub(super) page: Spread,
    /// One job ended in one transaction of SQLite.
    pub(super) one: Spread,
    /// Jobs that ended in one transaction, as many as in one of the drain.
    pub(super) batch: u64,
    /// Such a transaction.
    pub(super) transaction: Spread,
    /// Jobs that SQLite can end per second in such transactions.
    pub(super) jobs_per_second: f64,
}

/// Measures the disk that holds a directory, and what SQLite makes of it in batches of a size.
pub(super) async fn measure(directory: &Path, jobs: u64, batch: u64) -> Fallible<Ceiling> {
    let directory = directory.to_owned();
    tokio::task::spawn_blocking(move || {
        let page = pages(&directory.join("commits"))?;
        let one = sqlite(&directory.join("ceiling-one"), COMMITS, 1)?;
        let all = usize::try_from(jobs).unwrap_or(usize::MAX);
        let many = sqlite(&directory.join("ceiling"), all, usize::try_from(batch).unwrap_or(1))?;
        Ok(Ceiling {
            page,
            one: spread(&one.transactions)?,
            batch,
            transaction: spread(&many.transactions)?,
            jobs_per_second: per_second(many.jobs as u64, many.took),
        })
    })
    .await
    .map_err(|error| Failure::new(Exit::Failure, "cannot measure the disk", error, ""))?
}

fn sqlite(directory: &Path, jobs: usize, batch: usize) -> Fallible<sqlite::Ceiling> {
    let payload = payload();
    let options = CeilingOptions { jobs, batch, kind: KIND, queue: BULK, payload: &payload };
    let watch = Stopwatch::start();
    sqlite::ceiling(directory, &options, &|| watch.elapsed())
        .map_err(|error| Failure::new(Exit::Failure, "cannot measure SQLite", error, ""))
}

fn spread(times: &[Duration]) -> Fallible<Spread> {
    let mut sorted = histogram()?;
    for time in times {
        sorted.saturating_record(time.as_micros() as u64);
    }
    Ok(Spread::of(&sorted))
}

fn pages(path: &Path) -> Fallible<Spread> {
    let failed = |error: std::io::Error| {
        Failure::file(
            format!("cannot write {}", path.display()),
            &error,
            "use --dir with a writable directory",
        )
    };
    let mut file = File::create(path).map_err(failed)?;
    let mut times = histogram()?;
    for _ in 0..COMMITS {
        let watch = Stopwatch::start();
        file.write_all(&PAGE).and_then(|()| file.sync_data()).map_err(failed)?;
        times.saturating_record(watch.elapsed().as_micros() as u64);
    }
    std::fs::remove_file(path).map_err(failed)?;
    Ok(Spread::of(&times))
}
