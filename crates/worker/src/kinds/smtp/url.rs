//! Where the mail server is, and how to talk to it.

use std::fmt;
use std::str::FromStr;

use ganger_core::mail::is_address;
use reqwest::Url;

/// Whether the connection is encrypted before anything is said on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tls {
    /// From the first byte.
    Always,
    /// By STARTTLS, or not at all.
    Required,
    /// By STARTTLS, if the server offers it.
    IfOffered,
    /// Never.
    Never,
}

/// `smtp://[user:password@]host[:587][?tls=required|if-offered|never&from=me@here]`, or `smtps://…`, encrypted from the
/// first byte on port 465. With a password encryption is required; only `tls=never` sends one in the clear.
#[derive(Clone, PartialEq, Eq)]
pub struct SmtpUrl {
    host: String,
    port: u16,
    tls: Tls,
    login: Option<(String, String)>,
    from: String,
}

/// What is wrong with the address of a mail server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the address of a mail server {0}; one looks like smtps://user:password@mail.example.com?from=me@example.com"
)]
pub struct UrlError(&'static str);

impl SmtpUrl {
    pub(super) fn host(&self) -> &str {
        &self.host
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    pub(super) fn tls(&self) -> Tls {
        self.tls
    }

    pub(super) fn login(&self) -> Option<(&str, &str)> {
        self.login.as_ref().map(|(user, password)| (user.as_str(), password.as_str()))
    }

    pub(super) fn from(&self) -> &str {
        &self.from
    }
}

/// The password is nobody's business.
impl fmt::Debug for SmtpUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SmtpUrl({}:{} {:?})", self.host, self.port, self.tls)
    }
}

impl FromStr for SmtpUrl {
    type Err = UrlError;

    fn from_str(text: &str) -> Result<SmtpUrl, UrlError> {
        let url = Url::parse(text).map_err(|_| UrlError("is not a URL"))?;
        let (mut tls, mut from) = (None, None);
        for (name, value) in url.query_pairs() {
            match (&*name, &*value) {
                ("tls", "required") => tls = Some(Tls::Required),
                ("tls", "if-offered") => tls = Some(Tls::IfOffered),
                ("tls", "never") => tls = Some(Tls::Never),
                ("from", address) if is_address(address) => from = Some(address.to_owned()),
                ("from", _) => return Err(UrlError("has a `from` that is no plain address")),
                _ => {
                    return Err(UrlError(
                        "has a parameter that is not `tls` (required, if-offered or never) or `from`",
                    ));
                }
            }
        }
        let host = url.host_str().filter(|host| !host.is_empty()).ok_or(UrlError("has no host"))?.to_owned();
        let decoded =
            |text: &str| percent_decoded(text).ok_or(UrlError("has a user or password that is no text"));
        let login = match (url.username(), url.password()) {
            ("", None) => None,
            (user, Some(password)) if !user.is_empty() => Some((decoded(user)?, decoded(password)?)),
            _ => return Err(UrlError("has a user without a password, or the other way round")),
        };
        let (port, tls) = match (url.scheme(), tls) {
            ("smtps", None) => (465, Tls::Always),
            ("smtps", Some(_)) => {
                return Err(UrlError("is encrypted from the first byte, and needs no `tls`"));
            }
            ("smtp", Some(Tls::IfOffered)) if login.is_some() => {
                return Err(UrlError(
                    "would send its password in the clear if asked to: `tls` must be required, or never",
                ));
            }
            ("smtp", Some(tls)) => (587, tls),
            ("smtp", None) if login.is_some() => (587, Tls::Required),
            ("smtp", None) => (587, Tls::IfOffered),
            _ => return Err(UrlError("begins with neither smtp:// nor smtps://")),
        };
        let user = login.as_ref().map(|(user, _)| user.clone()).filter(|user| is_address(user));
        let from = from.or(user).unwrap_or_else(|| "ganger@localhost".into());
        Ok(SmtpUrl { host, port: url.port().unwrap_or(port), tls, login, from })
    }
}

/// Without its percent signs, if it is a text that a login can hold: NUL stands between the parts of one.
fn percent_decoded(text: &str) -> Option<String> {
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let (digits, rest) = part.split_at_checked(2)?;
        if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(bytes).ok().filter(|text| !text.chars().any(char::is_control))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_with_their_defaults() {
        let read = |text: &str| text.parse::<SmtpUrl>().unwrap();
        let plain = read("smtp://mail.example.com");
        assert_eq!((plain.port, plain.tls, plain.from.as_str()), (587, Tls::IfOffered, "ganger@localhost"));
        let full = read("smtps://me%40here.org:p%25%3A@mail.example.com:2465");
        assert_eq!((full.port, full.tls, full.from.as_str()), (2465, Tls::Always, "me@here.org"));
        assert_eq!(full.login(), Some(("me@here.org", "p%:")));
        assert_eq!(read("smtp://u:p@localhost").tls, Tls::Required, "a password is not sent in the clear");
        assert_eq!(read("smtp://[::1]:25").host(), "[::1]");
        assert_eq!(read("smtp://u:p@m.example?tls=never&from=a@b").tls, Tls::Never);
        assert!(!format!("{full:?}").contains("p%:"), "{full:?}");
    }

    #[test]
    fn what_is_no_address_is_refused_without_its_secrets() {
        for wrong in [
            "",
            "mail.example.com",
            "http://mail.example.com",
            "smtp://",
            "smtp://user@host",
            "smtp://:secret@host",
            "smtp://u:secret@host?tls=maybe",
            "smtps://u:secret@host?tls=never",
            "smtp://u:secret@host?from=<a@b>",
            "smtp://u:secret@host?tls=if-offered",
            "smtp://u:secret%zz@host",
            "smtp://u:secret%+1@host",
            "smtp://u:secret%00@host",
            "smtp://u:secret%ff@host",
            "smtp://u:secret%0D%0A@host",
        ] {
            let error = wrong.parse::<SmtpUrl>().unwrap_err().to_string();
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
