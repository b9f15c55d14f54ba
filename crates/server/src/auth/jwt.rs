//! Access tokens: JWTs (RFC 7519, checked as RFC 8725 asks) that a login hands out, good for a quarter of an hour.
//!
//! The key decides the algorithm, never the token: `kid` picks one of our own keys (EdDSA), no `kid` the configured secret
//! (HS256), and `alg` must then say the same. Nothing is ever fetched because a token says so. Ours are bound to a
//! login: when it ends, they end.

use aws_lc_rs::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64;
use ganger_core::access::{Caller, QueueScope, Role, Who};
use ganger_core::{Wall, limits};
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use super::Seen;

/// Who makes and takes them.
const NAME: &str = "ganger";
/// What they are.
const TYPE: &str = "at+jwt";

/// A key that access tokens are signed with, as it is kept.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct SigningKey {
    /// An Ed25519 key pair, PKCS#8 in base64.
    pair: String,
    /// When it was made.
    created_at: Wall,
}

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SigningKey(…)")
    }
}

/// What an access token says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Claims {
    pub(crate) iss: String,
    pub(crate) aud: String,
    pub(crate) sub: String,
    /// Seconds since the Unix epoch.
    pub(crate) exp: i64,
    pub(crate) iat: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) nbf: Option<i64>,
    /// The login, in ours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) sid: Option<String>,
    /// The role, in those of others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) role: Option<Role>,
    /// And the queues, if not all. `null` is refused: a list that came out empty must not mean every queue.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    pub(crate) queues: Option<QueueScope>,
}

#[derive(Serialize, Deserialize)]
struct Header {
    alg: String,
    #[serde(default)]
    typ: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kid: Option<String>,
    /// Extensions that must be understood; none is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    crit: Option<serde_json::Value>,
}

fn not_null<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<QueueScope>, D::Error> {
    QueueScope::deserialize(from).map(Some)
}

impl SigningKey {
    /// A fresh one.
    pub(crate) fn fresh(now: Wall) -> Option<SigningKey> {
        let pair = Ed25519KeyPair::generate_pkcs8(&aws_lc_rs::rand::SystemRandom::new()).ok()?;
        Some(SigningKey { pair: BASE64.encode(pair.as_ref()), created_at: now })
    }

    fn pair(&self) -> Option<Ed25519KeyPair> {
        Ed25519KeyPair::from_pkcs8(&BASE64.decode(&self.pair).ok()?).ok()
    }

    /// When it was made; the newest signs.
    pub(crate) fn created_at(&self) -> Wall {
        self.created_at
    }
}

impl Claims {
    /// Those of a login.
    pub(crate) fn of(user: &str, login: &str, now: Wall) -> Claims {
        let iat = now.0 / 1_000_000;
        Claims {
            iss: NAME.into(),
            aud: NAME.into(),
            sub: user.into(),
            exp: iat + seconds(limits::ACCESS_LASTS),
            iat,
            nbf: None,
            sid: Some(login.into()),
            role: None,
            queues: None,
        }
    }

    /// As a token, signed with that key.
    pub(crate) fn sign(&self, kid: &str, key: &SigningKey) -> Option<String> {
        let header =
            Header { alg: "EdDSA".into(), typ: Some(TYPE.into()), kid: Some(kid.into()), crit: None };
        let encode = |json: Vec<u8>| BASE64.encode(json);
        let text = format!(
            "{}.{}",
            encode(serde_json::to_vec(&header).ok()?),
            encode(serde_json::to_vec(self).ok()?)
        );
        let signature = BASE64.encode(key.pair()?.sign(text.as_bytes()));
        Some(format!("{text}.{signature}"))
    }

    fn hold(&self, now: Wall) -> bool {
        let (now, skew) = (now.0 / 1_000_000, seconds(limits::ACCESS_SKEW));
        self.iss == NAME
            && self.aud == NAME
            && self.exp > now
            && self.iat <= now + skew
            && self.nbf.is_none_or(|from| from <= now + skew)
            && self.exp.saturating_sub(self.iat) <= seconds(limits::ACCESS_LASTS)
    }
}

