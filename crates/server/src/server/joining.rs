//! How a server that starts finds its place among the others.

use std::net::SocketAddr;
use std::time::Duration;

use ganger_store::shared::{Candidate, ServerRecord};
use tokio::sync::watch;
use tracing::error;

use super::{ServerError, ServerOptions, is_loopback};
use crate::coordinator_thread::Phase;
use crate::election::{Pulse, Seat};
use crate::inbox::Inbox;
use crate::relay::SECRET_BYTES;
use crate::service::Service;
use crate::store_health::StoreHealth;

/// Servers that share a store take each other's word, so they must be able to recognise each other.
pub(super) fn can_be_trusted(
    shared: bool,
    listen: &[SocketAddr],
    secret: Option<&str>,
) -> Result<(), ServerError> {
    let open = listen.iter().find(|address| !is_loopback(address));
    match (secret, open) {
        (Some(secret), _) if secret.len() < SECRET_BYTES => {
            Err(ServerError::ShortClusterSecret(secret.len()))
        }
        (None, Some(open)) if shared => Err(ServerError::NoClusterSecret(*open)),
        (Some(_) | None, _) => Ok(()),
    }
}

/// Where others reach this server. One that is alone on its store need not be reached by any.
pub(super) fn advertised(options: &ServerOptions, addresses: &[SocketAddr]) -> Result<String, ServerError> {
    if let Some(advertise) = &options.advertise {
        return Ok(advertise.trim_end_matches('/').to_owned());
    }
    match addresses.first() {
        Some(address) if address.ip().is_unspecified() && options.store.shared().is_some() => {
            Err(ServerError::NoAdvertise(*address))
        }
        Some(address) => Ok(format!("http://{address}")),
        None => Err(ServerError::NoAddress),
    }
}

/// A place in the election, where there is one.
pub(super) fn seat(
    options: &ServerOptions,
    server: &ServerRecord,
    health: &StoreHealth,
    inbox: Inbox,
) -> Option<Seat> {
    let shared = options.store.shared()?;
    let (server, address) = (server.name.clone(), server.address.clone());
    let candidate = Candidate { server, address, ttl: options.leader_ttl };
    Some(Seat { shared, candidate, health: health.clone(), pulse: Pulse::default(), inbox })
}

/// Waits until the thread leads or follows for the first time, or can do neither. A shared store that cannot be
/// reached is waited for within a bound, and then from afar: the server says that it is not ready.
pub(super) async fn begun(
    service: &Service,
    phase: &mut watch::Receiver<Phase>,
    patience: Duration,
) -> Result<(), ServerError> {
    let longest = if service.membership().is_shared() { patience } else { Duration::MAX };
    let begins = phase.wait_for(|phase| *phase != Phase::TakingOver);
    let Ok(begun) = tokio::time::timeout(longest, begins).await else {
        let trouble = service.membership().health().trouble().map(|trouble| trouble.cause);
        let cause = trouble.unwrap_or_else(|| "there is much to load".into());
        error!("starts although it can neither lead nor follow yet: {cause}");
        return Ok(());
    };
    match begun.as_deref() {
        Ok(Phase::Leading(_) | Phase::Following(_)) => Ok(()),
        Ok(Phase::Failed(cause)) => Err(ServerError::Leader(cause.clone())),
        Ok(Phase::TakingOver | Phase::Stopped) | Err(_) => {
            Err(ServerError::Leader("the coordinator's thread ended".into()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_in_the_open_share_a_store_only_with_a_secret_that_is_long_enough() {
        let (loopback, open) = ("127.0.0.1:1".parse().unwrap(), "10.0.0.7:1".parse().unwrap());
        let long = "x".repeat(SECRET_BYTES);
        assert!(can_be_trusted(true, &[loopback], None).is_ok());
        assert!(can_be_trusted(false, &[open], None).is_ok());
        assert!(can_be_trusted(true, &[loopback, open], Some(&long)).is_ok());
        let refused = can_be_trusted(true, &[loopback, open], None).unwrap_err().to_string();
        assert!(refused.contains("10.0.0.7:1") && refused.contains("secret"), "{refused}");
        assert!(can_be_trusted(true, &[loopback], Some(&long[1..])).is_err());
    }
}
