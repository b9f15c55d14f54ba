//! Where the `http` kind may connect to: the public internet, unless told otherwise.
//!
//! Whoever may enqueue a job chooses its URL, so without a guard the worker would be their way into
//! the network it stands in. The name is looked up once, every address it has is checked, and the
//! connection goes to a checked address: a second lookup, which could answer differently, does not
//! exist. Where redirects are followed, each goes through all of this again.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use futures::future::BoxFuture;
pub use ganger_core::network::{Block, ParseBlockError};
use reqwest::Url;

/// Ports that may be connected to if nothing else is said.
const PORTS: [u16; 3] = [80, 443, 8443];
/// Longest URL, in bytes.
const URL_BYTES: usize = 8 << 10;
/// Addresses of one name that are looked at; a name with more is refused.
const ADDRESSES: usize = 64;

/// Looks up names. A seam: tests answer what they like.
pub trait Lookup: Send + Sync {
    /// Every address of this name.
    fn lookup(&self, host: String) -> BoxFuture<'static, std::io::Result<Vec<IpAddr>>>;
}

/// The system's own way to look up names.
#[derive(Clone, Copy, Debug)]
pub struct SystemLookup;

impl Lookup for SystemLookup {
    fn lookup(&self, host: String) -> BoxFuture<'static, std::io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            Ok(tokio::net::lookup_host((host, 0)).await?.map(|a| a.ip()).take(ADDRESSES + 1).collect())
        })
    }
}

/// Where a connection to an address really goes. A seam: tests lead every address to a server of their own, so that no
/// packet leaves the machine. It is asked after the checks, with an address that passed them.
pub trait Connect: Send + Sync {
    /// Where to connect to; port 0 stands for the port of the URL.
    fn connect(&self, checked: IpAddr) -> SocketAddr;
}

/// To the address itself.
#[derive(Clone, Copy, Debug)]
pub struct Directly;

impl Connect for Directly {
    fn connect(&self, checked: IpAddr) -> SocketAddr {
        SocketAddr::new(checked, 0)
    }
}

/// The rule for outgoing connections.
#[derive(Clone)]
pub struct Guard {
    allowed: Vec<Block>,
    any_port: bool,
    lookup: Arc<dyn Lookup>,
    connect: Arc<dyn Connect>,
}

impl Default for Guard {
    fn default() -> Guard {
        let (lookup, connect) = (Arc::new(SystemLookup), Arc::new(Directly));
        Guard { allowed: Vec::new(), any_port: false, lookup, connect }
    }
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guard").field("allowed", &self.allowed).field("any_port", &self.any_port).finish()
    }
}

/// Why a connection is not made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Denied {
    /// Not something to connect to.
    #[error("url {0}")]
    Url(String),
    /// An address that is not public.
    #[error("address {0} is not public, and not allowed here")]
    Address(IpAddr),
    /// A name with suspiciously many addresses, or with none.
    #[error("name `{0}` has no usable number of addresses")]
    Name(String),
}

impl Guard {
    /// Allows addresses of this block although they are not public.
    #[must_use]
    pub fn allow(mut self, block: Block) -> Guard {
        self.allowed.push(block);
        self
    }

    /// Allows every port.
    #[must_use]
    pub fn any_port(mut self) -> Guard {
        self.any_port = true;
        self
    }

    /// Looks names up in another way.
    #[must_use]
    pub fn lookup(mut self, lookup: impl Lookup + 'static) -> Guard {
        self.lookup = Arc::new(lookup);
        self
    }

    /// Connects in another way.
    #[must_use]
    pub fn connect(mut self, connect: impl Connect + 'static) -> Guard {
        self.connect = Arc::new(connect);
        self
    }

