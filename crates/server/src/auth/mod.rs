//! Finding out who asks.
//!
//! ```text
//!  request ─▶ porter ─▶ the table: open to all? ─▶ recognise (token, login) ─▶ may he? ─▶ is the queue, or the job, his? ─▶ door
//! ```
//! Every server asks for itself, standbys too; what they relay carries the caller's own token under the seal, and the leader asks
//! again. So a token that is revoked is refused by the leader at once, and by the others within [`directory::FRESH`].
//!
//! **What can go wrong.** A store that does not answer must not lock everybody out: what was read last is believed for a
//! minute. A password that is wrong takes as long as one that is right, and a user who is not there as long as one who is.
//! A refusal never says which of the two it was.

mod asking;
mod directory;
mod held;
mod jwt;
mod password;
mod porter;
mod recover;
mod start;

use std::collections::HashMap;
use std::fmt;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use axum::http::{HeaderMap, HeaderValue, Uri, header};
use ganger_core::access::throttle::{Failures, Logins, Pace};
use ganger_core::access::{Bounds, Caller, SecretHash, Token, TokenText};
use ganger_core::network::client_group;
use ganger_core::{Mono, Now, Wall, limits};
use sha2::{Digest as _, Sha256};

pub use asking::Asking;
pub(crate) use directory::{Directory, Seen, read as read_directory};
use held::HeldByCallers;
pub(crate) use jwt::{Claims, SigningKey};
pub(crate) use password::Passwords;
pub(crate) use porter::{caller, in_queues, parents, porter, queues};
pub use recover::recovery_token;
pub(crate) use start::introduce;

use crate::http::compat::{CompatOptions, Profile, Profiles};
use crate::http::problem::{Code, Problem};
use crate::owners::Owners;

/// Whether anybody is asked who he is.
#[derive(Clone)]
pub enum AuthOptions {
    /// Nobody: whoever reaches the server may do everything. But for profile C, which always asks.
    Open {
        /// Access tokens of other issuers are accepted there if signed with this (HS256).
        jwt_secret: Option<String>,
    },
    /// Everybody.
    Required {
        /// Access tokens of other issuers are accepted if signed with this (HS256).
        jwt_secret: Option<String>,
        /// Keeps the first token, which is made when there are no tokens and no administrator. It is called before the token holds.
        first_token: KeepToken,
    },
}

/// Keeps a token for a person to find.
pub type KeepToken = Arc<dyn Fn(&str) -> Result<(), String> + Send + Sync>;

impl Default for AuthOptions {
    fn default() -> AuthOptions {
        AuthOptions::Open { jwt_secret: None }
    }
}

impl fmt::Debug for AuthOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AuthOptions::Open { .. } => "Open",
            AuthOptions::Required { .. } => "Required",
        })
    }
}

/// What recognising needs. Cheap to clone.
#[derive(Clone)]
pub struct Auth(Arc<Inner>);

struct Inner {
    required: bool,
    /// Compatible doors that ask nobody.
    open_doors: Profiles,
    /// Whether profile C is there, which asks everybody.
    has_c: bool,
    jwt_secret: Option<String>,
    directory: Directory,
    passwords: Passwords,
    /// Tokens that nobody knows, by where they came from. Logins are counted apart, so that nobody's bad token keeps others
    /// from logging in.
    bad_tokens: Mutex<Failures<IpAddr>>,
    logins: Mutex<Logins<IpAddr>>,
    paces: Mutex<HashMap<String, Pace>>,
    /// When tokens were used, as far as it was not written down.
    used: Mutex<HashMap<String, Wall>>,
    /// Users and tokens are read, changed and written: one at a time. True if nobody knows what became of the last write.
    changes: tokio::sync::Mutex<bool>,
    /// Whose the sessions of workers are.
    owners: Owners,
    /// Entries of the audit log that were written since the start.
    entries: AtomicU64,
    /// What callers have open.
    held: HeldByCallers,
}

impl Auth {
    /// Asks as these options say, and as the compatible doors do.
    #[must_use]
    pub fn new(options: &AuthOptions, compat: &CompatOptions, bounds: Bounds) -> Auth {
        let (required, jwt_secret) = match options {
            AuthOptions::Open { jwt_secret } => (false, jwt_secret.clone()),
            AuthOptions::Required { jwt_secret, .. } => (true, jwt_secret.clone()),
        };
        Auth(Arc::new(Inner {
            required,
            open_doors: compat.open,
            has_c: compat.profiles.has(Profile::C),
            jwt_secret,
            directory: Directory::default(),
            passwords: Passwords::default(),
            bad_tokens: Mutex::new(Failures::new(limits::ADDRESS_WAITS)),
            logins: Mutex::default(),
            paces: Mutex::default(),
            used: Mutex::default(),
            changes: tokio::sync::Mutex::new(false),
            owners: Owners::default(),
            entries: AtomicU64::new(0),
            held: HeldByCallers::new(bounds),
        }))
    }

