//! The processes that are measured: a server and workers, each of this very binary.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal};
use serde::Deserialize;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use super::target::Target;
use crate::config::ServerUrl;
use crate::exit::Exit;
use crate::failure::{Failure, Fallible};

/// The longest wait for a process to be ready, or to end. One that loads millions of jobs takes a while.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);
/// How often removing the directory is tried, while processes that were killed are still writing.
const REMOVALS: u32 = 50;
/// Between two tries.
const PAUSE: Duration = Duration::from_millis(20);

/// The directory for everything, removed when dropped.
#[derive(Debug)]
pub(super) struct Directory(PathBuf);

impl Directory {
    /// Makes one.
    pub(super) fn make(parent: &Path) -> Fallible<Directory> {
        let path = parent.join(format!(".ganger-bench-{}", std::process::id()));
        fs::create_dir(&path).map_err(|error| {
            Failure::file(
                format!("cannot make {}", path.display()),
                &error,
                "use --dir with a writable directory",
            )
        })?;
        Ok(Directory(path))
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Starts a server of this target, on a port that is free or on the one that is given, and tells where it listens.
    pub(super) async fn server(&self, target: &Target, listen: &str) -> Fallible<(Child, ServerUrl)> {
        let flags = target.flags();
        let mut args = vec!["server", "--auth", "off", "--listen", listen, "-o", "json"];
        args.extend(flags.iter().map(String::as_str));
        let mut server = self.spawn(target, &args)?;
        let url = first_line(&mut server, || self.log("server")).await?;
        Ok((server, url))
    }

    /// Starts a worker with the kinds that are built in.
    pub(super) fn worker(&self, target: &Target, url: &ServerUrl, threads: u16) -> Fallible<Child> {
        self.spawn(target, &["worker", "--url", &url.to_string(), "--threads", &threads.to_string()])
    }

    /// Starts workers of the benchmark's own.
    pub(super) fn crew(&self, target: &Target, orders: &str) -> Fallible<Child> {
        self.spawn(target, &["bench", "--crew", orders])
    }

    /// What a process said.
    pub(super) fn log(&self, of: &str) -> String {
        fs::read_to_string(self.0.join(format!("{of}.log"))).unwrap_or_default().trim().to_owned()
    }

    fn spawn(&self, target: &Target, args: &[&str]) -> Fallible<Child> {
        let failed =
            |error: std::io::Error| Failure::file(format!("cannot start `ganger {}`", args[0]), &error, "");
        let program = std::env::current_exe().map_err(failed)?;
        let log = self.0.join(format!("{}.log", args[0]));
        let log = fs::OpenOptions::new().create(true).append(true).open(log).map_err(failed)?;
        let mut command = Command::new(program);
        target.tell(&mut command);
        command
            .args(args)
            .current_dir(&self.0)
            .env("GANGER_LOG", "warn")
            // What a server notes for commands of its user goes with everything else.
            .env("XDG_DATA_HOME", std::path::absolute(&self.0).unwrap_or_else(|_| self.0.to_path_buf()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            .kill_on_drop(true)
            .spawn()
            .map_err(failed)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        // It is ours alone, and named after this process; what stays behind does no harm.
        for _ in 0..REMOVALS {
            if fs::remove_dir_all(&self.0).is_ok() || !self.0.exists() {
                return;
            }
            std::thread::sleep(PAUSE);
        }
    }
}

/// Ends a process in order; one that does not end in time is killed when dropped.
pub(super) async fn stop(child: &mut Child) {
    signal(child, Signal::TERM);
    let _ = tokio::time::timeout(PATIENCE, child.wait()).await;
}

/// Ends a process at once, and waits until it is gone.
pub(super) async fn kill(child: &mut Child) {
    // If it is gone already there is nothing to kill.
    let _ = child.kill().await;
}

fn signal(child: &Child, signal: Signal) {
    let pid = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    if let Some(pid) = pid {
        // If it is gone already there is nothing to stop.
        let _ = rustix::process::kill_process(pid, signal);
    }
}

/// The server says where it listens as soon as it does.
async fn first_line(child: &mut Child, log: impl Fn() -> String) -> Fallible<ServerUrl> {
    #[derive(Deserialize)]
    struct Ready {
        url: String,
    }
    let failed = |why: String| Failure::new(Exit::Failure, "the server does not start", why, log());
    let stdout = child.stdout.take().ok_or_else(|| failed("it has no output".into()))?;
    let mut lines = BufReader::new(stdout).lines();
    let line = tokio::time::timeout(PATIENCE, lines.next_line())
        .await
        .map_err(|_| failed("it is not ready in time".into()))?
        .map_err(|error| failed(error.to_string()))?
        .ok_or_else(|| failed("it ended at once".into()))?;
    let ready: Ready = serde_json::from_str(&line).map_err(|error| failed(format!("{error} in `{line}`")))?;
    ready.url.parse().map_err(failed)
}
