//! `ganger enqueue`: submit one job.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use ganger_core::dependency::OnDead;
use ganger_core::limits;
use ganger_core::{JobId, Wall};
use ganger_server::api::{Durability, HumanDuration, NewJobRequest, ParentRequest, SubmittedBody, Timeout};
use serde_json::value::RawValue;
use uuid::Uuid;

use super::retry::RetryFlags;
use crate::client::{Answer, Call, Client};
use crate::context::Context;
use crate::exec_token;
use crate::exit::Exit;
use crate::failure::{Failure, Fallible};
use crate::follow::until_final;
use crate::humane;

/// The kind of jobs that run a command.
pub(super) const EXEC: &str = "exec";

/// Submit a job and print its id.
#[derive(Args, Debug)]
#[command(after_help = "\
The job is safe once its id is printed (with --buffered, as safe as Redis). Repeating the command makes another job, unless --key or
--idempotency-key is given.

Examples:
  ganger enqueue noop
  ganger enqueue email.send -p '{\"to\":\"a@b.c\"}' -q mail --key welcome:42
  ganger enqueue report -p @report.json --delay 10m --max-attempts 3
  ganger enqueue report.mail --after job_01J9X7QK5V8M3N2P4R6S8T0V1W:run
  ganger enqueue echo -p '{\"hello\":\"world\"}' --wait")]
pub(crate) struct Enqueue {
    /// What sort of job; picks the handler
    kind: String,
    /// Its input: JSON, `@FILE`, or `-` for standard input
    #[arg(short, long, value_name = "JSON", allow_hyphen_values = true)]
    payload: Option<String>,
    /// The lane it waits in [default: default]
    #[arg(short, long)]
    queue: Option<String>,
    /// Larger runs first, from -128 to 127 [default: 0]
    #[arg(long, allow_hyphen_values = true)]
    priority: Option<i8>,
    /// Run it this much later
    #[arg(long, conflicts_with = "at", value_name = "DURATION")]
    delay: Option<HumanDuration>,
    /// Run it at this moment, or later (RFC 3339)
    #[arg(long, value_name = "MOMENT")]
    at: Option<Wall>,
    /// Run it after this job; if that dies or is cancelled, `:cancel` (default) cancels it too, `:run` runs it anyway,
    /// `:wait` waits for a replay. May be repeated
    #[arg(long = "after", value_parser = parent, value_name = "JOB[:POLICY]", conflicts_with = "buffered")]
    after: Vec<ParentRequest>,
    /// It dies if it has not started by this moment (RFC 3339)
    #[arg(long, value_name = "MOMENT")]
    expires_at: Option<Wall>,
    /// At most one live job of its kind has this key
    #[arg(long, value_name = "UNIQUE_KEY")]
    key: Option<String>,
    /// How long the key is held after success; `forever` if without an end
    #[arg(long, requires = "key", value_name = "DURATION")]
    unique_for: Option<HumanDuration>,
    /// The same key gives the same answer for a day
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<String>,
    /// Be satisfied once Redis has it, also while the store cannot be written; the server must allow it
    #[arg(long, conflicts_with_all = ["key", "idempotency_key", "wait"])]
    buffered: bool,
    /// Jobs of its queue with the same key share the limits of the queue's keys, and wait while the key is closed
    #[arg(long, value_name = "KEY")]
    concurrency_key: Option<String>,
    /// Whose job it is: within equal priority the owners of a queue's jobs take turns
    #[arg(long, value_name = "KEY")]
    fair_key: Option<String>,
    /// The share of its owner, from 1 to 1000 [default: 1]
    #[arg(long, requires = "fair_key", value_name = "WEIGHT")]
    fair_weight: Option<u16>,
    /// A tag for finding it again; may be repeated
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Threads it wants, all or none [default: 1]
    #[arg(long)]
    threads: Option<u16>,
    /// The least it accepts when no worker is wide enough [default: 1]
    #[arg(long)]
    min_threads: Option<u16>,
    /// A label its worker must carry; may be repeated
    #[arg(long, value_parser = super::pair, value_name = "NAME=VALUE")]
    require: Vec<(String, String)>,
    /// Attempts allowed in all [default: 5]
    #[arg(long, value_name = "NUMBER")]
    max_attempts: Option<u32>,
    #[command(flatten)]
    retry: RetryFlags,
    /// Longest run of one attempt, or `none` [default: 1h]
    #[arg(long, value_name = "DURATION")]
    timeout: Option<Timeout>,
    /// Wait until it has ended and print its result; `--wait=30s` gives up after that time
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "none", value_name = "DURATION")]
    wait: Option<Timeout>,
    /// The data directory of the local server, for the token that `exec` jobs need
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
}