    /// Whether anybody is asked.
    #[must_use]
    pub fn is_required(&self) -> bool {
        self.0.required
    }

    /// Whether the compatible door at that path asks nobody. Profile C asks everywhere.
    pub(crate) fn is_open_door(&self, path: &str) -> bool {
        Profile::of(path).is_some_and(|profile| profile != Profile::C && self.0.open_doors.has(profile))
    }

    /// Whether people can make themselves users: that is a door of profile C.
    pub(crate) fn has_signup(&self) -> bool {
        self.0.has_c
    }

    /// Whether the compatible door at that path asks, even where nobody is asked otherwise.
    pub(crate) fn is_asking_door(&self, path: &str) -> bool {
        self.0.has_c && Profile::of(path) == Some(Profile::C)
    }

    pub(crate) fn directory(&self) -> &Directory {
        &self.0.directory
    }

    pub(crate) fn passwords(&self) -> &Passwords {
        &self.0.passwords
    }

    pub(crate) fn changes(&self) -> &tokio::sync::Mutex<bool> {
        &self.0.changes
    }

    /// Whose the sessions of workers are.
    pub(crate) fn owners(&self) -> &Owners {
        &self.0.owners
    }

    /// What callers have open.
    fn held(&self) -> &HeldByCallers {
        &self.0.held
    }

    /// Counts an entry of the audit log; how many there were before.
    pub(crate) fn counts_entry(&self) -> u64 {
        self.0.entries.fetch_add(1, Ordering::Relaxed)
    }

    /// Who shows this, by what is known; `None` if it is nobody that is known.
    ///
    /// # Errors
    /// Nothing is shown that could be a token, or its rate is used up.
    pub(crate) fn find(&self, seen: &Seen, headers: &HeaderMap, now: Now) -> Result<Option<Caller>, Problem> {
        let shown = credential(headers)?;
        let Some(text) = TokenText::parse(&shown) else {
            return Ok(jwt::verify(&shown, seen, self.0.jwt_secret.as_deref(), now.wall));
        };
        let token = seen.tokens.get(text.id);
        let caller = token.and_then(|token| token.admits(text.id, &hash(text.secret), now.wall));
        if let (Some(token), Some(_)) = (token, &caller) {
            self.paced(text.id, token, now)?;
        }
        Ok(caller)
    }

    /// Whether so much rubbish came from there that nobody hurries for what comes.
    pub(crate) fn is_suspect(&self, from: Option<IpAddr>, now: Now) -> bool {
        from.is_some_and(|from| !locked(&self.0.bad_tokens).wait(&client_group(from), now.mono).is_zero())
    }

    /// The refusal of what nobody knows, which is counted.
    pub(crate) fn stranger(&self, from: Option<IpAddr>, now: Now) -> Problem {
        let wait = from.map(client_group).map(|from| {
            let mut failures = locked(&self.0.bad_tokens);
            failures.failed(from, now.mono);
            failures.wait(&from, now.mono)
        });
        match wait {
            Some(wait) if !wait.is_zero() => too_fast(wait),
            Some(_) | None => Problem::new(Code::Unauthenticated, "the token is not known, or not any more"),
        }
    }

    /// Counts a request of a token, and notes that it is used.
    fn paced(&self, id: &str, token: &Token, now: Now) -> Result<(), Problem> {
        let stale = token.used_at.is_none_or(|at| now.wall.since(at) >= directory::USED_WITHIN);
        if stale {
            locked(&self.0.used).insert(id.into(), now.wall);
        }
        let Some(rate) = token.rate else { return Ok(()) };
        let counted = locked(&self.0.paces).entry(id.into()).or_default().count(rate, now.mono);
        counted.map_err(too_fast)
    }

    /// Uses of tokens that were not written down; from now on they are.
    pub(crate) fn take_used(&self) -> HashMap<String, Wall> {
        std::mem::take(&mut *locked(&self.0.used))
    }

    /// Whether somebody may try to log in.
    pub(crate) fn may_try(&self, user: &str, from: Option<IpAddr>, now: Mono) -> Result<(), Problem> {
        let wait = locked(&self.0.logins).wait(user, from.map(client_group), now);
        if wait.is_zero() { Ok(()) } else { Err(too_fast(wait)) }
    }

