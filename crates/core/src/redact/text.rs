//! Texts for people: error messages, log lines, notes.

use std::borrow::Cow;
use std::ops::Range;

use super::{REDACTED, after_value, is_secret, is_secret_option};

/// How tokens of well-known services begin, ours first. Behind it are at least [`PREFIXED_BYTES`] more characters.
const PREFIXES: [&str; 14] = [
    "gng_",
    "gnr_",
    "ghp_",
    "gho_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "xapp-",
    "sk_live_",
    "rk_live_",
    "AKIA",
    "eyJ",
];
const PREFIXED_BYTES: usize = 12;
/// Schemes of `Authorization` with one credential behind them, which alone is the secret.
const SCHEMES: [&str; 6] = ["bearer", "basic", "token", "negotiate", "apikey", "bot"];
/// Between these lines is a key.
const KEY_BEGINS: &str = "-----BEGIN ";
const KEY_ENDS: &str = "-----END ";

/// A text with its secrets hidden: what follows `password=`, `token: `, `"api_key": "`, `--password ` and the like, whether that is a
/// word, something in quotes or brackets; what follows `Bearer ` and `Basic `; passwords in URLs; private keys; and whatever begins
/// as a token of a well-known service does.
#[must_use]
pub fn text(text: &str) -> Cow<'_, str> {
    let (mut out, mut kept, mut at) = (String::new(), 0, 0);
    while let Some(secret) = next_secret(text, &mut at) {
        if secret.start < kept || secret.is_empty() || &text[secret.clone()] == REDACTED {
            continue;
        }
        out.push_str(&text[kept..secret.start]);
        out.push_str(REDACTED);
        (kept, at) = (secret.end, at.max(secret.end));
    }
    if kept == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[kept..]);
    Cow::Owned(out)
}

/// The next secret from there on; `at` moves past the word that gave it away.
fn next_secret(text: &str, at: &mut usize) -> Option<Range<usize>> {
    while let Some(found) = text[*at..].find(is_name) {
        let start = *at + found;
        let end = start + text[start..].find(|c| !is_name(c)).unwrap_or(text.len() - start);
        *at = end;
        let found = private_key(text, start)
            .or_else(|| prefixed(text, start, end))
            .or_else(|| in_url(text, end))
            .or_else(|| named(text, start, end));
        if found.is_some() {
            return found;
        }
    }
    None
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '-'
}

/// What is between the two lines around a private key.
fn private_key(text: &str, start: usize) -> Option<Range<usize>> {
    let rest = text[start..].strip_prefix(KEY_BEGINS)?;
    let (title, _) = rest.split_once("-----")?;
    if !title.contains("PRIVATE KEY") || title.len() > 64 {
        return None;
    }
    let from = start + KEY_BEGINS.len() + title.len() + "-----".len();
    let to = text[from..].find(KEY_ENDS).map_or(text.len(), |end| from + end);
    Some(from..to)
}

/// A word that begins as a token does.
fn prefixed(text: &str, start: usize, end: usize) -> Option<Range<usize>> {
    let word = &text[start..end];
    let begins = |prefix: &str| word.len() >= prefix.len() + PREFIXED_BYTES && word.starts_with(prefix);
    if !PREFIXES.into_iter().any(begins) {
        return None;
    }
    // A JWT has dots inside.
    let more = text[end..].find(|c: char| !is_name(c) && c != '.').unwrap_or(text.len() - end);
    let whole = text[start..end + more].trim_end_matches('.');
    Some(start..start + whole.len())
}

/// The password of a URL whose scheme ends here.
fn in_url(text: &str, end: usize) -> Option<Range<usize>> {
    let rest = text[end..].strip_prefix("://")?;
    let over = rest.find(|c: char| c.is_whitespace() || "/?#\"'<>`\\".contains(c)).unwrap_or(rest.len());
    // A password that should have been encoded may contain an `@` itself.
    let (login, _) = rest[..over].rsplit_once('@')?;
    let (user, password) = login.split_once(':')?;
    let from = end + "://".len() + user.len() + 1;
    Some(from..from + password.len())
}

