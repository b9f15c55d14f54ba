//! Hiding what looks like a secret, where many people look.
//!
//! Fields of payloads and results are told by their names: a name is taken apart into words (`userPassword`, `user-password` and
//! `USER_PASSWORD` are the same two), and one word or two neighbours of the list make it a secret. Everything else stays byte for byte. It is a
//! courtesy to those who put secrets where they do not belong, not a protection: whoever may read one job's payload sees all of it.

use std::borrow::Cow;

/// What stands in the place of a secret.
pub const REDACTED: &str = "[redacted]";

/// Words that make a name a secret's.
const WORDS: [&str; 16] = [
    "password",
    "passwd",
    "pwd",
    "passphrase",
    "secret",
    "secrets",
    "token",
    "authorization",
    "apikey",
    "cookie",
    "credential",
    "credentials",
    "bearer",
    "jwt",
    "privatekey",
    "accesskey",
];
/// Two words in a row that do.
const PAIRS: [(&str, &str); 4] = [("api", "key"), ("private", "key"), ("access", "key"), ("signing", "key")];
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

/// JSON with its secrets hidden. What is not JSON comes out as it is, as far as it can be read.
#[must_use]
pub fn json(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let (mut out, mut kept, mut at) = (String::new(), 0, 0);
    while at < bytes.len() {
        if bytes[at] != b'"' {
            at += 1;
            continue;
        }
        let end = after_string(bytes, at);
        let colon = after_space(bytes, end);
        if bytes.get(colon) == Some(&b':') && names_a_secret(&text[at..end]) {
            let value = after_space(bytes, colon + 1);
            let after = after_value(bytes, value);
            out.push_str(&text[kept..value]);
            out.push('"');
            out.push_str(REDACTED);
            out.push('"');
            (kept, at) = (after, after);
        } else {
            at = end;
        }
    }
    if kept == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[kept..]);
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

/// A text for people with its secrets hidden: what follows `password=`, `token: `, `"api_key": "` and the like, up to the next space,
/// quote or comma; and whatever follows `Bearer `.
#[must_use]
pub fn text(text: &str) -> Cow<'_, str> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let (mut out, mut kept, mut at) = (String::new(), 0, 0);
    while let Some(found) = text[at..].find(is_name) {
        let start = at + found;
        let end = start + text[start..].find(|c| !is_name(c)).unwrap_or(text.len() - start);
        at = end;
        let bearer = text[start..end].eq_ignore_ascii_case("bearer");
        let Some(value) = value_behind(text, end, bearer).filter(|_| bearer || is_secret(&text[start..end]))
        else {
            continue;
        };
        // `Authorization: Bearer x`: the scheme is no secret, and what follows it is.
        if !bearer && text[value..].get(..7).is_some_and(|head| head.eq_ignore_ascii_case("bearer ")) {
            continue;
        }
        let stop = |c: char| c.is_whitespace() || "\"',;&)}]".contains(c);
        let over = value + text[value..].find(stop).unwrap_or(text.len() - value);
        if over > value {
            out.push_str(&text[kept..value]);
            out.push_str(REDACTED);
            (kept, at) = (over, over);
        }
    }
    if kept == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[kept..]);
    Cow::Owned(out)
}

/// Where the value of the name that ends here begins, if one follows.
fn value_behind(text: &str, end: usize, bearer: bool) -> Option<usize> {
    let rest = &text[end..];
    let skipped = rest.trim_start_matches(['"', '\'', ' ']);
    let behind = match skipped.strip_prefix([':', '=']) {
        Some(value) => value.trim_start_matches(['"', '\'', ' ']),
        None if bearer && rest.starts_with(' ') => rest.trim_start_matches(' '),
        None => return None,
    };
    Some(text.len() - behind.len())
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

    #[test]
    fn rubbish_comes_out_and_does_no_harm() {
        for rubbish in
            ["", "\"", "{\"password\"", "{\"password\":", "{\"password\":[[[", "{\"token\":\"\\", "é\"ü\\"]
        {
            let _ = json(rubbish);
            let _ = text(rubbish);
        }
    }

    #[test]
    fn texts_keep_their_words_and_lose_their_secrets() {
        let hidden = |given: &str| text(given).into_owned();
        assert_eq!(
            hidden("login failed: password=hunter2, user=ada"),
            "login failed: password=[redacted], user=ada"
        );
        assert_eq!(hidden("Authorization: Bearer abc.def failed"), "Authorization: Bearer [redacted] failed");
        assert_eq!(
            hidden(r#"bad body {"api_key": "k-1", "n": 2}"#),
            r#"bad body {"api_key": "[redacted]", "n": 2}"#
        );
        assert_eq!(hidden("GET /x?access_token=abc&n=1"), "GET /x?access_token=[redacted]&n=1");
        for plain in ["the token expired", "no such secret", "Bearer", "password"] {
            assert!(matches!(text(plain), Cow::Borrowed(_)), "{plain}");
        }
    }
}
