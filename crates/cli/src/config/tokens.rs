//! Where the tokens of a server on this machine are: one place per store, and a way to find it by the server's port.
//!
//! A server that keeps its jobs in a directory has its tokens there. One that keeps them in a database has a directory named
//! after that database, so that two clusters of one user never meet in one file. A running server notes its port, its process and that
//! directory; commands that are told nothing else find their token by it.

use std::path::{Path, PathBuf};

use super::{Origin, Place, Setting};

/// Longest part of a directory's name that people read.
const READABLE: usize = 60;

/// Where tokens of servers on this machine are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TokenPlaces {
    /// Those of the server that the settings describe.
    pub(crate) dir: PathBuf,
    /// Where running servers note themselves, if this user has such a place and nobody said where the data is.
    notes: PathBuf,
    asked_by_port: bool,
}

impl TokenPlaces {
    /// By where the data and the store are; `home` is what this user keeps of Ganger.
    pub(super) fn of(data: &Setting<PathBuf>, store: &Setting<Place>, home: &Path) -> TokenPlaces {
        let unsaid = data.origin == Origin::Default;
        let dir = match &store.value {
            Place::Postgres(url) if unsaid => home.join("stores").join(name_of_database(url)),
            Place::Postgres(_) | Place::Sqlite(_) => data.value.clone(),
        };
        let asked_by_port = unsaid && store.origin == Origin::Default;
        TokenPlaces { dir, notes: home.join("servers"), asked_by_port }
    }

    /// Notes that a server of this process listens on that port, with its tokens in that directory.
    pub(crate) fn note(&self, port: u16, dir: &Path) -> std::io::Result<()> {
        private_dir(&self.notes)?;
        let dir = std::path::absolute(dir)?;
        let note = format!("{}\n{}", std::process::id(), dir.display());
        crate::exec_token::keep(&self.notes.join(port.to_string()), &note)
    }

    /// Where the tokens of the server on that port of this machine are.
    pub(crate) fn of_port(&self, port: Option<u16>) -> PathBuf {
        let noted = port.filter(|_| self.asked_by_port).and_then(|port| self.noted(port));
        noted.unwrap_or_else(|| self.dir.clone())
    }

    /// What a server on that port noted, if it still runs.
    fn noted(&self, port: u16) -> Option<PathBuf> {
        let text = std::fs::read_to_string(self.notes.join(port.to_string())).ok()?;
        let (pid, dir) = text.trim_end().split_once('\n')?;
        let runs = Path::new("/proc").join(pid.parse::<u32>().ok()?.to_string()).exists();
        runs.then(|| PathBuf::from(dir))
    }
}

/// Makes a directory for its owner alone.
pub(crate) fn private_dir(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// A name for the database at an address: where it is and what it is called, not who uses it with which password.
fn name_of_database(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let rest = rest.split_once('?').map_or(rest, |(base, _)| base);
    let place = rest.rsplit_once('@').map_or(rest, |(_, place)| place).to_lowercase();
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' };
    let readable: String = place.chars().map(plain).take(READABLE).collect();
    // FNV-1a: two addresses must not share a name because of the characters that were replaced.
    let hash = place.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{}-{hash:016x}", readable.trim_matches(['-', '.']))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(store: &str, home: &Path) -> TokenPlaces {
        let data = Setting { value: home.join("dev"), origin: Origin::Default };
        let store = Setting { value: store.parse().unwrap(), origin: Origin::Default };
        TokenPlaces::of(&data, &store, home)
    }

    #[test]
    fn every_database_has_a_place_of_its_own_whoever_uses_it() {
        let home = Path::new("/home/ada/.local/share/ganger");
        let one = places("postgres://ada:hush@db:5432/jobs?sslmode=require", home).dir;
        assert_eq!(one, places("postgres://bob@DB:5432/jobs", home).dir);
        assert!(
            one.starts_with(home.join("stores")) && !one.display().to_string().contains("hush"),
            "{one:?}"
        );
        let others = ["postgres://db:5432/jobs2", "postgres://db:5433/jobs", "postgres://db-5432/jobs"];
        assert!(others.iter().all(|url| places(url, home).dir != one));
        assert_eq!(places("sqlite:/srv/g", home).dir, home.join("dev"));
    }

    #[test]
    fn a_server_is_found_by_its_port_while_it_runs() {
        let home = tempfile::tempdir().unwrap();
        let places = places("sqlite:/unused", home.path());
        assert_eq!(places.of_port(Some(8080)), home.path().join("dev"));
        places.note(8080, Path::new("/srv/own")).unwrap();
        assert_eq!(places.of_port(Some(8080)), Path::new("/srv/own"));
        assert_eq!(places.of_port(Some(8081)), home.path().join("dev"));
        // No process has this number.
        std::fs::write(home.path().join("servers/8080"), "4294967295\n/srv/own\n").unwrap();
        assert_eq!(places.of_port(Some(8080)), home.path().join("dev"));
    }
}
