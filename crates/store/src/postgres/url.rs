//! Where the database is, and how its connection is secured.
//!
//! `postgres://user:password@host:port/database?sslmode=verify-full&sslrootcert=/path/to/ca.pem`, as other programs of
//! PostgreSQL understand it. Host, user and the rest are read by the driver; what concerns TLS is read here, because the
//! driver knows only half of it.

use std::net::IpAddr;
use std::path::PathBuf;

use tokio_postgres::config::{Host, SslMode};

use crate::store::StoreError;

/// How the server is trusted, by the names of `libpq`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trust {
    /// No TLS.
    Disable,
    /// TLS if the server offers it; against listeners only.
    Prefer,
    /// TLS; against listeners only, unless a root certificate is named.
    Require,
    /// TLS with a certificate that a known authority has signed.
    VerifyCa,
    /// And that names the host.
    VerifyFull,
}

/// A parsed address.
#[derive(Clone)]
pub(super) struct Address {
    pub(super) config: tokio_postgres::Config,
    pub(super) trust: Trust,
    pub(super) root: Option<PathBuf>,
}

impl std::fmt::Debug for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Without the password.
        let hosts = self.config.get_hosts();
        write!(f, "Address({hosts:?}, {:?}, {:?})", self.config.get_dbname(), self.trust)
    }
}

impl Address {
    /// Whether it can only mean this machine.
    pub(super) fn is_local(&self) -> bool {
        let hosts = self.config.get_hosts();
        hosts.iter().all(|host| match host {
            Host::Unix(_) => true,
            Host::Tcp(name) => {
                name == "localhost" || name.parse::<IpAddr>().is_ok_and(|ip| ip.to_canonical().is_loopback())
            }
        })
    }

    /// Reads an address. The errors never contain it, for it may contain a password.
    pub(super) fn parse(url: &str) -> Result<Address, StoreError> {
        let (base, query) = url.split_once('?').unwrap_or((url, ""));
        let (mut trust, mut root) = (None, None);
        let mut rest = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            match pair.split_once('=') {
                Some(("sslmode", mode)) => trust = Some(parse_trust(mode)?),
                Some(("sslrootcert", path)) => root = Some(PathBuf::from(decode(path)?)),
                Some(_) | None => rest.push(pair),
            }
        }
        let plain = if rest.is_empty() { base.to_owned() } else { format!("{base}?{}", rest.join("&")) };
        let mut config: tokio_postgres::Config = plain.parse().map_err(|error: tokio_postgres::Error| {
            let cause = std::error::Error::source(&error).map(ToString::to_string);
            bad(&cause.unwrap_or_else(|| error.to_string()))
        })?;
        // The driver has no default, and would find out each time that it connects.
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(bad("it names no host; write postgres://USER@HOST/DATABASE, or for a socket \
                 postgres://USER@/DATABASE?host=/DIRECTORY"));
        }
        let mut trust = trust.unwrap_or(Trust::Prefer);
        if trust == Trust::Require && root.is_some() {
            trust = Trust::VerifyCa;
        }
        config.ssl_mode(match trust {
            Trust::Disable => SslMode::Disable,
            Trust::Prefer => SslMode::Prefer,
            Trust::Require | Trust::VerifyCa | Trust::VerifyFull => SslMode::Require,
        });
        if config.get_application_name().is_none() {
            config.application_name("ganger");
        }
        Ok(Address { config, trust, root })
    }
}

fn parse_trust(mode: &str) -> Result<Trust, StoreError> {
    match mode {
        "disable" => Ok(Trust::Disable),
        "allow" | "prefer" => Ok(Trust::Prefer),
        "require" => Ok(Trust::Require),
        "verify-ca" => Ok(Trust::VerifyCa),
        "verify-full" => Ok(Trust::VerifyFull),
        other => Err(bad(&format!(
            "sslmode is `{other}`, allowed are disable, prefer, require, verify-ca and verify-full"
        ))),
    }
}

/// Undoes percent-encoding.
fn decode(text: &str) -> Result<String, StoreError> {
    let malformed = || bad("sslrootcert is not well encoded");
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, tail)) = rest.split_first() {
        rest = tail;
        if *byte != b'%' {
            bytes.push(*byte);
            continue;
        }
        let (hex, tail) = rest.split_at_checked(2).ok_or_else(malformed)?;
        let hex = std::str::from_utf8(hex).map_err(|_| malformed())?;
        bytes.push(u8::from_str_radix(hex, 16).map_err(|_| malformed())?);
        rest = tail;
    }
    String::from_utf8(bytes).map_err(|_| malformed())
}

fn bad(why: &str) -> StoreError {
    StoreError::Failed(format!("cannot read the address of the database: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_concerns_tls_is_taken_out_and_the_rest_is_read_by_the_driver() {
        let url =
            "postgres://me:secret@db:6432/jobs?sslmode=verify-full&connect_timeout=3&sslrootcert=/a%20b.pem";
        let address = Address::parse(url).unwrap();
        assert_eq!((address.trust, address.root.as_deref()), (Trust::VerifyFull, Some("/a b.pem".as_ref())));
        assert_eq!(address.config.get_dbname(), Some("jobs"));
        assert_eq!(address.config.get_ssl_mode(), SslMode::Require);
        assert!(address.config.get_connect_timeout().is_some());
        assert!(!format!("{address:?}").contains("secret"));
    }

    #[test]
    fn without_a_word_about_it_tls_is_used_where_it_is_offered() {
        assert_eq!(Address::parse("postgres://db/jobs").unwrap().trust, Trust::Prefer);
        let named = Address::parse("postgres://db/jobs?sslmode=require&sslrootcert=ca.pem").unwrap();
        assert_eq!(named.trust, Trust::VerifyCa);
    }

    #[test]
    fn an_address_says_where_the_database_is_also_if_that_is_a_socket() {
        for url in ["postgres://", "postgres:///jobs", "postgres://me:secret@/jobs?sslmode=disable"] {
            let error = Address::parse(url).unwrap_err().to_string();
            assert!(error.contains("names no host; write postgres://"), "{error}");
        }
        for url in ["postgres://me@/jobs?host=/run/postgresql", "postgres://me@/jobs?hostaddr=127.0.0.1"] {
            assert!(Address::parse(url).is_ok(), "{url}");
        }
    }

    #[test]
    fn a_bad_address_is_refused_without_repeating_it() {
        for url in ["postgres://me:secret@db/x?sslmode=maybe", "postgres://me:secret@db:99999/x", "secret"] {
            let error = Address::parse(url).unwrap_err().to_string();
            assert!(error.starts_with("cannot read the address") && !error.contains("secret"), "{error}");
        }
    }
}
