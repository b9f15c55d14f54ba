//! Looking at a data directory from outside, also while a server uses it.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use super::{connection, dir, error, health};
use crate::inspect::{Clocks, DatabaseReport, DirReport, TRIES, Times, Unusual};
use crate::store::StoreError;

/// As much as SQLite writes at the least.
const PAGE: [u8; 4096] = [0; 4096];

/// Looks at a data directory; `None` if there is none. A small file is written into it, and removed.
///
/// # Errors
/// It cannot be read or written.
pub fn inspect(path: &Path, clocks: Clocks<'_>) -> Result<Option<DirReport>, StoreError> {
    let failed = |what: &str, error: io::Error| {
        StoreError::Failed(format!("cannot {what} the data directory {}: {error}", path.display()))
    };
    let meta = match fs::metadata(path) {
        Ok(meta) => meta,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed("look at", error)),
    };
    let directory = dir::whole(path)?;
    let database = directory.join(dir::DATABASE);
    Ok(Some(DirReport {
        database: if database.exists() { Some(look(&database, clocks)?) } else { None },
        unusual: unusual(&directory).map_err(|error| failed("look at", error))?,
        open_to_others: meta.permissions().mode() & 0o077 != 0,
        in_use: is_locked(&directory),
        disk: health::disk(&directory)?,
        syncs: syncs(&directory, clocks).map_err(|error| failed("write into", error))?,
    }))
}

fn look(database: &Path, clocks: Clocks<'_>) -> Result<DatabaseReport, StoreError> {
    let conn = connection::reader(database)?;
    let asked = || -> rusqlite::Result<DatabaseReport> {
        let journal = conn.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
        let mut times = Vec::with_capacity(TRIES);
        for _ in 0..TRIES {
            let began = (clocks.elapsed)();
            conn.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0))?;
            times.push((clocks.elapsed)().saturating_sub(began));
        }
        Ok(DatabaseReport { journal, reads: Times::new(times) })
    };
    let what = format!("cannot read the database {}", database.display());
    asked().map_err(|cause| error::reading(&what, &cause))
}

/// Whether somebody holds the lock, as the kernel lists it. Trying it would keep out a server that starts just then.
fn is_locked(directory: &Path) -> bool {
    let Ok(meta) = fs::metadata(directory.join(dir::LOCK)) else { return false };
    let inode = format!(":{}", meta.ino());
    let locks = fs::read_to_string("/proc/locks").unwrap_or_default();
    locks.lines().any(|line| {
        line.contains("FLOCK")
            && line.split_whitespace().any(|word| word.ends_with(&inode) && word.contains(':'))
    })
}

fn syncs(directory: &Path, clocks: Clocks<'_>) -> io::Result<Times> {
    let probe = Probe(directory.join(format!("doctor-{:016x}", rand::random::<u64>())));
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&probe.0)?;
    let mut times = Vec::with_capacity(TRIES);
    for _ in 0..TRIES {
        let began = (clocks.elapsed)();
        file.write_all(&PAGE)?;
        file.sync_data()?;
        times.push((clocks.elapsed)().saturating_sub(began));
    }
    Ok(Times::new(times))
}

/// A file that is removed whatever happens.
struct Probe(PathBuf);

impl Drop for Probe {
    fn drop(&mut self) {
        // A few pages that are left behind do no harm.
        let _ = fs::remove_file(&self.0);
    }
}

/// What a directory is on, by the number that the kernel gives to file systems.
fn unusual(directory: &Path) -> io::Result<Option<Unusual>> {
    let kind = rustix::fs::statfs(directory)?.f_type.cast_unsigned() & 0xffff_ffff;
    Ok(match kind {
        // NFS, SMB in its three versions, AFS, Ceph, 9P, FUSE, which is mostly some other machine.
        0x6969 | 0x517b | 0xff53_4d42 | 0xfe53_4d42 | 0x5346_414f | 0x00c3_6400 | 0x0102_1997
        | 0x6573_5546 => Some(Unusual::Network),
        0x0102_1994 | 0x8584_58f6 => Some(Unusual::Memory),
        0x794c_7630 => Some(Unusual::Container),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::{SqliteOptions, SqliteStore};
    use ganger_core::Wall;
    use std::time::Duration;

    fn clocks() -> Clocks<'static> {
        Clocks { elapsed: &|| Duration::ZERO, now: &|| Wall(0) }
    }

    #[test]
    fn a_directory_is_looked_at_while_it_is_used_and_nothing_is_left_in_it() {
        let dir = tempfile::tempdir().unwrap();
        assert!(inspect(&dir.path().join("none"), clocks()).unwrap().is_none());
        let data = dir.path().join("data");
        let store = SqliteStore::open(&data, SqliteOptions::default()).unwrap();
        let used = inspect(&data, clocks()).unwrap().unwrap();
        assert!(used.in_use && !used.open_to_others);
        assert_eq!(used.database.unwrap().journal, "wal");
        assert!(used.disk.total_bytes > 0 && used.disk.used_bytes > 0);
        drop(store);
        let idle = inspect(&data, clocks()).unwrap().unwrap();
        assert!(!idle.in_use);
        let left = fs::read_dir(&data).unwrap().filter_map(Result::ok);
        assert!(!left.into_iter().any(|entry| entry.file_name().to_string_lossy().starts_with("doctor-")));
        fs::set_permissions(&data, fs::Permissions::from_mode(0o755)).unwrap();
        assert!(inspect(&data, clocks()).unwrap().unwrap().open_to_others);
    }

    #[test]
    fn what_is_in_memory_is_told_from_a_disk() {
        let memory = Path::new("/dev/shm");
        if memory.is_dir() {
            assert_eq!(unusual(memory).unwrap(), Some(Unusual::Memory));
        }
    }
}
