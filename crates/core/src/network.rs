//! Addresses: blocks of them, which of them count as one client, and who is behind a proxy.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// Most proxies that a request is followed back through; the entries of `X-Forwarded-For` beyond are not read.
pub const PROXIES: usize = 16;

/// A block of addresses: `10.0.0.0/8`, `fd00::/8`, or a single address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its first address, or any other in it.
    pub base: IpAddr,
    /// How many leading bits an address shares with `base`.
    pub bits: u8,
}

/// The text is not a block of addresses.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a block of addresses like 10.0.0.0/8")]
pub struct ParseBlockError(String);

impl FromStr for Block {
    type Err = ParseBlockError;

    fn from_str(text: &str) -> Result<Block, ParseBlockError> {
        let wrong = || ParseBlockError(text.chars().take(64).collect());
        let (base, bits) = match text.split_once('/') {
            Some((base, bits)) => (base, Some(bits.parse::<u8>().map_err(|_| wrong())?)),
            None => (text, None),
        };
        let base: IpAddr = base.parse().map_err(|_| wrong())?;
        let most = if base.is_ipv4() { 32 } else { 128 };
        let bits = bits.unwrap_or(most);
        if bits > most { Err(wrong()) } else { Ok(Block { base, bits }) }
    }
}

impl Block {
    /// A block of IPv4 addresses, by the first three bytes.
    #[must_use]
    pub const fn v4(a: u8, b: u8, c: u8, bits: u8) -> Block {
        Block { base: IpAddr::V4(Ipv4Addr::new(a, b, c, 0)), bits }
    }

    /// A block of IPv6 addresses, by the first three groups.
    #[must_use]
    pub const fn v6(a: u16, b: u16, c: u16, bits: u8) -> Block {
        Block { base: IpAddr::V6(Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0)), bits }
    }

    /// Whether the address lies in it. An IPv4 address never lies in an IPv6 block.
    #[must_use]
    pub fn contains(self, address: IpAddr) -> bool {
        let (base, address, width) = match (self.base, address) {
            (IpAddr::V4(b), IpAddr::V4(a)) => (u128::from(b.to_bits()), u128::from(a.to_bits()), 32),
            (IpAddr::V6(b), IpAddr::V6(a)) => (b.to_bits(), a.to_bits(), 128),
            (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => return false,
        };
        let shift = width - u32::from(self.bits);
        base.checked_shr(shift) == address.checked_shr(shift)
    }
}

/// What counts as one client: an IPv4 address, or the /64 of an IPv6 address, which is what one customer of a provider
/// is given at least. Bounds per address are bounds per this.
#[must_use]
pub fn client_group(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() >> 64 << 64)),
    }
}

/// Proxies whose `X-Forwarded-For` is believed: blocks of addresses with commas between.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proxies(Vec<Block>);

impl FromStr for Proxies {
    type Err = ParseBlockError;

    fn from_str(text: &str) -> Result<Proxies, ParseBlockError> {
        let words = text.split(',').map(str::trim).filter(|word| !word.is_empty());
        words.map(str::parse).collect::<Result<_, _>>().map(Proxies)
    }
}

impl fmt::Display for Proxies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (nth, Block { base, bits }) in self.0.iter().enumerate() {
            write!(f, "{}{base}/{bits}", if nth > 0 { "," } else { "" })?;
        }
        Ok(())
    }
}

impl Proxies {
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn contains(&self, address: IpAddr) -> bool {
        self.0.iter().any(|block| block.contains(address.to_canonical()))
    }

    /// Who sent a request: the peer itself or, if that is a trusted proxy, the last address in `X-Forwarded-For` that is
    /// not one. Everything left of it was written by the client and proves nothing.
    #[must_use]
    pub fn client<'a>(&self, peer: IpAddr, forwarded: impl DoubleEndedIterator<Item = &'a str>) -> IpAddr {
        let mut client = peer;
        let entries = forwarded.rev().flat_map(|value| value.rsplit(','));
        for entry in entries.take(PROXIES) {
            if !self.contains(client) {
                break;
            }
            let Some(before) = parse_forwarded(entry) else { break };
            client = before;
        }
        client.to_canonical()
    }
}

/// One entry of `X-Forwarded-For`: an address, perhaps with a port, as some proxies write it.
fn parse_forwarded(entry: &str) -> Option<IpAddr> {
    let entry = entry.trim();
    let bare =
        entry.strip_prefix('[').and_then(|rest| rest.split_once(']')).map_or(entry, |(inner, _)| inner);
    let with_port = || bare.parse::<std::net::SocketAddr>().ok().map(|address| address.ip());
    bare.parse().ok().or_else(with_port)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn an_ipv6_network_of_64_bits_is_one_client() {
        assert_eq!(client_group(ip("2001:db8:1:2:3:4:5:6")), client_group(ip("2001:db8:1:2::9")));
        assert_ne!(client_group(ip("2001:db8:1:2::1")), client_group(ip("2001:db8:1:3::1")));
        assert_ne!(client_group(ip("10.0.0.1")), client_group(ip("10.0.0.2")));
        assert_eq!(client_group(ip("::ffff:10.0.0.1")), ip("10.0.0.1"), "a mapped address is the IPv4 one");
    }

    #[test]
    fn only_trusted_proxies_say_who_is_behind_them() {
        let proxies: Proxies = "10.0.0.0/8, fd00::/8".parse().unwrap();
        for (peer, header, client) in [
            ("203.0.113.9", "198.51.100.1", "203.0.113.9"),
            ("10.0.0.1", "198.51.100.1", "198.51.100.1"),
            ("::ffff:10.0.0.1", "198.51.100.1", "198.51.100.1"),
            ("10.0.0.1", "6.6.6.6, 198.51.100.1, 10.0.0.2", "198.51.100.1"),
            ("10.0.0.1", "6.6.6.6,198.51.100.1", "198.51.100.1"),
            ("10.0.0.1", "[2001:db8::1]:443", "2001:db8::1"),
            ("10.0.0.1", "198.51.100.1:99", "198.51.100.1"),
            ("10.0.0.1", "unknown", "10.0.0.1"),
            ("10.0.0.1", "", "10.0.0.1"),
        ] {
            assert_eq!(proxies.client(ip(peer), [header].into_iter()), ip(client), "{peer} {header}");
        }
        let two = ["6.6.6.6", "198.51.100.1"];
        assert_eq!(
            proxies.client(ip("10.0.0.1"), two.into_iter()),
            ip("198.51.100.1"),
            "the last header counts"
        );
        assert_eq!(Proxies::default().client(ip("10.0.0.1"), two.into_iter()), ip("10.0.0.1"));
        assert!("10.0.0.0/33".parse::<Proxies>().is_err());
        assert_eq!(proxies.to_string(), "10.0.0.0/8,fd00::/8");
    }

    #[test]
    fn a_request_is_followed_back_through_so_many_proxies_and_no_more() {
        let proxies: Proxies = "10.0.0.0/8".parse().unwrap();
        let hops = |count: usize| {
            let mut entries = vec!["198.51.100.1".to_owned()];
            entries.extend((1..count).map(|_| "10.0.0.2".to_owned()));
            entries.join(",")
        };
        assert_eq!(proxies.client(ip("10.0.0.1"), [hops(PROXIES).as_str()].into_iter()), ip("198.51.100.1"));
        assert_eq!(proxies.client(ip("10.0.0.1"), [hops(PROXIES + 1).as_str()].into_iter()), ip("10.0.0.2"));
    }
}