/// The caller of a token that holds.
pub(super) fn verify(token: &str, seen: &Seen, secret: Option<&str>, now: Wall) -> Option<Caller> {
    if token.len() > limits::ACCESS_BYTES {
        return None;
    }
    let (signed, signature) = token.rsplit_once('.')?;
    let (header, claims) = signed.split_once('.')?;
    let header: Header = serde_json::from_slice(&BASE64.decode(header).ok()?).ok()?;
    let signature = BASE64.decode(signature).ok()?;
    if header.crit.is_some() || header.typ.is_some_and(|typ| typ != TYPE && typ != "JWT") {
        return None;
    }
    let ours = header.kid.is_some();
    let right = match &header.kid {
        Some(kid) => header.alg == "EdDSA" && signed_by_us(seen.keys.get(kid)?, signed, &signature),
        None => header.alg == "HS256" && signed_with(secret?, signed, &signature),
    };
    if !right {
        return None;
    }
    let claims: Claims = serde_json::from_slice(&BASE64.decode(claims).ok()?).ok()?;
    if !claims.hold(now) {
        return None;
    }
    let until = Wall(claims.exp.saturating_mul(1_000_000));
    if ours {
        return seen.users.get(&claims.sub)?.admits(&claims.sub, &claims.sid?, until, now);
    }
    Some(Caller {
        who: Who::External(claims.sub),
        may: claims.role?.permissions(),
        queues: claims.queues.unwrap_or_else(QueueScope::all),
        also_enqueue: None,
        until: Some(until),
    })
}

fn signed_by_us(key: &SigningKey, text: &str, signature: &[u8]) -> bool {
    let Some(pair) = key.pair() else { return false };
    UnparsedPublicKey::new(&ED25519, pair.public_key().as_ref()).verify(text.as_bytes(), signature).is_ok()
}

fn signed_with(secret: &str, text: &str, signature: &[u8]) -> bool {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret.as_bytes()) else { return false };
    mac.update(text.as_bytes());
    mac.verify_slice(signature).is_ok()
}

