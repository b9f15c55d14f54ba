//! First level of idempotency: collapses concurrent duplicates of a request, and answers repeated ones.
//!
//! The ledger in the database decides; what is here only spares it work. Whoever comes first takes the key for a
//! few seconds and asks the ledger; whoever comes meanwhile waits a moment for the answer. What can go wrong, and
//! why it is harmless:
//! - *Redis is away, or forgot.* Everybody asks the ledger, which answers all alike.
//! - *Whoever took the key dies.* The key runs out after seconds, and no one waits longer than one: a key
//!   without an answer never refuses, it only sends to the ledger.
//! - *The key comes with another request.* Only the ledger may refuse: nothing is answered from here.
//! - *An answer is here that the ledger does not have.* It cannot be: answers are put here after the commit, and are
//!   kept no longer than the ledger keeps them.

use std::time::Duration;

use ganger_core::change::Intake;
use redis::Script;
use serde::{Deserialize, Serialize};

use super::link::Trouble;
use super::{Redis, Role};

/// How long a key is held for whoever took it. Longer than a commit takes; no harm is done if it is not.
const TAKEN_FOR: Duration = Duration::from_secs(5);
/// The longest that anyone waits for the answer of another.
pub const WAIT_AT_MOST: Duration = Duration::from_secs(1);
/// The first pause between two looks for an answer; it doubles.
const FIRST_LOOK: Duration = Duration::from_millis(5);
/// The longest pause.
const LAST_LOOK: Duration = Duration::from_millis(80);

/// What is known of a request under its key.
#[derive(Debug)]
pub enum Begun {
    /// Nobody is at it: ask the ledger, then tell the answer ([`Redis::answered`]) or give up ([`Redis::give_up`]).
    Mine(Claim),
    /// It was answered before, with this.
    Answer(Vec<Intake>),
    /// Another is at it: wait ([`Redis::answer_of_another`]), then ask the ledger.
    Other(Waiting),
    /// Nothing can be said here: ask the ledger.
    Ledger,
}

/// A key that was taken.
#[derive(Clone, Debug)]
pub struct Claim {
    key: String,
    fingerprint: String,
    value: String,
}

/// A key that another has taken.
#[derive(Clone, Debug)]
pub struct Waiting {
    key: String,
    fingerprint: String,
}

/// What stands under a key.
#[derive(Serialize, Deserialize)]
struct Held {
    fingerprint: String,
    /// Tells one taker from another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    taker: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answer: Option<Vec<Intake>>,
}

impl Redis {
    /// Takes the key for this request, or tells what is known of it.
    pub async fn begin(&self, scope: &str, key: &str, fingerprint: &[u8; 32]) -> Begun {
        // The length keeps scope and key apart whatever they contain.
        let key = self.key(&format!("idempotency:{}:{scope}:{key}", scope.len()));
        let fingerprint = hex(fingerprint);
        let taken = Held { fingerprint: fingerprint.clone(), taker: Some(rand::random()), answer: None };
        let Ok(value) = serde_json::to_string(&taken) else { return Begun::Ledger };
        let script = Script::new(include_str!("lua/begin.lua"));
        let mut call = script.key(&key);
        let held: Result<Option<Vec<u8>>, Trouble> =
            self.link().script(call.arg(&value).arg(millis(TAKEN_FOR))).await;
        match held {
            Ok(None) => Begun::Mine(Claim { key, fingerprint, value }),
            Ok(Some(held)) => match serde_json::from_slice::<Held>(&held) {
                Ok(held) if held.fingerprint != fingerprint => Begun::Ledger,
                Ok(Held { answer: Some(answer), .. }) => {
                    self.hit(Role::Idempotency);
                    Begun::Answer(answer)
                }
                Ok(Held { answer: None, .. }) => Begun::Other(Waiting { key, fingerprint }),
                // Another version wrote it.
                Err(_) => Begun::Ledger,
            },
            Err(trouble) => {
                self.fell_back(Role::Idempotency, &trouble);
                Begun::Ledger
            }
        }
    }

    /// What the ledger answered, once it is committed. `kept` is how long the ledger will certainly keep it.
    pub async fn answered(&self, claim: Claim, answer: &[Intake], kept: Duration) {
        let held = Held { fingerprint: claim.fingerprint, taker: None, answer: Some(answer.to_vec()) };
        let Ok(value) = serde_json::to_vec(&held) else { return };
        if kept.is_zero() {
            return;
        }
        // It is the ledger's word, so it is right whatever stands there now.
        let mut command = redis::cmd("SET");
        command.arg(&claim.key).arg(value).arg("PX").arg(millis(kept));
        if let Err(trouble) = self.link().query::<()>(&command).await {
            self.fell_back(Role::Idempotency, &trouble);
        }
    }

    /// The request came to nothing: the next one need not wait.
    pub async fn give_up(&self, claim: Claim) {
        let script = Script::new(include_str!("lua/give_up.lua"));
        let mut call = script.key(&claim.key);
        if let Err(trouble) = self.link().script::<i64>(call.arg(&claim.value)).await {
            self.fell_back(Role::Idempotency, &trouble);
        }
    }

    /// Waits, at most [`WAIT_AT_MOST`], for the answer of whoever is at it. `None`: ask the ledger.
    pub async fn answer_of_another(&self, waiting: &Waiting) -> Option<Vec<Intake>> {
        tokio::time::timeout(WAIT_AT_MOST, self.look_for_answer(waiting)).await.ok().flatten()
    }

    async fn look_for_answer(&self, waiting: &Waiting) -> Option<Vec<Intake>> {
        let mut pause = FIRST_LOOK;
        let mut look = redis::cmd("GET");
        look.arg(&waiting.key);
        loop {
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LAST_LOOK);
            let held: Option<Vec<u8>> = match self.link().query(&look).await {
                Ok(held) => held,
                Err(trouble) => {
                    self.fell_back(Role::Idempotency, &trouble);
                    return None;
                }
            };
            // Gone: whoever was at it gave up, or Redis forgot.
            let held: Held = serde_json::from_slice(&held?).ok()?;
            if held.fingerprint != waiting.fingerprint {
                return None;
            }
            if let Some(answer) = held.answer {
                self.hit(Role::Idempotency);
                return Some(answer);
            }
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whole milliseconds, at least one.
pub(super) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX).max(1)
}
