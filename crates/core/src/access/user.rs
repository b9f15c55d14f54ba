//! Users, and their logins.
//!
//! A login hands out a *refresh token* that is good for one use: using it makes the next one. Whoever shows one that was
//! used before has stolen it, or was stolen from; nobody can tell which, so the whole login ends.

use serde::{Deserialize, Serialize};

use super::token::{made_of, split};
use super::{Caller, QueueScope, Role, SecretHash, Who, same};
use crate::limits;
use crate::time::Wall;

/// What a refresh token begins with.
const PREFIX: &str = "gnr_";

/// A person, as the store keeps him.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct User {
    /// What he may do.
    pub role: Role,
    /// With which queues.
    pub queues: QueueScope,
    /// His password, hashed slowly; a text in the PHC format.
    pub password: String,
    /// Whether he may not log in at present.
    pub disabled: bool,
    /// When he was made known.
    pub created_at: Wall,
    /// His logins, oldest first; at most [`limits::LOGINS`].
    pub logins: Vec<Login>,
}

/// One login: everything that follows from one showing of the password.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Login {
    /// Identifies it.
    pub id: String,
    /// By which its present refresh token is known.
    pub secret: SecretHash,
    /// When it began.
    pub began_at: Wall,
    /// When it was last refreshed.
    pub used_at: Wall,
}

/// What came of a refresh token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refreshed {
    /// It was the present one; the next one holds now.
    Rotated,
    /// It was used before: the login has ended.
    Stolen,
    /// There is no such login, or its time is over.
    Unknown,
}

impl Login {
    /// Whether it was not used for too long, or lasts too long.
    #[must_use]
    pub fn is_over(&self, now: Wall) -> bool {
        now.since(self.used_at) >= limits::LOGIN_IDLE || now.since(self.began_at) >= limits::LOGIN_LONGEST
    }
}

impl User {
    /// Begins a login. The one that was used longest ago makes room.
    pub fn begin(&mut self, login: Login) {
        self.logins.retain(|known| !known.is_over(login.began_at));
        while self.logins.len() >= limits::LOGINS {
            let oldest = self.logins.iter().enumerate().min_by_key(|(_, login)| login.used_at);
            let Some((oldest, _)) = oldest else { break };
            self.logins.remove(oldest);
        }
        self.logins.push(login);
    }

    /// Uses a refresh token, and puts the next in its place.
    pub fn refresh(&mut self, id: &str, shown: &SecretHash, next: SecretHash, now: Wall) -> Refreshed {
        let Some(at) = self.logins.iter().position(|login| login.id == id) else { return Refreshed::Unknown };
        let login = &mut self.logins[at];
        if login.is_over(now) || self.disabled {
            self.logins.remove(at);
            return Refreshed::Unknown;
        }
        if !same(&login.secret, shown) {
            self.logins.remove(at);
            return Refreshed::Stolen;
        }
        login.secret = next;
        login.used_at = now;
        Refreshed::Rotated
    }

    /// Ends a login; whether there was one.
    pub fn end(&mut self, id: &str) -> bool {
        let before = self.logins.len();
        self.logins.retain(|login| login.id != id);
        self.logins.len() < before
    }

    /// The caller that asks under this login, while there is one.
    #[must_use]
    pub fn admits(&self, name: &str, login: &str, until: Wall, now: Wall) -> Option<Caller> {
        let known = self.logins.iter().find(|known| known.id == login)?;
        (!self.disabled && !known.is_over(now)).then(|| Caller {
            who: Who::User { name: name.into(), login: login.into() },
            may: self.role.permissions(),
            queues: self.queues.clone(),
            also_enqueue: None,
            until: Some(until),
        })
    }
}

/// A fresh login id, its secret, and the refresh token as its holder has it.
#[must_use]
pub fn login_text(random: &[u8; 64]) -> (String, String, String) {
    made_of(random, PREFIX)
}

/// Login and secret of a refresh token; `None` if it can be none.
#[must_use]
pub fn parse_login(text: &str) -> Option<(&str, &str)> {
    split(text, PREFIX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn login(id: &str, at: i64) -> Login {
        Login { id: id.into(), secret: [0; 32], began_at: Wall(at), used_at: Wall(at) }
    }

    fn user() -> User {
        let queues = QueueScope::all();
        let (password, created_at) = (String::new(), Wall(0));
        User { role: Role::Viewer, queues, password, disabled: false, created_at, logins: Vec::new() }
    }

    #[test]
    fn a_refresh_token_is_good_for_one_use_and_the_second_use_ends_the_login() {
        let mut ada = user();
        ada.begin(login("a", 0));
        ada.begin(login("b", 0));
        assert_eq!(ada.refresh("a", &[0; 32], [1; 32], Wall(1)), Refreshed::Rotated);
        assert_eq!(ada.refresh("a", &[1; 32], [2; 32], Wall(2)), Refreshed::Rotated);
        assert!(ada.admits("ada", "a", Wall(9), Wall(3)).is_some());
        assert_eq!(ada.refresh("a", &[1; 32], [3; 32], Wall(3)), Refreshed::Stolen);
        assert_eq!(ada.refresh("a", &[2; 32], [3; 32], Wall(3)), Refreshed::Unknown);
        assert!(ada.admits("ada", "a", Wall(9), Wall(3)).is_none(), "what was given out is void too");
        assert_eq!(ada.refresh("b", &[0; 32], [1; 32], Wall(4)), Refreshed::Rotated, "another one goes on");
    }

    #[test]
    fn the_login_used_longest_ago_makes_room_for_one_too_many() {
        let mut ada = user();
        for i in 0..limits::LOGINS {
            ada.begin(login(&i.to_string(), i as i64));
        }
        assert_eq!(ada.refresh("0", &[0; 32], [1; 32], Wall(100)), Refreshed::Rotated);
        assert_eq!(ada.logins.len(), limits::LOGINS);
        ada.begin(login("new", 101));
        assert_eq!(ada.logins.len(), limits::LOGINS);
        assert!(ada.logins.iter().any(|l| l.id == "0") && !ada.logins.iter().any(|l| l.id == "1"));
    }

    #[test]
    fn a_login_ends_when_it_is_not_used_or_lasts_too_long() {
        let mut ada = user();
        let idle = Wall(0) + limits::LOGIN_IDLE;
        ada.begin(login("a", 0));
        assert!(!ada.logins[0].is_over(Wall(idle.0 - 1)) && ada.logins[0].is_over(idle));
        assert_eq!(ada.refresh("a", &[0; 32], [1; 32], idle), Refreshed::Unknown);
        let busy = Login { used_at: Wall(0) + limits::LOGIN_LONGEST, ..login("b", 0) };
        assert!(busy.is_over(busy.used_at));
    }

    #[test]
    fn who_is_disabled_is_let_in_no_more() {
        let mut ada = user();
        ada.begin(login("a", 0));
        ada.disabled = true;
        assert!(ada.admits("ada", "a", Wall(9), Wall(1)).is_none());
        assert_eq!(ada.refresh("a", &[0; 32], [1; 32], Wall(1)), Refreshed::Unknown);
    }
}
