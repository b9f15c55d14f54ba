//! `exec`: runs a program. Off unless the worker allows it.
//!
//! Payload: `{"argv": ["convert", "in.png", "out.jpg"]}`, or `{"shell": "ls | wc -l"}`; besides `env`, `cwd`,
//! `stdin` (text), `timeout` (seconds) and `bash` (true: where there is a bash, it is run instead of
//! `/bin/sh`). There is no shell unless `shell` asks for one. The
//! environment is cleared but for a few names ([`Environment`]) and what describes the attempt:
//! `GANGER_JOB_ID`, `GANGER_ATTEMPT`, `GANGER_THREADS`.
//!
//! The program runs in a process group of its own, and when the attempt must stop the whole group is
//! told to (SIGTERM) and then made to (SIGKILL). Exit code 0 is success; 65 (`EX_DATAERR`) is fatal; any
//! other, 75 (`EX_TEMPFAIL`) among them, is tried again by the retry policy. A failure reads
//! `exit code 3: <last line of stderr>`. A worker that is killed takes the group with it ([`Watchdog`]). What it prints goes to the attempt's log line by line, and the
//! last 64 KiB of either stream are kept in the result.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal};
use serde::{Deserialize, Serialize};
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, ChildStdin, Command};

use super::tail::{self, Tail};
use crate::context::Ctx;
use crate::error::{Fatal, JobError};
use crate::job::Job;

/// The kind `exec`.
pub const EXEC: Job<Exec, Output> = Job::new("exec");

/// Between asking a group to stop and making it.
const TERM_GRACE: Duration = Duration::from_secs(5);
/// How long output may still come after the program has ended: a child of it may hold the pipes.
const LAST_OUTPUT: Duration = Duration::from_secs(1);
/// What programs are found with if the worker was not given a `PATH`.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// The names that pass from the worker's environment.
const PASSED: [&str; 4] = ["PATH", "HOME", "LANG", "TZ"];
const EX_DATAERR: i32 = 65;
const SHELL: &str = "/bin/sh";
/// Where bash is, where there is one.
const BASH: [&str; 3] = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"];

/// A program to run.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Exec {
    /// The program and its arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub argv: Vec<String>,
    /// A line for `/bin/sh -c`, instead of `argv`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shell: Option<String>,
    /// More of its environment.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Where it runs; the worker's directory if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<PathBuf>,
    /// What it reads; nothing if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdin: Option<String>,
    /// Where there is a bash, it is run instead of `/bin/sh`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub bash: bool,
    /// Seconds it may take; besides, the job's own timeout holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<f64>,
}

/// What came of a program that succeeded.
#[derive(Debug, Deserialize, Serialize)]
pub struct Output {
    /// Always 0: anything else is an error.
    pub exit_code: i32,
    /// The last of what it printed.
    pub stdout: String,
    /// The last of what it complained.
    pub stderr: String,
}

/// What passes of the worker's environment: `PATH`, `HOME`, `LANG` and `TZ`.
#[derive(Clone, Debug, Default)]
pub struct Environment(Vec<(OsString, OsString)>);

impl Environment {
    /// Keeps the names that pass. The caller reads the environment; here it is only given.
    #[must_use]
    pub fn passed_from(all: impl IntoIterator<Item = (OsString, OsString)>) -> Environment {
        Environment(all.into_iter().filter(|(name, _)| PASSED.iter().any(|passed| name == passed)).collect())
    }
}

pub(super) async fn run(environment: Environment, ctx: Ctx, exec: Exec) -> Result<Output, JobError> {
    let timeout = match exec.timeout {
        None => None,
        Some(seconds) => Some(Duration::try_from_secs_f64(seconds).fatal()?),
    };
    let mut command = command(&environment, &ctx, &exec)?;
    let program = command.as_std().get_program().to_string_lossy().into_owned();
    let mut child = command.spawn().map_err(|e| format!("cannot start `{program}`: {e}"))?;
    let mut group = Group::of(&child);
    let watchdog = Watchdog::over(&group).map_err(|e| format!("cannot watch `{program}`: {e}"))?;
    let feeding = feed(&mut child, exec.stdin);
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let out = tokio::spawn(tail::follow(stdout, ctx.clone()));
    let err = tokio::spawn(tail::follow(stderr, ctx.clone()));

    let ended = ends(&ctx, &mut child, timeout).await;
    let ended = match ended {
        Ended::ByItself(status) => Ok(status.map_err(|e| format!("cannot wait for `{program}`: {e}"))?),
        Ended::TooLate => Err(format!("ran longer than {} s", timeout.unwrap_or_default().as_secs_f64())),
        Ended::ToldToStop => Err("told to stop".into()),
    };
    if ended.is_err() {
        group.stop(&mut child).await;
    }
    let (stdout, stderr) = last_words(&group, out, err).await;
    group.is_over();
    drop((watchdog, feeding));
    conclude(ended?, stdout, stderr)
}

enum Ended {
    ByItself(std::io::Result<ExitStatus>),
    TooLate,
    ToldToStop,
}

async fn ends(ctx: &Ctx, child: &mut Child, timeout: Option<Duration>) -> Ended {
    let too_late = async {
        match timeout {
            Some(timeout) => tokio::time::sleep(timeout).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        status = child.wait() => Ended::ByItself(status),
        () = too_late => Ended::TooLate,
        () = ctx.cancelled() => Ended::ToldToStop,
    }
}

/// The trace, under the names that programs look for it.
fn trace_variables(ctx: &Ctx) -> Vec<(&'static str, String)> {
    let Some((parent, state)) = ctx.trace_to_pass_on() else { return Vec::new() };
    let state = Some(("TRACESTATE", state)).filter(|(_, state)| !state.is_empty());
    std::iter::once(("TRACEPARENT", parent)).chain(state).collect()
}

/// The shell that is run.
fn shell(bash: bool) -> &'static str {
    let there = BASH.into_iter().find(|path| bash && std::path::Path::new(path).exists());
    there.unwrap_or(SHELL)
}

