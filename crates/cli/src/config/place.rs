//! Where jobs are kept: a directory of this machine, or a database that several servers share.
//!
//! The address of a database may hold a password. It is shown without one, always.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// What stands in the place of a secret.
pub(crate) const MASK: &str = "***";

/// Where jobs are kept.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// `sqlite:DIR`: in this directory, for one server.
    Sqlite(PathBuf),
    /// `postgres://…`: in this database, for any number of servers.
    Postgres(String),
}

/// The text of a place, as a flag gives it. Not shown either, not even where flags are printed.
#[derive(Clone)]
pub(crate) struct RawStore(String);

impl RawStore {
    /// As it was given, for the settings.
    pub(crate) fn text(&self) -> &str {
        &self.0
    }
}

impl From<String> for RawStore {
    fn from(text: String) -> RawStore {
        RawStore(text)
    }
}

impl fmt::Debug for RawStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&masked(&self.0))
    }
}

impl FromStr for Place {
    type Err = String;

    /// The text of an error never contains the address.
    fn from_str(text: &str) -> Result<Place, String> {
        let known = "it is neither postgres://USER:PASSWORD@HOST:PORT/DATABASE nor sqlite:DIR";
        match text.split_once(':') {
            Some(("sqlite", "")) => Err("it names no directory; an example is sqlite:/var/lib/ganger".into()),
            Some(("sqlite", dir)) => Ok(Place::Sqlite(dir.into())),
            Some(("postgres" | "postgresql", rest)) if rest.starts_with("//") => {
                Ok(Place::Postgres(text.to_owned()))
            }
            Some(_) | None => Err(known.into()),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Sqlite(dir) => write!(f, "sqlite:{}", dir.display()),
            Place::Postgres(url) => f.write_str(&masked(url)),
        }
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Place({self})")
    }
}

/// An address without its secrets: neither the password of its user nor one among its parameters.
pub(crate) fn masked(url: &str) -> String {
    let (base, query) = url.split_once('?').map_or((url, None), |(base, query)| (base, Some(query)));
    let mut shown = match base.split_once("://") {
        // A password may hold an `@` that nobody escaped; a host cannot.
        Some((scheme, rest)) => match rest.rsplit_once('@') {
            Some((user, host)) => {
                let user = user.split_once(':').map_or(user.to_owned(), |(name, _)| format!("{name}:{MASK}"));
                format!("{scheme}://{user}@{host}")
            }
            None => base.to_owned(),
        },
        // Not an address at all: nobody can tell where a secret would be in it.
        None => MASK.to_owned(),
    };
    for (i, pair) in query.iter().flat_map(|query| query.split('&')).enumerate() {
        shown.push(if i == 0 { '?' } else { '&' });
        match pair.split_once('=') {
            Some((name, _)) if name.to_ascii_lowercase().contains("pass") => {
                shown.push_str(&format!("{name}={MASK}"));
            }
            Some(_) | None => shown.push_str(pair),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_never_shown() {
        for (url, shown) in [
            ("postgres://u:secret@h:5432/d", "postgres://u:***@h:5432/d"),
            ("postgresql://u:se@cr:et@h/d?sslmode=require", "postgresql://u:***@h/d?sslmode=require"),
            ("postgres://h/d?password=secret&user=u", "postgres://h/d?password=***&user=u"),
            ("postgres://u@h/d", "postgres://u@h/d"),
            ("postgres://h?host=/run/postgresql", "postgres://h?host=/run/postgresql"),
        ] {
            let place: Place = url.parse().unwrap();
            assert_eq!(place.to_string(), shown);
            assert!(!format!("{place:?}").contains("secret"));
        }
        for wrong in ["mysql://u:secret@h/d", "postgres:u:secret@h", "secret", "sqlite:"] {
            assert!(!wrong.parse::<Place>().unwrap_err().contains("secret"));
            assert!(!masked(wrong).contains("secret"), "{}", masked(wrong));
        }
    }

    #[test]
    fn a_directory_is_named_with_its_scheme() {
        assert_eq!("sqlite:/srv/g".parse::<Place>().unwrap(), Place::Sqlite("/srv/g".into()));
        assert_eq!("sqlite:rel".parse::<Place>().unwrap().to_string(), "sqlite:rel");
    }
}
