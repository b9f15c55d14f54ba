//! Tokens of programs, the first one of all, and the one that commands need.

use std::time::Duration;

use ganger_core::access::{Caller, Permissions, QueueScope, Role, Token, TokenText};
use ganger_core::document::{Collection, DOCUMENTS, Document};

use super::access::{Refused, random};
use super::{Answer, Service, ServiceError};
use crate::auth::hash;
use crate::http::problem::{Code, Problem};

/// A token that is to be made.
#[derive(Clone, Debug)]
pub struct NewToken {
    /// What it is for.
    pub name: String,
    /// What it may do at the most.
    pub role: Role,
    /// What of that it may do.
    pub scopes: Permissions,
    /// With which queues.
    pub queues: QueueScope,
    /// Queues besides, into which it may only enqueue.
    pub also_enqueue: Option<QueueScope>,
    /// How long it lasts; without an end if not given.
    pub lasts: Option<Duration>,
    /// Requests per second.
    pub rate: Option<u32>,
}

impl Service {
    /// Every token, by id.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn tokens(&self) -> Answer<Vec<(String, Token)>> {
        let seen = crate::auth::read_directory(&*self.0.store).await?;
        Ok(seen.tokens.into_iter().collect())
    }

    /// Makes a token; its text is told once.
    ///
    /// # Errors
    /// There are too many, or the write fails.
    pub async fn create_token(&self, new: NewToken, by: &Caller) -> Refused<(String, Token, String)> {
        let mut doubt = self.auth().changes().lock().await;
        if self.settled(&mut doubt).await?.tokens.len() >= DOCUMENTS {
            return Err(ServiceError::TooMany("tokens", DOCUMENTS).into());
        }
        let (id, text, token) = self.fresh_token(new, by.who.to_string());
        self.keep(&mut doubt, Collection::Token, &id, Some(&token)).await?;
        Ok((id, token, text))
    }

    /// Revokes a token.
    ///
    /// # Errors
    /// There is no such token, or the write fails.
    pub async fn delete_token(&self, id: &str) -> Refused<()> {
        let mut doubt = self.auth().changes().lock().await;
        if !self.settled(&mut doubt).await?.tokens.contains_key(id) {
            return Err(Problem::new(Code::NoSuchToken, format!("there is no token `{id}`")));
        }
        self.keep::<Token>(&mut doubt, Collection::Token, id, None).await
    }

    /// Makes the first token if there is nobody yet; `keep` has it before it holds.
    pub(crate) async fn introduce(
        &self,
        new: NewToken,
        keep: &(dyn Fn(&str) -> Result<(), String> + Send + Sync),
    ) -> Answer<()> {
        let mut doubt = self.auth().changes().lock().await;
        let unknown = |problem: Problem| ServiceError::NotReady(problem.detail);
        let seen = self.settled(&mut doubt).await.map_err(unknown)?;
        // People who signed up administrate nothing: whoever only has such users has nobody yet.
        if !seen.tokens.is_empty() || seen.users.values().any(|user| user.role == Role::Admin) {
            return Ok(());
        }
        let (id, text, token) = self.fresh_token(new, "first start".into());
        keep(&text).map_err(ServiceError::NotReady)?;
        self.keep(&mut doubt, Collection::Token, &id, Some(&token)).await.map_err(unknown)
    }

    /// The secret that whoever has commands run must show: the one in the store, or a fresh one if this server leads.
    pub(crate) async fn exec_token(&self, key: &str) -> Answer<String> {
        let known = async || -> Answer<Option<String>> {
            let documents = self.0.store.documents(Collection::ExecToken).await?;
            Ok(documents.into_iter().find(|(name, _)| name == key).map(|(_, secret)| secret))
        };
        if let Some(secret) = known().await? {
            return Ok(secret);
        }
        let mut doubt = self.auth().changes().lock().await;
        let unknown = |problem: Problem| ServiceError::NotReady(problem.detail);
        self.settled(&mut doubt).await.map_err(unknown)?;
        if let Some(secret) = known().await? {
            return Ok(secret);
        }
        let (_, secret, _) = TokenText::made_of(&random());
        // Set before: whoever stops waiting in between leaves the doubt behind.
        *doubt = true;
        let document =
            Document { collection: Collection::ExecToken, key: key.into(), body: Some(secret.clone()) };
        let written = self.put_document(document).await;
        *doubt = matches!(written, Err(ServiceError::Unknown(_)));
        written.map(|()| secret)
    }

    /// Writes down when tokens were last used. Nobody waits for it, and what is lost is a minute.
    pub async fn note_token_uses(&self) {
        let used = self.auth().take_used();
        if used.is_empty() || self.leading().is_err() {
            return;
        }
        let mut doubt = self.auth().changes().lock().await;
        let Ok(mut seen) = self.settled(&mut doubt).await else { return };
        for (id, at) in used {
            let Some(mut token) = seen.tokens.remove(&id) else { continue };
            token.used_at = token.used_at.max(Some(at));
            if self.keep(&mut doubt, Collection::Token, &id, Some(&token)).await.is_err() {
                return;
            }
        }
    }

    fn fresh_token(&self, new: NewToken, created_by: String) -> (String, String, Token) {
        let (id, secret, text) = TokenText::made_of(&random());
        let now = self.0.clock.now().wall;
        let token = Token {
            name: new.name,
            role: new.role,
            scopes: new.scopes.and(new.role.permissions()),
            queues: new.queues,
            also_enqueue: new.also_enqueue,
            secret: hash(&secret),
            rate: new.rate,
            created_at: now,
            created_by,
            expires_at: new.lasts.map(|lasts| now + lasts),
            used_at: None,
        };
        (id, text, token)
    }
}
