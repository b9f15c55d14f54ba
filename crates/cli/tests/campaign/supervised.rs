//! Children of a supervisor are killed in the middle of a job, and the server's own records tell how long it was
//! until the job ran elsewhere.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::now;
use super::processes::Server;

/// Session TTL of the children: without their supervisor's word nothing would happen for so long.
pub(crate) const LONG_TTL: Duration = Duration::from_secs(60);
/// How long a job runs: it must still run when its worker is killed.
const RUNS: Duration = Duration::from_secs(3);
const PATIENCE: Duration = Duration::from_secs(90);

/// From a kill to the record of the loss, and to the start of the next attempt.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recovery {
    pub(crate) noticed: Duration,
    pub(crate) started: Duration,
}

/// Kills so many children, each of a supervisor of its own, so that the delays between restarts of one that
/// keeps crashing are no part of it: there is always a second child that could run the job.
pub(crate) async fn kill_children(times: usize) -> Vec<Recovery> {
    let data = tempfile::tempdir().expect("a temporary directory");
    let mut server = Server::start(data.path()).await;
    let mut recoveries = Vec::new();
    for n in 0..times {
        recoveries.push(kill_child(&server.url(), &format!("s{n}")).await);
    }
    server.kill();
    recoveries
}

async fn kill_child(url: &str, name: &str) -> Recovery {
    let supervisor = Supervisor::start(url, name);
    until(&format!("{url}/v1/workers"), "both children wait for work", |answer| {
        let items = answer["items"].as_array()?;
        let waits = |w: &&Value| {
            w["state"] == "available"
                && w["name"].as_str().is_some_and(|of| of.starts_with(&format!("{name}-")))
        };
        (items.iter().filter(waits).count() == 2).then_some(())
    })
    .await;
    let body = json!({"kind": "sleep", "payload": {"seconds": RUNS.as_secs()}});
    let job = reqwest::Client::new().post(format!("{url}/v1/jobs")).json(&body).send().await;
    let job: Value = job.expect("an answer").json().await.expect("a job");
    let job = format!("{url}/v1/jobs/{}", job["id"].as_str().expect("an id"));
    let victim = until(&job, "the job runs", |job| {
        (job["state"] == "running").then(|| job["worker"].as_str().map(str::to_owned)).flatten()
    })
    .await;

    let killed = wall();
    supervisor.kill_child(&victim);
    let ended = until(&job, "the job ends", |job| (job["state"] == "succeeded").then(|| job.clone())).await;
    assert_eq!(ended["attempt"], 2, "it ended before its worker was killed: {ended}");
    let attempts =
        until(&format!("{job}/attempts"), "its attempts", |a| a["items"].as_array().cloned()).await;
    assert_eq!((&attempts[0]["outcome"], &attempts[0]["worker"]), (&json!("lost"), &json!(victim)));
    Recovery {
        noticed: at(&attempts[0]["ended_at"]).saturating_sub(killed),
        started: at(&attempts[1]["started_at"]).saturating_sub(killed),
    }
}

/// `ganger worker --processes 2`, stopped when dropped.
struct Supervisor(Child);

impl Supervisor {
    fn start(url: &str, name: &str) -> Supervisor {
        let child = Command::new(env!("CARGO_BIN_EXE_ganger"))
            .args(["worker", "--url", url, "--name", name, "--processes", "2", "--threads", "1"])
            .args(["--ttl", &format!("{}s", LONG_TTL.as_secs())])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        Supervisor(child.expect("the supervisor starts"))
    }

    /// `kill -9` of the child that has this name as a worker.
    fn kill_child(&self, worker: &str) {
        let pid = self.child(worker).unwrap_or_else(|| panic!("there is no process of worker {worker}"));
        let killed = Command::new("kill").args(["-9", &pid.to_string()]).status();
        assert!(killed.is_ok_and(|status| status.success()), "kill -9 {pid}");
    }

    fn child(&self, worker: &str) -> Option<u32> {
        let threads = std::fs::read_dir(format!("/proc/{}/task", self.0.id())).ok()?;
        // A child belongs to the thread that started it.
        let children =
            threads.flatten().filter_map(|t| std::fs::read_to_string(t.path().join("children")).ok());
        let pids: Vec<u32> = children.flat_map(|c| numbers(&c)).collect();
        pids.into_iter().find(|pid| is_named(*pid, worker))
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        let _ = Command::new("kill").args(["-TERM", &self.0.id().to_string()]).status();
        let _ = self.0.wait();
    }
}

fn numbers(text: &str) -> Vec<u32> {
    text.split_whitespace().filter_map(|word| word.parse().ok()).collect()
}

fn is_named(pid: u32, worker: &str) -> bool {
    let arguments =
        std::fs::read(Path::new("/proc").join(pid.to_string()).join("cmdline")).unwrap_or_default();
    let arguments: Vec<&[u8]> = arguments.split(|byte| *byte == 0).collect();
    arguments.windows(2).any(|pair| pair == [b"--name", worker.as_bytes()])
}

/// Looks until an answer tells what is looked for.
async fn until<T>(url: &str, what: &str, mut look: impl FnMut(&Value) -> Option<T>) -> T {
    let end = now() + PATIENCE;
    loop {
        if let Ok(answer) = reqwest::get(url).await
            && let Ok(answer) = answer.json::<Value>().await
            && let Some(found) = look(&answer)
        {
            return found;
        }
        assert!(now() < end, "waited {PATIENCE:?} in vain: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// The wall clock, which the server on this machine reads too.
#[expect(clippy::disallowed_methods, reason = "compared with the times that the server recorded")]
fn wall() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("the clock is set")
}

fn at(time: &Value) -> Duration {
    let time: jiff::Timestamp = time.as_str().and_then(|t| t.parse().ok()).expect("a recorded time");
    Duration::from_micros(time.as_microsecond().unsigned_abs())
}
