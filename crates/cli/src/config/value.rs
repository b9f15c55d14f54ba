//! The sorts of values that settings have, and how each is read.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::str::FromStr;
use std::time::Duration;

use clap::ValueEnum;
use ganger_core::limits;
use ganger_server::api::duration;

/// The default port of a server.
const PORT: u16 = 8080;

/// Where a server is: scheme, host and port, without a path's trailing slash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServerUrl(reqwest::Url);

impl ServerUrl {
    /// The address of a path on that server. `path` begins with a slash.
    pub(crate) fn at(&self, path: &str) -> String {
        format!("{self}{path}")
    }

    /// Its port, given or usual.
    pub(crate) fn port(&self) -> Option<u16> {
        self.0.port_or_known_default()
    }

    /// Whether it can only mean this machine.
    pub(crate) fn is_loopback(&self) -> bool {
        match self.0.host_str() {
            Some("localhost") => true,
            Some(host) => {
                let bare = host.trim_start_matches('[').trim_end_matches(']');
                bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
            }
            None => false,
        }
    }

    /// Whether the connection is plain HTTP.
    pub(crate) fn is_plain(&self) -> bool {
        self.0.scheme() == "http"
    }
}

impl ServerUrl {
    /// The server that listens on these: the first counts.
    pub(crate) fn of(addresses: &[SocketAddr], secured: bool) -> ServerUrl {
        let plain = addresses.first().map_or_else(ServerUrl::default, |address| ServerUrl::from(*address));
        let secure = secured.then(|| plain.to_string().replacen("http", "https", 1).parse().ok()).flatten();
        secure.unwrap_or(plain)
    }
}

impl Default for ServerUrl {
    fn default() -> ServerUrl {
        ServerUrl::from(SocketAddr::from((Ipv4Addr::LOCALHOST, PORT)))
    }
}

impl From<SocketAddr> for ServerUrl {
    fn from(address: SocketAddr) -> ServerUrl {
        let text = format!("http://{address}");
        ServerUrl(reqwest::Url::parse(&text).expect("a socket address after http:// is a URL"))
    }
}

impl fmt::Display for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_str().trim_end_matches('/'))
    }
}

impl FromStr for ServerUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<ServerUrl, String> {
        let url = reqwest::Url::parse(text).map_err(|error| format!("it is not a URL: {error}"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(format!("its scheme is `{}`; http and https are known", url.scheme()));
        }
        if url.host_str().is_none() || url.query().is_some() || url.fragment().is_some() {
            return Err("it needs a host, and may have neither query nor fragment".into());
        }
        Ok(ServerUrl(url))
    }
}

/// An address to listen on: `127.0.0.1:8080`, `localhost:8080`, `:8080` or `8080`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Listen(pub(crate) SocketAddr);

impl Default for Listen {
    fn default() -> Listen {
        Listen(SocketAddr::from((Ipv4Addr::LOCALHOST, PORT)))
    }
}

impl fmt::Display for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Listen {
    type Err = String;

    fn from_str(text: &str) -> Result<Listen, String> {
        if let Ok(address) = text.parse() {
            return Ok(Listen(address));
        }
        // A bare port means this machine only: nobody opens a door to the network by leaving something out.
        let port = text.strip_prefix("localhost:").or_else(|| text.strip_prefix(':')).unwrap_or(text);
        match port.parse::<u16>() {
            Ok(port) => Ok(Listen(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))),
            Err(_) => Err("it is not an address; an example is 127.0.0.1:8080".into()),
        }
    }
}

/// Where a server listens: one address, or several between commas. The first is the one that is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Listens(Vec<SocketAddr>);

impl Listens {
    /// Most addresses that a server listens on.
    pub(crate) const MOST: usize = 16;

    /// Each of them, at least one.
    pub(crate) fn each(&self) -> &[SocketAddr] {
        &self.0
    }

    /// What several flags say together.
    pub(crate) fn joined(flags: &[Listens]) -> Option<String> {
        let texts: Vec<String> = flags.iter().map(ToString::to_string).collect();
        (!texts.is_empty()).then(|| texts.join(","))
    }
}

impl Default for Listens {
    fn default() -> Listens {
        Listens(vec![Listen::default().0])
    }
}

impl fmt::Display for Listens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&all.join(","))
    }
}

