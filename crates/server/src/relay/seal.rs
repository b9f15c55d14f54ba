//! How servers recognise each other: the seal on a relayed request.
//!
//! ```text
//! Ganger-Relay: v1;server=a-1;to=b-7;client=10.0.0.9:4711;time=1700000000000000;nonce=5f…-42;mac=…
//! ```
//! The MAC (HMAC-SHA256 under the cluster's secret) covers all of that, the method, the address, and the headers
//! that say who asks and for what. So whoever does not know the secret can make no seal, and a seal that he saw fits no
//! other request, no other server (names are given anew at each start), no later time and no second use. It does
//! not cover the body, and hides nothing: against somebody who can change what servers send to
//! each other, their network must be protected by other means.
//!
//! Without a secret the header only says "do not relay this again" and proves nothing: the request is
//! checked as if a client had sent it. That is allowed between loopback addresses only.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ganger_core::Wall;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use super::certificate::CERTIFICATE;
use super::key::RELAY_KEY;
use super::seen::Seen;

/// The header that carries a seal.
pub(super) const SEAL: HeaderName = HeaderName::from_static("ganger-relay");
/// How far the clocks of two servers may differ.
const CLOCKS_DIFFER: Duration = Duration::from_secs(30);
/// Longest header.
const SEAL_BYTES: usize = 1_024;
/// Longest name of a server in a seal.
const NAME_BYTES: usize = 256;

/// Headers that the MAC covers, besides method and address.
const COVERED: [HeaderName; 7] = [
    header::AUTHORIZATION,
    header::COOKIE,
    header::CONTENT_TYPE,
    HeaderName::from_static("idempotency-key"),
    RELAY_KEY,
    CERTIFICATE,
    HeaderName::from_static("x-ganger-exec-token"),
];

/// Makes and checks seals.
pub(super) struct Seal {
    me: String,
    key: Option<Hmac<Sha256>>,
    life: u64,
    number: AtomicU64,
    seen: Mutex<Seen>,
}

/// A request that another server relayed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Relayed {
    /// The server that relayed it, as it says.
    pub(crate) server: String,
    /// A server that knows the secret did, and has checked what must be checked of a client.
    pub(crate) sealed: bool,
    /// Where the client is.
    pub(crate) client: Option<SocketAddr>,
}

/// Why a seal is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refused {
    #[error("it cannot be read")]
    Unreadable,
    #[error("it has no MAC, and this server has a cluster secret")]
    NotSealed,
    #[error("it has a MAC, and this server has no cluster secret to check it with")]
    NoSecret,
    #[error("its MAC is wrong: the servers do not have the same cluster secret")]
    WrongMac,
    #[error("it is for another server, or for an earlier life of this one")]
    NotForMe,
    #[error("it is too old or from the future: the clocks differ by more than {} s", CLOCKS_DIFFER.as_secs())]
    WrongTime,
    #[error("it was used before")]
    UsedBefore,
}

/// A seal, taken apart.
struct Read<'a> {
    /// Everything before the MAC.
    text: &'a str,
    server: &'a str,
    to: &'a str,
    client: Option<SocketAddr>,
    time: i64,
    life: u64,
    number: u64,
    mac: Option<Vec<u8>>,
}

impl Seal {
    /// For the server of that name.
    pub(super) fn new(me: &str, secret: Option<&str>) -> Seal {
        // HMAC takes keys of any length: there is no error to speak of.
        let key = secret.and_then(|secret| Hmac::new_from_slice(secret.as_bytes()).ok());
        let seen = Mutex::new(Seen::new(CLOCKS_DIFFER * 2));
        Seal { me: plain(me), key, life: rand::random(), number: AtomicU64::new(0), seen }
    }

    /// Whether seals prove anything.
    pub(super) fn has_secret(&self) -> bool {
        self.key.is_some()
    }

    /// The seal of a request to that server, or `None` if it cannot be written as a header.
    pub(super) fn write(
        &self,
        parts: &Parts,
        to: &str,
        client: Option<SocketAddr>,
        now: Wall,
    ) -> Option<HeaderValue> {
        let number = self.number.fetch_add(1, Ordering::Relaxed) + 1;
        let (me, to, life) = (&self.me, plain(to), self.life);
        let client = client.map_or(String::new(), |client| format!("client={client};"));
        let mut text = format!("v1;server={me};to={to};{client}time={};nonce={life:x}-{number}", now.0);
        if let Some(key) = &self.key {
            let mac = cover(key.clone(), &text, parts).finalize().into_bytes();
            text.push_str(";mac=");
            BASE64_URL_SAFE_NO_PAD.encode_string(mac, &mut text);
        }
        HeaderValue::try_from(text).ok()
    }

