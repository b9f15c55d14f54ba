//! `ganger worker --processes N`: worker processes, kept running by this one.

use std::fs::DirBuilder;
use std::net::SocketAddr;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ganger_worker::supervisor::{Place, SupervisorOptions, report_to, supervise};
use tokio::process::Command;
use tokio_util::sync::CancellationToken;

use super::start::{Start, default_name};
use crate::config::{Grace, OF_THE_MANAGER};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Fallible};
use crate::manager::Manager;
use crate::signals::Stops;

/// Beyond its grace a child needs time for handlers to stop and for results to be acknowledged.
const BEYOND_GRACE: Duration = Duration::from_secs(20);

/// Keeps so many worker processes running until told to stop.
pub(super) async fn run(context: &Context, start: &Start, processes: u16) -> Fallible<Exit> {
    let mut stops = Stops::listen()?;
    let directory = Directory::make()?;
    let program = std::env::current_exe()
        .map_err(|error| Failure::file("cannot find the program of this process", &error, ""))?;
    let grace = context.config.grace.value;
    let options = SupervisorOptions {
        processes: processes.into(),
        directory: directory.0.clone(),
        grace: grace + BEYOND_GRACE,
        hurry: CancellationToken::new(),
    };
    let hurry = options.hurry.clone();
    let arguments = arguments(context, start);
    let (name, health) = (start.name.clone().unwrap_or_else(default_name), start.health);
    let make_command = move |place: &Place| {
        let mut command = Command::new(&program);
        command.args(&arguments).args(of_place(place, &name, health));
        // Only this process speaks for the service.
        for name in OF_THE_MANAGER {
            command.env_remove(name);
        }
        command
    };
    let stop = CancellationToken::new();
    let report = report_to(context.config.url.value.to_string(), crate::token::credential(&context.config)?);
    let mut supervised = Box::pin(supervise(options, stop.clone(), make_command, report));
    let manager = Manager::of(&context.environment);
    manager.ready(&format!("keeps {processes} workers running"));
    tokio::select! {
        () = &mut supervised => return Ok(Exit::Success),
        () = stops.next() => stop.cancel(),
        // A child that hangs loses its leases by itself; this speaks for the process that would start it again.
        () = manager.watched(async || true, async || None) => {}
    }
    let grace = Grace(grace);
    manager.stopping(&format!("drains {processes} workers, within {grace}"));
    context.out.note(&format!(
        "draining {processes} processes: running jobs have {grace} to finish; ctrl-C again stops at once"
    ));
    tokio::select! {
        () = &mut supervised => return Ok(Exit::Success),
        () = stops.next() => hurry.cancel(),
    }
    supervised.await;
    Ok(Exit::Interrupted)
}

/// What every child is started with.
fn arguments(context: &Context, start: &Start) -> Vec<String> {
    let config = &context.config;
    let mut arguments = vec!["worker".to_owned(), "start".to_owned(), "--until-stdin-closes".to_owned()];
    let mut add = |flag: &str, value: String| arguments.extend([flag.to_owned(), value]);
    add("--url", config.url.value.to_string());
    add("--log", config.log_format.value.to_string());
    add("--grace", Grace(config.grace.value).to_string());
    add("--on-lapse", start.on_lapse.word().to_owned());
    config.client_tls.flags().into_iter().for_each(|(flag, path)| add(flag, path));
    start.queues.iter().for_each(|queue| add("--queue", queue.to_string()));
    start.kinds.iter().for_each(|kind| add("--kinds", kind.to_string()));
    start.labels.iter().for_each(|(name, value)| add("--labels", format!("{name}={value}")));
    if let Some(threads) = start.threads {
        add("--threads", threads.to_string());
    }
    if let Some(ttl) = start.ttl {
        add("--ttl", ttl.to_string());
    }
    if start.allow_exec {
        arguments.push("--allow-exec".into());
    }
    arguments
}

/// What distinguishes one child from another.
fn of_place(place: &Place, name: &str, health: Option<SocketAddr>) -> Vec<String> {
    let mut arguments = vec![
        "--name".to_owned(),
        format!("{name}-{}", place.index),
        "--session".to_owned(),
        place.session.to_string(),
        "--session-file".to_owned(),
        place.session_file.display().to_string(),
    ];
    if let Some(mut address) = health {
        // Each child has its own port: the one given and those after it.
        let index = u16::try_from(place.index).unwrap_or(u16::MAX);
        if address.port() != 0 {
            address.set_port(address.port().saturating_add(index));
        }
        arguments.extend(["--health".to_owned(), address.to_string()]);
    }
    arguments
}

/// A directory of this process's own, gone when it ends.
struct Directory(PathBuf);

impl Directory {
    fn make() -> Fallible<Directory> {
        let unique = format!("ganger-worker-{}-{:016x}", std::process::id(), rand::random::<u64>());
        let path = std::env::temp_dir().join(unique);
        DirBuilder::new().mode(0o700).create(&path).map_err(|error| {
            Failure::file(
                format!("cannot make {}", path.display()),
                &error,
                "set TMPDIR to a writable directory",
            )
        })?;
        Ok(Directory(path))
    }

    fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        // What is left in a temporary directory does no harm.
        let _ = std::fs::remove_dir_all(self.path());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ganger_core::SessionId;

    #[test]
    fn each_child_has_its_own_name_session_and_health_port() {
        let place = |index| Place {
            index,
            session: SessionId::new(index as u64, [1; 10]),
            session_file: PathBuf::from(format!("/tmp/session-{index}")),
        };
        let second = of_place(&place(1), "box", Some("127.0.0.1:9000".parse().unwrap()));
        assert!(second.contains(&"box-1".to_owned()));
        assert!(second.contains(&"127.0.0.1:9001".to_owned()));
        assert!(second.contains(&"/tmp/session-1".to_owned()));
        let free = of_place(&place(1), "box", Some("127.0.0.1:0".parse().unwrap()));
        assert!(free.contains(&"127.0.0.1:0".to_owned()), "a free port is free for everyone");
    }
}
