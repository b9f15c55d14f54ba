//! The token that proves a lease to a client of the plain HTTP protocol.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ganger_core::{Fence, JobId, SessionId, Term};
use uuid::Uuid;

const BYTES: usize = 16 + 16 + 8 + 8 + 8;

/// A lease of a claim. Not to be guessed, because the session's id is random; shown to nobody but its client.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Token {
    /// The claim.
    pub session: SessionId,
    /// The job.
    pub job: JobId,
    /// Proof of the lease.
    pub fence: Fence,
}

/// The text is not a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is not a lease token: use the `lease_token` of a claimed job as it is")]
pub struct TokenError;

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = Vec::with_capacity(BYTES);
        bytes.extend(self.session.uuid().as_bytes());
        bytes.extend(self.job.uuid().as_bytes());
        for number in [self.fence.term.number, self.fence.term.id, self.fence.seq] {
            bytes.extend(number.to_be_bytes());
        }
        f.write_str(&URL_SAFE_NO_PAD.encode(bytes))
    }
}

impl FromStr for Token {
    type Err = TokenError;

    fn from_str(text: &str) -> Result<Token, TokenError> {
        // Before decoding, so that a long text costs nothing.
        if text.len() != BYTES.div_ceil(3) * 4 - 1 {
            return Err(TokenError);
        }
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| TokenError)?;
        let uuid = |at: usize| bytes.get(at..at + 16).and_then(|part| Uuid::from_slice(part).ok());
        let number = |at: usize| {
            let part: [u8; 8] = bytes.get(at..at + 8)?.try_into().ok()?;
            Some(u64::from_be_bytes(part))
        };
        let read = || {
            Some(Token {
                session: SessionId::from_uuid(uuid(0)?),
                job: JobId::from_uuid(uuid(16)?),
                fence: Fence { term: Term { number: number(32)?, id: number(40)? }, seq: number(48)? },
            })
        };
        read().ok_or(TokenError)
    }
}

/// Never the token itself: it would end up in a log.
impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Token").field("job", &self.job).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_reads_back_and_rubbish_does_not() {
        let token = Token {
            session: SessionId::from_uuid(Uuid::from_u128(u128::MAX / 3)),
            job: JobId::from_uuid(Uuid::from_u128(7)),
            fence: Fence { term: Term { number: 3, id: u64::MAX }, seq: 9 },
        };
        let text = token.to_string();
        assert_eq!(text.parse::<Token>(), Ok(token));
        assert!(!format!("{token:?}").contains(&text));
        for bad in
            ["", "x", &text[1..], &format!("{text}A"), &"é".repeat(text.len() / 2), &"*".repeat(text.len())]
        {
            assert_eq!(bad.parse::<Token>(), Err(TokenError), "{bad}");
        }
    }
}
