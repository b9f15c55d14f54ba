//! First-level cache of final jobs.
//!
//! Final is final, until a person replays it. So the one thing to fear is a job that is shown as over although it runs
//! again. Three things prevent it:
//! - **Tombstones.** A replay does not only remove the entry, it puts a tombstone in its place for a minute, and
//!   filling never overwrites: a reader who had read the old row cannot put it back.
//! - **Generations.** Entries are kept under the generation of the present leader, which is part of their key. The leader
//!   vouches for its generation every few seconds; without a fresh word of a leader nothing is read. A new leader, or
//!   one that could not place a tombstone, begins a new generation, and nothing older is ever read again.
//! - **Tickets.** A reader fills only under the generation that was present *before* it read the database.
//!
//! The bound: a leader that is cut off from Redis, while other servers are not, cannot place its tombstone. Those
//! servers may show the old end of a replayed job until the generation runs out, at most [`VOUCHED_FOR`]. The leader
//! itself never does. Jobs that retention removes may be shown for [`KEPT_FOR`] after; a purge begins a new
//! generation, so that nothing it removed is shown.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use ganger_core::{JobId, Term};
use redis::Script;

use super::idempotency::millis;
use super::{Redis, Role};
use crate::read::StoredJob;

/// How long a final job is kept.
pub const KEPT_FOR: Duration = Duration::from_secs(300);
/// How long a tombstone keeps a replayed job from being filled in: longer than any read of the database lasts.
pub const TOMBSTONE: Duration = Duration::from_secs(60);
/// How long a generation is good for without another word of its leader.
pub const VOUCHED_FOR: Duration = Duration::from_secs(10);
/// How often a leader should vouch for it.
pub const VOUCH_EVERY: Duration = Duration::from_secs(3);
/// Larger entries are not kept.
pub const ENTRY_BYTES: usize = 256 << 10;

/// Digits of the term's number at the head of a generation, so that later ones sort higher.
const TERM_DIGITS: usize = 20;
const TOMB: &[u8] = b"replayed";

/// What was found of a job.
#[derive(Debug)]
pub enum Found {
    /// It is final, and this is it.
    Job(Box<StoredJob>),
    /// Nothing: read the database, and [`Redis::fill`] if it is final.
    Nothing(Ticket),
    /// Nothing can be said, and nothing should be filled in.
    Unknown,
}

/// The right to fill in what is read from the database after it was given.
#[derive(Clone, Debug)]
pub struct Ticket(String);

/// The generation that this server vouches for, if it leads.
#[derive(Default)]
pub(super) struct Generation(Mutex<Vouched>);

#[derive(Default)]
struct Vouched {
    present: Option<String>,
    /// Something could not be forgotten: nothing is read here until another generation has begun.
    stale: bool,
    /// Counts what made it stale, so that a renewal that began before does not clear it.
    times: u64,
}

impl Vouched {
    /// Whether what is kept under this generation may be out of date. A generation never comes back, so any other
    /// than the one that went stale was begun later.
    fn shuns(&self, generation: Option<&str>) -> bool {
        self.stale && self.present.as_deref().is_none_or(|present| Some(present) == generation)
    }
}

impl Redis {
    /// Looks for a final job.
    pub async fn final_job(&self, id: JobId) -> Found {
        let script = Script::new(include_str!("lua/final_job.lua"));
        let mut call = script.key(self.key("generation"));
        let found = self.link().script(call.arg(self.key("final:")).arg(id.to_string())).await;
        let (generation, entry): (Option<String>, Option<Vec<u8>>) = match found {
            Ok(found) => found,
            Err(trouble) => {
                self.fell_back(Role::Finals, &trouble);
                return Found::Unknown;
            }
        };
        if self.vouched(|vouched| vouched.shuns(generation.as_deref())) {
            return Found::Unknown;
        }
        match (generation, entry) {
            (Some(generation), None) => Found::Nothing(Ticket(generation)),
            // An entry of another version cannot be read, and runs out by itself.
            (Some(_), Some(entry)) => match serde_json::from_slice::<StoredJob>(&entry) {
                Ok(job) if job.id == id && job.state.is_final() => {
                    self.hit(Role::Finals);
                    Found::Job(Box::new(job))
                }
                Ok(_) | Err(_) => Found::Unknown,
            },
            (None, _) => Found::Unknown,
        }
    }

    /// Keeps a final job that was read from the database under this ticket. Jobs that are not final or too large
    /// are not kept.
    pub async fn fill(&self, ticket: Ticket, job: &StoredJob) {
        let Ok(entry) = serde_json::to_vec(job) else { return };
        if !job.state.is_final() || entry.len() > ENTRY_BYTES {
            return;
        }
        // Under another generation than the present one it is never read. Where something is already it stays: it may be a
        // tombstone.
        let mut command = redis::cmd("SET");
        command.arg(self.key(&format!("final:{}:{}", ticket.0, job.id))).arg(entry);
        command.arg("NX").arg("PX").arg(millis(KEPT_FOR));
        if let Err(trouble) = self.link().query::<Option<String>>(&command).await {
            self.fell_back(Role::Finals, &trouble);
        }
    }

    /// A final job was replayed: it must not be shown as final any more. Called before the replay is answered. The
    /// tombstone stands for `lasting`, usually [`TOMBSTONE`]. If it cannot be placed, the whole generation ends.
    pub async fn forget(&self, id: JobId, lasting: Duration) {
        let script = Script::new(include_str!("lua/forget.lua"));
        let mut call = script.key(self.key("generation"));
        call.arg(self.key("final:")).arg(id.to_string()).arg(TOMB).arg(millis(lasting));
        if let Err(trouble) = self.link().script::<i64>(&mut call).await {
            self.fell_back(Role::Finals, &trouble);
            self.forget_all();
        }
    }

    /// Nothing that is kept now is to be shown again: the next [`Redis::vouch`] begins a new generation, and until
    /// then this server reads nothing.
    pub fn forget_all(&self) {
        self.vouched(|vouched| {
            vouched.stale = true;
            vouched.times += 1;
        });
    }

    /// The leader of this term vouches for what is kept. Called every [`VOUCH_EVERY`] while it leads, at once when its
    /// term begins, and after [`Redis::forget_all`].
    pub async fn vouch(&self, term: Term) {
        let head = format!("{:0width$}.{:016x}.", term.number, term.id, width = TERM_DIGITS);
        let (present, times) = self.vouched(|vouched| {
            let present = vouched.present.clone().filter(|p| !vouched.stale && p.starts_with(&head));
            (present.unwrap_or_default(), vouched.times)
        });
        let next = format!("{head}{:016x}", rand::random::<u64>());
        let script = Script::new(include_str!("lua/renew_generation.lua"));
        let mut call = script.key(self.key("generation"));
        call.arg(present).arg(&next).arg(TERM_DIGITS).arg(millis(VOUCHED_FOR));
        match self.link().script::<String>(&mut call).await {
            Ok(held) => self.vouched(|vouched| {
                vouched.stale &= vouched.times != times;
                vouched.present = Some(held).filter(|held| held.starts_with(&head));
            }),
            Err(trouble) => self.fell_back(Role::Finals, &trouble),
        }
    }

    fn vouched<T>(&self, look: impl FnOnce(&mut Vouched) -> T) -> T {
        // A panic while the lock is held leaves whole fields, never half of one.
        look(&mut self.0.generation.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
