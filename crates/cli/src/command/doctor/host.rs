//! This machine: its ports, what is exposed, files that hold secrets, limits; and the Redis of the settings.

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use ganger_store::redis::{Redis, RedisOptions, RoleState};

use super::finding::Findings;
use crate::config::{Origin, Switch};
use crate::context::Context;
use crate::port_owner;

/// Every connection of a client or a worker is an open file.
const OPEN_FILES: u64 = 4_096;
/// Bits of a file's mode that let others than its owner read or write it.
const OTHERS: u32 = 0o077;

/// Whether a server could listen where it is to; one that runs there already is fine.
pub(super) fn ports(context: &Context, reached: bool, found: &mut Findings) {
    for address in context.config.listen.value.each() {
        match TcpListener::bind(address) {
            Ok(_) => found.ok("port", format!("{address} is free for a server")),
            Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => {
                let holder = port_owner::find(address.port());
                let by = holder
                    .as_ref()
                    .map_or("another program".to_owned(), |(pid, name)| format!("{name} (pid {pid})"));
                // Whoever else holds it, a server that answers is served.
                let ours = holder.map_or(reached, |(_, name)| name == "ganger");
                let seen = format!("{address} is held by {by}");
                if ours {
                    found.ok("port", seen);
                } else {
                    found.found(
                        "port",
                        seen,
                        "stop that program, or let the server listen elsewhere with --listen",
                    );
                }
            }
            Err(error) => {
                let advice = "name an address of this machine in --listen, and a port above 1023 unless it may use others";
                found.found("port", format!("nobody can listen on {address}: {error}"), advice);
            }
        }
    }
}

/// What a server with these settings would show to other machines.
pub(super) fn exposure(context: &Context, found: &mut Findings) {
    let config = &context.config;
    let listen = &config.listen.value;
    let reached = listen.each().iter().any(|address| !address.ip().to_canonical().is_loopback());
    if !reached {
        return found.ok("exposure", "a server with these settings is reached by this machine only");
    }
    if config.auth.value == Some(Switch::Off) {
        let advice = "remove it, or set it to on; without a token anybody on the network may do everything";
        found.found("exposure", format!("auth is off ({}) on {listen}", config.auth.origin), advice);
    }
    if config.tls.is_on() {
        found.ok("exposure", format!("{listen} is reached by other machines, with TLS"));
    } else {
        let advice =
            "set --tls-cert and --tls-key, or keep it behind a proxy that does TLS and listen on loopback";
        found.found(
            "exposure",
            format!("other machines reach {listen} without TLS: tokens can be read on their way"),
            advice,
        );
    }
}

/// Files that hold secrets are for their owner only.
pub(super) fn files(context: &Context, found: &mut Findings) {
    let config = &context.config;
    let named = [
        Some(config.token_file.value.as_path()),
        Some(config.exec_token_file.value.as_path()),
        config.tls.key_file(),
        config.client_tls.key_file(),
    ];
    let open: Vec<String> = named
        .into_iter()
        .flatten()
        .filter(|path| is_open(path))
        .map(|path| path.display().to_string())
        .collect();
    if open.is_empty() {
        found.ok("secrets", "no file with a secret can be read by others");
    } else {
        let files = open.join(" ");
        found.found(
            "secrets",
            format!("others on this machine can read {files}"),
            format!("chmod 600 {files}"),
        );
    }
    let token = &config.token_file;
    if token.origin != Origin::Default && !token.value.exists() {
        let advice = format!("correct the path; it came from {}", token.origin);
        found.found("token", format!("there is no file {}", token.value.display()), advice);
    }
}

fn is_open(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & OTHERS != 0)
}

/// What this process, and so a server started like it, may use.
pub(super) fn limits(found: &mut Findings) {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    match limit.current {
        Some(files) if files < OPEN_FILES => {
            let advice =
                format!("raise it to {OPEN_FILES} or more (ulimit -n; LimitNOFILE= of a systemd unit)");
            found.found(
                "open files",
                format!("a process may open {files} files: so many connections at the most"),
                advice,
            );
        }
        Some(files) => found.ok("open files", format!("a process may open {files}")),
        None => found.ok("open files", "without a limit"),
    }
}

/// The Redis of the settings.
pub(super) async fn redis(context: &Context, found: &mut Findings) {
    let setting = &context.config.redis;
    let Some(url) = setting.value.0.clone() else { return found.skipped("redis", "none is set") };
    let options = RedisOptions { answer_within: Duration::from_secs(2), ..RedisOptions::new(url) };
    let redis = match Redis::connect(options).await {
        Ok(redis) => redis,
        Err(error) => {
            return found.found(
                "redis",
                error.to_string(),
                format!("correct it: it came from {}", setting.origin),
            );
        }
    };
    let away = redis.roles().into_iter().find_map(|view| match view.state {
        RoleState::Away(_, why) => Some(why),
        RoleState::Up | RoleState::Refused(_) => None,
    });
    match away {
        Some(why) => {
            let advice = "check that it runs and that its address and password are right; until then the servers do without";
            found.found("redis", format!("it does not answer: {why}"), advice);
        }
        None => {
            let dangers = redis.dangers();
            // What concerns jobs that only Redis holds is no concern of a server that accepts none.
            let seen = if dangers.is_empty() {
                "it answers".into()
            } else {
                format!("it answers; with --allow-buffered mind that {}", dangers.join("; "))
            };
            found.ok("redis", seen);
        }
    }
}
