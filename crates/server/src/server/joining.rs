//! How a server that starts finds its place among the others.

use std::net::SocketAddr;
use std::time::Duration;

use ganger_store::shared::{Candidate, ServerRecord};
use tokio::sync::watch;
use tracing::{error, warn};

use super::{ServerError, ServerOptions, is_loopback};
use crate::auth::AuthOptions;
use crate::coordinator_thread::Phase;
use crate::election::{Pulse, Seat};
use crate::inbox::Inbox;
use crate::relay::SECRET_BYTES;
use crate::service::Service;
use crate::store_health::StoreHealth;

/// Who could reach a server, and whom it would trust. Known before anything is opened, so that a server that must not
/// start changes nothing first.
#[derive(Clone, Copy, Debug)]
pub struct Exposure<'a> {
    /// Where it is to listen.
    pub listen: &'a [SocketAddr],
    /// Whether several servers may share its store.
    pub shared: bool,
    /// What servers of one cluster know.
    pub cluster_secret: Option<&'a str>,
    /// Where others reach it.
    pub advertise: Option<&'a str>,
    /// Whether an address that others can reach is allowed although nobody is asked who he is.
    pub insecure_no_auth: bool,
    /// Whether everybody is asked who he is.
    pub auth: bool,
}

impl<'a> Exposure<'a> {
    /// That of a server with these options.
    pub(super) fn of(options: &'a ServerOptions) -> Exposure<'a> {
        Exposure {
            listen: &options.listen,
            shared: options.store.shared().is_some(),
            cluster_secret: options.cluster_secret.as_deref(),
            advertise: options.advertise.as_deref(),
            insecure_no_auth: options.insecure_no_auth,
            auth: matches!(options.auth, AuthOptions::Required { .. }),
        }
    }

    /// Whether a server may be so. [`Server::start`](super::Server::start) asks the same.
    ///
    /// # Errors
    /// Anyone could submit jobs to it or pass for another server, or nobody could find it.
    pub fn check(&self) -> Result<(), ServerError> {
        can_be_trusted(self.shared, self.listen, self.cluster_secret)?;
        if self.listen.is_empty() {
            return Err(ServerError::NoAddress);
        }
        if let Some(open) = self.listen.iter().find(|address| !is_loopback(address))
            && !self.insecure_no_auth
            && !self.auth
        {
            return Err(ServerError::NotLoopback(*open));
        }
        match self.listen.first() {
            Some(address) if address.ip().is_unspecified() && self.shared && self.advertise.is_none() => {
                Err(ServerError::NoAdvertise(*address))
            }
            Some(_) | None => Ok(()),
        }
    }
}

/// Servers that share a store take each other's word, so they must be able to recognise each other.
fn can_be_trusted(shared: bool, listen: &[SocketAddr], secret: Option<&str>) -> Result<(), ServerError> {
    let open = listen.iter().find(|address| !is_loopback(address));
    match (secret, open) {
        (Some(secret), _) if secret.len() < SECRET_BYTES => {
            Err(ServerError::ShortClusterSecret(secret.len()))
        }
        (None, Some(open)) if shared => Err(ServerError::NoClusterSecret(*open)),
        (Some(_) | None, _) => Ok(()),
    }
}

/// Where others reach this server, by what [`Exposure::check`] has let through.
pub(super) fn advertised(options: &ServerOptions, addresses: &[SocketAddr]) -> Result<String, ServerError> {
    if let Some(advertise) = &options.advertise {
        return Ok(advertise.trim_end_matches('/').to_owned());
    }
    match addresses.first() {
        Some(address) if options.tls.is_some() => Ok(format!("https://{address}")),
        Some(address) => Ok(format!("http://{address}")),
        None => Err(ServerError::NoAddress),
    }
}

/// Whoever is on the way between a server and its clients can read and change what they say, unless TLS hides it.
pub(super) fn say_if_readable(listen: &[SocketAddr], secured: bool) {
    if let Some(open) = listen.iter().find(|address| !is_loopback(address))
        && !secured
    {
        warn!(
            "NOT ENCRYPTED: other machines reach {open} without TLS, and tokens and payloads can be read on the way; \
             give it --tls-cert and --tls-key, or put a TLS proxy in front of it"
        );
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

/// Jobs of kind `exec` can be submitted as soon as the server answers, unless its store is not there yet.
pub(super) async fn exec_token(service: &Service, options: &ServerOptions) {
    let (Some(token), Some(keep)) = (&options.exec_token, &options.keep_exec_token) else { return };
    if token.try_establish(service, keep).await.is_err() {
        tokio::spawn(token.clone().establish(service.clone(), keep.clone()));
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
