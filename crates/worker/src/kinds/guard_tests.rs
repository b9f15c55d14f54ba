//! The corpus: what must be denied, however it is written, and what must not.

use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;

use super::*;

const DENIED: &[&str] = &[
    // Loopback, in every way to write it.
    "http://127.0.0.1/",
    "http://127.0.0.1./",
    "http://127.1/",
    "http://127.0.1/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0x7f.0.0.1/",
    "http://0x7f.1/",
    "http://017700000001/",
    "http://0177.0.0.1/",
    "http://0177.1/",
    "http://127.255.255.254/",
    "http://①②⑦.0.0.1/",
    "http://127。0。0。1/",
    "http://127%2e0%2e0%2e1/",
    "http://[::1]/",
    "http://[0:0:0:0:0:0:0:1]/",
    "http://[0000::0001]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[::127.0.0.1]/",
    "http://[0:0:0:0:0:ffff:7f00:0001]/",
    // This host, and nothing at all.
    "http://0.0.0.0/",
    "http://0/",
    "http://0.1.2.3/",
    "http://[::]/",
    // Private networks.
    "http://10.0.0.1/",
    "http://10.255.255.255/",
    "http://012.0.0.1/",
    "http://0xa.0.0.1/",
    "http://167772161/",
    "http://172.16.0.1/",
    "http://172.31.255.255/",
    "http://192.168.0.1/",
    "http://192.168.255.255/",
    "http://0xc0a80001/",
    "http://3232235521/",
    "http://[::ffff:10.0.0.1]/",
    "http://[::ffff:c0a8:1]/",
    "http://[fc00::1]/",
    "http://[fd12:3456:789a::1]/",
    // Shared address space of carriers.
    "http://100.64.0.1/",
    "http://100.127.255.255/",
    // Link-local, and the metadata services of clouds.
    "http://169.254.0.1/",
    "http://169.254.169.254/latest/meta-data/",
    "http://2852039166/",
    "http://0xa9fea9fe/",
    "http://0251.0376.0251.0376/",
    "http://[::ffff:169.254.169.254]/",
    "http://[::ffff:a9fe:a9fe]/",
    "http://[fe80::1]/",
    "http://[fec0::1]/",
    "http://[fd00:ec2::254]/",
    // IPv4 addresses inside IPv6 ones.
    "http://[64:ff9b::7f00:1]/",
    "http://[64:ff9b::10.0.0.1]/",
    "http://[64:ff9b:1::1]/",
    "http://[2002:7f00:1::]/",
    "http://[2002:a00:1::]/",
    "http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/",
    // Reserved, benchmarking, documentation, multicast, broadcast.
    "http://192.0.0.1/",
    "http://192.0.2.1/",
    "http://198.18.0.1/",
    "http://198.19.255.255/",
    "http://198.51.100.1/",
    "http://203.0.113.1/",
    "http://224.0.0.1/",
    "http://239.255.255.255/",
    "http://240.0.0.1/",
    "http://255.255.255.255/",
    "http://[ff02::1]/",
    "http://[ff0e::1]/",
    "http://[100::1]/",
    "http://[2001:db8::1]/",
    // Not http, or not only a host.
    "ftp://93.184.216.34/",
    "file:///etc/passwd",
    "gopher://93.184.216.34:80/",
    "javascript:alert(1)",
    "data:text/plain,x",
    "unix:/run/docker.sock",
    "http://user@93.184.216.34/",
    "http://user:secret@93.184.216.34/",
    "http://93.184.216.34@127.0.0.1/",
    "http://:secret@93.184.216.34/",
    // Ports of other services.
    "http://93.184.216.34:22/",
    "http://93.184.216.34:25/",
    "http://93.184.216.34:6379/",
    "https://93.184.216.34:8080/",
    "http://93.184.216.34:0/",
    // Not a URL.
    "",
    "http://",
    "http:///127.0.0.1/",
    "//93.184.216.34/",
    "93.184.216.34",
    "http://[::1",
    "http://256.256.256.256/",
    "http://1.2.3.4.5/",
    "http://a b/",
];

const ALLOWED: &[&str] = &[
    "http://93.184.216.34/",
    "https://93.184.216.34/a?b=c#d",
    "https://93.184.216.34:8443/",
    "http://example.com/",
    "https://example.com:443/",
    "http://9.255.255.255/",
    "http://11.0.0.1/",
    "http://100.63.255.255/",
    "http://100.128.0.1/",
    "http://172.15.255.255/",
    "http://172.32.0.1/",
    "http://192.167.255.255/",
    "http://192.169.0.1/",
    "http://198.17.255.255/",
    "http://198.20.0.1/",
    "http://223.255.255.255/",
    "http://[2606:2800:220:1:248:1893:25c8:1946]/",
    "http://[2a00:1450:4001:81b::200e]/",
];