impl FromStr for Listens {
    type Err = String;

    fn from_str(text: &str) -> Result<Listens, String> {
        let read = |word: &str| word.trim().parse::<Listen>().map(|listen| listen.0);
        let addresses: Vec<SocketAddr> = text.split(',').map(read).collect::<Result<_, String>>()?;
        if addresses.len() > Listens::MOST {
            return Err(format!("it names {} addresses, the limit is {}", addresses.len(), Listens::MOST));
        }
        Ok(Listens(addresses))
    }
}

/// Threads of each of several workers, between commas.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Workers(Vec<u16>);

impl Workers {
    /// Most workers of one process.
    const MOST: usize = 64;

    /// Each of them, at least one.
    pub(crate) fn each(&self) -> &[u16] {
        &self.0
    }
}

impl fmt::Display for Workers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&all.join(","))
    }
}

impl FromStr for Workers {
    type Err = String;

    fn from_str(text: &str) -> Result<Workers, String> {
        let read = |word: &str| match word.trim().parse::<u16>() {
            Ok(threads) if (1..=limits::THREADS).contains(&threads) => Ok(threads),
            Ok(_) | Err(_) => Err(format!("a worker has 1 to {} threads", limits::THREADS)),
        };
        let each: Vec<u16> = text.split(',').map(read).collect::<Result<_, String>>()?;
        if each.len() > Workers::MOST {
            return Err(format!("it names {} workers, the limit is {}", each.len(), Workers::MOST));
        }
        Ok(Workers(each))
    }
}

/// What people call an installation, such as `production`: a word or two, shown on every page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EnvLabel(String);

impl EnvLabel {
    /// Most characters.
    const MOST: usize = 32;
}

impl fmt::Display for EnvLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for EnvLabel {
    type Err = String;

    fn from_str(text: &str) -> Result<EnvLabel, String> {
        let label = text.trim();
        let length = label.chars().count();
        if length == 0 || length > EnvLabel::MOST || label.chars().any(char::is_control) {
            return Err(format!("it must have 1 to {} characters, all of them printable", EnvLabel::MOST));
        }
        Ok(EnvLabel(label.to_owned()))
    }
}

/// Names of hosts, between commas.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct HostNames(Vec<String>);

impl HostNames {
    /// Most names.
    const MOST: usize = 16;

    /// Each of them.
    pub(crate) fn each(&self) -> &[String] {
        &self.0
    }
}

impl fmt::Display for HostNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(","))
    }
}

impl FromStr for HostNames {
    type Err = String;

    fn from_str(text: &str) -> Result<HostNames, String> {
        let letters = |name: &str| name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-.".contains(&b));
        let names: Vec<String> = text.split(',').map(|name| name.trim().to_ascii_lowercase()).collect();
        match names.iter().find(|name| name.is_empty() || name.len() > 253 || !letters(name)) {
            Some(name) => {
                Err(format!("`{name}` is not the name of a host, such as jobs.example.com, without port"))
            }
            None if names.len() > HostNames::MOST => {
                Err(format!("it has {} names, the limit is {}", names.len(), HostNames::MOST))
            }
            None => Ok(HostNames(names)),
        }
    }
}

/// How long running jobs may finish when a worker stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grace(pub(crate) Duration);

impl Default for Grace {
    fn default() -> Grace {
        Grace(Duration::from_secs(30))
    }
}

impl fmt::Display for Grace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&duration::format(self.0))
    }
}

impl FromStr for Grace {
    type Err = duration::DurationError;

    fn from_str(text: &str) -> Result<Grace, duration::DurationError> {
        duration::parse(text).map(Grace)
    }
}

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident => $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
        pub(crate) enum $name {
            $($(#[$vdoc])* #[value(name = $word)] $variant,)+
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $($name::$variant => $word,)+ })
            }
        }

        impl FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<$name, String> {
                match text {
                    $($word => Ok($name::$variant),)+
                    other => Err(format!("`{other}` is not one of {}", [$($word),+].join(", "))),
                }
            }
        }
    };
}

