//! Telling systemd how this service is: ready, alive, stopping (`Type=notify`, `WatchdogSec=`).
//!
//! The protocol is a datagram of lines to the socket that `NOTIFY_SOCKET` names; without that variable nothing is said. It is
//! small enough to be spoken here, and other managers of services speak it as well.
//!
//! # What the watchdog watches
//! A sign of life is sent only after the part that does the work has answered: the coordinator's thread of a server, the
//! session's thread of a worker. A process that lives while that part hangs is silent, and its manager restarts it. A store or
//! a server that is away is no reason for silence: a restart would not mend it, and would cost what runs.

use std::os::unix::net::UnixDatagram;
use std::time::Duration;

use tracing::{debug, warn};

use crate::config::Environment;

/// How often the status is told anew, at the least, and signs of life at the most.
const EVERY: Duration = Duration::from_secs(5);

/// Whoever started this service and wants to hear of it; perhaps nobody.
#[derive(Debug)]
pub(crate) struct Manager {
    socket: Option<UnixDatagram>,
    watchdog: Option<Duration>,
}

impl Manager {
    /// As the environment says.
    pub(crate) fn of(environment: &Environment) -> Manager {
        let socket = environment.notify_socket().and_then(|name| match connect(name) {
            Ok(socket) => Some(socket),
            Err(error) => {
                warn!("cannot tell the service manager how this service is: {name}: {error}");
                None
            }
        });
        Manager { socket, watchdog: environment.watchdog(std::process::id()) }
    }

    /// It serves from now on.
    pub(crate) fn ready(&self, status: &str) {
        self.tell(&format!("READY=1\nSTATUS={}", on_one_line(status)));
    }

    /// It serves no longer, and ends when what is under way is done.
    pub(crate) fn stopping(&self, status: &str) {
        self.tell(&format!("STOPPING=1\nSTATUS={}", on_one_line(status)));
    }

    /// Tells that the service lives, for as long as it is `alive`, and how it stands when that changes. Never returns.
    pub(crate) async fn watched(
        &self,
        alive: impl AsyncFn() -> bool,
        status: impl AsyncFn() -> Option<String>,
    ) {
        if self.socket.is_none() {
            return std::future::pending().await;
        }
        // Twice as often as it must, as systemd asks: one sign may come late.
        let every = self.watchdog.map_or(EVERY, |limit| (limit / 2).min(EVERY));
        let (mut told, mut silent) = (None, false);
        loop {
            let lives = alive().await;
            if lives && self.watchdog.is_some() {
                self.tell("WATCHDOG=1");
            }
            if !lives && !silent {
                warn!("what does the work does not answer: gives no sign of life to the service manager");
            }
            silent = !lives;
            let stands = status().await;
            if lives && stands.is_some() && stands != told {
                self.tell(&format!("STATUS={}", on_one_line(stands.as_deref().unwrap_or_default())));
                told = stands;
            }
            tokio::time::sleep(every).await;
        }
    }

    fn tell(&self, lines: &str) {
        let Some(socket) = &self.socket else { return };
        // A manager that does not read loses this one; the next comes soon, and it must not hold up the service.
        if let Err(error) = socket.send(lines.as_bytes()) {
            debug!("the service manager does not take `{lines}`: {error}");
        }
    }
}

/// A status is one line of a message of lines.
fn on_one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

fn connect(name: &str) -> std::io::Result<UnixDatagram> {
    let socket = UnixDatagram::unbound()?;
    socket.set_nonblocking(true)?;
    match name.strip_prefix('@') {
        None => socket.connect(name)?,
        Some(name) => connect_to_abstract(&socket, name)?,
    }
    Ok(socket)
}

#[cfg(target_os = "linux")]
fn connect_to_abstract(socket: &UnixDatagram, name: &str) -> std::io::Result<()> {
    use std::os::linux::net::SocketAddrExt as _;
    socket.connect_addr(&std::os::unix::net::SocketAddr::from_abstract_name(name)?)
}

#[cfg(not(target_os = "linux"))]
fn connect_to_abstract(_: &UnixDatagram, _: &str) -> std::io::Result<()> {
    Err(std::io::Error::other("names of sockets without files are known on Linux only"))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use super::*;

    fn listening() -> (tempfile::TempDir, UnixDatagram, Manager) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("notify");
        let socket = UnixDatagram::bind(&path).unwrap();
        socket.set_nonblocking(true).unwrap();
        let name = path.display().to_string();
        let environment = Environment::of(&[("NOTIFY_SOCKET", &name), ("WATCHDOG_USEC", "40000")]);
        (dir, socket, Manager::of(&environment))
    }

    fn heard(socket: &UnixDatagram) -> Vec<String> {
        let mut buffer = [0; 4096];
        let receive =
            || socket.recv(&mut buffer).ok().map(|n| String::from_utf8_lossy(&buffer[..n]).into_owned());
        std::iter::from_fn(receive).collect()
    }

    /// Waits until a condition holds.
    async fn eventually<T>(what: &str, mut condition: impl FnMut() -> Option<T>) -> T {
        for _ in 0..6_000 {
            if let Some(value) = condition() {
                return value;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        panic!("waited in vain: {what}");
    }

    #[tokio::test]
    async fn signs_of_life_stop_while_the_work_hangs_and_come_back_with_it() {
        let (_dir, socket, manager) = listening();
        manager.ready("listens\non a port");
        assert_eq!(heard(&socket), ["READY=1\nSTATUS=listens on a port"]);
        let (lives, looks) = (AtomicBool::new(true), AtomicUsize::new(0));
        let alive = async || {
            looks.fetch_add(1, Ordering::Relaxed);
            lives.load(Ordering::Relaxed)
        };
        let looked = async |times: usize| {
            let enough = looks.load(Ordering::Relaxed) + times;
            eventually("it looks", || (looks.load(Ordering::Relaxed) >= enough).then_some(())).await;
        };
        let watched = manager.watched(alive, async || Some("leads".to_owned()));
        let story = async {
            looked(3).await;
            let signs = heard(&socket);
            assert_eq!(signs[..2], ["WATCHDOG=1", "STATUS=leads"]);
            assert!(signs[2..].iter().all(|sign| sign == "WATCHDOG=1"), "a status is told once: {signs:?}");
            lives.store(false, Ordering::Relaxed);
            looked(1).await;
            heard(&socket);
            looked(3).await;
            assert_eq!(heard(&socket), Vec::<String>::new());
            lives.store(true, Ordering::Relaxed);
            eventually("signs again", || heard(&socket).contains(&"WATCHDOG=1".to_owned()).then_some(()))
                .await;
        };
        tokio::select! {
            () = watched => unreachable!("it never returns"),
            () = story => {}
        }
        heard(&socket);
        manager.stopping("drains");
        assert_eq!(heard(&socket), ["STOPPING=1\nSTATUS=drains"]);
    }

    #[tokio::test]
    async fn without_a_manager_nothing_is_said_and_nothing_asked() {
        let manager = Manager::of(&Environment::of(&[]));
        manager.ready("x");
        let asked = AtomicBool::new(false);
        let alive = async || asked.swap(true, Ordering::Relaxed);
        let watched = manager.watched(alive, async || None);
        assert!(tokio::time::timeout(Duration::from_millis(50), watched).await.is_err());
        assert!(!asked.load(Ordering::Relaxed));
    }

    #[test]
    fn a_manager_that_is_not_there_is_no_reason_to_fail() {
        let manager = Manager::of(&Environment::of(&[("NOTIFY_SOCKET", "/nowhere/notify")]));
        manager.ready("x");
        assert!(manager.socket.is_none());
    }
}