    /// Takes the seal off a request and says what it proves; `None` if there is none.
    pub(super) fn take(&self, parts: &mut Parts, now: Wall) -> Option<Result<Relayed, Refused>> {
        let values: Vec<HeaderValue> = parts.headers.get_all(&SEAL).iter().cloned().collect();
        parts.headers.remove(&SEAL);
        match values.as_slice() {
            [] => None,
            [value] => Some(self.check(value, parts, now)),
            _ => Some(Err(Refused::Unreadable)),
        }
    }

    fn check(&self, value: &HeaderValue, parts: &Parts, now: Wall) -> Result<Relayed, Refused> {
        let read = value.to_str().ok().and_then(read).ok_or(Refused::Unreadable)?;
        let relayed = |sealed, client| Relayed { server: read.server.into(), sealed, client };
        match (&self.key, &read.mac) {
            (None, None) => return Ok(relayed(false, None)),
            (None, Some(_)) => return Err(Refused::NoSecret),
            (Some(_), None) => return Err(Refused::NotSealed),
            // Compared in constant time, and before anything else is believed.
            (Some(key), Some(mac)) => {
                cover(key.clone(), read.text, parts).verify_slice(mac).map_err(|_| Refused::WrongMac)?
            }
        }
        if read.to != self.me {
            return Err(Refused::NotForMe);
        }
        if now.0.abs_diff(read.time) > CLOCKS_DIFFER.as_micros() as u64 {
            return Err(Refused::WrongTime);
        }
        // A panic while the lock is held leaves whole bits.
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if !seen.first_time(read.life, read.number, now) {
            return Err(Refused::UsedBefore);
        }
        Ok(relayed(true, read.client))
    }
}

/// Feeds everything that a seal covers. Each part is preceded by its length, so that no two requests feed the same.
fn cover(mut mac: Hmac<Sha256>, text: &str, parts: &Parts) -> Hmac<Sha256> {
    let mut feed = |bytes: &[u8]| {
        mac.update(&(bytes.len() as u64).to_be_bytes());
        mac.update(bytes);
    };
    feed(text.as_bytes());
    feed(parts.method.as_str().as_bytes());
    feed(parts.uri.path_and_query().map_or("", |p| p.as_str()).as_bytes());
    feed(authority(parts));
    for name in &COVERED {
        feed(name.as_str().as_bytes());
        feed(&(values(&parts.headers, name).count() as u64).to_be_bytes());
        values(&parts.headers, name).for_each(&mut feed);
    }
    mac
}

fn values<'a>(headers: &'a HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'a [u8]> {
    headers.get_all(name).iter().map(HeaderValue::as_bytes)
}

/// The host that the client asked for.
fn authority(parts: &Parts) -> &[u8] {
    let host = || parts.headers.get(header::HOST).map_or(&[][..], HeaderValue::as_bytes);
    parts.uri.authority().map_or_else(host, |authority| authority.as_str().as_bytes())
}

fn read(text: &str) -> Option<Read<'_>> {
    if text.len() > SEAL_BYTES {
        return None;
    }
    let (text, mac) = match text.split_once(";mac=") {
        Some((text, mac)) => (text, Some(BASE64_URL_SAFE_NO_PAD.decode(mac).ok()?)),
        None => (text, None),
    };
    let mut fields = text.strip_prefix("v1;server=")?.split(';');
    let server = fields.next()?;
    let to = fields.next()?.strip_prefix("to=")?;
    let mut next = fields.next()?;
    let mut client = None;
    if let Some(address) = next.strip_prefix("client=") {
        client = Some(address.parse().ok()?);
        next = fields.next()?;
    }
    let time = next.strip_prefix("time=")?.parse().ok()?;
    let (life, number) = fields.next()?.strip_prefix("nonce=")?.split_once('-')?;
    let (life, number) = (u64::from_str_radix(life, 16).ok()?, number.parse().ok()?);
    fields.next().is_none().then_some(Read { text, server, to, client, time, life, number, mac })
}

