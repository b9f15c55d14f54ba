//! The harness: the real binary, on free ports, in temporary directories, ended when dropped.
#![expect(dead_code, reason = "every test file uses its own part of the harness")]

use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

/// The longest wait for anything. Generous: the machine may be busy.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
/// Between two looks at a condition.
const LOOK: Duration = Duration::from_millis(20);

/// The binary under test.
pub(crate) fn binary() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_ganger"))
}

/// `ganger` with these arguments, in a directory of its own and an environment without settings.
pub(crate) fn command(directory: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(binary());
    command
        .args(args)
        .current_dir(directory)
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("HOME", directory)
        // Who is asked for a token is tested in access.rs.
        .env("GANGER_AUTH", "off")
        .stdin(Stdio::null());
    command
}

/// Runs `ganger` with these arguments to its end, in a fresh directory.
pub(crate) fn ganger(args: &[&str]) -> Output {
    let directory = tempfile::tempdir().expect("a temporary directory");
    command(directory.path(), args).output().expect("the binary runs")
}

/// What a command printed.
pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("output is UTF-8")
}

/// What a command said besides.
pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("messages are UTF-8")
}

/// The exit code of a command that was not killed.
pub(crate) fn code(output: &Output) -> i32 {
    output.status.code().expect("it exited by itself")
}

/// Waits until a condition holds; panics with its name if it does not within [`PATIENCE`].
pub(crate) fn eventually<T>(what: &str, mut condition: impl FnMut() -> Option<T>) -> T {
    let looks = PATIENCE.as_millis() / LOOK.as_millis();
    for _ in 0..looks {
        if let Some(value) = condition() {
            return value;
        }
        std::thread::sleep(LOOK);
    }
    panic!("waited {PATIENCE:?} in vain: {what}");
}

/// A port that was free a moment ago. Prefer port 0 where the process can say which one it got.
pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("it has an address").port()
}

/// A running `ganger dev` or `ganger server`, killed when dropped.
pub(crate) struct Instance {
    child: Child,
    /// Where it listens.
    pub(crate) url: String,
    /// Its data directory.
    pub(crate) data: PathBuf,
    directory: Option<TempDir>,
}

impl Instance {
    /// `ganger dev` with one worker of four threads.
    pub(crate) fn dev() -> Instance {
        Instance::start("dev", &["--worker", "4"])
    }

    /// `ganger server`, without workers.
    pub(crate) fn server() -> Instance {
        Instance::start("server", &["--allow-exec"])
    }

    /// A command that serves, on a free port, with data in a fresh directory.
    pub(crate) fn start(verb: &str, args: &[&str]) -> Instance {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let data = directory.path().join("data");
        let mut instance = Instance::on(verb, args, &data, "127.0.0.1:0");
        instance.directory = Some(directory);
        instance
    }

    /// A command that serves, with given data and address: for starting again where another one died.
    pub(crate) fn on(verb: &str, args: &[&str], data: &Path, listen: &str) -> Instance {
        Instance::with(verb, args, data, listen, &[])
    }

    /// The same in an environment that also has these variables.
    pub(crate) fn with(
        verb: &str,
        args: &[&str],
        data: &Path,
        listen: &str,
        variables: &[(&str, &Path)],
    ) -> Instance {
        let data_text = data.to_str().expect("a UTF-8 path");
        let mut all = vec![verb, "--listen", listen, "--data", data_text, "-o", "json"];
        all.extend_from_slice(args);
        let parent = data.parent().expect("the data directory has a parent");
        let mut child = command(parent, &all)
            .envs(variables.iter().copied())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let errors = drain(child.stderr.take().expect("standard error is piped"));
        let url = match first_line(&mut child).map(|line| serde_json::from_str::<Value>(&line)) {
            Some(Ok(ready)) => ready["url"].as_str().expect("it tells its URL").to_owned(),
            Some(Err(_)) | None => {
                let _ = child.kill();
                let said = errors.recv_timeout(Duration::from_secs(5)).unwrap_or_default();
                panic!("`ganger {verb}` did not get ready; it said:\n{said}");
            }
        };
        let instance = Instance { child, url, data: data.to_owned(), directory: None };
        instance.wait_ready();
        instance
    }