#[test]
fn the_corpus_is_denied() {
    let guard = Guard::default();
    for url in DENIED {
        assert!(guard.check_url(url).is_err(), "{url} was let through");
    }
    assert!(guard.check_url(&format!("http://example.com/{}", "x".repeat(URL_BYTES))).is_err());
}

#[test]
fn the_public_internet_is_allowed_up_to_the_edge_of_each_block() {
    for url in ALLOWED {
        assert_eq!(Guard::default().check_url(url).err(), None, "{url}");
    }
}

#[test]
fn a_private_block_can_be_allowed_and_nothing_beside_it() {
    let guard = Guard::default().allow("10.1.0.0/16".parse().unwrap()).any_port();
    assert!(guard.check_url("http://10.1.2.3:9000/").is_ok());
    assert!(guard.check_url("http://10.2.0.1:9000/").is_err());
    assert!(guard.check_url("http://[::ffff:10.1.2.3]/").is_err());
}

#[test]
fn blocks_are_read_or_refused() {
    assert!("::1".parse::<Block>().unwrap().contains("::1".parse().unwrap()));
    assert!("0.0.0.0/0".parse::<Block>().unwrap().contains("8.8.8.8".parse().unwrap()));
    for bad in ["", "10.0.0.0/33", "fd00::/129", "10.0.0.0/", "10/8", "x", "10.0.0.0/-1"] {
        assert!(bad.parse::<Block>().is_err(), "{bad}");
    }
}

/// A name that answers with a public address first and with a private one ever after.
struct FlipFlop(Arc<AtomicUsize>);

impl Lookup for FlipFlop {
    fn lookup(&self, _: String) -> BoxFuture<'static, std::io::Result<Vec<IpAddr>>> {
        let first = self.0.fetch_add(1, Ordering::SeqCst) == 0;
        let address = if first { "93.184.216.34" } else { "127.0.0.1" };
        Box::pin(std::future::ready(Ok(vec![address.parse().expect("an address")])))
    }
}

#[tokio::test]
async fn the_address_that_was_checked_is_the_one_that_is_used() {
    let lookups = Arc::new(AtomicUsize::new(0));
    let guard = Guard::default().lookup(FlipFlop(lookups.clone()));
    let addresses = guard.resolve("rebind.example").await.unwrap();
    assert_eq!(addresses, ["93.184.216.34:0".parse().unwrap()]);
    assert_eq!(lookups.load(Ordering::SeqCst), 1);
    assert!(guard.resolve("rebind.example").await.is_err(), "the second answer is private");
}

struct Fixed(Vec<&'static str>);

impl Lookup for Fixed {
    fn lookup(&self, _: String) -> BoxFuture<'static, std::io::Result<Vec<IpAddr>>> {
        let all = self.0.iter().map(|a| a.parse().expect("an address")).collect();
        Box::pin(std::future::ready(Ok(all)))
    }
}

#[tokio::test]
async fn one_private_address_among_public_ones_denies_the_name() {
    let mixed = Guard::default().lookup(Fixed(vec!["93.184.216.34", "10.0.0.1"]));
    let error = mixed.resolve("mixed.example").await.unwrap_err();
    assert_eq!(error.to_string(), "address 10.0.0.1 is not public, and not allowed here");
    assert!(Guard::default().lookup(Fixed(vec![])).resolve("none.example").await.is_err());
    let many = vec!["93.184.216.34"; ADDRESSES + 1];
    assert!(Guard::default().lookup(Fixed(many)).resolve("many.example").await.is_err());
}

proptest! {
    #[test]
    fn no_private_ipv4_address_gets_through_in_any_notation(block in 0usize..15, host: u32, notation in 0..4) {
        let Block { base: IpAddr::V4(base), bits } = PRIVATE[block] else { unreachable!("the first 15 are v4") };
        let address = base.to_bits() | (host & (u32::MAX >> bits));
        let [a, b, c, d] = address.to_be_bytes();
        let written = match notation {
            0 => format!("{a}.{b}.{c}.{d}"),
            1 => format!("{address}"),
            2 => format!("0x{address:x}"),
            3 => format!("0{a:o}.0x{b:x}.{}", u16::from_be_bytes([c, d])),
            _ => unreachable!("four notations"),
        };
        let url = format!("http://{written}/");
        prop_assert!(Guard::default().check_url(&url).is_err(), "{}", url);
    }

    #[test]
    fn rubbish_never_panics(text in ".{0,80}") {
        let _ = Guard::default().check_url(&text);
        let _ = Guard::default().check_url(&format!("http://{text}/"));
        let _ = text.parse::<Block>();
    }
}
