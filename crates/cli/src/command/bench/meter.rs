//! What something cost: CPU of each process, commits of the server, and what the database wrote.

use std::collections::BTreeMap;
use std::fs;

use super::stage::Stage;
use super::wrong;
use crate::client::Call;
use crate::failure::Fallible;

/// The metric that counts commits, and the one that adds up how long they took.
const COMMITS: &str = "ganger_store_commit_seconds_count ";
const COMMIT_SECONDS: &str = "ganger_store_commit_seconds_sum ";

/// What was spent, so far or between two looks.
#[derive(Clone, Debug, Default)]
pub(super) struct Spent {
    /// CPU seconds by process.
    pub(super) cpu: BTreeMap<String, f64>,
    /// Commits of the server.
    pub(super) commits: u64,
    /// How long they took together.
    pub(super) commit_seconds: f64,
    /// What the database wrote, where that is known.
    pub(super) store_bytes: Option<u64>,
}

impl Stage<'_> {
    /// Spent so far. CPU time is read first: what comes after is not for what is measured.
    pub(super) async fn spent(&self) -> Fallible<Spent> {
        let cpu = self.cpu();
        let answer = self.client.send(&Call::get("read the metrics", "/metrics")).await?;
        let metric = |name: &str| {
            let found =
                answer.body.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<f64>().ok());
            found.ok_or_else(|| wrong(format!("the metrics do not have {name}")))
        };
        let logged = self.target.wal_bytes().await?;
        Ok(Spent {
            cpu,
            commits: metric(COMMITS)? as u64,
            commit_seconds: metric(COMMIT_SECONDS)?,
            store_bytes: logged
                .or_else(|| if self.target.is_embedded() { written(self.server_pid()?) } else { None }),
        })
    }

    /// Spent since an earlier look.
    pub(super) async fn since(&self, before: &Spent) -> Fallible<Spent> {
        let now = self.spent().await?;
        // A process that was not there at both looks is left out.
        let both = now.cpu.into_iter().filter_map(|(process, seconds)| {
            before.cpu.get(&process).map(|then| (process, (seconds - then).max(0.0)))
        });
        Ok(Spent {
            cpu: both.collect(),
            commits: now.commits.saturating_sub(before.commits),
            commit_seconds: now.commit_seconds - before.commit_seconds,
            store_bytes: now.store_bytes.zip(before.store_bytes).map(|(now, then)| now.saturating_sub(then)),
        })
    }
}

/// User and system time of a process, from `/proc`.
pub(super) fn cpu_seconds(pid: u32) -> Option<f64> {
    times(pid).map(|(_, own, _)| own)
}

/// The same of a process and of everything that it started, over or not.
pub(super) fn cpu_seconds_of_all(root: u32) -> Option<f64> {
    let (_, own, ended) = times(root)?;
    let entries = fs::read_dir("/proc").ok()?.filter_map(Result::ok);
    let children = entries.filter_map(|entry| {
        let (parent, own, ended) = times(entry.file_name().to_str()?.parse().ok()?)?;
        (parent == root).then_some(own + ended)
    });
    Some(own + ended + children.sum::<f64>())
}

/// Resident memory of a process, in bytes.
pub(super) fn resident(pid: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib * 1_024)
}

/// Bytes that a process had written to the disk.
fn written(pid: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/io")).ok()?;
    text.lines().find_map(|line| line.strip_prefix("write_bytes:")?.trim().parse().ok())
}

/// The parent of a process, its own CPU seconds, and those of its children that ended.
fn times(pid: u32) -> Option<(u32, f64, f64)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is the name, in brackets, and may hold anything; fields are counted after it.
    let (_, fields) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let seconds = |first: usize| {
        let ticks = fields.get(first)?.parse::<u64>().ok()? + fields.get(first + 1)?.parse::<u64>().ok()?;
        Some(ticks as f64 / rustix::param::clock_ticks_per_second() as f64)
    };
    Some((fields.get(1)?.parse().ok()?, seconds(11)?, seconds(13)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cpu_time_and_the_memory_of_a_process_can_be_read() {
        let own = std::process::id();
        let seconds = cpu_seconds(own).unwrap();
        assert!(seconds >= 0.0 && cpu_seconds_of_all(own).unwrap() >= seconds);
        assert!(resident(own).unwrap() > 1_000_000 && written(own).is_some());
        assert_eq!((cpu_seconds(u32::MAX), resident(u32::MAX)), (None, None));
    }
}
