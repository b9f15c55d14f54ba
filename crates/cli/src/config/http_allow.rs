//! Where `http` jobs may connect to although it is not the public internet.

use std::fmt;
use std::str::FromStr;

use ganger_worker::kinds::guard::{Block, Guard};

/// The word that allows every port.
const ANY_PORT: &str = "any-port";

/// Blocks of addresses, and perhaps every port: `10.0.0.0/8,192.168.1.5,any-port`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct HttpAllow {
    blocks: Vec<Block>,
    any_port: bool,
    /// As it was written.
    text: String,
}

impl HttpAllow {
    /// The guard that allows so much.
    pub(crate) fn guard(&self) -> Guard {
        let guard = self.blocks.iter().fold(Guard::default(), |guard, block| guard.allow(*block));
        if self.any_port { guard.any_port() } else { guard }
    }
}

impl fmt::Display for HttpAllow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for HttpAllow {
    type Err = String;

    fn from_str(text: &str) -> Result<HttpAllow, String> {
        let mut allow = HttpAllow { text: text.to_owned(), ..HttpAllow::default() };
        for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            match word.parse() {
                _ if word == ANY_PORT => allow.any_port = true,
                Ok(block) => allow.blocks.push(block),
                Err(error) => return Err(format!("{error}, nor the word `{ANY_PORT}`")),
            }
        }
        Ok(allow)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_allowed_is_and_nothing_else() {
        let guard = "10.0.0.0/8, 192.168.1.5 ,any-port".parse::<HttpAllow>().unwrap().guard();
        assert!(guard.check_url("http://10.1.2.3:9000/").is_ok());
        assert!(guard.check_url("http://192.168.1.5/").is_ok());
        assert!(guard.check_url("http://192.168.1.6/").is_err());
        let nothing = HttpAllow::default().guard();
        assert!(nothing.check_url("http://10.1.2.3/").is_err());
        assert!(nothing.check_url("http://93.184.216.34:9000/").is_err());
        let error = "10.0.0.0/99".parse::<HttpAllow>().unwrap_err();
        assert_eq!(
            error,
            "`10.0.0.0/99` is not a block of addresses like 10.0.0.0/8, nor the word `any-port`"
        );
    }
}