impl Enqueue {
    pub(super) async fn run(self, context: &Context) -> Fallible<Exit> {
        let client = context.client()?;
        let (wait, key, buffered) = (self.wait, self.idempotency_key.clone(), self.buffered);
        let request = self.request()?;
        let (answer, submitted) = submit(context, &client, &request, key).await?;
        if submitted.deduplicated {
            context
                .out
                .note(&format!("its unique key is held by this job, which is {}", submitted.state.as_str()));
        }
        if buffered && submitted.durability == Durability::Durable {
            context.out.note("it could not be buffered, and is durable");
        }
        match wait {
            None => {
                let id = submitted.id.to_string();
                context.out.show_one(&answer.body, &id, |_| id.clone())?;
                Ok(Exit::Success)
            }
            Some(bound) => wait_for(context, &client, submitted.id, bound.duration()).await,
        }
    }

    pub(super) fn data(&self) -> Option<&Path> {
        self.data.as_deref()
    }

    fn request(self) -> Fallible<NewJobRequest> {
        let payload = self.payload.as_deref().map(read_payload).transpose()?;
        Ok(NewJobRequest {
            kind: self.kind,
            queue: self.queue,
            payload,
            priority: self.priority,
            run_at: self.at,
            delay: self.delay,
            expires_at: self.expires_at,
            threads: self.threads,
            min_threads: self.min_threads,
            require: (!self.require.is_empty()).then(|| self.require.into_iter().collect()),
            max_attempts: self.max_attempts,
            retry: self.retry.over(None),
            timeout: self.timeout,
            unique_key: self.key,
            unique_for: self.unique_for,
            concurrency_key: self.concurrency_key,
            fair_key: self.fair_key,
            fair_weight: self.fair_weight,
            durability: self.buffered.then_some(Durability::Buffered),
            tags: (!self.tags.is_empty()).then_some(self.tags),
            depends_on: (!self.after.is_empty()).then_some(self.after),
            ..NewJobRequest::default()
        })
    }
}

/// A job to wait for, and what to do if it dies.
fn parent(text: &str) -> Result<ParentRequest, String> {
    let (id, policy) = text.rsplit_once(':').map_or((text, None), |(id, policy)| (id, Some(policy)));
    let id: JobId = id.parse().map_err(|error| format!("{error}"))?;
    let on_dead = policy.map_or(Some(OnDead::default()), OnDead::parse);
    let on_dead = on_dead.ok_or("after the job comes `:cancel`, `:run` or `:wait`")?;
    Ok(ParentRequest::On { job: id.to_string(), on_dead })
}

/// Submits one job. Without a key of the user's own it gets a fresh one, so that repetitions after a
/// lost answer do not make a second job; but not a buffered one, for a key is never kept by a buffer.
pub(super) async fn submit(
    context: &Context,
    client: &Client,
    request: &NewJobRequest,
    key: Option<String>,
) -> Fallible<(Answer, SubmittedBody)> {
    let body = serde_json::to_string(request)
        .map_err(|error| Failure::new(Exit::Failure, "cannot write the job as JSON", error, ""))?;
    let buffered = request.durability == Some(Durability::Buffered);
    let fresh = || (!buffered).then(|| Uuid::new_v4().to_string());
    let key = key.or_else(fresh);
    let token = if request.kind == EXEC { exec_token::find(&context.config)? } else { None };
    let what = format!("enqueue a job of kind {}", request.kind);
    let call = match key {
        Some(key) => Call::submit(what, "/v1/jobs", body, key),
        None => Call::submit_once(what, "/v1/jobs", body),
    };
    let answer = client.send(&call.with_exec_token(token)).await?;
    let submitted = answer.read()?;
    Ok((answer, submitted))
}