fn seconds(duration: std::time::Duration) -> i64 {
    i64::try_from(duration.as_secs()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use ganger_core::access::{Login, User};

    use super::*;

    const NOW: Wall = Wall(1_700_000_000_000_000);
    const SECRET: &str = "0123456789abcdef0123456789abcdef";

    fn seen() -> Seen {
        let login = Login { id: "l".into(), secret: [0; 32], began_at: NOW, used_at: NOW };
        let ada = User {
            role: Role::Operator,
            queues: QueueScope::all(),
            password: String::new(),
            disabled: false,
            created_at: NOW,
            logins: vec![login],
        };
        let keys = BTreeMap::from([("k".to_owned(), SigningKey::fresh(NOW).unwrap())]);
        Seen { users: BTreeMap::from([("ada".to_owned(), ada)]), keys, ..Seen::default() }
    }

    /// The same, for the name of a local user.
    fn good_claims(claims: &str) -> String {
        claims.replace(r#""sub":"ci""#, r#""sub":"ada""#)
    }

    fn external(header: &str, claims: &str) -> String {
        let text = format!("{}.{}", BASE64.encode(header), BASE64.encode(claims));
        let mut mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).unwrap();
        mac.update(text.as_bytes());
        format!("{text}.{}", BASE64.encode(mac.finalize().into_bytes()))
    }

    #[test]
    fn ours_hold_for_a_quarter_of_an_hour_and_while_the_login_lasts() {
        let mut seen = seen();
        let token = Claims::of("ada", "l", NOW).sign("k", &seen.keys["k"]).unwrap();
        let caller = verify(&token, &seen, None, NOW).unwrap();
        assert_eq!((caller.who.to_string(), caller.may), ("user:ada".into(), Role::Operator.permissions()));
        assert!(verify(&token, &seen, None, NOW + limits::ACCESS_LASTS).is_none());
        assert!(verify(&token[..token.len() - 2], &seen, None, NOW).is_none());
        seen.users.get_mut("ada").unwrap().end("l");
        assert!(verify(&token, &seen, None, NOW).is_none(), "the login has ended");
    }

    #[test]
    fn the_key_decides_the_algorithm_and_not_the_token() {
        let seen = seen();
        let token = Claims::of("ada", "l", NOW).sign("k", &seen.keys["k"]).unwrap();
        let (_, rest) = token.split_once('.').unwrap();
        for header in [
            r#"{"alg":"none","kid":"k"}"#,
            r#"{"alg":"HS256","kid":"k"}"#,
            r#"{"alg":"EdDSA"}"#,
            r#"{"alg":"none"}"#,
            r#"{"alg":"EdDSA","kid":"other"}"#,
        ] {
            let forged = format!("{}.{rest}", BASE64.encode(header));
            assert!(verify(&forged, &seen, Some(SECRET), NOW).is_none(), "{header}");
        }
        let unsigned = token.rsplit_once('.').unwrap().0.to_owned() + ".";
        assert!(verify(&unsigned, &seen, Some(SECRET), NOW).is_none());
    }

    #[test]
    fn others_need_the_secret_issuer_audience_role_and_a_short_life() {
        let (seen, iat) = (seen(), NOW.0 / 1_000_000);
        let claims = |iss: &str, exp: i64, rest: &str| {
            format!(r#"{{"iss":"{iss}","aud":"ganger","sub":"ci","iat":{iat},"exp":{exp}{rest}}}"#)
        };
        let role = r#","role":"submitter","queues":["mail*"]"#;
        let header = r#"{"alg":"HS256","typ":"JWT"}"#;
        let good = external(header, &claims("ganger", iat + 900, role));
        let caller = verify(&good, &seen, Some(SECRET), NOW).unwrap();
        assert!(caller.sees(&"mail.out".parse().unwrap()) && !caller.sees(&"pay".parse().unwrap()));
        assert_eq!(caller.who.to_string(), "external:ci");
        let namesake = good_claims(&claims("ganger", iat + 900, role));
        let caller = verify(&external(header, &namesake), &seen, Some(SECRET), NOW).unwrap();
        assert_ne!(caller.who.to_string(), "user:ada", "a local user of the same name is somebody else");
        assert!(verify(&good, &seen, None, NOW).is_none(), "no secret is configured");
        assert!(verify(&good, &seen, Some(&SECRET[1..]), NOW).is_none());
        for bad in [
            claims("evil", iat + 900, role),
            claims("ganger", iat + 901, role),
            claims("ganger", iat, role),
            claims("ganger", iat + 900, ""),
            claims("ganger", iat + 900, r#","role":"root""#),
            claims("ganger", iat + 900, r#","role":"submitter","queues":null"#),
            claims("ganger", iat + 900, r#","role":"submitter","queues":"*""#),
            claims("ganger", iat + 900, &format!(r#"{role},"nbf":{}"#, iat + 61)),
            format!(r#"{{"iss":"ganger","aud":"ganger","sub":"ci","iat":{iat}{role}}}"#),
            format!(r#"{{"iss":"ganger","sub":"ci","iat":{iat},"exp":{}{role}}}"#, iat + 9),
        ] {
            assert!(verify(&external(header, &bad), &seen, Some(SECRET), NOW).is_none(), "{bad}");
        }
        let critical = external(r#"{"alg":"HS256","crit":["b64"]}"#, &claims("ganger", iat + 900, role));
        assert!(verify(&critical, &seen, Some(SECRET), NOW).is_none());
        let long = external(
            header,
            &claims("ganger", iat + 900, &format!(r#"{role},"x":"{}""#, "x".repeat(limits::ACCESS_BYTES))),
        );
        assert!(verify(&long, &seen, Some(SECRET), NOW).is_none());
    }
}
