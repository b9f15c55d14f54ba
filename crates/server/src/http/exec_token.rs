//! The secret that lets a local user submit jobs that run commands.
//!
//! It is kept in the store, so that it is the same on every server of a cluster and after a restart; the leader makes it when
//! there is none. Each server hands it to whoever started it, who writes it where only that user reads it.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::http::HeaderMap;
use ganger_core::JobId;
use ganger_core::access::{SecretHash, same};
use ganger_core::kind::runs_commands;
use ganger_core::name::ScheduleName;

use super::problem::{Code, Problem};
use crate::auth::{KeepToken, hash};
use crate::service::{Service, ServiceError};

/// The header that carries it.
pub(super) const HEADER: &str = "x-ganger-exec-token";

/// The document that it is kept in.
const KEY: &str = "exec";
/// While the store does not answer, it is looked for again this often.
const LOOK_AGAIN: Duration = Duration::from_millis(500);

/// A secret that a client must show. Only its hash is kept in memory.
#[derive(Clone, Default)]
pub struct ExecToken(Arc<OnceLock<SecretHash>>);

impl ExecToken {
    /// A token with that secret.
    #[must_use]
    pub fn new(secret: &str) -> ExecToken {
        let token = ExecToken::default();
        token.set(secret);
        token
    }

    /// From now on it is that secret, if it was none before.
    fn set(&self, secret: &str) {
        // Whoever set it before read the same document.
        let _ = self.0.set(hash(secret.trim()));
    }

    /// Whether that is the secret. Takes as long for a near miss as for a far one. Before it is known, nothing is.
    #[must_use]
    pub fn is(&self, shown: &str) -> bool {
        self.0.get().is_some_and(|secret| same(secret, &hash(shown.trim())))
    }

    /// Finds the secret in the store, or makes it, and hands it over. Tries until that is done or the server stops.
    pub(crate) async fn establish(self, service: Service, keep: KeepToken) {
        let mut troubled = false;
        loop {
            match self.try_establish(&service, &keep).await {
                Ok(()) => return,
                Err(error) if !std::mem::replace(&mut troubled, true) => {
                    tracing::warn!("jobs of kind exec are refused until their token is known: {error}");
                }
                Err(_) => {}
            }
            tokio::select! {
                () = tokio::time::sleep(LOOK_AGAIN) => {}
                () = service.stopping() => return,
            }
        }
    }

    /// # Errors
    /// The store does not answer; or there is none yet, and this server does not lead; or it cannot be handed over.
    pub(crate) async fn try_establish(
        &self,
        service: &Service,
        keep: &KeepToken,
    ) -> Result<(), ServiceError> {
        let secret = service.exec_token(KEY).await?;
        keep(&secret).map_err(ServiceError::NotReady)?;
        self.set(&secret);
        Ok(())
    }
}

impl From<&str> for ExecToken {
    fn from(secret: &str) -> ExecToken {
        ExecToken::new(secret)
    }
}

impl fmt::Debug for ExecToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ExecToken(…)")
    }
}

/// Whether a request may submit jobs of kind `exec`.
pub(super) fn allows(token: Option<&ExecToken>, headers: &HeaderMap) -> bool {
    let shown = headers.get(HEADER).and_then(|value| value.to_str().ok());
    match (token, shown) {
        (Some(token), Some(shown)) => token.is(shown),
        (Some(_), None) | (None, _) => false,
    }
}

/// Whether a job may be replayed: one that runs a command needs the token again, for whoever may replay jobs need not be one who
/// may have commands run.
///
/// # Errors
/// It may not, or cannot be read.
pub(crate) async fn may_replay(service: &Service, id: JobId, allowed: bool) -> Result<(), Problem> {
    match allowed || !runs_commands(&service.job(id).await?.stored.spec.kind) {
        true => Ok(()),
        false => Err(not_allowed("replayed")),
    }
}

/// The same of a schedule that is to be fired or resumed.
///
/// # Errors
/// It may not, or cannot be read.
pub(crate) async fn may_fire(service: &Service, name: &ScheduleName, allowed: bool) -> Result<(), Problem> {
    match allowed || !runs_commands(&service.schedule(name.clone()).await?.record.schedule.job.kind) {
        true => Ok(()),
        false => Err(not_allowed("fired or resumed")),
    }
}

fn not_allowed(what: &str) -> Problem {
    let detail =
        format!("jobs of kind `exec` are {what} only with the server's exec token (header {HEADER})");
    Problem::new(Code::ExecNotAllowed, detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_right_token_lets_a_command_through() {
        let token = ExecToken::new("secret\n");
        let mut headers = HeaderMap::new();
        assert!(!allows(Some(&token), &headers));
        headers.insert(HEADER, "Secret".parse().unwrap());
        assert!(!allows(Some(&token), &headers));
        headers.insert(HEADER, "secret".parse().unwrap());
        assert!(allows(Some(&token), &headers));
        assert!(!allows(None, &headers));
        assert!(!format!("{token:?}").contains("secret"));
        assert!(
            !allows(Some(&ExecToken::default()), &headers),
            "as long as it is not known, nothing is right"
        );
    }
}