fn command(environment: &Environment, ctx: &Ctx, exec: &Exec) -> Result<Command, JobError> {
    let mut command = match (&exec.shell, exec.argv.split_first()) {
        (Some(line), None) => {
            let mut shell = Command::new(shell(exec.bash));
            shell.arg("-c").arg(line);
            shell
        }
        (None, Some((program, arguments))) => {
            let program = if program == SHELL { shell(exec.bash) } else { program };
            let mut command = Command::new(program);
            command.args(arguments);
            command
        }
        (Some(_), Some(_)) => return Err(JobError::fatal("give either `argv` or `shell`, not both")),
        (None, None) => return Err(JobError::fatal("give the program as `argv`, or a line as `shell`")),
    };
    command
        .env_clear()
        .env("PATH", PATH)
        .envs(environment.0.iter().map(|(name, value)| (name, value)))
        .envs(trace_variables(ctx))
        .envs(&exec.env)
        .env("GANGER_JOB_ID", ctx.job_id().to_string())
        .env("GANGER_ATTEMPT", ctx.attempt().to_string())
        .env("GANGER_THREADS", ctx.threads().to_string())
        .stdin(if exec.stdin.is_some() { Stdio::piped() } else { Stdio::null() })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    if let Some(cwd) = &exec.cwd {
        command.current_dir(cwd);
    }
    Ok(command)
}

/// Writes to the program's stdin beside everything else; ends when the returned guard is dropped.
fn feed(child: &mut Child, text: Option<String>) -> Option<tokio_util::task::AbortOnDropHandle<()>> {
    let (mut stdin, text) = (child.stdin.take()?, text?);
    let writing = tokio::spawn(async move {
        // A program that does not read to the end has its reasons.
        let _ = stdin.write_all(text.as_bytes()).await;
    });
    Some(tokio_util::task::AbortOnDropHandle::new(writing))
}

/// What both streams ended with. If somebody holds them open, the group goes.
async fn last_words(
    group: &Group,
    out: tokio::task::JoinHandle<Tail>,
    err: tokio::task::JoinHandle<Tail>,
) -> (Tail, Tail) {
    let both = async {
        let (out, err) = tokio::join!(out, err);
        (out.unwrap_or_default(), err.unwrap_or_default())
    };
    tokio::pin!(both);
    if let Ok(tails) = tokio::time::timeout(LAST_OUTPUT, &mut both).await {
        return tails;
    }
    group.signal(Signal::KILL);
    // A process that left the group may hold them still: then the words are lost, not the attempt.
    tokio::time::timeout(LAST_OUTPUT, both).await.unwrap_or_default()
}

fn conclude(status: ExitStatus, stdout: Tail, stderr: Tail) -> Result<Output, JobError> {
    use std::os::unix::process::ExitStatusExt;
    let (stdout, stderr) = (stdout.into_text(), stderr.into_text());
    let what = match (status.code(), status.signal()) {
        (Some(0), _) => return Ok(Output { exit_code: 0, stdout, stderr }),
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("killed by signal {signal}"),
        (None, None) => "ended without an exit code".into(),
    };
    let text = match stderr.lines().rev().find(|line| !line.trim().is_empty()) {
        Some(last) => format!("{what}: {last}"),
        None => what,
    };
    Err(if status.code() == Some(EX_DATAERR) { JobError::fatal(text) } else { JobError::retry(text) })
}

/// Kills the program's process group if this worker dies without a chance to do so itself, by `kill -9` above all: the
/// job would run elsewhere while its first program goes on.
///
/// It is a shell that waits for the end of a pipe whose other end only the worker holds. A parent-death signal would need a
/// call between fork and exec, and reach the program but not what it started. What leaves the group survives.
struct Watchdog {
    /// Killed first when both are dropped, so that it never sees the end of the pipe while the worker lives.
    _shell: Child,
    _pipe: ChildStdin,
}

impl Watchdog {
    fn over(group: &Group) -> std::io::Result<Option<Watchdog>> {
        let Some(leader) = group.0 else { return Ok(None) };
        let mut shell = Command::new(SHELL)
            .args(["-c", "read _; kill -9 \"-$1\"", "ganger-watchdog", &leader.as_raw_nonzero().to_string()])
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        Ok(shell.stdin.take().map(|pipe| Watchdog { _shell: shell, _pipe: pipe }))
    }
}

/// The program's process group, killed when the attempt is dropped before the program has ended.
struct Group(Option<Pid>);

impl Group {
    fn of(child: &Child) -> Group {
        Group(child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw))
    }

    fn signal(&self, signal: Signal) {
        if let Some(leader) = self.0 {
            // It may be gone already.
            let _ = rustix::process::kill_process_group(leader, signal);
        }
    }

    async fn stop(&self, child: &mut Child) {
        self.signal(Signal::TERM);
        if tokio::time::timeout(TERM_GRACE, child.wait()).await.is_err() {
            self.signal(Signal::KILL);
            let _ = tokio::time::timeout(TERM_GRACE, child.wait()).await;
        }
    }

    fn is_over(&mut self) {
        self.0 = None;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

#[cfg(test)]
#[path = "exec_tests.rs"]
mod tests;
