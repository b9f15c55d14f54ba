//! The buffer for jobs submitted as `durability: buffered`.
//!
//! A stream in Redis takes them at once, also while there is no leader or no database; the leader drains it into the
//! database in batches. Such a job is as safe as Redis keeps it, and no safer: its answer says so.
//!
//! What was drained is removed from the stream after the commit, and never before. Whoever dies between the two leaves
//! entries that the next leader takes over and submits again, each under an idempotency key of its own that is made
//! of the job's id: the ledger drops the second copy.
//!
//! Whoever can write to this Redis can submit jobs: what is read from it is checked against every bound, but nobody is asked
//! who put it there. The stream is bounded, and a Redis that may evict it is refused. An answer that did not come ([`NotBuffered::Unknown`])
//! is settled by submitting the same job, with the same id and key, the durable way.

use std::time::Duration;

use ganger_core::JobId;
use ganger_core::job::JobSpec;
use redis::aio::MultiplexedConnection;
use redis::streams::{StreamAutoClaimReply, StreamId, StreamReadReply};
use redis::{Cmd, FromRedisValue, Pipeline, RedisResult, Script};
use serde::{Deserialize, Serialize};

use super::idempotency::millis;
use super::link::{Health, Trouble};
use super::{Redis, Role};

/// Most jobs that the buffer holds.
pub const BUFFER_JOBS: usize = 100_000;
/// Larger jobs are not buffered: so many at once would not fit into the leader's memory.
pub const JOB_BYTES: usize = 64 << 10;
/// Most jobs drained at a time.
pub const DRAIN_JOBS: usize = 500;
/// A read of the buffer waits this long for something to come.
const READ_FOR: Duration = Duration::from_secs(2);
/// Entries given to a leader are looked at again if they are not settled after so long.
const SETTLED_WITHIN: Duration = Duration::from_secs(5);
/// Entries that cannot be read are put aside, at most so many.
const REJECTED: usize = 1_000;

const GROUP: &str = "leader";
const CONSUMER: &str = "leader";
const FROM_THE_BEGINNING: &str = "0-0";

/// A job on its way through the buffer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BufferedJob {
    /// The id that its submitter was told.
    pub id: JobId,
    /// What was asked for.
    pub spec: JobSpec,
}

/// A job as it stands in the buffer.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its place, needed to settle it.
    place: String,
    /// The job.
    pub job: BufferedJob,
}

/// Why jobs were not buffered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotBuffered {
    /// Nothing was buffered; the durable way is open.
    #[error("the buffer is not there: {0}")]
    Away(String),
    /// It may or may not have been buffered.
    #[error("it is not known whether the buffer took it: {0}")]
    Unknown(String),
}

/// Drains the buffer, on a connection of its own.
pub struct Consumer {
    redis: Redis,
    connection: MultiplexedConnection,
    /// Where the next look for unsettled entries begins.
    cursor: String,
}

impl Redis {
    /// Puts jobs into the buffer, all or none.
    ///
    /// # Errors
    /// Redis is away, not fit to hold jobs, full, or did not answer.
    pub async fn buffer(&self, jobs: &[BufferedJob]) -> Result<(), NotBuffered> {
        let outcome = self.try_buffer(jobs).await;
        match &outcome {
            Ok(()) => self.hit(Role::Ingest),
            Err(NotBuffered::Away(why) | NotBuffered::Unknown(why)) => {
                self.fell_back(Role::Ingest, &Trouble::Unknown(why.clone()));
            }
        }
        outcome
    }

    async fn try_buffer(&self, jobs: &[BufferedJob]) -> Result<(), NotBuffered> {
        let away = |why: &str| NotBuffered::Away(why.to_owned());
        match self.link().health() {
            Health::Up(facts) => facts.unfit_for_jobs().map_or(Ok(()), |why| Err(NotBuffered::Away(why)))?,
            Health::Away(_, why) => return Err(NotBuffered::Away(why)),
        }
        let script = Script::new(include_str!("lua/buffer.lua"));
        let mut call = script.key(self.key("ingest"));
        call.arg(BUFFER_JOBS);
        for job in jobs {
            let entry = serde_json::to_vec(job).map_err(|_| away("the job cannot be written"))?;
            if entry.len() > JOB_BYTES {
                return Err(away("the job is too large for the buffer"));
            }
            call.arg(entry);
        }
        match self.link().script::<Option<i64>>(&mut call).await {
            Ok(Some(_)) => Ok(()),
            Ok(None) => Err(away("the buffer is full")),
            Err(Trouble::Away) => Err(away("redis is away")),
            Err(Trouble::Refused(why)) => Err(NotBuffered::Away(why)),
            Err(Trouble::Unknown(why)) => Err(NotBuffered::Unknown(why)),
        }
    }

    /// Jobs in the buffer; `None` while Redis is away.
    pub async fn buffered(&self) -> Option<u64> {
        let mut command = redis::cmd("XLEN");
        command.arg(self.key("ingest"));
        self.link().query(&command).await.ok()
    }

    /// Begins to drain. Only the leader should; if two do, every job is still taken in once.
    pub async fn consume(&self) -> Option<Consumer> {
        let connection = self.link().dedicated(READ_FOR * 2).await.ok()?;
        let mut consumer = Consumer { redis: self.clone(), connection, cursor: FROM_THE_BEGINNING.into() };
        consumer.prepare().await.ok()?;
        Some(consumer)
    }
}

