//! Secrets that anybody could guess, because they are published or were never meant to be used.

use ganger_core::limits;

use crate::failure::{Failure, Fallible};

/// Words that no random secret has in it, wherever they stand and whatever is between their letters. Each is long enough
/// that random letters do not make it.
const PLACEHOLDERS: [&str; 24] = [
    "secret",
    "passwor",
    "passphrase",
    "changeme",
    "changeit",
    "changethis",
    "pleasechange",
    "replaceme",
    "replacethis",
    "example",
    "placeholder",
    "default",
    "insecure",
    "notsecure",
    "yourkey",
    "yourjwt",
    "yourtoken",
    "keyboardcat",
    "letmein",
    "qwerty",
    "production",
    "development",
    "undefined",
    "0123456789",
];
/// Fewer different characters are a pattern.
const DIFFERENT: usize = 8;

/// Refuses a secret that protects nothing.
pub(crate) fn check(setting: &str, variable: &str, secret: &str) -> Fallible<()> {
    let Some(why) = weakness(secret) else { return Ok(()) };
    let fix = format!("set {variable} to what `openssl rand -hex 32` gives");
    Err(Failure::usage(format!("will not trust that {setting}"), why, fix))
}

fn weakness(secret: &str) -> Option<String> {
    let least = limits::ACCESS_SECRET_BYTES;
    if secret.len() < least {
        return Some(format!("it has {} bytes, at least {least} are needed", secret.len()));
    }
    let plain = secret.to_lowercase().replace('@', "a").replace('$', "s");
    let plain: String = plain.chars().filter(|c| c.is_alphanumeric()).collect();
    // `s3cr3t` is the same word.
    let spelt =
        plain.replace('0', "o").replace('1', "i").replace('3', "e").replace('4', "a").replace('5', "s");
    if let Some(word) = PLACEHOLDERS.iter().find(|word| plain.contains(**word) || spelt.contains(**word)) {
        return Some(format!("it has the word `{word}` in it, as placeholders do"));
    }
    let different = secret.bytes().collect::<std::collections::BTreeSet<_>>().len();
    (different < DIFFERENT).then(|| format!("it has only {different} different characters"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_found_wherever_they_stand() {
        for placeholder in [
            "dev-secret-change-me-in-production",
            "change-me-change-me-change-me-change-me",
            "my_super_secret_jwt_key_1234567890abcd",
            "your-256-bit-secret-your-256-bit-secret",
            "jwt-signing-key-EXAMPLE-1234-5678-90ab",
            "s3cr3t-s3cr3t-s3cr3t-s3cr3t-s3cr3t-x9",
            "this-is-the-default-value-of-a-setting",
            "P@ssword-P@ssword-P@ssword-P@ssword-12",
            "please.change.this.value.before.using!",
            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
            "0123456789abcdef0123456789abcdef",
        ] {
            assert!(weakness(placeholder).is_some(), "{placeholder}");
        }
    }

    #[test]
    fn random_secrets_pass_and_short_ones_do_not() {
        let random = "9f2c6b0e7d1a4853c6e8f70b2d9415ae3c7b60d8f1e24a95b8c07d6e13fa5942";
        assert_eq!(weakness(random), None);
        assert_eq!(weakness("kB7v/1qTz9+XoWm3LrNpYcGd5uHsJf8EaVi2Rt6Qx0M="), None);
        assert_eq!(weakness(&random[..limits::ACCESS_SECRET_BYTES]), None);
        assert!(weakness(&random[..limits::ACCESS_SECRET_BYTES - 1]).is_some());
    }
}