/// The value of a name that is a secret's.
fn named(text: &str, start: usize, end: usize) -> Option<Range<usize>> {
    let word = &text[start..end];
    let is_scheme = |word: &str| SCHEMES.iter().any(|scheme| word.eq_ignore_ascii_case(scheme));
    let rest = &text[end..];
    if ["bearer", "basic"].iter().any(|scheme| word.eq_ignore_ascii_case(scheme)) && rest.starts_with(' ') {
        let from = end + (rest.len() - rest.trim_start_matches(' ').len());
        let value = word_at(text, from);
        // `basic auth` is English, a credential is longer or has other characters.
        let credential = word.eq_ignore_ascii_case("bearer") || text[value.clone()].len() >= 8;
        return credential.then_some(value);
    }
    if !is_secret(word) {
        return None;
    }
    let from = match value_behind(text, end) {
        Some(from) => from,
        None if is_secret_option(word) && rest.starts_with(' ') => {
            let from = end + (rest.len() - rest.trim_start_matches(' ').len());
            (!text[from..].starts_with('-')).then_some(from)?
        }
        None => return None,
    };
    let value = value_at(text, from);
    // `Authorization: Basic x`: the scheme is no secret, and what follows it is.
    let first = &text[value.clone()];
    if word.to_ascii_lowercase().ends_with("authorization") {
        let (scheme, _) = first.split_once(' ').unwrap_or((first, ""));
        if is_scheme(scheme) {
            let behind = &text[value.start + scheme.len()..];
            let from = text.len() - behind.trim_start_matches(' ').len();
            return Some(word_at(text, from));
        }
        // Any other scheme has parameters of its own: nothing of the line is shown.
        let line = text[value.start..].find(['\n', '"', '\'']).unwrap_or(text.len() - value.start);
        return Some(value.start..value.end.max(value.start + line));
    }
    Some(value)
}

/// Where the value of the name that ends here begins, if one follows. Quotes around the name may be escaped, as in JSON in a string.
fn value_behind(text: &str, end: usize) -> Option<usize> {
    let skipped = text[end..].trim_start_matches(['"', '\'', '`', '\\', ' ', ']']);
    let value = skipped.strip_prefix("=>").or_else(|| skipped.strip_prefix([':', '=']))?;
    Some(text.len() - value.trim_start_matches(' ').len())
}

/// The value that begins here: in quotes, in brackets, or a word.
fn value_at(text: &str, from: usize) -> Range<usize> {
    let rest = &text[from..];
    let escapes = rest.len() - rest.trim_start_matches('\\').len();
    match rest[escapes..].chars().next() {
        Some(quote @ ('"' | '\'' | '`')) => {
            let inside = from + escapes + 1;
            inside..closing(text, inside, quote, escapes)
        }
        Some('[' | '{') if escapes == 0 => from..balanced(text, from),
        Some(_) | None => word_at(text, from),
    }
}

/// The place of the quote that closes what begins here: one that is escaped as often as the one before.
fn closing(text: &str, inside: usize, quote: char, escapes: usize) -> usize {
    let bytes = text.as_bytes();
    let (mut at, mut backslashes) = (inside, 0);
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => backslashes += 1,
            byte if char::from(byte) == quote && backslashes <= escapes => return at - backslashes,
            _ => backslashes = 0,
        }
        at += 1;
    }
    text.len()
}

/// The place behind the bracket that closes the one here. What is never closed is hidden to its end.
fn balanced(text: &str, from: usize) -> usize {
    let end = after_value(text.as_bytes(), from);
    if text.is_char_boundary(end) { end } else { text.len() }
}

