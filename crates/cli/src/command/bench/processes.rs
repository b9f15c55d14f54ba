//! The server and the worker that are measured: processes of this very binary.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use ganger_core::event::WorkerState;
use ganger_server::api::WorkersBody;
use rustix::process::{Pid, Signal};
use serde::Deserialize;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use super::target::Target;
use crate::client::{Call, Client};
use crate::clock::Stopwatch;
use crate::config::{Origin, ServerUrl};
use crate::exit::Exit;
use crate::failure::{Failure, Fallible};

/// The longest wait for a process to be ready, or to end.
const PATIENCE: Duration = Duration::from_secs(30);
/// Between two looks.
const LOOK: Duration = Duration::from_millis(20);

/// The directory for everything, removed when dropped.
#[derive(Debug)]
pub(super) struct Directory(PathBuf);

impl Directory {
    /// Starts a server of this target and a worker in it.
    pub(super) async fn start(self, target: &Target, threads: u16) -> Fallible<Processes> {
        let flags = target.flags();
        let mut args = vec!["server", "--auth", "off", "--listen", "127.0.0.1:0", "-o", "json"];
        args.extend(flags.iter().map(String::as_str));
        let mut server = self.command(target, &args)?;
        let url = first_line(&mut server).await?;
        let worker =
            self.command(target, &["worker", "--url", &url.to_string(), "--threads", &threads.to_string()])?;
        let processes = Processes { server, worker, url, directory: self };
        processes.wait_for_worker().await?;
        Ok(processes)
    }

    fn command(&self, target: &Target, args: &[&str]) -> Fallible<Child> {
        let failed = |error: std::io::Error| {
            Failure::file(format!("cannot start `ganger {}`", args.join(" ")), &error, "")
        };
        let program = std::env::current_exe().map_err(failed)?;
        let log = fs::File::create(self.0.join(format!("{}.log", args[0]))).map_err(failed)?;
        let mut command = Command::new(program);
        target.tell(&mut command);
        command
            .args(args)
            .current_dir(&self.0)
            .env("GANGER_LOG", "warn")
            .stdin(Stdio::null())
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
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A running server and a running worker.
#[derive(Debug)]
pub(super) struct Processes {
    server: Child,
    worker: Child,
    url: ServerUrl,
    // Dropped last: the processes write into it.
    directory: Directory,
}

/// CPU time that the processes have used so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cpu {
    /// Seconds of the server.
    pub(super) server: f64,
    /// Seconds of the worker.
    pub(super) worker: f64,
}

impl Cpu {
    /// What was used since.
    pub(super) fn since(self, earlier: Cpu) -> Cpu {
        Cpu { server: self.server - earlier.server, worker: self.worker - earlier.worker }
    }
}

impl Processes {
    /// Makes a directory for them.
    pub(super) fn directory(parent: &Path) -> Fallible<Directory> {
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

    /// A client of its own, with its own connections.
    pub(super) fn client(&self) -> Fallible<Client> {
        Client::to(self.url.clone().into(), Origin::Default)
    }

    /// Where the server listens.
    pub(super) fn url(&self) -> &ServerUrl {
        &self.url
    }

    /// Where their data is.
    pub(super) fn path(&self) -> &Path {
        &self.directory.0
    }

    /// CPU time so far.
    pub(super) fn cpu(&self) -> Cpu {
        let of = |child: &Child| child.id().and_then(cpu_seconds).unwrap_or_default();
        Cpu { server: of(&self.server), worker: of(&self.worker) }
    }

    /// Ends both in order.
    pub(super) async fn stop(&mut self) {
        for child in [&mut self.worker, &mut self.server] {
            let pid = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
            if let Some(pid) = pid {
                // If it is gone already there is nothing to stop.
                let _ = rustix::process::kill_process(pid, Signal::TERM);
            }
            // One that does not end in time is killed when dropped.
            let _ = tokio::time::timeout(PATIENCE, child.wait()).await;
        }
    }

    async fn wait_for_worker(&self) -> Fallible<()> {
        let client = self.client()?;
        let watch = Stopwatch::start();
        while !watch.left_of(PATIENCE).is_zero() {
            let answer = client.send(&Call::get("list workers", "/v1/workers")).await?;
            let workers = answer.read::<WorkersBody>()?.items;
            if workers.iter().any(|worker| worker.state == WorkerState::Available) {
                return Ok(());
            }
            tokio::time::sleep(LOOK).await;
        }
        let log = fs::read_to_string(self.directory.0.join("worker.log")).unwrap_or_default();
        Err(Failure::new(Exit::Failure, "the worker does not connect", log.trim(), ""))
    }
}

/// The server says where it listens as soon as it does.
async fn first_line(child: &mut Child) -> Fallible<ServerUrl> {
    #[derive(Deserialize)]
    struct Ready {
        url: String,
    }
    let failed = |why: String| Failure::new(Exit::Failure, "the server does not start", why, "");
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

/// User and system time of a process, from `/proc`.
fn cpu_seconds(pid: u32) -> Option<f64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is the name, in brackets, and may hold anything; fields are counted after it.
    let (_, fields) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let ticks = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    Some(ticks as f64 / rustix::param::clock_ticks_per_second() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cpu_time_of_a_process_can_be_read() {
        assert!(cpu_seconds(std::process::id()).unwrap() >= 0.0);
        assert_eq!(cpu_seconds(u32::MAX), None);
    }
}
