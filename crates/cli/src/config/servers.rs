//! The servers that a command may talk to: one, or several that share a store.

use std::fmt;
use std::str::FromStr;

use super::ServerUrl;

/// Most servers that can be named.
const SERVERS: usize = 64;

/// One server, or several; the first that answers will do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServerUrls(Vec<ServerUrl>);

impl ServerUrls {
    /// Each of them, at least one.
    pub(crate) fn each(&self) -> &[ServerUrl] {
        &self.0
    }

    /// Whether they can only mean this machine.
    pub(crate) fn is_loopback(&self) -> bool {
        self.0.iter().all(ServerUrl::is_loopback)
    }

    /// The port of the first of them.
    pub(crate) fn port(&self) -> Option<u16> {
        self.0.first().and_then(ServerUrl::port)
    }

    /// Whether every connection is plain HTTP.
    pub(crate) fn is_plain(&self) -> bool {
        self.0.iter().all(ServerUrl::is_plain)
    }
}

impl Default for ServerUrls {
    fn default() -> ServerUrls {
        ServerUrl::default().into()
    }
}

impl From<ServerUrl> for ServerUrls {
    fn from(url: ServerUrl) -> ServerUrls {
        ServerUrls(vec![url])
    }
}

impl fmt::Display for ServerUrls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&all.join(","))
    }
}

impl FromStr for ServerUrls {
    type Err = String;

    fn from_str(text: &str) -> Result<ServerUrls, String> {
        let urls: Vec<ServerUrl> =
            text.split(',').map(|url| url.trim().parse()).collect::<Result<_, String>>()?;
        if urls.len() > SERVERS {
            return Err(format!("it names {} servers, the limit is {SERVERS}", urls.len()));
        }
        Ok(ServerUrls(urls))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_servers_stand_between_commas() {
        let urls: ServerUrls = "http://a:1, http://b:2/".parse().unwrap();
        assert_eq!((urls.to_string().as_str(), urls.each().len()), ("http://a:1,http://b:2", 2));
        assert!(!urls.is_loopback() && urls.is_plain());
        assert!("http://a:1,".parse::<ServerUrls>().is_err());
        assert!(!"http://127.0.0.1:1,http://b:2".parse::<ServerUrls>().unwrap().is_loopback());
        let many = |n: usize| vec!["http://a:1"; n].join(",").parse::<ServerUrls>();
        assert!(many(SERVERS).is_ok() && many(SERVERS + 1).is_err());
    }
}
