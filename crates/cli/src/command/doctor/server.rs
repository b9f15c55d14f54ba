//! The server that the settings name: whether it answers, is ready, keeps time, asks who calls, and who works for it.

use std::time::Duration;

use ganger_server::api::{CapabilitiesBody, ClusterBody, ReadyBody, WorkersBody};

use super::finding::Findings;
use crate::client::{Call, Client};
use crate::clock::{self, Stopwatch};
use crate::context::Context;
use crate::exit::Exit;
use crate::humane::short;

/// Clocks that are further apart make `run_at`, schedules and access tokens mean different things to different machines.
const SKEW: Duration = Duration::from_secs(1);

/// Looks at the server; whether it was reached.
pub(super) async fn look(context: &Context, found: &mut Findings) -> bool {
    let url = &context.config.url.value;
    let client = match context.client() {
        Ok(client) => client,
        Err(failure) => {
            found.found("server", format!("{}: {}", failure.what, failure.why), failure.fix);
            return false;
        }
    };
    let (watch, before) = (Stopwatch::start(), clock::now());
    let answer = client.send_for_any(&Call::get("look at the server", "/readyz?verbose").once()).await;
    let (took, after) = (watch.elapsed(), clock::now());
    let ready = match answer.and_then(|answer| answer.read::<ReadyBody>()) {
        Ok(ready) => ready,
        Err(failure) => {
            let advice = "start it (`ganger server`), or name another one with --url";
            found.found("server", format!("no server answers at {url}: {}", failure.why), advice);
            return false;
        }
    };
    found.ok("server", format!("{url} answers in {}", short(took)));
    readiness(&ready, found);
    if let Some(now) = ready.now {
        let between = before.0 + (after.0 - before.0) / 2;
        skew("clock", "the server", now.0 - between, took, found);
    }
    who_may_ask(context, found).await;
    versions(&client, found).await;
    true
}

/// Compares a clock with ours, which is between two moments so far apart.
pub(super) fn skew(
    check: &'static str,
    whose: &str,
    ahead_micros: i64,
    took: Duration,
    found: &mut Findings,
) {
    let apart = Duration::from_micros(ahead_micros.unsigned_abs());
    let word = if ahead_micros < 0 { "behind" } else { "ahead of" };
    let seen = format!("the clock of {whose} is {} {word} the one of this machine", short(apart));
    if apart > SKEW + took / 2 {
        found.found(
            check,
            seen,
            "let both machines keep time (chrony, systemd-timesyncd): jobs are due by the server's clock",
        );
    } else {
        found.ok(check, seen);
    }
}

fn readiness(ready: &ReadyBody, found: &mut Findings) {
    let advice = "the log of the server tells more; docs/operations.md lists what to do";
    let mut well = true;
    for check in &ready.checks {
        let name = &check.name;
        if !check.ok {
            found.told("readiness", &format!("{name}: {}", check.detail), advice);
            well = false;
        } else if let Some(warning) = &check.warning {
            found.told("readiness", &format!("{name}: {warning}"), advice);
            well = false;
        }
    }
    if well {
        let names: Vec<&str> = ready.checks.iter().map(|check| check.name.as_str()).collect();
        found.ok("readiness", names.join(", "));
    }
}

/// Whether somebody who shows nothing is answered.
async fn who_may_ask(context: &Context, found: &mut Findings) {
    let (url, origin) = (context.config.url.value.clone(), context.config.url.origin.clone());
    let (loopback, plain) = (url.is_loopback(), url.is_plain());
    let Ok(stranger) = Client::stranger(&context.config) else { return };
    let call = Call::get("ask without a token", "/v1/capabilities").once();
    let open = match stranger.send(&call).await {
        Ok(_) => true,
        Err(failure) if failure.exit == Exit::Denied => false,
        Err(failure) => return found.skipped("access", format!("{}: {}", failure.what, failure.why)),
    };
    match (open, loopback) {
        (true, false) => found.found(
            "access",
            format!("{url} asks nobody for a token, and other machines reach it"),
            "start it with --auth on, and give tokens to its callers (`ganger token create`)",
        ),
        (true, true) => {
            found.ok("access", "it asks nobody, and only this machine reaches it by this address")
        }
        (false, _) => found.ok("access", "it asks for a token"),
    }
    if plain && !loopback {
        let advice =
            "give the server a certificate (--tls-cert, --tls-key), or put a proxy with TLS before it";
        found.found(
            "TLS",
            format!("tokens and jobs travel to {url} in the clear (it came from {origin})"),
            advice,
        );
    } else {
        found.ok("TLS", if plain { "not needed on this machine" } else { "the connection is encrypted" });
    }
}

async fn versions(client: &Client, found: &mut Findings) {
    let ours = env!("CARGO_PKG_VERSION");
    let read = async |path| client.send(&Call::get("read the versions", path).once()).await;
    let server = read("/v1/capabilities").await.and_then(|answer| answer.read::<CapabilitiesBody>());
    let server = match server {
        Ok(body) => body.version,
        Err(failure) => return found.skipped("versions", format!("{}: {}", failure.what, failure.why)),
    };
    let mut others = Vec::new();
    if server != ours {
        others.push(format!("this command is {ours}"));
    }
    let cluster = read("/v1/cluster").await.and_then(|answer| answer.read::<ClusterBody>());
    let servers = cluster.map(|cluster| cluster.items).unwrap_or_default();
    let different = servers.iter().filter(|other| other.version != server);
    others.extend(different.map(|other| format!("server {} is {}", other.name, other.version)));
    let workers = read("/v1/workers").await.and_then(|answer| answer.read::<WorkersBody>());
    let workers = workers.map(|workers| workers.items).unwrap_or_default();
    // An SDK tells its language before its version.
    let version = |text: &str| text.rsplit(' ').next().unwrap_or_default().to_owned();
    let present = workers.iter().filter(|worker| worker.state.is_present());
    let different = present.filter(|worker| version(&worker.version) != server);
    others.extend(different.map(|worker| format!("worker {} is {}", worker.name, worker.version)));
    if others.is_empty() {
        let (servers, workers) = (servers.len().max(1), workers.len());
        found.ok("versions", format!("all are {server}: servers {servers}, workers {workers}"));
        return;
    }
    let more = others.len().saturating_sub(5);
    others.truncate(5);
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    let advice = "finish the upgrade: the protocol bears a mixture, but what is new works only where everybody knows it";
    found.found("versions", format!("the server is {server}, but {}{more}", others.join(", ")), advice);
}
