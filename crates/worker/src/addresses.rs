//! Where the servers are: those that were named at the start, and the leader that a welcome names.
//!
//! Any server will do, because one that does not lead passes everything on; the leader itself spares that detour.
//! So a worker takes the first server that answers, and moves to the leader if that can be reached from here.

use tonic::transport::Endpoint;

use crate::credential::Credential;
use crate::wire;

/// Most servers that can be named.
const SERVERS: usize = 64;

/// The servers of one cluster, as one worker sees them.
#[derive(Clone, Debug)]
pub(crate) struct Addresses {
    named: Vec<Address>,
    /// Which of the named ones is dialled next.
    next: usize,
    /// Where the present connection goes, or went.
    current: Address,
    /// A leader that could be reached, but not spoken with.
    unfit: Option<String>,
    /// What is shown to them.
    credential: Credential,
}

/// One server.
#[derive(Clone, Debug)]
pub(crate) struct Address {
    pub(crate) url: String,
    pub(crate) endpoint: Endpoint,
}

impl Address {
    pub(crate) fn new(url: &str, credential: &Credential) -> Result<Address, tonic::transport::Error> {
        let url = url.trim().trim_end_matches('/').to_owned();
        Ok(Address { endpoint: wire::endpoint(&url, credential)?, url })
    }

    fn scheme(&self) -> Option<&str> {
        self.url.split_once("://").map(|(scheme, _)| scheme)
    }
}

/// The addresses in a text such as `http://a:8080,http://b:8080`; there is at least one.
pub(crate) fn parse(urls: &str, credential: &Credential) -> Result<Vec<Address>, tonic::transport::Error> {
    let given: Vec<&str> =
        urls.split(',').map(str::trim).filter(|url| !url.is_empty()).take(SERVERS).collect();
    // An empty text is an address that cannot be used, and is refused as one.
    let given = if given.is_empty() { vec![""] } else { given };
    given.into_iter().map(|url| Address::new(url, credential)).collect()
}

impl Addresses {
    /// Reads one address, or several between commas.
    pub(crate) fn parse(urls: &str, credential: &Credential) -> Result<Addresses, tonic::transport::Error> {
        let named = parse(urls, credential)?;
        let current = named[0].clone();
        Ok(Addresses { named, next: 0, current, unfit: None, credential: credential.clone() })
    }

    /// The server to dial now.
    pub(crate) fn dial(&mut self) -> Endpoint {
        self.current = self.named[self.next % self.named.len()].clone();
        self.current.endpoint.clone()
    }

    /// The connection is over; another named server is dialled next. `greeted` tells whether it ever came to a
    /// welcome.
    pub(crate) fn broke(&mut self, greeted: bool) {
        let place = self.named.iter().position(|address| address.url == self.current.url);
        if let Some(place) = place {
            // The one after it, also where a welcome led here: a leader that stands still lets itself be dialled.
            self.next = (place + 1) % self.named.len();
        } else if !greeted {
            self.unfit = Some(self.current.url.clone());
        }
    }

    /// A welcome named the leader: the address to try, if that is another one than we are connected to. A leader
    /// behind plain HTTP is not for whoever was told to use TLS.
    pub(crate) fn leader(&self, url: &str) -> Option<Address> {
        let leader = Address::new(url, &self.credential).ok()?;
        let here = leader.url == self.current.url || self.unfit.as_ref() == Some(&leader.url);
        (!here && leader.scheme() == self.current.scheme()).then_some(leader)
    }

    /// The leader was reached there, so that is where the next connection goes.
    pub(crate) fn move_to(&mut self, leader: Address) -> Endpoint {
        self.current = leader;
        self.unfit = None;
        self.current.endpoint.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_named_servers_take_turns() {
        let mut addresses = Addresses::parse("http://a:1, http://b:2/,", &Credential::default()).unwrap();
        let mut dialled = Vec::new();
        for _ in 0..3 {
            addresses.dial();
            dialled.push(addresses.current.url.clone());
            addresses.broke(false);
        }
        assert_eq!(dialled, ["http://a:1", "http://b:2", "http://a:1"]);
        assert!(
            Addresses::parse("", &Credential::default()).is_err()
                && Addresses::parse("http://a:1,no url", &Credential::default()).is_err()
        );
    }

    /// It stands still, so that dialling it again would look like success for seconds.
    #[test]
    fn a_leader_that_broke_is_not_dialled_next_although_it_is_named() {
        let mut addresses =
            Addresses::parse("http://a:1,http://b:2,http://c:3", &Credential::default()).unwrap();
        addresses.dial();
        let leader = addresses.leader("http://b:2").unwrap();
        addresses.move_to(leader);
        addresses.broke(true);
        addresses.dial();
        assert_eq!(addresses.current.url, "http://c:3");
    }

    #[test]
    fn a_leader_elsewhere_is_tried_once_and_never_with_less_protection() {
        let mut addresses = Addresses::parse("https://a:1", &Credential::default()).unwrap();
        addresses.dial();
        assert!(addresses.leader("https://a:1/").is_none(), "we are there");
        assert!(addresses.leader("http://b:2").is_none(), "without TLS");
        assert!(addresses.leader("").is_none() && addresses.leader("no url").is_none());
        let leader = addresses.leader("https://b:2").unwrap();
        addresses.move_to(leader);
        addresses.broke(false);
        addresses.dial();
        assert_eq!(addresses.current.url, "https://a:1", "back to the list");
        assert!(addresses.leader("https://b:2").is_none(), "it took the call and said nothing");
        assert!(addresses.leader("https://c:3").is_some());
    }
}