/// A name without what would end a field of the header.
fn plain(name: &str) -> String {
    let fine = |c: char| if c.is_ascii_graphic() && c != ';' { c } else { '_' };
    name.chars().take(NAME_BYTES).map(fine).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::Request;

    const NOW: Wall = Wall(1_700_000_000_000_000);
    const SECRET: &str = "a secret of sufficient length";

    fn parts() -> Parts {
        let request = Request::post("http://localhost:8080/v1/jobs?x=1").header("authorization", "Bearer t");
        request.body(()).unwrap().into_parts().0
    }

    fn client() -> Option<SocketAddr> {
        Some("[::1]:4711".parse().unwrap())
    }

    /// What `to` makes of a request that `from` sealed and that was changed on its way.
    fn pass(from: &Seal, to: &Seal, change: impl FnOnce(&mut Parts), now: Wall) -> Result<Relayed, Refused> {
        let mut parts = parts();
        let seal = from.write(&parts, "b", client(), NOW).unwrap();
        parts.headers.insert(SEAL, seal);
        change(&mut parts);
        let taken = to.take(&mut parts, now).unwrap();
        assert!(!parts.headers.contains_key(SEAL), "nobody further in sees it");
        taken
    }

    fn both() -> (Seal, Seal) {
        (Seal::new("a; evil", Some(SECRET)), Seal::new("b", Some(SECRET)))
    }

    #[test]
    fn a_seal_proves_the_server_and_carries_the_client() {
        let (a, b) = both();
        let relayed = pass(&a, &b, |_| (), NOW + CLOCKS_DIFFER).unwrap();
        assert_eq!(relayed, Relayed { server: "a__evil".into(), sealed: true, client: client() });
        assert_eq!(b.take(&mut parts(), NOW), None);
    }

    #[test]
    fn a_seal_fits_no_other_request() {
        let (a, b) = both();
        type Change = fn(&mut Parts);
        let changes: [(&str, Change); 7] = [
            ("method", |p| p.method = "PUT".parse().unwrap()),
            ("path", |p| p.uri = "http://localhost:8080/v1/queues/a:purge?x=1".parse().unwrap()),
            ("query", |p| p.uri = "http://localhost:8080/v1/jobs?x=2".parse().unwrap()),
            ("host", |p| p.uri = "http://evil.example/v1/jobs?x=1".parse().unwrap()),
            ("authorization", |p| _ = p.headers.insert("authorization", "Bearer u".parse().unwrap())),
            ("a second one", |p| _ = p.headers.append("authorization", "Bearer u".parse().unwrap())),
            ("key", |p| _ = p.headers.insert("idempotency-key", "k".parse().unwrap())),
        ];
        for (what, change) in changes {
            assert_eq!(pass(&a, &b, change, NOW), Err(Refused::WrongMac), "{what}");
        }
        let forge = |p: &mut Parts| {
            let text = p.headers[SEAL].to_str().unwrap().replace("client=[::1]", "client=[::2]");
            p.headers.insert(SEAL, text.parse().unwrap());
        };
        assert_eq!(pass(&a, &b, forge, NOW), Err(Refused::WrongMac));
    }

    #[test]
    fn a_seal_fits_no_other_server_no_other_time_and_no_second_use() {
        let (a, b) = both();
        assert_eq!(pass(&a, &Seal::new("c", Some(SECRET)), |_| (), NOW), Err(Refused::NotForMe));
        let late = NOW + CLOCKS_DIFFER + Duration::from_micros(1);
        assert_eq!(pass(&a, &b, |_| (), late), Err(Refused::WrongTime));
        let mut first = parts();
        let seal = a.write(&first, "b", None, NOW).unwrap();
        first.headers.insert(SEAL, seal);
        let mut second = first.clone();
        assert!(b.take(&mut first, NOW).unwrap().is_ok());
        assert_eq!(b.take(&mut second, NOW), Some(Err(Refused::UsedBefore)));
    }

    #[test]
    fn without_the_same_secret_nothing_is_believed() {
        let (a, b) = both();
        let (other, none) = (Seal::new("a", Some("another secret, long enough")), Seal::new("b", None));
        assert_eq!(pass(&other, &b, |_| (), NOW), Err(Refused::WrongMac));
        assert_eq!(pass(&none, &b, |_| (), NOW), Err(Refused::NotSealed));
        assert_eq!(pass(&a, &none, |_| (), NOW), Err(Refused::NoSecret));
        let loop_only = pass(&Seal::new("a", None), &none, |_| (), NOW).unwrap();
        assert_eq!((loop_only.sealed, loop_only.client), (false, None));
    }

    #[test]
    fn rubbish_is_refused() {
        let (_, b) = both();
        let long = format!("v1;server={};to=b;time=1;nonce=1-1", "x".repeat(SEAL_BYTES));
        for text in
            ["", "v1", "v2;server=a;to=b;time=1;nonce=1-1", "v1;server=a;to=b;time=x;nonce=1-1", &long]
        {
            let mut parts = parts();
            parts.headers.insert(SEAL, text.parse().unwrap());
            assert_eq!(b.take(&mut parts, NOW), Some(Err(Refused::Unreadable)), "{text}");
        }
        let mut twice = parts();
        twice.headers.append(SEAL, "a".parse().unwrap());
        twice.headers.append(SEAL, "b".parse().unwrap());
        assert_eq!(b.take(&mut twice, NOW), Some(Err(Refused::Unreadable)));
    }
}
