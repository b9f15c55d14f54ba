//! Users and logins: who is let in.
//!
//! Everything is read from the store, changed and written while a lock is held, on the leader. A write whose outcome is unknown
//! may still come to hold: what is read before that is settled could undo it. So after one the next change first writes
//! something else, and waits for that: batches are settled in order.

use std::net::IpAddr;
use std::sync::Arc;

use axum::http::HeaderMap;
use ganger_core::access::{
    Caller, Certificate, Login, QueueScope, Refreshed, Role, User, Who, login_text, parse_login,
};
use ganger_core::document::{Collection, DOCUMENTS, Document};
use serde::Serialize;

use super::{Answer, Service, ServiceError};
use crate::auth::{self, Auth, Claims, Seen, SigningKey, hash};
use crate::http::problem::{Code, Problem};

/// A document that is never there: removing it tells that everything before is settled.
const SETTLED: &str = "_settled";

/// A user that is to be made or changed; what is not given stays as it is.
#[derive(Clone, Debug, Default)]
pub struct UserChange {
    /// A new password.
    pub password: Option<String>,
    /// A new role.
    pub role: Option<Role>,
    /// Other queues.
    pub queues: Option<QueueScope>,
    /// Whether he may not log in.
    pub disabled: Option<bool>,
}

/// What a login gives.
#[derive(Clone, Debug)]
pub struct LoggedIn {
    /// Good for a quarter of an hour.
    pub access: String,
    /// Good for the next one, once.
    pub refresh: String,
    /// Whose it is.
    pub name: String,
    /// What he may do.
    pub role: Role,
}

/// What a refused access is told as. Problems of this sort are made where the reason is known.
pub(super) type Refused<T> = Result<T, Problem>;

impl Service {
    /// What recognising needs.
    #[must_use]
    pub fn auth(&self) -> &Auth {
        &self.0.auth
    }

    /// Whether only programs of this machine reach this server.
    pub(crate) fn listens_on_loopback(&self) -> bool {
        self.0.loopback
    }

    /// Who shows these headers, or else this certificate.
    pub(crate) async fn recognise(
        &self,
        headers: &HeaderMap,
        certificate: Option<&Certificate>,
        from: Option<IpAddr>,
    ) -> Refused<Caller> {
        let now = self.0.clock.now();
        if let Some(certificate) = certificate.filter(|_| !auth::shows_a_token(headers)) {
            let expired = || Problem::new(Code::Unauthenticated, "the certificate has expired");
            return certificate.caller(now.wall).ok_or_else(expired);
        }
        let seen = self.seen().await?;
        if let Some(caller) = self.auth().find(&seen, headers, now)? {
            return Ok(caller);
        }
        // It may have been made a moment ago, by way of another server.
        let hurry = !self.auth().is_suspect(from, now);
        if let Some(latest) = self.latest(hurry).await
            && let Some(caller) = self.auth().find(&latest, headers, now)?
        {
            return Ok(caller);
        }
        Err(self.auth().stranger(from, now))
    }

    /// Whether somebody who was recognised before still would be.
    pub(crate) async fn still_admits(&self, caller: &Caller) -> bool {
        if !self.auth().is_required() {
            return true;
        }
        let now = self.0.clock.now().wall;
        if caller.until.is_some_and(|until| until <= now) {
            return false;
        }
        // A store that does not answer ends no stream.
        let Ok(seen) = self.seen().await else { return true };
        match &caller.who {
            Who::Token { id, .. } => seen.tokens.get(id).is_some_and(|token| !token.has_expired(now)),
            Who::User { name, login } => {
                seen.users.get(name).is_some_and(|user| user.admits(name, login, now, now).is_some())
            }
            Who::External(_) | Who::Certificate(_) | Who::Anyone => true,
        }
    }

    async fn seen(&self) -> Answer<Arc<Seen>> {
        let now = self.0.clock.now().mono;
        Ok(self.auth().directory().seen(&*self.0.store, now).await?)
    }

    /// The same as it is now; without hurry, as it was a moment ago. `None` if the store does not answer.
    async fn latest(&self, hurry: bool) -> Option<Arc<Seen>> {
        self.auth().directory().latest(&*self.0.store, || self.0.clock.now().mono, hurry).await
    }

