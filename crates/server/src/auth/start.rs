//! The first start: somebody must be able to ask.

use ganger_core::access::{Permissions, QueueScope, Role};

use super::AuthOptions;
use super::directory::USED_WITHIN;
use crate::coordinator_thread::Phase;
use crate::service::{NewToken, Service};

/// Makes the first token once this server leads, if there are no tokens and no users yet.
///
/// It is handed over before it holds: a crash in between leaves a file with a token that does not work, and the next
/// start makes another. The other way round it would leave a token that nobody knows.
pub(crate) async fn introduce(service: Service, options: AuthOptions) {
    let AuthOptions::Required { first_token, .. } = options else { return };
    let mut phase = service.phase();
    loop {
        let led = phase.wait_for(|phase| !matches!(phase, Phase::TakingOver | Phase::Following(_))).await;
        if !led.is_ok_and(|phase| matches!(*phase, Phase::Leading(_))) {
            return;
        }
        let new = NewToken {
            name: "first".into(),
            role: Role::Admin,
            scopes: Permissions::ALL,
            queues: QueueScope::all(),
            also_enqueue: None,
            lasts: None,
            rate: None,
        };
        match service.introduce(new, &*first_token).await {
            Ok(()) => return note_uses(service).await,
            Err(error) => tracing::warn!("could not look for users and tokens: {error}; tries again"),
        }
        tokio::select! {
            () = tokio::time::sleep(std::time::Duration::from_secs(1)) => {}
            () = service.stopping() => return,
        }
    }
}

/// Writes down, once a minute, when tokens were last used.
async fn note_uses(service: Service) {
    loop {
        tokio::select! {
            () = tokio::time::sleep(USED_WITHIN) => service.note_token_uses().await,
            () = service.stopping() => return,
        }
    }
}
