//! Hiding what looks like a secret, where many people look.
//!
//! Fields of payloads and results are told by their names: a name is taken apart into words (`userPassword`, `user-password` and
//! `USER_PASSWORD` are the same two), and one word or two neighbours of the list make it a secret. Everything else stays byte for byte. It is a
//! courtesy to those who put secrets where they do not belong, not a protection: whoever may read one job's payload sees all of it.

mod text;

use std::borrow::Cow;

pub use text::text;

/// What stands in the place of a secret.
pub const REDACTED: &str = "[redacted]";

/// Words that make a name a secret's.
const WORDS: [&str; 25] = [
    "password",
    "passwords",
    "passwd",
    "pass",
    "pwd",
    "pw",
    "passphrase",
    "secret",
    "secrets",
    "token",
    "authorization",
    "apikey",
    "apikeys",
    "cookie",
    "cookies",
    "cred",
    "creds",
    "credential",
    "credentials",
    "bearer",
    "jwt",
    "privatekey",
    "accesskey",
    "sessionid",
    "otp",
];
/// Two words in a row that do.
const PAIRS: [(&str, &str); 9] = [
    ("api", "key"),
    ("private", "key"),
    ("access", "key"),
    ("account", "key"),
    ("signing", "key"),
    ("encryption", "key"),
    ("session", "id"),
    ("session", "key"),
    ("auth", "key"),
];
/// Longer names are no names.
const NAME_BYTES: usize = 256;

/// Whether a field of that name holds a secret.
#[must_use]
pub fn is_secret(name: &str) -> bool {
    if name.len() > NAME_BYTES {
        return false;
    }
    let words = words(name);
    let pair = |two: &[String]| PAIRS.contains(&(two[0].as_str(), two[1].as_str()));
    words.iter().any(|word| WORDS.contains(&word.as_str())) || words.windows(2).any(pair)
}

/// The words of a name, in small letters: split at what is no letter and no digit, and where a capital follows a small letter.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut small = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && small) {
            words.push(String::new());
        }
        if c.is_alphanumeric() {
            words.last_mut().into_iter().for_each(|word| word.extend(c.to_lowercase()));
        }
        small = c.is_lowercase() || c.is_numeric();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Whether that is an option of a command whose value is a secret: `--password`, `-token`.
fn is_secret_option(word: &str) -> bool {
    word.starts_with('-') && is_secret(word)
}

/// JSON with its secrets hidden: values whose names are a secret's, what follows `--password` in a list of arguments, and what
/// [`text`] finds in strings. What is not JSON comes out as it is, as far as it can be read.
#[must_use]
pub fn json(json: &str) -> Cow<'_, str> {
    let bytes = json.as_bytes();
    let (mut out, mut kept, mut at) = (String::new(), 0, 0);
    // The string before was an option, and what comes is its value.
    let mut option = false;
    while at < bytes.len() {
        if bytes[at] != b'"' {
            option &= bytes[at] == b',' || bytes[at].is_ascii_whitespace();
            at += 1;
            continue;
        }
        let end = after_string(bytes, at);
        let colon = after_space(bytes, end);
        let (from, to, instead) = if bytes.get(colon) == Some(&b':') {
            option = false;
            if !names_a_secret(&json[at..end]) {
                at = end;
                continue;
            }
            let value = after_space(bytes, colon + 1);
            (value, after_value(bytes, value), format!("\"{REDACTED}\""))
        } else if option {
            option = false;
            (at, end, format!("\"{REDACTED}\""))
        } else {
            let string = serde_json::from_str::<String>(&json[at..end]).unwrap_or_default();
            option = is_secret_option(&string);
            let Cow::Owned(hidden) = text(&string) else {
                at = end;
                continue;
            };
            (at, end, serde_json::Value::from(hidden).to_string())
        };
        out.push_str(&json[kept..from]);
        out.push_str(&instead);
        (kept, at) = (to, to);
    }
    if kept == 0 {
        return Cow::Borrowed(json);
    }
    out.push_str(&json[kept..]);
    Cow::Owned(out)
}

/// Whether a key as it stands in JSON, in quotes, is that of a secret.
fn names_a_secret(quoted: &str) -> bool {
    if quoted.len() > NAME_BYTES * 6 {
        return false;
    }
    // An escaped letter is the same letter.
    match serde_json::from_str::<String>(quoted) {
        Ok(name) => is_secret(&name),
        Err(_) => false,
    }
}