impl Consumer {
    /// Entries that a leader before this one, or this one, took and did not settle. `all` takes those that were
    /// given a moment ago, too: for a leader that begins. Empty if there are none.
    ///
    /// # Errors
    /// The connection is gone; begin again with [`Redis::consume`].
    pub async fn unsettled(&mut self, all: bool) -> Result<Vec<Entry>, NotBuffered> {
        let idle = if all { 0 } else { millis(SETTLED_WITHIN) };
        let mut command = redis::cmd("XAUTOCLAIM");
        let command = command.arg(self.key()).arg(GROUP).arg(CONSUMER).arg(idle);
        let claimed: StreamAutoClaimReply =
            self.query(command.arg(&self.cursor).arg("COUNT").arg(DRAIN_JOBS)).await?;
        // Those that cannot be settled must not hide the ones behind them.
        self.cursor = claimed.next_stream_id;
        self.read(claimed.claimed).await
    }

    /// Whether [`Consumer::unsettled`] has come to the end, and begins again.
    #[must_use]
    pub fn has_seen_all(&self) -> bool {
        self.cursor == FROM_THE_BEGINNING
    }

    /// New entries; waits a moment for the first. Empty if none came.
    ///
    /// # Errors
    /// The connection is gone; begin again with [`Redis::consume`].
    pub async fn next(&mut self) -> Result<Vec<Entry>, NotBuffered> {
        let mut command = redis::cmd("XREADGROUP");
        command.arg("GROUP").arg(GROUP).arg(CONSUMER).arg("COUNT").arg(DRAIN_JOBS);
        command.arg("BLOCK").arg(millis(READ_FOR)).arg("STREAMS").arg(self.key()).arg(">");
        let read: Option<StreamReadReply> = match self.query(&command).await {
            Ok(read) => read,
            Err(error) => {
                // Somebody emptied Redis, and the group went with the rest.
                self.prepare().await?;
                tracing::debug!("the buffer was set up again: {error}");
                None
            }
        };
        let entries = read.into_iter().flat_map(|read| read.keys).flat_map(|stream| stream.ids).collect();
        self.read(entries).await
    }

    /// These entries are in the database: they leave the buffer.
    ///
    /// # Errors
    /// The connection is gone; they are still there, and will be seen again.
    pub async fn settle(&mut self, entries: &[Entry]) -> Result<(), NotBuffered> {
        let places: Vec<&str> = entries.iter().map(|entry| entry.place.as_str()).collect();
        self.remove(&places).await
    }

    /// Makes the stream's group, if it is not there. It begins with the stream, not with what comes next.
    async fn prepare(&mut self) -> Result<(), NotBuffered> {
        let mut command = redis::cmd("XGROUP");
        command.arg("CREATE").arg(self.key()).arg(GROUP).arg("0").arg("MKSTREAM");
        let made: RedisResult<()> = command.query_async(&mut self.connection).await;
        match made {
            Err(error) if error.code() != Some("BUSYGROUP") => Err(NotBuffered::Unknown(error.to_string())),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Reads entries; those that cannot be read are put aside, so that they hold up nobody.
    async fn read(&mut self, ids: Vec<StreamId>) -> Result<Vec<Entry>, NotBuffered> {
        let mut entries = Vec::with_capacity(ids.len());
        let mut unreadable = Vec::new();
        for id in ids {
            let text: Option<Vec<u8>> = id.get("job");
            match text.as_deref().map(serde_json::from_slice::<BufferedJob>) {
                Some(Ok(job)) if job.spec.check().is_ok() => entries.push(Entry { place: id.id, job }),
                Some(Ok(_) | Err(_)) | None => unreadable.push((id.id, text.unwrap_or_default())),
            }
        }
        if !unreadable.is_empty() {
            tracing::error!("put aside {} buffered jobs that cannot be read", unreadable.len());
            let mut aside = redis::pipe();
            for (_, text) in &unreadable {
                let mut command = redis::cmd("XADD");
                command.arg(self.redis.key("ingest-rejected")).arg("MAXLEN").arg(REJECTED);
                aside.add_command(command.arg("*").arg("job").arg(text).clone()).ignore();
            }
            self.pipeline(&aside).await?;
            let places: Vec<&str> = unreadable.iter().map(|(place, _)| place.as_str()).collect();
            self.remove(&places).await?;
        }
        Ok(entries)
    }

    async fn remove(&mut self, places: &[&str]) -> Result<(), NotBuffered> {
        if places.is_empty() {
            return Ok(());
        }
        let key = self.key();
        let mut both = redis::pipe();
        both.atomic();
        both.cmd("XACK").arg(&key).arg(GROUP).arg(places).ignore();
        both.cmd("XDEL").arg(&key).arg(places).ignore();
        self.pipeline(&both).await
    }

    async fn query<T: FromRedisValue>(&mut self, command: &Cmd) -> Result<T, NotBuffered> {
        let answer = command.query_async(&mut self.connection).await;
        answer.map_err(|error| NotBuffered::Unknown(error.to_string()))
    }

    async fn pipeline(&mut self, commands: &Pipeline) -> Result<(), NotBuffered> {
        let answer = commands.query_async(&mut self.connection).await;
        answer.map_err(|error| NotBuffered::Unknown(error.to_string()))
    }

    fn key(&self) -> String {
        self.redis.key("ingest")
    }
}
