//! Copies of the database: made while work goes on, and put back.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};

use super::dir::{self, DataDir};
use super::{connection, error, migrate};
use crate::store::StoreError;

/// Added to the term of a restored database. The terms since the backup are not in it; fences must
/// grow beyond every one that was given in them.
const TERM_STEP: i64 = 1000;

/// How [`restore`] treats what is there.
#[derive(Clone, Copy, Debug, Default)]
pub struct RestoreOptions {
    /// Replace an existing database. It is kept aside, never deleted.
    pub force: bool,
}

/// What [`restore`] did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    /// The database now in use.
    pub database: PathBuf,
    /// Where the one it replaced went.
    pub replaced: Option<PathBuf>,
}

/// Writes a consistent copy of the database of a data directory to a new file, also while a server uses
/// the directory: a reader needs no lock.
///
/// # Errors
/// If there is no database, the file exists already, or it cannot be written.
pub fn backup_dir(dir: &Path, to: &Path) -> Result<(), StoreError> {
    let database = dir::whole(dir)?.join(dir::DATABASE);
    if dir::size(&database) == 0 {
        return Err(StoreError::Failed(format!(
            "there is no database in {}; name the directory that the server was started with",
            dir.display()
        )));
    }
    backup(&database, to)
}

/// Writes a consistent copy of a database to a new file. The copy has its final name only once it is whole
/// and synced.
pub(super) fn backup(database: &Path, to: &Path) -> Result<(), StoreError> {
    let to = &dir::whole(to)?;
    let failed = |what: &str, error: &dyn std::fmt::Display| {
        StoreError::Failed(format!("cannot {what} the backup {}: {error}", to.display()))
    };
    if to.exists() {
        return Err(StoreError::Failed(format!(
            "the backup {} exists already; choose another name",
            to.display()
        )));
    }
    let partial = dir::beside(to, ".partial");
    if let Err(error) = fs::remove_file(&partial)
        && error.kind() != std::io::ErrorKind::NotFound
    {
        return Err(failed("prepare", &error));
    }
    let copied = copy(database, &partial).and_then(|()| {
        // A link refuses to replace a file that appeared meanwhile; a rename would not.
        fs::hard_link(&partial, to).map_err(|error| failed("name", &error))?;
        let parent = to.parent().unwrap_or(Path::new("."));
        dir::sync_dir(parent).map_err(|error| failed("sync", &error))
    });
    let removed = fs::remove_file(&partial);
    copied?;
    removed.map_err(|error| failed("finish", &error))
}

/// Puts a backup in the place of the database of a data directory.
///
/// # Errors
/// If a server uses the directory, the backup is damaged or newer than this binary, or there is a database
/// and `force` is not set. Then nothing was changed.
pub fn restore(backup: &Path, dir: &Path, options: RestoreOptions) -> Result<Restored, StoreError> {
    let failed = |what: &str, error: &dyn std::fmt::Display| {
        StoreError::Failed(format!("cannot {what} {}: {error}", backup.display()))
    };
    let backup = &dir::whole(backup)?;
    let data = DataDir::lock(dir)?;
    let database = data.database();
    if dir::size(&database) > 0 && !options.force {
        return Err(StoreError::Failed(format!(
            "there is a database in {}; use --force to replace it (it is kept aside)",
            dir.display()
        )));
    }
    check(backup)?;
    // The term is raised in a copy beside the database, so that a failure leaves the old one in place.
    let incoming = dir::beside(&database, ".incoming");
    fs::copy(backup, &incoming).map_err(|error| failed("copy", &error))?;
    restrict(&incoming).and_then(|()| raise_term(&incoming))?;
    let replaced = set_aside(&database)?;
    fs::rename(&incoming, &database).map_err(|error| failed("put in place", &error))?;
    dir::sync_dir(dir).map_err(|error| failed("sync", &error))?;
    Ok(Restored { database, replaced })
}

fn copy(database: &Path, to: &Path) -> Result<(), StoreError> {
    let target = to.to_str().ok_or_else(|| {
        StoreError::Failed(format!("cannot write the backup {}: the name is not UTF-8", to.display()))
    })?;
    let conn = connection::reader(database)?;
    conn.execute("VACUUM INTO ?1", [target])
        .map_err(|error| error::writing(&format!("cannot write the backup {}", to.display()), &error))?;
    restrict(to)?;
    File::open(to)
        .and_then(|file| file.sync_all())
        .map_err(|error| StoreError::Failed(format!("cannot sync the backup {}: {error}", to.display())))
}

/// A backup must be whole and of a version that this binary knows.
fn check(backup: &Path) -> Result<(), StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(backup, flags)
        .map_err(|error| error::reading(&format!("cannot open the backup {}", backup.display()), &error))?;
    let whole: Result<String, _> = conn.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0));
    match whole {
        Ok(text) if text == "ok" => {}
        Ok(detail) => return Err(damaged(backup, &detail)),
        Err(error) => return Err(damaged(backup, &error)),
    }
    match migrate::known_version(&conn)? {
        0 => Err(StoreError::Failed(format!("{} is not a backup of ganger", backup.display()))),
        _ => Ok(()),
    }
}

fn damaged(backup: &Path, detail: &dyn std::fmt::Display) -> StoreError {
    StoreError::Failed(format!("the backup {} is damaged ({detail}); use another one", backup.display()))
}

fn raise_term(database: &Path) -> Result<(), StoreError> {
    let raise = || -> rusqlite::Result<()> {
        let conn = Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        conn.pragma_update(None, "synchronous", "FULL")?;
        conn.execute("UPDATE leader SET term = term + ?1, batch = 0, outcomes = NULL", [TERM_STEP])?;
        conn.close().map_err(|(_, error)| error)
    };
    raise().map_err(|error| error::writing("cannot raise the term of the restored database", &error))?;
    File::open(database)
        .and_then(|file| file.sync_all())
        .map_err(|error| StoreError::Failed(format!("cannot sync {}: {error}", database.display())))
}

/// Moves a database away, with its log, to the first free name.
fn set_aside(database: &Path) -> Result<Option<PathBuf>, StoreError> {
    if !database.exists() {
        return Ok(None);
    }
    let free =
        (1..1000).map(|n| dir::beside(database, &format!(".replaced-{n}"))).find(|path| !path.exists());
    let aside = free.ok_or_else(|| {
        StoreError::Failed(format!("cannot keep {} aside: remove old copies beside it", database.display()))
    })?;
    // The log first: without its database it means nothing, and a database without its log is only older.
    for suffix in ["-wal", "-shm", ""] {
        let from = dir::beside(database, suffix);
        if from.exists() {
            fs::rename(&from, dir::beside(&aside, suffix)).map_err(|error| {
                StoreError::Failed(format!("cannot keep {} aside: {error}", from.display()))
            })?;
        }
    }
    Ok(Some(aside))
}

/// Access for the owner only.
fn restrict(path: &Path) -> Result<(), StoreError> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))
        .map_err(|error| StoreError::Failed(format!("cannot restrict access to {}: {error}", path.display())))
}