    /// Lets a person in.
    ///
    /// # Errors
    /// Name or password is wrong, which of them is not told; it was tried too often; or the write fails.
    pub async fn login(&self, name: &str, password: String, from: Option<IpAddr>) -> Refused<LoggedIn> {
        let now = self.0.clock.now();
        self.auth().may_try(name, from, now.mono)?;
        let known =
            self.seen().await?.users.get(name).filter(|user| !user.disabled).map(|u| u.password.clone());
        let right = self.auth().passwords().matches(password, known.clone()).await;
        let right = right.ok_or_else(|| Problem::new(Code::Overloaded, "too many logins at a time"))?;
        self.auth().tried(name, from, right, now.mono);
        let refused = || Problem::new(Code::LoginRefused, "the name or the password is wrong");
        if !right {
            return Err(refused());
        }
        let (login, secret, refresh) = login_text(&random());
        let wall = now.wall;
        let role = self
            .change_user(name, |user| {
                // The password may have been changed while it was checked.
                if user.disabled || Some(&user.password) != known.as_ref() {
                    return Err(refused());
                }
                let began = Login { id: login.clone(), secret: hash(&secret), began_at: wall, used_at: wall };
                user.begin(began);
                Ok(user.role)
            })
            .await?;
        let access = self.access_token(name, &login).await?;
        Ok(LoggedIn { access, refresh, name: name.into(), role })
    }

    /// Takes a refresh token for the next one.
    ///
    /// # Errors
    /// It is not the present one of a login; if it was before, that login has ended.
    pub async fn refresh(&self, token: &str) -> Refused<LoggedIn> {
        let refused = || Problem::new(Code::LoginRefused, "the refresh token is not good, or not any more");
        let (login, shown) = parse_login(token).ok_or_else(refused)?;
        let of = |seen: &Seen| seen.logins.get(login).cloned();
        let name = match of(&*self.seen().await?) {
            Some(name) => name,
            // It may have begun under the leader before this one.
            None => self.latest(true).await.and_then(|latest| of(&latest)).ok_or_else(refused)?,
        };
        let (_, secret, _) = login_text(&random());
        let now = self.0.clock.now().wall;
        let (came, role) = self
            .change_user(&name, |user| Ok((user.refresh(login, &hash(shown), hash(&secret), now), user.role)))
            .await?;
        match came {
            Refreshed::Rotated => {}
            Refreshed::Stolen => {
                tracing::warn!("a refresh token of `{name}` was used twice: that login has ended");
                return Err(refused());
            }
            Refreshed::Unknown => return Err(refused()),
        }
        let access = self.access_token(&name, login).await?;
        Ok(LoggedIn { access, refresh: format!("gnr_{login}_{secret}"), name, role })
    }

    /// Ends the login of a caller, or all of his.
    ///
    /// # Errors
    /// He did not log in, or the write fails.
    pub async fn logout(&self, caller: &Caller, everywhere: bool) -> Refused<()> {
        let Who::User { name, login } = &caller.who else {
            return Err(Problem::new(Code::Forbidden, "only a person who logged in can log out"));
        };
        self.change_user(name, |user| {
            match everywhere {
                true => user.logins.clear(),
                false => drop(user.end(login)),
            }
            Ok(())
        })
        .await
    }

    /// Changes the caller's own password; his other logins end.
    ///
    /// # Errors
    /// He did not log in, the present password is wrong, or the write fails.
    pub async fn change_password(
        &self,
        caller: &Caller,
        from: Option<IpAddr>,
        present: String,
        next: String,
    ) -> Refused<()> {
        let Who::User { name, login } = &caller.who else {
            return Err(Problem::new(Code::Forbidden, "only a person who logged in has a password"));
        };
        let now = self.0.clock.now().mono;
        self.auth().may_try_again(name, from, now)?;
        let known = self.seen().await?.users.get(name).map(|user| user.password.clone());
        let busy = || Problem::new(Code::Overloaded, "too many logins at a time");
        let right = self.auth().passwords().matches(present, known).await.ok_or_else(busy)?;
        self.auth().tried(name, from, right, now);
        if !right {
            return Err(Problem::new(Code::LoginRefused, "the present password is wrong"));
        }
        let password = self.auth().passwords().hash(next).await.ok_or_else(busy)?;
        self.change_user(name, |user| {
            user.password = password;
            user.logins.retain(|known| known.id == *login);
            Ok(())
        })
        .await
    }

