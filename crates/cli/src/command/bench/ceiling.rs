//! What the disk and the database themselves can do, one commit after the other, without anything of ours around it.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use ganger_store::postgres::{self, Scratch};
use ganger_store::sqlite::{self, CeilingOptions};
use serde::{Deserialize, Serialize};

use super::door::{NOOP, Wanted};
use super::per_second;
use super::report::{Spread, histogram, rounded};
use super::shown::Line;
use super::stage::Stage;
use super::target::Target;
use crate::clock::Stopwatch;
use crate::exit::Exit;
use crate::failure::{Failure, Fallible};
use crate::serving::database_failure;

/// Commits that are timed.
const COMMITS: usize = 200;
/// What one commit writes: a page of a log.
const PAGE: [u8; 4_096] = [0x5a; 4_096];
/// The queue of the jobs.
const QUEUE: &str = "bench";

/// What the database itself can do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Ceiling {
    /// Which database.
    pub(super) database: String,
    /// Jobs that it can end per second, in transactions of `batch`.
    pub(super) jobs_per_second: f64,
    /// Jobs that ended in one transaction, as many as in one of the drain.
    pub(super) batch: u64,
    /// Such a transaction.
    pub(super) transaction_us: Spread,
    /// One job ended in one transaction.
    pub(super) one_us: Spread,
    /// A page appended to a file and synced, where the disk is this machine's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) page_us: Option<Spread>,
    /// Jobs that it can take in per second, 1,000 in a transaction.
    pub(super) inserts_per_second: f64,
    /// What it wrote to its log for each that ended, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) store_bytes_per_job: Option<f64>,
}

/// Measures what the database of the stage can do with so many jobs, in batches of a size.
pub(super) async fn measure(stage: &Stage<'_>, jobs: u64, batch: u64) -> Fallible<Ceiling> {
    stage.note(&format!("measuring the raw ceiling of {}", stage.target.database()));
    let jobs = usize::try_from(jobs).unwrap_or(usize::MAX);
    let size = usize::try_from(batch).unwrap_or(1);
    match stage.target {
        Target::Embedded => {
            let directory = stage.directory().path().to_owned();
            tokio::task::spawn_blocking(move || embedded(&directory, jobs, size))
                .await
                .map_err(|error| Failure::new(Exit::Failure, "cannot measure the disk", error, ""))?
        }
        Target::Postgres(cluster) => {
            let one = cluster.apart(async |scratch| database(scratch, COMMITS, 1).await).await?;
            let many = cluster.apart(async |scratch| database(scratch, jobs, size).await).await?;
            Ok(Ceiling {
                database: stage.target.database().into(),
                jobs_per_second: rounded(per_second(many.jobs as u64, many.took)),
                batch,
                transaction_us: spread(&many.transactions)?,
                one_us: spread(&one.transactions)?,
                page_us: None,
                inserts_per_second: rounded(per_second(many.jobs as u64, many.inserted)),
                store_bytes_per_job: Some(rounded(many.wal_bytes as f64 / (many.jobs.max(1) as f64))),
            })
        }
    }
}

impl Ceiling {
    /// What is shown of it, below the rows.
    pub(super) fn lines(&self) -> Vec<Line> {
        let database = &self.database;
        let mut lines = vec![
            Line {
                label: format!("raw ceiling of {database}, {} jobs per commit", self.batch),
                rate: Some(self.jobs_per_second),
                times: Some(self.transaction_us),
                bytes: self.store_bytes_per_job,
                ..Line::default()
            },
            Line {
                label: format!("raw ceiling of {database}, 1,000 inserted per commit"),
                rate: Some(self.inserts_per_second),
                ..Line::default()
            },
            Line {
                label: format!("{database}: one job ended, one commit"),
                times: Some(self.one_us),
                ..Line::default()
            },
        ];
        if let Some(page) = self.page_us {
            let label = "the disk: one page written and synced".into();
            lines.push(Line { label, times: Some(page), ..Line::default() });
        }
        lines
    }
}

fn embedded(directory: &Path, jobs: usize, batch: usize) -> Fallible<Ceiling> {
    let page = pages(&directory.join("commits"))?;
    let one = sqlite(&directory.join("ceiling-one"), COMMITS, 1)?;
    let many = sqlite(&directory.join("ceiling"), jobs, batch)?;
    Ok(Ceiling {
        database: Target::Embedded.database().into(),
        jobs_per_second: rounded(per_second(many.jobs as u64, many.took)),
        batch: batch as u64,
        transaction_us: spread(&many.transactions)?,
        one_us: spread(&one.transactions)?,
        page_us: Some(page),
        inserts_per_second: rounded(per_second(many.jobs as u64, many.inserted)),
        store_bytes_per_job: None,
    })
}

async fn database(scratch: &Scratch, jobs: usize, batch: usize) -> Fallible<postgres::Ceiling> {
    let payload = Wanted::noop(QUEUE).payload;
    let options = postgres::CeilingOptions { jobs, batch, kind: NOOP, queue: QUEUE, payload: &payload };
    let watch = Stopwatch::start();
    let found = postgres::ceiling(scratch.url(), &options, &|| watch.elapsed()).await;
    found.map_err(|error| database_failure("cannot measure PostgreSQL", &error))
}

fn sqlite(directory: &Path, jobs: usize, batch: usize) -> Fallible<sqlite::Ceiling> {
    let payload = Wanted::noop(QUEUE).payload;
    let options = CeilingOptions { jobs, batch, kind: NOOP, queue: QUEUE, payload: &payload };
    let watch = Stopwatch::start();
    let found = sqlite::ceiling(directory, &options, &|| watch.elapsed())
        .map_err(|error| Failure::new(Exit::Failure, "cannot measure SQLite", error, ""))?;
    std::fs::remove_dir_all(directory)
        .map_err(|error| Failure::file(format!("cannot remove {}", directory.display()), &error, ""))?;
    Ok(found)
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
