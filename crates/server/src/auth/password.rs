//! Passwords: hashed slowly, on threads of their own, a few at a time.
//!
//! Argon2id with 19 MiB, two passes and one lane (the parameters that OWASP recommends): about 40 ms of a core for each guess, for us
//! as for whoever stole the database. Each hash names its parameters, so they can be raised later.

use argon2::password_hash::{PasswordHash, PasswordHasher as _, PasswordVerifier as _, SaltString};
use argon2::{Algorithm, Argon2, Params, Version};
use tokio::sync::Semaphore;

/// Passwords that are hashed at the same time.
const AT_A_TIME: usize = 2;
/// Logins that wait for that; more are refused.
const WAITING: usize = 32;
/// Bytes of a salt.
const SALT: usize = 16;

/// Hashes and checks passwords.
#[derive(Debug)]
pub(crate) struct Passwords {
    running: Semaphore,
    waiting: Semaphore,
}

impl Default for Passwords {
    fn default() -> Passwords {
        Passwords { running: Semaphore::new(AT_A_TIME), waiting: Semaphore::new(WAITING) }
    }
}

impl Passwords {
    /// The hash of a password. `None` if too many wait.
    pub(crate) async fn hash(&self, password: String) -> Option<String> {
        let salt: [u8; SALT] = rand::random();
        self.slowly(move || hashed(&password, &salt)).await.flatten()
    }

    /// Whether it is the password of that hash; without a hash it takes as long and is not. `None` if too many wait.
    pub(crate) async fn matches(&self, password: String, known: Option<String>) -> Option<bool> {
        self.slowly(move || match known {
            Some(known) => is(&password, &known),
            None => {
                let _as_long = hashed(&password, &[0; SALT]);
                false
            }
        })
        .await
    }

    async fn slowly<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        let _waits = self.waiting.try_acquire().ok()?;
        let _runs = self.running.acquire().await.ok()?;
        tokio::task::spawn_blocking(work).await.ok()
    }
}

fn argon() -> Option<Argon2<'static>> {
    let params =
        Params::new(Params::DEFAULT_M_COST, Params::DEFAULT_T_COST, Params::DEFAULT_P_COST, None).ok()?;
    Some(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
}

fn hashed(password: &str, salt: &[u8]) -> Option<String> {
    let salt = SaltString::encode_b64(salt).ok()?;
    Some(argon()?.hash_password(password.as_bytes(), &salt).ok()?.to_string())
}

fn is(password: &str, known: &str) -> bool {
    let Ok(known) = PasswordHash::new(known) else { return false };
    Argon2::default().verify_password(password.as_bytes(), &known).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_the_password_itself_matches_and_two_hashes_of_it_differ() {
        let passwords = Passwords::default();
        let first = passwords.hash("correct horse".into()).await.unwrap();
        let second = passwords.hash("correct horse".into()).await.unwrap();
        assert_ne!(first, second);
        assert!(first.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{first}");
        assert_eq!(passwords.matches("correct horse".into(), Some(first.clone())).await, Some(true));
        assert_eq!(passwords.matches("correct horsf".into(), Some(first)).await, Some(false));
        assert_eq!(passwords.matches("correct horse".into(), None).await, Some(false));
        assert_eq!(passwords.matches("x".into(), Some("rubbish".into())).await, Some(false));
    }
}
