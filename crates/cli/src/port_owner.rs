//! Who listens on a port of this machine, as far as `/proc` tells.

use std::fs;
use std::path::Path;

/// Processes that are looked at before the search is given up.
const PROCESSES: usize = 32_768;
/// Open files of one process that are looked at.
const FILES: usize = 4_096;
/// A listening socket, in the words of `/proc/net/tcp`.
const LISTENING: &str = "0A";

/// The process that listens on a port: its id and name. Processes of other users cannot be seen.
pub(crate) fn find(port: u16) -> Option<(u32, String)> {
    let inodes: Vec<String> = ["/proc/net/tcp", "/proc/net/tcp6"]
        .iter()
        .filter_map(|table| fs::read_to_string(table).ok())
        .flat_map(|table| table.lines().filter_map(|line| inode_of(line, port)).collect::<Vec<_>>())
        .map(|inode| format!("socket:[{inode}]"))
        .collect();
    if inodes.is_empty() {
        return None;
    }
    fs::read_dir("/proc").ok()?.take(PROCESSES).filter_map(Result::ok).find_map(|entry| {
        let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
        holds(&entry.path(), &inodes).then(|| (pid, name(&entry.path())))
    })
}

/// The inode of the socket that a line describes, if it listens on that port.
fn inode_of(line: &str, port: u16) -> Option<String> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let (_, hex) = fields.get(1)?.rsplit_once(':')?;
    let listens = u16::from_str_radix(hex, 16).ok()? == port && *fields.get(3)? == LISTENING;
    listens.then(|| fields.get(9).map(|inode| (*inode).to_owned())).flatten()
}

fn holds(process: &Path, sockets: &[String]) -> bool {
    let Ok(files) = fs::read_dir(process.join("fd")) else { return false };
    files.take(FILES).filter_map(Result::ok).any(|file| {
        fs::read_link(file.path())
            .is_ok_and(|target| sockets.iter().any(|socket| target.as_os_str() == socket.as_str()))
    })
}

fn name(process: &Path) -> String {
    fs::read_to_string(process.join("comm")).map_or_else(|_| "unknown".into(), |name| name.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_holder_of_a_port_is_found() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let (pid, _) = find(listener.local_addr().unwrap().port()).unwrap();
        assert_eq!(pid, std::process::id());
    }
}
