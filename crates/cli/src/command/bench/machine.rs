//! The machine that is measured, and whether it had anything else to do.

use std::fs;

use serde::{Deserialize, Serialize};

/// Below this load per core a machine counts as quiet.
const QUIET: f64 = 0.5;

/// The machine before a measurement; after it, only the load is looked at again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Machine {
    /// The name of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cpu: Option<String>,
    cores: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    memory_bytes: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kernel: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    load_before: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    load_after: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    quiet: Option<bool>,
}

/// Looks at the machine.
pub(super) fn look() -> Machine {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let load = load();
    Machine {
        cpu: field("/proc/cpuinfo", "model name"),
        cores,
        memory_bytes: field("/proc/meminfo", "MemTotal")
            .and_then(|text| text.strip_suffix(" kB")?.parse::<u64>().ok())
            .map(|kib| kib * 1_024),
        kernel: fs::read_to_string("/proc/sys/kernel/osrelease").ok().map(|text| text.trim().to_owned()),
        load_before: load,
        load_after: None,
        quiet: load.map(|load| load < QUIET * cores as f64),
    }
}

impl Machine {
    /// With the load after the measurement.
    pub(super) fn after(self) -> Machine {
        Machine { load_after: load(), ..self }
    }

    /// What to say if it was not quiet.
    pub(super) fn warning(&self) -> Option<String> {
        let load = self.load_before.filter(|_| self.quiet == Some(false))?;
        Some(format!(
            "warning: the machine is not quiet: its load is {load:.2} on {} cores before anything is measured",
            self.cores
        ))
    }

    /// In one line.
    pub(super) fn describe(&self) -> String {
        let cpu = self.cpu.as_deref().unwrap_or("unknown processor");
        let load = match (self.load_before, self.load_after) {
            (Some(before), Some(after)) => format!(", load {before:.2} before and {after:.2} after"),
            (Some(_), None) | (None, Some(_)) | (None, None) => String::new(),
        };
        format!("{} cores, {cpu}{load}", self.cores)
    }
}

/// The load average over a minute.
fn load() -> Option<f64> {
    fs::read_to_string("/proc/loadavg").ok()?.split_whitespace().next()?.parse().ok()
}

/// The first value of that name in a file of lines such as `name : value`.
fn field(path: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    line.split_once(':').map(|(_, value)| value.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_told_and_a_busy_one_is_warned_about() {
        let machine = look();
        assert!(machine.cores > 0 && machine.memory_bytes.is_some() && machine.kernel.is_some());
        let busy = Machine { load_before: Some(9.0), quiet: Some(false), ..machine.clone() };
        assert!(busy.warning().is_some_and(|text| text.contains("9.00")));
        assert_eq!(Machine { quiet: Some(true), ..machine }.warning(), None);
    }
}