    /// Reads a URL and checks all that can be checked without a lookup.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn check_url(&self, text: &str) -> Result<Url, Denied> {
        let denied = |problem: &str| Err(Denied::Url(problem.into()));
        if text.len() > URL_BYTES {
            return denied("is longer than 8 KiB");
        }
        let url = Url::parse(text).map_err(|e| Denied::Url(format!("cannot be read: {e}")))?;
        if !matches!(url.scheme(), "http" | "https") {
            return denied("is neither http nor https");
        }
        if !url.username().is_empty() || url.password().is_some() {
            return denied("contains a user name or a password");
        }
        let port = url.port_or_known_default().unwrap_or(0);
        if !self.any_port && !PORTS.contains(&port) {
            return Err(Denied::Url(format!("has port {port}, allowed are 80, 443 and 8443")));
        }
        // Every odd way to write an address (octal, hexadecimal, one number) was made plain by the parser.
        let Some(host) = url.host_str() else { return denied("has no host") };
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        if let Ok(address) = bare.parse::<IpAddr>() {
            self.check_address(address)?;
        }
        Ok(url)
    }

    /// Checks one address.
    ///
    /// # Errors
    /// It is not public and not allowed.
    pub fn check_address(&self, address: IpAddr) -> Result<(), Denied> {
        let allowed = self.allowed.iter().any(|block| block.contains(address));
        if allowed || is_public(address) { Ok(()) } else { Err(Denied::Address(address)) }
    }

    /// Looks a name up, once, and checks every address it has.
    ///
    /// # Errors
    /// The lookup failed, or one address is denied.
    pub async fn resolve(
        &self,
        host: &str,
    ) -> Result<Vec<SocketAddr>, Box<dyn std::error::Error + Send + Sync>> {
        let found = self.lookup.lookup(host.to_owned()).await?;
        if !(1..=ADDRESSES).contains(&found.len()) {
            return Err(Denied::Name(host.chars().take(128).collect()).into());
        }
        for address in &found {
            self.check_address(*address)?;
        }
        Ok(found.into_iter().map(|address| self.connect.connect(address)).collect())
    }
}

impl reqwest::dns::Resolve for Guard {
    fn resolve(&self, name: reqwest::dns::Name) -> reqwest::dns::Resolving {
        let guard = self.clone();
        Box::pin(async move {
            let addresses = guard.resolve(name.as_str()).await?;
            Ok(Box::new(addresses.into_iter()) as reqwest::dns::Addrs)
        })
    }
}

/// What is not the public internet. Addresses that embed an IPv4 address are here whole, because
/// what they lead to depends on a gateway.
const PRIVATE: [Block; 19] = [
    Block::v4(0, 0, 0, 8),
    Block::v4(10, 0, 0, 8),
    Block::v4(100, 64, 0, 10),
    Block::v4(127, 0, 0, 8),
    Block::v4(169, 254, 0, 16),
    Block::v4(172, 16, 0, 12),
    Block::v4(192, 0, 0, 24),
    Block::v4(192, 0, 2, 24),
    Block::v4(192, 88, 99, 24),
    Block::v4(192, 168, 0, 16),
    Block::v4(198, 18, 0, 15),
    Block::v4(198, 51, 100, 24),
    Block::v4(203, 0, 113, 24),
    Block::v4(224, 0, 0, 4),
    Block::v4(240, 0, 0, 4),
    // Teredo, benchmarking, ORCHID and more; documentation; 6to4; documentation again.
    Block::v6(0x2001, 0, 0, 23),
    Block::v6(0x2001, 0xdb8, 0, 32),
    Block::v6(0x2002, 0, 0, 16),
    Block::v6(0x3fff, 0, 0, 20),
];

/// All that is public of IPv6: loopback, mapped and translated IPv4 addresses, local and multicast
/// ones lie outside.
const PUBLIC_V6: Block = Block::v6(0x2000, 0, 0, 3);

fn is_public(address: IpAddr) -> bool {
    let routed = address.is_ipv4() || PUBLIC_V6.contains(address);
    routed && !PRIVATE.iter().any(|block| block.contains(address))
}

#[cfg(test)]
#[path = "guard_tests.rs"]
mod tests;