    /// Runs `ganger` against it.
    pub(crate) fn ganger(&self, args: &[&str]) -> Output {
        self.command(args).output().expect("the binary runs")
    }

    /// `ganger` against it, not yet run.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let directory = self.data.parent().expect("the data directory has a parent");
        let mut command = command(directory, args);
        command.env("GANGER_URL", &self.url).env("GANGER_DATA", &self.data);
        command
    }

    /// Runs `ganger -o json` against it and reads the answer; it must succeed.
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let mut all = args.to_vec();
        all.extend_from_slice(&["-o", "json"]);
        let output = self.ganger(&all);
        assert!(output.status.success(), "ganger {args:?} failed: {}", stderr(&output));
        serde_json::from_slice(&output.stdout).expect("the answer is JSON")
    }

    /// Submits a job and returns its id.
    pub(crate) fn enqueue(&self, args: &[&str]) -> String {
        let mut all = vec!["enqueue"];
        all.extend_from_slice(args);
        let output = self.ganger(&all);
        assert!(output.status.success(), "ganger {all:?} failed: {}", stderr(&output));
        stdout(&output).trim().to_owned()
    }

    /// A worker process for it.
    pub(crate) fn worker(&self, args: &[&str]) -> Process {
        let mut all = vec!["worker"];
        all.extend_from_slice(args);
        let command = self.command(&all).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        Process(command.expect("the worker starts"))
    }

    /// Its process id.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The process itself.
    pub(crate) fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Ends it as the kernel would: without a word.
    pub(crate) fn kill(&mut self) {
        self.child.kill().expect("it can be killed");
        self.child.wait().expect("it can be waited for");
    }

    /// Asks it to stop and returns its exit code.
    pub(crate) fn stop(&mut self) -> i32 {
        terminate(self.child.id());
        let child = &mut self.child;
        let status = eventually("the server stops", || child.try_wait().expect("it can be waited for"));
        status.code().expect("it exited by itself")
    }

    fn wait_ready(&self) {
        eventually("the server is ready", || self.ganger(&["health"]).status.success().then_some(()));
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A process that is killed when dropped.
pub(crate) struct Process(pub(crate) Child);

impl Process {
    /// Asks it to stop and returns its exit code.
    pub(crate) fn stop(&mut self) -> Option<i32> {
        terminate(self.0.id());
        let child = &mut self.0;
        eventually("the process stops", || child.try_wait().expect("it can be waited for")).code()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Sends SIGTERM.
pub(crate) fn terminate(pid: u32) {
    signal(pid, "-TERM");
}

/// Sends a signal, named as for `kill`.
pub(crate) fn signal(pid: u32, name: &str) {
    let sent = Command::new("kill").args([name, &pid.to_string()]).status().expect("there is a `kill`");
    assert!(sent.success(), "kill {name} {pid}");
}

/// The first line of a child's output, read on the side so that the wait is bounded.
fn first_line(child: &mut Child) -> Option<String> {
    let stdout = child.stdout.take().expect("standard output is piped");
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut lines = BufReader::new(stdout);
        let mut line = String::new();
        if lines.read_line(&mut line).is_ok_and(|read| read > 0) {
            let _ = sender.send(line);
        }
        drop(sender);
        // Go on reading, or the child would block on a full pipe.
        let _ = std::io::copy(&mut lines, &mut std::io::sink());
    });
    receiver.recv_timeout(PATIENCE).ok()
}

/// Reads a stream to its end on the side; the channel gets all of it.
fn drain(mut stream: impl Read + Send + 'static) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut text = String::new();
        let _ = stream.read_to_string(&mut text);
        let _ = sender.send(text);
    });
    receiver
}
