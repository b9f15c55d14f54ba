//! `ganger import`: many jobs from a file of lines, one JSON document each.

mod batches;
mod progress;

use std::fs::File;
use std::io::{self, BufRead, BufReader};

use clap::Args;
use ganger_server::api::{BatchBody, ProblemBody};
use serde::Serialize;
use uuid::Uuid;

use batches::{Batch, Batches, Lines};
use progress::Progress;

use crate::client::{Call, Client};
use crate::clock::Stopwatch;
use crate::context::Context;
use crate::exec_token;
use crate::exit::Exit;
use crate::failure::{Failure, Fallible};
use crate::humane::{grouped, short};

/// Refused lines that are told one by one; the rest are only counted.
const ERRORS_TOLD: u64 = 20;

/// Submit many jobs from a file with one JSON document per line.
#[derive(Args, Debug)]
#[command(after_help = "\
Each line is a job as in the REST API: {\"kind\":\"email.send\",\"payload\":{…},\"queue\":\"mail\"}. With
--payloads each line is only the payload of a job of --kind. Lines are sent in order, 1,000 at a time,
each batch under an idempotency key: nothing is submitted twice if the connection breaks. With
--idempotency-key the whole import can be run again without making second jobs.

Lines of `ganger job export` are taken too: each becomes a new job with the same kind, payload and options.

Exits with 8 if some lines were refused.

Examples:
  ganger import jobs.ndjson
  ganger import orders.ndjson --kind order.sync --payloads
  zcat jobs.ndjson.gz | ganger import - --idempotency-key nightly-2026-11-15")]
pub(crate) struct Import {
    /// The file, or `-` for standard input
    file: String,
    /// The kind of jobs that do not name one
    #[arg(long)]
    kind: Option<String>,
    /// The queue of jobs that do not name one
    #[arg(short, long)]
    queue: Option<String>,
    /// Each line is a payload, not a whole job
    #[arg(long, requires = "kind")]
    payloads: bool,
    /// Makes the whole import safe to repeat for a day
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<String>,
    /// Only check that every line can be read; submit nothing
    #[arg(long)]
    dry_run: bool,
}

/// What became of the lines.
#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Tally {
    accepted: u64,
    deduplicated: u64,
    rejected: u64,
}

impl Import {
    pub(super) async fn run(self, context: &Context) -> Fallible<Exit> {
        let (reader, size) = self.open()?;
        let lines = Lines { kind: self.kind.clone(), queue: self.queue.clone(), payloads: self.payloads };
        let progress = Progress::start(size);
        let watch = Stopwatch::start();
        let importer = Importer {
            client: if self.dry_run { None } else { Some(context.client()?) },
            key: self.idempotency_key.unwrap_or_else(|| Uuid::new_v4().to_string()),
            exec_token: exec_token::find(&context.config)?,
        };
        let mut tally = Tally::default();
        for batch in Batches::new(reader, lines) {
            let batch = batch.map_err(|error| {
                Failure::file(
                    format!("cannot read {}", self.file),
                    &error,
                    "check the file; what was read is submitted",
                )
            })?;
            importer.send(&batch, &mut tally, &progress).await?;
            progress.advance(batch.bytes, batch.lines);
        }
        progress.finish();
        tell(context, &tally, watch, self.dry_run)?;
        Ok(match tally {
            Tally { rejected: 0, .. } => Exit::Success,
            Tally { accepted: 0, deduplicated: 0, .. } => Exit::Conflict,
            Tally { .. } => Exit::Partial,
        })
    }

    fn open(&self) -> Fallible<(Box<dyn BufRead>, Option<u64>)> {
        if self.file == "-" {
            return Ok((Box::new(BufReader::new(io::stdin())), None));
        }
        let file = File::open(&self.file)
            .map_err(|error| Failure::file(format!("cannot open {}", self.file), &error, "check the path"))?;
        let size = file.metadata().ok().filter(std::fs::Metadata::is_file).map(|metadata| metadata.len());
        Ok((Box::new(BufReader::with_capacity(1 << 16, file)), size))
    }
}

/// Sends batches, in order, one at a time: the order of the file is the order of intake.
struct Importer {
    client: Option<Client>,
    key: String,
    exec_token: Option<reqwest::header::HeaderValue>,
}

impl Importer {
    async fn send(&self, batch: &Batch, tally: &mut Tally, progress: &Progress) -> Fallible<()> {
        for refused in &batch.refused {
            tally.refuse(refused.line, &refused.why, progress);
        }
        if batch.jobs.is_empty() {
            return Ok(());
        }
        let Some(client) = &self.client else {
            tally.accepted += batch.jobs.len() as u64;
            return Ok(());
        };
        let what = format!("import lines {} to {}", batch.jobs[0], batch.jobs[batch.jobs.len() - 1]);
        let key = format!("{}-{}", self.key, batch.jobs[0]);
        let call = Call::submit(what, "/v1/jobs:batch", batch.body.clone(), key);
        let answer = client.send(&call.with_exec_token(self.exec_token.clone())).await?;
        let body = answer.read::<BatchBody>()?;
        tally.accepted += body.summary.created as u64;
        tally.deduplicated += body.summary.deduplicated as u64;
        for (line, result) in batch.jobs.iter().zip(&body.results) {
            if let Some(problem) = &result.problem {
                tally.refuse(*line, &refusal(problem), progress);
            }
        }
        Ok(())
    }
}

impl Tally {
    fn refuse(&mut self, line: u64, why: &str, progress: &Progress) {
        self.rejected += 1;
        if self.rejected <= ERRORS_TOLD {
            progress.note(&format!("line {line}: {why}"));
        } else if self.rejected == ERRORS_TOLD + 1 {
            progress.note("more lines were refused; they are counted, not shown");
        }
    }
}

/// Why a job was refused, without its place in a batch that the user knows nothing of.
fn refusal(problem: &ProblemBody) -> String {
    let field = |pointer: &str| pointer.splitn(4, '/').nth(3).map(str::to_owned);
    let told = problem.errors.iter().map(|error| match field(&error.pointer) {
        Some(field) => format!("`{field}` {}", error.detail),
        None => error.detail.clone(),
    });
    match told.collect::<Vec<_>>() {
        fields if fields.is_empty() => problem.detail.clone(),
        fields => fields.join("; "),
    }
}

fn tell(context: &Context, tally: &Tally, watch: Stopwatch, dry_run: bool) -> Fallible<()> {
    let body = serde_json::to_string(tally)
        .map_err(|error| Failure::new(Exit::Failure, "cannot write the summary as JSON", error, ""))?;
    let took = watch.elapsed();
    let accepted = if dry_run { "could be read" } else { "accepted" };
    context.out.show_one(&body, &tally.accepted.to_string(), |_| {
        let rate = tally.accepted as f64 / took.as_secs_f64().max(0.001);
        format!(
            "{accepted} {} · duplicate {} · rejected {} · {} ({}/s)",
            grouped(tally.accepted),
            grouped(tally.deduplicated),
            grouped(tally.rejected),
            short(took),
            grouped(rate as u64)
        )
    })
}
