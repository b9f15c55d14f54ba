//! Cleans up behind a server whose test process is gone, however it went.
//!
//! A destructor does not run when a process is killed, and not for a `static` either. So a small shell waits
//! at the end of a pipe that only the test process holds: when that closes, it ends the server and removes
//! its directory.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// `$1` is the directory. The server's pid is believed only if its command line names the directory, because a pid
/// may have been given to somebody else meanwhile.
const SCRIPT: &str = r#"
cat >/dev/null
pid=$(cat "$1/pid" 2>/dev/null)
if [ -n "$pid" ] && tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | grep -qF "$1"; then
  kids=$(cat "/proc/$pid/task/$pid/children" 2>/dev/null)
  kill -CONT $pid $kids 2>/dev/null
  kill -QUIT $pid 2>/dev/null
  tries=0
  while kill -0 $pid 2>/dev/null && [ $tries -lt 50 ]; do sleep 0.1; tries=$((tries + 1)); done
  kill -KILL $pid $kids 2>/dev/null
fi
rm -rf "$1"
"#;

/// A shell that waits for the end of this process.
#[derive(Debug)]
pub(super) struct Janitor(Child);

impl Janitor {
    /// For the server that keeps its pid in the file `pid` of this directory.
    pub(super) fn of(dir: &Path) -> Janitor {
        let mut shell = Command::new("sh");
        // In a group of its own, so that an interrupt at the terminal does not end it with the tests.
        shell.args(["-c", SCRIPT, "janitor"]).arg(dir).process_group(0).stdin(Stdio::piped());
        shell.stdout(Stdio::null()).stderr(Stdio::null());
        Janitor(shell.spawn().expect("a shell can be started"))
    }
}

impl Drop for Janitor {
    fn drop(&mut self) {
        // Closing its input is the signal; its work is bounded.
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}
