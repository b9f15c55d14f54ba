//! The data directory: who may use it, and what lies in it.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::store::StoreError;

/// The database.
pub(super) const DATABASE: &str = "ganger.db";
/// Locked by the process that uses the directory.
pub(super) const LOCK: &str = "ganger.lock";

/// A file that is opened must be one, and no link that somebody put there.
const NO_LINK: i32 = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();

/// A data directory that this process alone may use, for as long as this value lives. The lock is the
/// kernel's: it ends with the process, however that ends.
#[derive(Debug)]
pub(super) struct DataDir {
    path: PathBuf,
    lock: File,
}

impl Drop for DataDir {
    /// A process that was just forked here has the file open, too, until it becomes another program: closing ours would not be enough.
    fn drop(&mut self) {
        // What cannot be unlocked is so at the latest when the last of them closes it.
        let _ = self.lock.unlock();
    }
}

impl DataDir {
    /// Makes the directory if there is none, for its owner only, and locks it.
    pub(super) fn lock(path: &Path) -> Result<DataDir, StoreError> {
        let failed = |what: &str, error: io::Error| {
            StoreError::Failed(format!("cannot {what} the data directory {}: {error}", path.display()))
        };
        DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(|e| failed("create", e))?;
        keep_others_out(path).map_err(|e| failed("protect", e))?;
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .custom_flags(NO_LINK)
            .open(path.join(LOCK))
            .map_err(|e| failed("open the lock of", e))?;
        match lock.try_lock() {
            Ok(()) => Ok(DataDir { path: whole(path)?, lock }),
            Err(TryLockError::WouldBlock) => Err(StoreError::Failed(format!(
                "the data directory {} is in use by another ganger process; stop that one, or choose another directory",
                path.display()
            ))),
            Err(TryLockError::Error(error)) => Err(failed("lock", error)),
        }
    }

    /// The database file, made with access for its owner only: payloads are nobody else's business.
    pub(super) fn create_database(&self) -> Result<PathBuf, StoreError> {
        let path = self.database();
        if fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_symlink()) {
            return Err(StoreError::Failed(format!(
                "{} is a symbolic link, which may lead to a file of somebody else; move the whole directory instead, and name it with --data",
                path.display()
            )));
        }
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).write(true).mode(0o600).custom_flags(NO_LINK);
        options.open(&path).map_err(|error| {
            StoreError::Failed(format!("cannot open the database {}: {error}", path.display()))
        })?;
        Ok(path)
    }

    /// Where the database is, whether or not it exists.
    pub(super) fn database(&self) -> PathBuf {
        self.path.join(DATABASE)
    }
}

/// Whoever can write into the directory can replace the data, and whoever can read it has every payload. A directory of this user that
/// others can enter is closed to them; one of somebody else that everybody can write to is not used.
fn keep_others_out(path: &Path) -> io::Result<()> {
    let meta = fs::metadata(path)?;
    let mode = meta.mode() & 0o7777;
    if mode & 0o077 == 0 {
        return Ok(());
    }
    if meta.uid() == rustix::process::geteuid().as_raw() {
        tracing::warn!("others could look into {} (mode {mode:04o}): closed it to them", path.display());
        return fs::set_permissions(path, fs::Permissions::from_mode(0o700));
    }
    if mode & 0o002 != 0 {
        let why = format!("it is not yours and everybody can write to it (mode {mode:04o}); chmod o-rwx it");
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    }
    Ok(())
}

/// Which file a path led to when it was opened. A file that was removed can still be written to, and
/// nothing of that survives: whoever acknowledges a write should look first.
#[derive(Debug)]
pub(super) struct Identity {
    path: PathBuf,
    file: (u64, u64),
}

impl Identity {
    /// The file that is there now.
    pub(super) fn of(path: PathBuf) -> Result<Identity, StoreError> {
        match fs::metadata(&path) {
            Ok(meta) => Ok(Identity { path, file: (meta.dev(), meta.ino()) }),
            Err(error) => {
                Err(StoreError::Failed(format!("cannot look at the database {}: {error}", path.display())))
            }
        }
    }

    /// Whether it is still the one.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        let gone = |how: &str| {
            let path = self.path.display();
            let advice = "put it back, or stop the server and restore a backup";
            Err(StoreError::Unavailable(format!("the database {path} was {how} while in use; {advice}")))
        };
        match fs::metadata(&self.path) {
            Ok(meta) if (meta.dev(), meta.ino()) == self.file => Ok(()),
            Ok(_) => gone("replaced"),
            Err(_) => gone("removed"),
        }
    }
}

/// The path from the root. SQLite takes a name that begins with `file:` for an address with options, which
/// could name another file, or switch off what the promises rest on; a path from the root it takes as it is.
pub(super) fn whole(path: &Path) -> Result<PathBuf, StoreError> {
    std::path::absolute(path)
        .map_err(|error| StoreError::Failed(format!("cannot find the path {}: {error}", path.display())))
}

/// A file that SQLite keeps beside a database: `-wal` or `-shm`.
pub(super) fn beside(database: &Path, suffix: &str) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Makes the names in a directory as durable as the files they stand for.
pub(super) fn sync_dir(dir: &Path) -> io::Result<()> {
    let dir = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
    File::open(dir)?.sync_all()
}

/// The size of a file; 0 if there is none.
pub(super) fn size(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |meta| meta.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_free_again_although_a_forked_process_has_its_lock_open() {
        let parent = tempfile::tempdir().unwrap();
        let dir = DataDir::lock(parent.path()).unwrap();
        let forked = dir.lock.try_clone().unwrap();
        assert!(DataDir::lock(parent.path()).is_err(), "it is in use");
        drop(dir);
        assert!(DataDir::lock(parent.path()).is_ok());
        drop(forked);
    }
}
