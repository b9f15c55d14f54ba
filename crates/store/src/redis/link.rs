//! The connection to Redis, and the breaker in front of it.
//!
//! A request must never wait for a Redis that is not well: after the first failure every role falls back at once,
//! and one task looks once a second whether it is back. The same task pings a connection that works, so
//! that a server that died or hangs unnoticed is noticed within about a second.
//!
//! ```text
//!             a call or a ping fails, or takes too long (250 ms)
//!     up ───────────────────────────────────────────────────────▶ away
//!      ▲                                                            │
//!      └───── connected, answered INFO; tried once a second ────────┘
//! ```
//! An error that only concerns the command (out of memory, no permission for it) trips nothing: that call alone
//! falls back.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{
    AsyncConnectionConfig, Client, Cmd, ErrorKind, FromRedisValue, RedisError as Error, RedisResult,
    ScriptInvocation, ServerErrorKind,
};
use tokio::task::AbortHandle;
use tracing::{info, warn};

use super::clock::Moment;
use super::facts::Facts;

/// A new connection is ready within this, or is given up.
const CONNECT_WITHIN: Duration = Duration::from_secs(1);
/// How often the connection is looked after.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Why a call came to nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Trouble {
    /// Redis was known to be away: nothing was sent.
    #[error("redis is away")]
    Away,
    /// Redis answered that it will not: nothing was done.
    #[error("redis refused: {0}")]
    Refused(String),
    /// The answer did not come: it may or may not have been done.
    #[error("redis did not answer: {0}")]
    Unknown(String),
}

/// How the connection is.
#[derive(Clone, Debug)]
pub(super) enum Health {
    /// It works.
    Up(Arc<Facts>),
    /// It does not, for so long, for this reason.
    Away(Duration, String),
}

/// A connection that many share, made again by itself when it broke.
pub(super) struct Link {
    shared: Arc<Shared>,
    keeper: AbortHandle,
}

struct Shared {
    client: Client,
    /// The longest that a request waits.
    answer_within: Duration,
    state: RwLock<State>,
}

enum State {
    Up(Live),
    Away { since: Moment, why: String },
}

#[derive(Clone)]
struct Live {
    /// Tells one connection from the next: the failure of an old one says nothing about the present one.
    number: u64,
    connection: MultiplexedConnection,
    facts: Arc<Facts>,
}

impl Link {
    /// Connects if it can within a second, and looks after the connection from then on.
    pub(super) async fn start(client: Client, answer_within: Duration) -> Link {
        let state = State::Away { since: Moment::now(), why: "not connected yet".into() };
        let shared = Arc::new(Shared { client, answer_within, state: RwLock::new(state) });
        shared.look_after(0).await;
        let keeper = tokio::spawn(keep(shared.clone())).abort_handle();
        Link { shared, keeper }
    }

    /// How it is at this moment.
    pub(super) fn health(&self) -> Health {
        match &*self.shared.read() {
            State::Up(live) => Health::Up(live.facts.clone()),
            State::Away { since, why } => Health::Away(since.ago(), why.clone()),
        }
    }

    /// One command.
    pub(super) async fn query<T: FromRedisValue>(&self, command: &Cmd) -> Result<T, Trouble> {
        let mut live = self.live()?;
        let answer = bounded(self.shared.answer_within, command.query_async(&mut live.connection)).await;
        self.judge(live.number, answer)
    }

    /// A script, which Redis carries out in one step.
    pub(super) async fn script<T: FromRedisValue>(
        &self,
        call: &mut ScriptInvocation<'_>,
    ) -> Result<T, Trouble> {
        let mut live = self.live()?;
        let answer = bounded(self.shared.answer_within, call.invoke_async(&mut live.connection)).await;
        self.judge(live.number, answer)
    }

    /// A connection of one's own, for commands that block. Its answers may take `within`.
    pub(super) async fn dedicated(&self, within: Duration) -> Result<MultiplexedConnection, Trouble> {
        self.live()?;
        self.shared.connect(within).await.map_err(|error| Trouble::Unknown(reason(&error)))
    }

    /// A connection that only listens.
    pub(super) async fn listening(&self, channel: &str) -> Result<redis::aio::PubSub, Trouble> {
        self.live()?;
        let listen = async {
            let mut listening = self.shared.client.get_async_pubsub().await?;
            listening.subscribe(channel).await?;
            Ok(listening)
        };
        bounded(CONNECT_WITHIN, listen).await.map_err(|error| Trouble::Unknown(reason(&error)))
    }

