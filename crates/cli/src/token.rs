//! What this user shows to a server that asks who he is.

use std::io;

use reqwest::header::HeaderValue;

use crate::config::{ADMIN_TOKEN_FILE, Config, Origin};
use crate::exec_token;
use crate::failure::{Failure, Fallible};

/// The token for the server in question, if there is one: the one that was set, the one in the file that was named, or on
/// this machine the first token of the server, if this user may read it.
pub(crate) fn find(config: &Config) -> Fallible<Option<String>> {
    if let Some(token) = &config.token.value.0 {
        return Ok(Some(token.trim().to_owned()));
    }
    let setting = &config.token_file;
    let named = setting.origin != Origin::Default;
    // The first token of the server on this machine is for people: who brings a certificate shows that.
    if !named && (!config.url.value.is_loopback() || config.client_tls.has_certificate()) {
        return Ok(None);
    }
    let path = match named {
        true => setting.value.clone(),
        false => config.tokens.of_port(config.url.value.port()).join(ADMIN_TOKEN_FILE),
    };
    match exec_token::read(&path) {
        Ok(token) => Ok(token.to_str().ok().filter(|token| !token.is_empty()).map(Into::into)),
        // It is somebody else's server, or one that asks nobody.
        Err(_) if !named => Ok(None),
        Err(error) => {
            let what = format!("cannot read the token file {}", path.display());
            Err(Failure::file(what, &error, format!("correct the path; it came from {}", setting.origin)))
        }
    }
}

/// The same as a header.
pub(crate) fn header(config: &Config) -> Fallible<Option<HeaderValue>> {
    let Some(token) = find(config)? else { return Ok(None) };
    match HeaderValue::from_str(&format!("Bearer {token}")) {
        Ok(mut value) => {
            value.set_sensitive(true);
            Ok(Some(value))
        }
        Err(_) => {
            let error = io::Error::new(io::ErrorKind::InvalidData, "it has characters that no token has");
            let origin = &config.token.origin;
            Err(Failure::file("cannot use the token", &error, format!("correct it; it came from {origin}")))
        }
    }
}

/// The same for a worker.
pub(crate) fn credential(config: &Config) -> Fallible<ganger_worker::Credential> {
    // What can be a header can be metadata.
    let token = header(config)?.and_then(|_| find(config).ok().flatten());
    let credential = token.and_then(|token| ganger_worker::Credential::token(&token)).unwrap_or_default();
    if config.url.value.is_plain() { Ok(credential) } else { config.client_tls.join(credential) }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::config::{Environment, Key};

    fn config(data: &Path, url: &str, variables: &[(&str, &str)]) -> Config {
        let flags = [(Key::Data, data.display().to_string()), (Key::Url, url.to_owned())];
        Config::resolve(flags.into_iter().collect(), &Environment::of(variables), data).unwrap()
    }

    #[test]
    fn the_first_token_of_a_local_server_is_found_and_goes_nowhere_else() {
        let dir = tempfile::tempdir().unwrap();
        let local = || find(&config(dir.path(), "http://127.0.0.1:1", &[])).unwrap();
        assert_eq!(local(), None);
        exec_token::keep(&dir.path().join("admin-token"), "gng_a_b").unwrap();
        assert_eq!(local().as_deref(), Some("gng_a_b"));
        assert_eq!(find(&config(dir.path(), "http://10.0.0.1:1", &[])).unwrap(), None);
    }

    #[test]
    fn what_was_set_counts_and_what_was_named_must_be_there() {
        let dir = tempfile::tempdir().unwrap();
        let set = config(dir.path(), "http://10.0.0.1:1", &[("GANGER_TOKEN", "gng_x_y")]);
        assert_eq!(header(&set).unwrap().unwrap(), "Bearer gng_x_y");
        let named = config(dir.path(), "http://10.0.0.1:1", &[("GANGER_TOKEN_FILE", "/nowhere/at/all")]);
        assert!(find(&named).is_err());
    }
}
