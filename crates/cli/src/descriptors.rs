//! File descriptors: as many as the system lets this process have.

use ganger_server::listener::OTHER_DESCRIPTORS;
use rustix::process::{Resource, getrlimit, setrlimit};

/// More are not asked for: a server has room for fewer connections.
const WANTED: u64 = 65_536;

/// Raises the soft limit towards the hard one, and tells how many connections a server has room for.
///
/// Most systems start programs with a soft limit of 1,024, for those that use `select`; this one does not.
pub(crate) fn raise(connections: usize) -> usize {
    let mut limit = getrlimit(Resource::Nofile);
    let hard = limit.maximum.unwrap_or(WANTED).min(WANTED);
    if limit.current.is_some_and(|current| current < hard) {
        let before = limit.current;
        limit.current = Some(hard);
        if let Err(error) = setrlimit(Resource::Nofile, limit) {
            tracing::warn!("cannot raise the limit of open files to {hard}: {error}");
            limit.current = before;
        }
    }
    room(limit.current, connections)
}

/// How many of the connections that are wanted fit into so many file descriptors.
fn room(descriptors: Option<u64>, connections: usize) -> usize {
    let all = usize::try_from(descriptors.unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
    // A process that may have very few keeps half of them for itself.
    connections.min(all.saturating_sub(OTHER_DESCRIPTORS).max(all / 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_descriptors_for_everything_else() {
        assert_eq!(room(None, 24_000), 24_000);
        assert_eq!(room(Some(65_536), 24_000), 24_000);
        assert_eq!(room(Some(1_024), 24_000), 1_024 - OTHER_DESCRIPTORS);
        assert_eq!(room(Some(256), 24_000), 128);
        assert_eq!(room(Some(1_024), 100), 100);
    }
}