words!(
    /// How answers are printed.
    Format {
        /// For people.
        Table => "table",
        /// For people with a wide terminal.
        Wide => "wide",
        /// The JSON of the REST API.
        Json => "json",
        /// One JSON document per line.
        Ndjson => "ndjson",
        /// Only the ids or names, one per line.
        Name => "name",
    }
);
words!(
    /// When to use colour.
    Color {
        /// On a terminal that wants it.
        Auto => "auto",
        /// Always.
        Always => "always",
        /// Never.
        Never => "never",
    }
);
words!(
    /// How logs are written.
    LogFormat {
        /// For people.
        Human => "human",
        /// One JSON document per line.
        Json => "json",
    }
);
words!(
    /// On or off.
    Switch {
        /// On.
        On => "on",
        /// Off.
        Off => "off",
    }
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_port_means_this_machine() {
        for text in ["127.0.0.1:81", "localhost:81", ":81", "81"] {
            assert_eq!(text.parse::<Listen>().unwrap().to_string(), "127.0.0.1:81");
        }
        assert_eq!("[::1]:81".parse::<Listen>().unwrap().to_string(), "[::1]:81");
        assert!("example.com:81".parse::<Listen>().is_err());
    }

    #[test]
    fn workers_are_taken_at_their_bounds_and_refused_past_them() {
        assert_eq!("4, 8".parse::<Workers>().unwrap().each(), [4, 8]);
        assert!(limits::THREADS.to_string().parse::<Workers>().is_ok());
        for wrong in ["", "0", "4,", "many", &(u32::from(limits::THREADS) + 1).to_string()] {
            assert!(wrong.parse::<Workers>().is_err(), "{wrong}");
        }
        let many = |n: usize| vec!["1"; n].join(",").parse::<Workers>();
        assert!(many(Workers::MOST).is_ok() && many(Workers::MOST + 1).is_err());
    }

    #[test]
    fn a_label_is_short_and_printable() {
        assert_eq!(" production ".parse::<EnvLabel>().unwrap().to_string(), "production");
        let long = |n| "ü".repeat(n).parse::<EnvLabel>();
        assert!(long(EnvLabel::MOST).is_ok() && long(EnvLabel::MOST + 1).is_err());
        assert!("".parse::<EnvLabel>().is_err() && "a\u{7}b".parse::<EnvLabel>().is_err());
    }

    #[test]
    fn hosts_are_names_without_ports() {
        let hosts: HostNames = "Jobs.example.com, b".parse().unwrap();
        assert_eq!(hosts.to_string(), "jobs.example.com,b");
        for wrong in ["", "a,", "a:80", "http://a", "*.a"] {
            assert!(wrong.parse::<HostNames>().is_err(), "{wrong}");
        }
        let many = |n: usize| vec!["a"; n].join(",").parse::<HostNames>();
        assert!(many(HostNames::MOST).is_ok() && many(HostNames::MOST + 1).is_err());
    }

    #[test]
    fn several_addresses_stand_between_commas() {
        let listens: Listens = "81, [::1]:82".parse().unwrap();
        assert_eq!(listens.to_string(), "127.0.0.1:81,[::1]:82");
        assert_eq!(
            Listens::joined(&[listens, "83".parse().unwrap()]).unwrap(),
            "127.0.0.1:81,[::1]:82,127.0.0.1:83"
        );
        assert_eq!(Listens::joined(&[]), None);
        let many = |n: usize| vec!["80"; n].join(",").parse::<Listens>();
        assert!(many(Listens::MOST).is_ok() && many(Listens::MOST + 1).is_err());
        assert!("80,".parse::<Listens>().is_err());
    }

    #[test]
    fn only_this_machine_is_loopback() {
        for (text, expected) in [
            ("http://127.0.0.1:8080", true),
            ("http://localhost/", true),
            ("http://[::1]:1", true),
            ("http://10.0.0.1:8080", false),
            ("https://localhost.example.com", false),
        ] {
            assert_eq!(text.parse::<ServerUrl>().unwrap().is_loopback(), expected, "{text}");
        }
    }

    #[test]
    fn a_url_is_joined_with_a_path_without_a_double_slash() {
        assert_eq!("http://a:1/".parse::<ServerUrl>().unwrap().at("/v1/jobs"), "http://a:1/v1/jobs");
        assert_eq!("http://a:1/base/".parse::<ServerUrl>().unwrap().at("/v1"), "http://a:1/base/v1");
        assert!("ftp://a".parse::<ServerUrl>().is_err());
        assert!("127.0.0.1:8080".parse::<ServerUrl>().is_err());
    }
}