    /// Whether somebody who has a session may try his own password. Failures of others do not count.
    pub(crate) fn may_try_again(&self, user: &str, from: Option<IpAddr>, now: Mono) -> Result<(), Problem> {
        let wait = locked(&self.0.logins).wait_of_session(user, from.map(client_group), now);
        if wait.is_zero() { Ok(()) } else { Err(too_fast(wait)) }
    }

    /// What came of a try.
    pub(crate) fn tried(&self, user: &str, from: Option<IpAddr>, succeeded: bool, now: Mono) {
        locked(&self.0.logins).tried(user, from.map(client_group), succeeded, now);
    }
}

impl fmt::Debug for Auth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Auth").field("required", &self.0.required).finish_non_exhaustive()
    }
}

/// By which a secret is known.
pub(crate) fn hash(secret: &str) -> SecretHash {
    Sha256::digest(secret.as_bytes()).into()
}

/// What the caller shows: a bearer token, or the cookie of a page of ours.
fn credential(headers: &HeaderMap) -> Result<String, Problem> {
    let missing = || Problem::new(Code::Unauthenticated, "the request carries no token");
    let mut given = headers.get_all(header::AUTHORIZATION).iter();
    let Some(value) = given.next() else { return cookie(headers).ok_or_else(missing) };
    let text = value.to_str().unwrap_or_default();
    let (scheme, token) = text.split_once(' ').unwrap_or_default();
    if given.next().is_some() || !scheme.eq_ignore_ascii_case("bearer") {
        return Err(Problem::new(Code::Unauthenticated, "it takes one `Authorization: Bearer <token>`"));
    }
    if token.len() > limits::ACCESS_BYTES {
        return Err(Problem::new(Code::Unauthenticated, "the token is too long to be one"));
    }
    Ok(token.trim().to_owned())
}

/// Whether a request carries a token of any sort, good or bad.
pub(crate) fn shows_a_token(headers: &HeaderMap) -> bool {
    headers.contains_key(header::AUTHORIZATION) || cookie(headers).is_some()
}

/// The cookie that a page of ours is recognised by. The guard has let only such pages through.
pub(crate) const COOKIE: &str = "ganger-access";
/// The cookie that the next one is made with.
pub(crate) const REFRESH_COOKIE: &str = "ganger-refresh";

/// The refresh token of a page of ours, if it shows one.
pub(crate) fn refresh_cookie(headers: &HeaderMap, uri: &Uri) -> Option<Result<String, Problem>> {
    let token = cookie_named(headers, REFRESH_COOKIE)?;
    Some(own_page(headers, uri).map(|()| token))
}

/// Whether a request that shows a cookie comes from a page of this server: a browser sends cookies along whoever made it ask. It says
/// which page that was, or from where; one that says neither is no browser of today, and can show a token.
///
/// # Errors
/// It does not, or does not say.
pub(crate) fn own_page(headers: &HeaderMap, uri: &Uri) -> Result<(), Problem> {
    let host = uri.authority().map(|authority| authority.as_str());
    let host = host.or_else(|| headers.get(header::HOST).and_then(|host| host.to_str().ok()));
    let origin = headers.get(header::ORIGIN).and_then(|origin| origin.to_str().ok());
    let bare = |origin: &str| origin.split_once("://").map(|(_, rest)| rest.to_owned());
    let same = match (origin, headers.get("sec-fetch-site").map(HeaderValue::as_bytes)) {
        (Some(origin), None | Some(b"same-origin" | b"none")) => {
            bare(origin).zip(host).is_some_and(|(origin, host)| origin.eq_ignore_ascii_case(host))
        }
        (None, Some(site)) => site == b"same-origin",
        (_, _) => false,
    };
    let detail = "a change by cookie must come from a page of this server (Origin or Sec-Fetch-Site)";
    if same { Ok(()) } else { Err(Problem::new(Code::OriginNotAllowed, detail)) }
}

/// Whether a request is recognised by its cookie and nothing else.
pub(crate) fn is_by_cookie(headers: &HeaderMap) -> bool {
    !headers.contains_key(header::AUTHORIZATION) && cookie(headers).is_some()
}

fn cookie(headers: &HeaderMap) -> Option<String> {
    cookie_named(headers, COOKIE)
}

fn cookie_named(headers: &HeaderMap, wanted: &str) -> Option<String> {
    let pairs = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = pairs.flat_map(|text| text.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(name, _)| *name == wanted).map(|(_, value)| value.to_owned())
}

fn too_fast(wait: std::time::Duration) -> Problem {
    let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    Problem::new(Code::RateLimited, format!("too many at a time; the next may come in {seconds} s"))
        .after(seconds)
}

/// A panic while the lock is held leaves whole entries, never half of one.
fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
