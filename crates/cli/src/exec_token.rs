//! The token that `exec` jobs need: a file that only the user who started the server can read.
//!
//! A web page, or another user of the machine, can reach a loopback port; neither can read this file.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use reqwest::header::HeaderValue;

use crate::config::{Config, EXEC_TOKEN_FILE, Origin};
use crate::failure::{Failure, Fallible};

/// Largest file that is read as a token.
const LONGEST: u64 = 1_024;

/// Writes a fresh token into a data directory and returns it.
pub(crate) fn write(data: &Path) -> Fallible<String> {
    let path = data.join(EXEC_TOKEN_FILE);
    let token: String = rand::random::<[u8; 32]>().iter().map(|byte| format!("{byte:02x}")).collect();
    keep(&path, &token).map_err(|error| {
        let what = format!("cannot write the token file {}", path.display());
        Failure::file(what, &error, "make the data directory writable, or use --data")
    })?;
    Ok(token)
}

/// Writes a secret into a file for its owner alone.
pub(crate) fn keep(path: &Path, secret: &str) -> io::Result<()> {
    // A new file with its final rights, moved into place: it is never readable by others, not even briefly.
    let fresh = path.with_extension(format!("new-{}", std::process::id()));
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&fresh)?;
    file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
    writeln!(file, "{secret}")?;
    file.sync_all()?;
    std::fs::rename(&fresh, path)
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
    let what = || format!("cannot read the token file {}", setting.value.display());
    match read(&setting.value) {
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
    fn a_token_is_for_its_owner_only_and_new_each_time() {
        let dir = tempfile::tempdir().unwrap();
        let first = write(dir.path()).unwrap();
        let second = write(dir.path()).unwrap();
        assert_ne!(first, second);
        let mode = std::fs::metadata(dir.path().join(EXEC_TOKEN_FILE)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let found = find(&config(dir.path(), "http://127.0.0.1:1")).unwrap().unwrap();
        assert_eq!(found.to_str().unwrap(), second);
    }

    #[test]
    fn the_local_token_never_leaves_this_machine() {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path()).unwrap();
        assert_eq!(find(&config(dir.path(), "http://10.0.0.1:1")).unwrap(), None);
    }

    #[test]
    fn without_a_token_file_there_is_no_token() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(find(&config(dir.path(), "http://127.0.0.1:1")).unwrap(), None);
    }
}