    /// Every user, by name.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn users(&self) -> Answer<Vec<(String, User)>> {
        let seen = crate::auth::read_directory(&*self.0.store).await?;
        Ok(seen.users.into_iter().collect())
    }

    /// Makes a user. His name is known to be one.
    ///
    /// # Errors
    /// There is one of that name, there are too many, or the write fails.
    pub async fn create_user(&self, name: &str, change: UserChange) -> Refused<User> {
        let busy = || Problem::new(Code::Overloaded, "too many logins at a time");
        let password = change.password.unwrap_or_default();
        let password = self.auth().passwords().hash(password).await.ok_or_else(busy)?;
        let mut doubt = self.auth().changes().lock().await;
        let users = self.settled(&mut doubt).await?.users;
        if users.contains_key(name) {
            return Err(Problem::new(Code::UserExists, format!("there is a user `{name}` already")));
        }
        if users.len() >= DOCUMENTS {
            return Err(ServiceError::TooMany("users", DOCUMENTS).into());
        }
        let user = User {
            role: change.role.unwrap_or(Role::Viewer),
            queues: change.queues.unwrap_or_else(QueueScope::all),
            password,
            disabled: change.disabled.unwrap_or_default(),
            created_at: self.0.clock.now().wall,
            logins: Vec::new(),
        };
        self.keep(&mut doubt, Collection::User, name, Some(&user)).await?;
        Ok(user)
    }

    /// Changes a user. Whatever changes of him, his logins end: what they may do was decided before.
    ///
    /// # Errors
    /// There is no such user, or the write fails.
    pub async fn put_user(&self, name: &str, change: UserChange) -> Refused<User> {
        let busy = || Problem::new(Code::Overloaded, "too many logins at a time");
        let password = match change.password {
            Some(password) => Some(self.auth().passwords().hash(password).await.ok_or_else(busy)?),
            None => None,
        };
        self.change_user(name, |user| {
            user.password = password.unwrap_or_else(|| std::mem::take(&mut user.password));
            user.role = change.role.unwrap_or(user.role);
            user.queues = change.queues.unwrap_or_else(|| user.queues.clone());
            user.disabled = change.disabled.unwrap_or(user.disabled);
            user.logins.clear();
            Ok(user.clone())
        })
        .await
    }

    /// Forgets a user.
    ///
    /// # Errors
    /// There is no such user, or the write fails.
    pub async fn delete_user(&self, name: &str) -> Refused<()> {
        let mut doubt = self.auth().changes().lock().await;
        if !self.settled(&mut doubt).await?.users.contains_key(name) {
            return Err(no_such_user(name));
        }
        self.keep::<User>(&mut doubt, Collection::User, name, None).await
    }

    async fn change_user<T>(&self, name: &str, change: impl FnOnce(&mut User) -> Refused<T>) -> Refused<T> {
        let mut doubt = self.auth().changes().lock().await;
        let mut users = self.settled(&mut doubt).await?.users;
        let user = users.get_mut(name).ok_or_else(|| no_such_user(name))?;
        let before = user.clone();
        let came = change(user)?;
        if *user != before {
            self.keep(&mut doubt, Collection::User, name, Some(&*user)).await?;
        }
        Ok(came)
    }

    /// An access token for a login, signed with the newest key; the first one makes it.
    async fn access_token(&self, name: &str, login: &str) -> Refused<String> {
        let failed = || Problem::new(Code::Internal, "an access token could not be signed");
        let newest = |seen: &Seen| {
            let key = seen.keys.iter().max_by_key(|(_, key)| key.created_at());
            key.map(|(kid, key)| (kid.clone(), key.clone()))
        };
        let known = newest(&*self.seen().await?);
        let (kid, key) = match known {
            Some(key) => key,
            None => {
                let mut doubt = self.auth().changes().lock().await;
                match newest(&self.settled(&mut doubt).await?) {
                    Some(key) => key,
                    None => {
                        let kid = format!("{:016x}", rand::random::<u64>());
                        let key = SigningKey::fresh(self.0.clock.now().wall).ok_or_else(failed)?;
                        self.keep(&mut doubt, Collection::SigningKey, &kid, Some(&key)).await?;
                        (kid, key)
                    }
                }
            }
        };
        Claims::of(name, login, self.0.clock.now().wall).sign(&kid, &key).ok_or_else(failed)
    }

    /// What the store has, once nothing is in doubt any more.
    pub(super) async fn settled(&self, doubt: &mut bool) -> Refused<Seen> {
        self.leading()?;
        if *doubt {
            self.put_document(Document::removed(Collection::SigningKey, SETTLED)).await?;
            *doubt = false;
        }
        Ok(crate::auth::read_directory(&*self.0.store).await.map_err(ServiceError::from)?)
    }

    /// Writes a document of who is let in.
    pub(super) async fn keep<T: Serialize>(
        &self,
        doubt: &mut bool,
        collection: Collection,
        key: &str,
        value: Option<&T>,
    ) -> Refused<()> {
        let document = match value {
            Some(value) => Document::of(collection, key, value).map_err(ServiceError::from)?,
            None => Document::removed(collection, key),
        };
        // Set before: whoever stops waiting in between leaves the doubt behind.
        *doubt = true;
        self.auth().directory().changed();
        let written = self.put_document(document).await;
        self.auth().directory().changed();
        *doubt = matches!(written, Err(ServiceError::Unknown(_)));
        Ok(written?)
    }
}

pub(super) fn random() -> [u8; 64] {
    let mut bytes = [0; 64];
    rand::fill(&mut bytes);
    bytes
}

fn no_such_user(name: &str) -> Problem {
    Problem::new(Code::NoSuchUser, format!("there is no user `{name}`"))
}