    fn live(&self) -> Result<Live, Trouble> {
        match &*self.shared.read() {
            State::Up(live) => Ok(live.clone()),
            State::Away { .. } => Err(Trouble::Away),
        }
    }

    fn judge<T>(&self, number: u64, answer: RedisResult<T>) -> Result<T, Trouble> {
        answer.map_err(|error| {
            if only_this_command(&error) {
                return Trouble::Refused(reason(&error));
            }
            self.shared.trip(number, &error);
            Trouble::Unknown(reason(&error))
        })
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.keeper.abort();
    }
}

impl Shared {
    async fn look_after(&self, number: u64) {
        let live = match &*self.read() {
            State::Up(live) => Some(live.clone()),
            State::Away { .. } => None,
        };
        match live {
            Some(mut live) => {
                let ping = redis::cmd("PING");
                let pong: RedisResult<()> =
                    bounded(self.answer_within, ping.query_async(&mut live.connection)).await;
                if let Err(error) = pong {
                    self.trip(live.number, &error);
                }
            }
            None => match self.establish(number).await {
                Ok(live) => {
                    info!("redis is there: every role uses it");
                    *self.write() = State::Up(live);
                }
                Err(error) => self.stays_away(&reason(&error)),
            },
        }
    }

    async fn establish(&self, number: u64) -> RedisResult<Live> {
        let mut connection = self.connect(self.answer_within * 2).await?;
        let info: RedisResult<String> =
            bounded(self.answer_within, redis::cmd("INFO").query_async(&mut connection)).await;
        let facts = match info {
            Ok(text) => Facts::read(&text),
            // It may be forbidden to look, which is no reason not to use it.
            Err(error) if only_this_command(&error) => Facts::default(),
            Err(error) => return Err(error),
        };
        Ok(Live { number, connection, facts: Arc::new(facts) })
    }

    async fn connect(&self, answers_within: Duration) -> RedisResult<MultiplexedConnection> {
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(CONNECT_WITHIN))
            .set_response_timeout(Some(answers_within));
        bounded(CONNECT_WITHIN, self.client.get_multiplexed_async_connection_with_config(&config)).await
    }

    fn trip(&self, number: u64, error: &Error) {
        let mut state = self.write();
        if matches!(&*state, State::Up(live) if live.number == number) {
            let why = reason(error);
            warn!("redis is away, every role falls back: {why}");
            *state = State::Away { since: Moment::now(), why };
        }
    }

    /// Told when the reason changes, not once a second.
    fn stays_away(&self, reason: &str) {
        if let State::Away { why, .. } = &mut *self.write()
            && why != reason
        {
            warn!("redis is away, every role falls back: {reason}");
            *why = reason.into();
        }
    }

    fn read(&self) -> std::sync::RwLockReadGuard<'_, State> {
        // A panic while the lock is held leaves a whole state, never half of one.
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> std::sync::RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs until the link is dropped.
async fn keep(shared: Arc<Shared>) {
    let mut number = 0;
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        number += 1;
        shared.look_after(number).await;
    }
}

async fn bounded<T>(within: Duration, answer: impl Future<Output = RedisResult<T>>) -> RedisResult<T> {
    match tokio::time::timeout(within, answer).await {
        Ok(answer) => answer,
        Err(_) => Err(Error::from(std::io::Error::from(std::io::ErrorKind::TimedOut))),
    }
}

/// Whether Redis answered, and is otherwise well.
fn only_this_command(error: &Error) -> bool {
    let unwell = [
        ServerErrorKind::BusyLoading,
        ServerErrorKind::MasterDown,
        ServerErrorKind::ReadOnly,
        ServerErrorKind::ClusterDown,
    ];
    let kind = error.kind();
    if unwell.iter().any(|server| kind == ErrorKind::Server(*server)) {
        return false;
    }
    // An extension is a code that the library does not know, such as OOM or NOAUTH.
    let answered =
        matches!(kind, ErrorKind::Server(_) | ErrorKind::UnexpectedReturnType | ErrorKind::Extension);
    answered && error.code() != Some("NOAUTH")
}

/// The reason in words, which never contain the address or the password.
fn reason(error: &Error) -> String {
    let detail = error.detail().unwrap_or(error.category());
    if error.kind() == ErrorKind::AuthenticationFailed {
        "it refuses the password".into()
    } else if error.is_timeout() {
        "it does not answer in time".into()
    } else if error.is_connection_refusal() {
        "it refuses the connection".into()
    } else if error.is_io_error() {
        format!("the connection broke: {detail}")
    } else {
        detail.to_owned()
    }
}
