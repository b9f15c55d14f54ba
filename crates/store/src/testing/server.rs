//! A server process in a directory of its own: started, stopped, killed, paused, started again.

use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use super::janitor::Janitor;

/// How often a condition is looked at, and how many times: half a minute in all.
const LOOK_EVERY: Duration = Duration::from_millis(20);
const LOOKS: usize = 1_500;

/// A running server process, or one that was killed and can be started again.
#[derive(Debug)]
pub(super) struct Server {
    dir: PathBuf,
    child: Option<Child>,
    _janitor: Janitor,
}

impl Server {
    /// A new directory under the janitor's eye, without a process yet.
    pub(super) fn new(name: &str) -> Server {
        let dir = tempfile::Builder::new()
            .prefix(&format!("ganger-{name}-"))
            .tempdir()
            .expect("a temporary directory can be made")
            .keep();
        let janitor = Janitor::of(&dir);
        Server { dir, child: None, _janitor: janitor }
    }

    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Starts the process, with what it says going to the file `log`, and waits until `ready` says so of its pid.
    /// Tells whether that came to pass; if not, the process is over.
    pub(super) fn start(&mut self, mut command: Command, ready: impl Fn(u32) -> bool) -> bool {
        let log = std::fs::File::options()
            .create(true)
            .append(true)
            .open(self.dir.join("log"))
            .expect("a log can be opened");
        let errors = log.try_clone().expect("a log can be shared");
        command.stdin(Stdio::null()).stdout(log).stderr(errors);
        let child = command.spawn().unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
        let pid = child.id();
        std::fs::write(self.dir.join("pid"), pid.to_string()).expect("a pid can be written");
        let child = self.child.insert(child);
        wait_until(|| ready(pid) || child.try_wait().is_ok_and(|over| over.is_some()));
        if ready(pid) {
            return true;
        }
        self.kill();
        false
    }

    /// What it said so far.
    pub(super) fn log(&self) -> String {
        std::fs::read_to_string(self.dir.join("log")).unwrap_or_default()
    }

    /// `kill -9` of the process and of those it started, which are gone afterwards.
    pub(super) fn kill(&mut self) {
        let family = self.family();
        for pid in &family {
            let _ = kill_process(*pid, Signal::KILL);
        }
        self.reap();
        wait_until(|| family.iter().all(|pid| is_gone(*pid)));
    }

    /// Asks the process to stop by this signal, and kills it if it does not.
    pub(super) fn stop(&mut self, signal: Signal) {
        let Some(child) = &mut self.child else { return };
        self::signal(&[Pid::from_child(child)], Signal::CONT);
        self::signal(&[Pid::from_child(child)], signal);
        if looks(|| child.try_wait().is_ok_and(|over| over.is_some())) {
            self.reap();
        } else {
            self.kill();
        }
    }

    /// Stops the process and those it started in their tracks (`SIGSTOP`): connections stay open, nobody answers.
    pub(super) fn pause(&self) {
        signal(&self.family(), Signal::STOP);
    }

    /// Lets them go on (`SIGCONT`).
    pub(super) fn resume(&self) {
        signal(&self.family(), Signal::CONT);
    }

    /// The process and its children, itself first.
    fn family(&self) -> Vec<Pid> {
        let Some(child) = &self.child else { return Vec::new() };
        let parent = child.id();
        let children =
            std::fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).unwrap_or_default();
        let children = children.split_whitespace().filter_map(|pid| pid.parse().ok());
        std::iter::once(parent.cast_signed()).chain(children).filter_map(Pid::from_raw).collect()
    }

    fn reap(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.wait();
        }
        let _ = std::fs::remove_file(self.dir.join("pid"));
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Nothing of it is wanted any more; the janitor then removes the directory.
        self.kill();
    }
}

/// A port that nobody used a moment ago.
pub(super) fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port can be bound");
    listener.local_addr().expect("a bound port has an address").port()
}

/// Waits for a condition.
///
/// # Panics
/// If it does not come true in half a minute.
pub(super) fn wait_until(condition: impl FnMut() -> bool) {
    assert!(looks(condition), "waited in vain");
}

fn looks(mut condition: impl FnMut() -> bool) -> bool {
    for _ in 0..LOOKS {
        if condition() {
            return true;
        }
        std::thread::sleep(LOOK_EVERY);
    }
    false
}

fn signal(to: &[Pid], signal: Signal) {
    for pid in to {
        let _ = kill_process(*pid, signal);
    }
}

/// Gone, or dead and only waiting for its parent to notice.
fn is_gone(pid: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
    stat.map_or(true, |stat| stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z')))
}
