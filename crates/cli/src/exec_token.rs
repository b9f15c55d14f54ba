//! The token that `exec` jobs need: a file that only the user who started the server can read.
//!
//! A web page, or another user of the machine, can reach a loopback port; neither can read this file.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use reqwest::header::HeaderValue;

use crate::config::{Config, EXEC_TOKEN_FILE, Origin, private_dir};
use crate::failure::{Failure, Fallible};

/// Largest file that is read as a token.
const LONGEST: u64 = 1_024;

/// Writes a secret into a file for its owner alone.
pub(crate) fn keep(path: &Path, secret: &str) -> io::Result<()> {
    // A new file with its final rights, moved into place: it is never readable by others, not even briefly.
    let fresh = path.with_extension(format!("new-{:016x}", rand::random::<u64>()));
    // Never one that is there: it could be a link that somebody else put in our way.
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&fresh)?;
    file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
    let written = writeln!(file, "{secret}").and_then(|()| file.sync_all());
    written.and_then(|()| std::fs::rename(&fresh, path)).inspect_err(|_| drop(std::fs::remove_file(&fresh)))
}

/// Puts the token of a store into its directory, which is made if it is missing. The same one is not written again.
pub(crate) fn place(dir: &Path, token: &str) -> io::Result<()> {
    private_dir(dir)?;
    let path = dir.join(EXEC_TOKEN_FILE);
    match std::fs::read_to_string(&path) {
        Ok(known) if known.trim() == token => Ok(()),
        Ok(_) | Err(_) => keep(&path, token),
    }
}

/// The token to send with an `exec` job, if there is one for the server in question.
///
/// The file beside the local data is meant for a server on this machine: it is not sent elsewhere
/// unless the user named it.
pub(crate) fn find(config: &Config) -> Fallible<Option<HeaderValue>> {
    let setting = &config.exec_token_file;
    let named = setting.origin != Origin::Default;
    if !named && !config.url.value.is_loopback() {
        return Ok(None);
    }
    let path = match named {
        true => setting.value.clone(),
        false => config.tokens.of_port(config.url.value.port()).join(EXEC_TOKEN_FILE),
    };
    let what = || format!("cannot read the token file {}", path.display());
    match read(&path) {
        Ok(token) => Ok(Some(token)),
        Err(error) if error.kind() == io::ErrorKind::NotFound && !named => Ok(None),
        Err(error) => {
            Err(Failure::file(what(), &error, format!("correct the path; it came from {}", setting.origin)))
        }
    }
}

/// Reads a token from a file.
pub(crate) fn read(path: &Path) -> io::Result<HeaderValue> {
    if std::fs::metadata(path)?.len() > LONGEST {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "it is too large to be a token"));
    }
    let text = std::fs::read_to_string(path)?;
    let mut token = HeaderValue::from_str(text.trim())
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it does not hold a token"))?;
    token.set_sensitive(true);
    Ok(token)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Environment, Key};

    fn config(data: &Path, url: &str) -> Config {
        let flags = [(Key::Data, data.display().to_string()), (Key::Url, url.to_owned())];
        Config::resolve(flags.into_iter().collect(), &Environment::default(), data).unwrap()
    }

    #[test]
    fn a_token_is_for_its_owner_only_and_stays() {
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path().join("missing/so/far");
        place(&data, "first").unwrap();
        let written = std::fs::metadata(data.join(EXEC_TOKEN_FILE)).unwrap();
        assert_eq!(written.permissions().mode() & 0o777, 0o600);
        place(&data, "first").unwrap();
        let again = std::fs::metadata(data.join(EXEC_TOKEN_FILE)).unwrap();
        assert_eq!(
            written.modified().unwrap(),
            again.modified().unwrap(),
            "the same one is not written again"
        );
        place(&data, "second").unwrap();
        let found = find(&config(&data, "http://127.0.0.1:1")).unwrap().unwrap();
        assert_eq!(found.to_str().unwrap(), "second");
    }

    #[test]
    fn the_local_token_never_leaves_this_machine() {
        let dir = tempfile::tempdir().unwrap();
        place(dir.path(), "secret").unwrap();
        assert_eq!(find(&config(dir.path(), "http://10.0.0.1:1")).unwrap(), None);
    }

    #[test]
    fn without_a_token_file_there_is_no_token() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(find(&config(dir.path(), "http://127.0.0.1:1")).unwrap(), None);
    }
}