async fn wait_for(context: &Context, client: &Client, id: JobId, bound: Option<Duration>) -> Fallible<Exit> {
    let waited = until_final(client, id, bound).await?;
    super::job::ended(context, id, waited)
}

/// Reads a payload from where the user says. It is checked here, where its place can be named, and sent
/// byte for byte.
pub(super) fn read_payload(text: &str) -> Fallible<Box<RawValue>> {
    let (from, json) = match text.strip_prefix('@') {
        Some(path) => (path.to_owned(), read_bounded(std::fs::File::open(path), path)?),
        None if text == "-" => ("standard input".into(), read_stdin()?),
        None => ("--payload".into(), text.to_owned()),
    };
    RawValue::from_string(json.trim().to_owned()).map_err(|error| {
        Failure::usage(
            format!("cannot use {from} as a payload"),
            format!("it is not JSON: {error}"),
            "a text needs quotes of its own: -p '\"hello\"'; an object looks like -p '{\"a\":1}'",
        )
    })
}

/// Standard input to its end, as far as a payload can hold it.
pub(super) fn read_stdin() -> Fallible<String> {
    read_bounded(Ok(std::io::stdin()), "standard input")
}

fn read_bounded(source: std::io::Result<impl Read>, name: &str) -> Fallible<String> {
    let what = || format!("cannot read the payload from {name}");
    let unreadable =
        |error: std::io::Error| Failure::file(what(), &error, "check the path and the text in it");
    let mut text = String::new();
    let limit = limits::PAYLOAD_BYTES as u64;
    source.map_err(unreadable)?.take(limit + 1).read_to_string(&mut text).map_err(unreadable)?;
    if text.len() as u64 > limit {
        let why = format!("it is larger than {} bytes", humane::grouped(limit));
        return Err(Failure::usage(what(), why, "keep it elsewhere and put a reference into the payload"));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_is_kept_byte_for_byte() {
        let text = r#"{"n": 12345678901234567890123, "f": 1.10}"#;
        assert_eq!(read_payload(text).unwrap().get(), text);
    }

    #[test]
    fn a_parent_has_a_policy_or_the_default() {
        let id = "job_01J9X7QK5V8M3N2P4R6S8T0V1W";
        let on = |on_dead| Ok(ParentRequest::On { job: id.into(), on_dead });
        assert_eq!(parent(id), on(OnDead::Cancel));
        assert_eq!(parent(&format!("{id}:wait")), on(OnDead::Wait));
        assert!(parent(&format!("{id}:die")).unwrap_err().contains(":cancel"));
        assert!(parent("x:run").unwrap_err().contains("not a job id"));
    }

    #[test]
    fn a_payload_that_is_not_json_is_refused_with_its_place() {
        let failure = read_payload("{\"a\":}").unwrap_err();
        assert_eq!(failure.exit, Exit::Usage);
        assert!(failure.why.contains("line 1 column 6"), "{}", failure.why);
    }

    #[test]
    fn a_payload_file_is_read_to_its_bound_and_refused_one_past_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("payload.json");
        let write = |length: usize| std::fs::write(&path, format!("\"{}\"", "a".repeat(length - 2))).unwrap();
        write(limits::PAYLOAD_BYTES);
        assert!(read_payload(&format!("@{}", path.display())).is_ok());
        write(limits::PAYLOAD_BYTES + 1);
        let failure = read_payload(&format!("@{}", path.display())).unwrap_err();
        assert!(failure.why.contains("1,048,576"), "{}", failure.why);
    }
}