/// The word here, up to the next space, quote, comma or bracket.
fn word_at(text: &str, from: usize) -> Range<usize> {
    if text[from..].starts_with(REDACTED) {
        return from..from + REDACTED.len();
    }
    let stop = |c: char| c.is_whitespace() || "\"'`,;&)}]\\<>".contains(c);
    from..from + text[from..].find(stop).unwrap_or(text.len() - from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hidden(given: &str) -> String {
        text(given).into_owned()
    }

    #[test]
    fn texts_keep_their_words_and_lose_their_secrets() {
        for (given, expected) in [
            ("login failed: password=hunter2, user=ada", "login failed: password=[redacted], user=ada"),
            ("Authorization: Bearer abc.def failed", "Authorization: Bearer [redacted] failed"),
            ("Authorization: Basic dXNlcjpw next", "Authorization: Basic [redacted] next"),
            ("authorization=Digest username=a, response=b\nnext", "authorization=[redacted]\nnext"),
            ("sent Basic dXNlcjpwYXNz to it", "sent Basic [redacted] to it"),
            (r#"bad body {"api_key": "k-1", "n": 2}"#, r#"bad body {"api_key": "[redacted]", "n": 2}"#),
            ("GET /x?access_token=abc&n=1", "GET /x?access_token=[redacted]&n=1"),
            (r#"password="two words" user=ada"#, r#"password="[redacted]" user=ada"#),
            ("password='it''s' x", "password='[redacted]''s' x"),
            (r#"{"password":["a b","c"],"n":1}"#, r#"{"password":[redacted],"n":1}"#),
            (r#"{"token":{"a":"}","b":[1]},"n":1}"#, r#"{"token":[redacted],"n":1}"#),
            (
                r#"body "{\"password\":\"a \\\" b\",\"n\":1}""#,
                r#"body "{\"password\":\"[redacted]\",\"n\":1}""#,
            ),
            (r#"{"password":"a\"b","n":1}"#, r#"{"password":"[redacted]","n":1}"#),
            ("redis://:hunter2@cache:6379/0 is away", "redis://:[redacted]@cache:6379/0 is away"),
            ("at postgres://ada:p@ss@db/x?y=1", "at postgres://ada:[redacted]@db/x?y=1"),
            ("mysql --password hunter2 -h db", "mysql --password [redacted] -h db"),
            ("curl --api-key=k1 x", "curl --api-key=[redacted] x"),
            (
                "DB_PASS=hunter2 creds: x session_id=y",
                "DB_PASS=[redacted] creds: [redacted] session_id=[redacted]",
            ),
            ("$ENV['password'] => 'hunter2'", "$ENV['password'] => '[redacted]'"),
            ("used gng_4k2m9x7q0b1c_abcdefgh.", "used [redacted]."),
            ("got eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln here", "got [redacted] here"),
        ] {
            assert_eq!(hidden(given), expected, "{given}");
        }
    }

    #[test]
    fn a_private_key_is_hidden_and_a_certificate_is_not() {
        let key = "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----\nb";
        let shown = hidden(key);
        assert_eq!(shown, "a\n-----BEGIN RSA PRIVATE KEY-----[redacted]-----END RSA PRIVATE KEY-----\nb");
        let certificate = "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----";
        assert_eq!(hidden(certificate), certificate);
        assert!(!hidden("-----BEGIN PRIVATE KEY-----\nMIIE").contains("MIIE"), "cut off");
    }

    #[test]
    fn ordinary_sentences_stay_as_they_are() {
        for plain in [
            "the token expired",
            "no such secret",
            "Bearer",
            "password",
            "basic auth failed",
            "postgres://ganger@db/x",
            "https://example.com/a:b@c",
            "gng_",
            "a --token",
            "use --password --host db",
            "",
        ] {
            assert!(matches!(text(plain), Cow::Borrowed(_)), "{plain}: {}", hidden(plain));
        }
    }

    #[test]
    fn what_was_hidden_stays_hidden_when_it_is_hidden_again() {
        for given in
            ["password=x y", r#"password="a b" c"#, "Authorization: Basic dXNlcjpw x", "postgres://a:b@c"]
        {
            let once = hidden(given);
            assert_eq!(hidden(&once), once);
        }
    }
}