/// The place behind the string that begins here. It is between characters: quotes and backslashes are single bytes.
fn after_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn after_space(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
        at += 1;
    }
    at.min(bytes.len())
}

/// The place behind the value that begins here, whatever is inside.
fn after_value(bytes: &[u8], start: usize) -> usize {
    let (mut at, mut depth) = (start, 0_usize);
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                at = after_string(bytes, at);
                if depth == 0 {
                    return at;
                }
            }
            b'{' | b'[' => {
                depth += 1;
                at += 1;
            }
            b'}' | b']' if depth <= 1 => return if depth == 0 { at } else { at + 1 },
            b'}' | b']' => {
                depth -= 1;
                at += 1;
            }
            b',' if depth == 0 => return at,
            b if depth == 0 && b.is_ascii_whitespace() => return at,
            _ => at += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_secrets_by_its_words() {
        for name in [
            "password",
            "userPassword",
            "DB_PASSWORD",
            "DB_PASS",
            "pass",
            "creds",
            "session_id",
            "sessionId",
            "SESSIONID",
            "api_key",
            "apiKey",
            "API-KEY",
            "apikey",
            "x-api-key",
            "access_token",
            "Authorization",
            "client.secret",
            "privateKey",
            "refreshToken",
            "Set-Cookie",
        ] {
            assert!(is_secret(name), "{name}");
        }
        for name in [
            "passwordless_ish",
            "tokens_used",
            "tokenizer",
            "key",
            "keyboard",
            "secretary",
            "monkey",
            "compass",
            "passed",
            "session",
            "credit",
            "",
        ] {
            assert!(!is_secret(name), "{name}");
        }
        assert!(!is_secret(&"password_".repeat(100)), "longer names are no names");
        let long = format!("{}_token", "x".repeat(NAME_BYTES - 6));
        assert!(is_secret(&long) && !is_secret(&format!("x{long}")));
    }

    #[test]
    fn values_of_secrets_are_hidden_and_the_rest_is_kept_byte_for_byte() {
        let hidden = |text: &str| json(text).into_owned();
        assert_eq!(
            hidden(r#"{ "to":"a", "password" : "x,\"y" , "n": 1e400 }"#),
            r#"{ "to":"a", "password" : "[redacted]" , "n": 1e400 }"#
        );
        assert_eq!(
            hidden(r#"{"token":{"a":["}",1]},"b":[{"apiKey":12},{"c":"password"}]}"#),
            r#"{"token":"[redacted]","b":[{"apiKey":"[redacted]"},{"c":"password"}]}"#
        );
        assert_eq!(hidden(r#"{"a":{"secret":null}}"#), r#"{"a":{"secret":"[redacted]"}}"#);
        assert_eq!(hidden("{\"pass\\u0077ord\":1}"), "{\"pass\\u0077ord\":\"[redacted]\"}");
        for plain in [r#"{"a":1}"#, "7", "null", r#""password""#, r#"["token",":"]"#] {
            assert!(matches!(json(plain), Cow::Borrowed(same) if same == plain), "{plain}");
        }
    }

    /// A name is not the only place where a secret shows: strings have them inside.
    #[test]
    fn strings_inside_json_lose_their_secrets_too() {
        let hidden = |text: &str| json(text).into_owned();
        assert_eq!(
            hidden(r#"{"dsn":"postgres://ada:hunter2@db/x","n":1}"#),
            r#"{"dsn":"postgres://ada:[redacted]@db/x","n":1}"#
        );
        assert_eq!(
            hidden(r#"{"args":["mysql","--password","hunter2","-h","db"]}"#),
            r#"{"args":["mysql","--password","[redacted]","-h","db"]}"#
        );
        assert_eq!(hidden(r#"{"args":["--password"],"b":"x"}"#), r#"{"args":["--password"],"b":"x"}"#);
        assert_eq!(
            hidden(r#"{"body":"{\"password\":\"hunter2\",\"n\":1}"}"#),
            r#"{"body":"{\"password\":\"[redacted]\",\"n\":1}"}"#
        );
        let read: serde_json::Value =
            serde_json::from_str(&hidden(r#"["a\npassword=x\"y z\u0041"]"#)).unwrap();
        assert_eq!(read[0], "a\npassword=[redacted]\"y zA");
    }

    #[test]
    fn rubbish_comes_out_and_does_no_harm() {
        for rubbish in
            ["", "\"", "{\"password\"", "{\"password\":", "{\"password\":[[[", "{\"token\":\"\\", "é\"ü\\"]
        {
            let _ = json(rubbish);
            let _ = text(rubbish);
        }
    }
}
