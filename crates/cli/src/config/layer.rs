//! Raw settings: text by key, from one place.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::Path;

use serde::Deserialize;

use crate::failure::{Failure, Fallible};

/// Everything that can be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Key {
    /// The server that client commands talk to.
    Url,
    /// The address that a server listens on.
    Listen,
    /// Where a server keeps its data.
    Data,
    /// Where jobs are kept: the data directory, or a database that servers share.
    Store,
    /// Where other servers and workers reach a server.
    Advertise,
    /// What the servers of a cluster know, and nobody else.
    ClusterSecret,
    /// Redis in front of the store.
    Redis,
    /// The certificate that a server shows.
    TlsCert,
    /// Its key.
    TlsPrivate,
    /// Authorities that sign certificates of workers.
    TlsClientCa,
    /// Authorities that vouch for servers.
    Ca,
    /// The certificate that a worker shows.
    ClientCert,
    /// Its key.
    ClientPrivate,
    /// How answers are printed.
    Output,
    /// When to use colour.
    Color,
    /// How logs are written.
    LogFormat,
    /// Which logs are written.
    Log,
    /// Where spans are sent.
    Otlp,
    /// Whether a server asks who calls.
    Auth,
    /// What the server is shown.
    Token,
    /// The file that holds it.
    TokenFile,
    /// What access tokens of other issuers are signed with.
    JwtSecret,
    /// The token that `exec` jobs need.
    ExecTokenFile,
    /// How long running jobs may finish when a worker stops.
    Grace,
    /// The compatible doors that are served.
    Compat,
    /// Those that need no token.
    CompatOpen,
    /// Origins whose pages may use a server.
    CorsOrigin,
    /// Where `http` jobs may connect to although it is not the public internet.
    HttpAllow,
    /// Whether the variables of other schedulers count.
    CompatEnv,
    /// Threads of each worker of `ganger dev`.
    Workers,
    /// How much of the workloads for demonstrations is done.
    DemoScale,
    /// The mail server.
    SmtpUrl,
    /// What people call an installation.
    EnvLabel,
    /// Names that a proxy in front of a server is reached by.
    AllowHost,
    /// Proxies that say who is behind them.
    TrustedProxy,
    /// How much one caller may have at a time.
    Limits,
}

impl Key {
    /// Every key, in the order of `ganger config show`.
    pub(crate) const ALL: [Key; 36] = [
        Key::Url,
        Key::Listen,
        Key::Data,
        Key::Store,
        Key::Advertise,
        Key::ClusterSecret,
        Key::Redis,
        Key::TlsCert,
        Key::TlsPrivate,
        Key::TlsClientCa,
        Key::Ca,
        Key::ClientCert,
        Key::ClientPrivate,
        Key::Output,
        Key::Color,
        Key::LogFormat,
        Key::Log,
        Key::Otlp,
        Key::Auth,
        Key::Token,
        Key::TokenFile,
        Key::JwtSecret,
        Key::ExecTokenFile,
        Key::Grace,
        Key::Compat,
        Key::CompatOpen,
        Key::CorsOrigin,
        Key::HttpAllow,
        Key::CompatEnv,
        Key::Workers,
        Key::DemoScale,
        Key::SmtpUrl,
        Key::EnvLabel,
        Key::AllowHost,
        Key::TrustedProxy,
        Key::Limits,
    ];

    /// Its name in a settings file.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Key::Url => "url",
            Key::Listen => "listen",
            Key::Data => "data",
            Key::Store => "store",
            Key::Advertise => "advertise",
            Key::ClusterSecret => "cluster_secret",
            Key::Redis => "redis",
            Key::TlsCert => "tls_cert",
            Key::TlsPrivate => "tls_key",
            Key::TlsClientCa => "tls_client_ca",
            Key::Ca => "ca",
            Key::ClientCert => "client_cert",
            Key::ClientPrivate => "client_key",
            Key::Output => "output",
            Key::Color => "color",
            Key::LogFormat => "log_format",
            Key::Log => "log",
            Key::Otlp => "otlp",
            Key::Auth => "auth",
            Key::Token => "token",
            Key::TokenFile => "token_file",
            Key::JwtSecret => "jwt_secret",
            Key::ExecTokenFile => "exec_token_file",
            Key::Grace => "grace",
            Key::Compat => "compat",
            Key::CompatOpen => "compat_open",
            Key::CorsOrigin => "cors_origin",
            Key::HttpAllow => "http_allow",
            Key::CompatEnv => "compat_env",
            Key::Workers => "workers",
            Key::DemoScale => "demo_scale",
            Key::SmtpUrl => "smtp_url",
            Key::EnvLabel => "env_label",
            Key::AllowHost => "allow_host",
            Key::TrustedProxy => "trusted_proxy",
            Key::Limits => "limits",
        }
    }

    /// Its variable in the environment.
    pub(crate) const fn variable(self) -> &'static str {
        match self {
            Key::Url => "GANGER_URL",
            Key::Listen => "GANGER_LISTEN",
            Key::Data => "GANGER_DATA",
            Key::Store => "GANGER_STORE",
            Key::Advertise => "GANGER_ADVERTISE",
            Key::ClusterSecret => "GANGER_CLUSTER_SECRET",
            Key::Redis => "GANGER_REDIS",
            Key::TlsCert => "GANGER_TLS_CERT",
            Key::TlsPrivate => "GANGER_TLS_KEY",
            Key::TlsClientCa => "GANGER_TLS_CLIENT_CA",
            Key::Ca => "GANGER_CA",
            Key::ClientCert => "GANGER_CLIENT_CERT",
            Key::ClientPrivate => "GANGER_CLIENT_KEY",
            Key::Output => "GANGER_OUTPUT",
            Key::Color => "GANGER_COLOR",
            Key::LogFormat => "GANGER_LOG_FORMAT",
            Key::Log => "GANGER_LOG",
            Key::Otlp => "GANGER_OTLP",
            Key::Auth => "GANGER_AUTH",
            Key::Token => "GANGER_TOKEN",
            Key::TokenFile => "GANGER_TOKEN_FILE",
            Key::JwtSecret => "GANGER_JWT_SECRET",
            Key::ExecTokenFile => "GANGER_EXEC_TOKEN_FILE",
            Key::Grace => "GANGER_GRACE",
            Key::Compat => "GANGER_COMPAT",
            Key::CompatOpen => "GANGER_COMPAT_OPEN",
            Key::CorsOrigin => "GANGER_CORS_ORIGIN",
            Key::HttpAllow => "GANGER_HTTP_ALLOW",
            Key::CompatEnv => "GANGER_COMPAT_ENV",
            Key::Workers => "GANGER_WORKERS",
            Key::DemoScale => "GANGER_DEMO_SCALE",
            Key::SmtpUrl => "GANGER_SMTP_URL",
            Key::EnvLabel => "GANGER_ENV_LABEL",
            Key::AllowHost => "GANGER_ALLOW_HOST",
            Key::TrustedProxy => "GANGER_TRUSTED_PROXY",
            Key::Limits => "GANGER_LIMITS",
        }
    }

    /// Its flag, where it has one.
    pub(crate) const fn flag(self) -> Option<&'static str> {
        match self {
            Key::Url => Some("--url"),
            Key::Listen => Some("--listen"),
            Key::Data => Some("--data"),
            Key::Store => Some("--store"),
            Key::Advertise => Some("--advertise"),
            Key::Redis => Some("--redis"),
            Key::Auth => Some("--auth"),
            Key::TlsCert => Some("--tls-cert"),
            Key::TlsPrivate => Some("--tls-key"),
            Key::TlsClientCa => Some("--tls-client-ca"),
            Key::Ca => Some("--ca"),
            Key::ClientCert => Some("--client-cert"),
            Key::ClientPrivate => Some("--client-key"),
            Key::Output => Some("--output"),
            Key::Color => Some("--color"),
            Key::LogFormat => Some("--log"),
            Key::Otlp => Some("--otlp"),
            Key::Grace => Some("--grace"),
            Key::Compat => Some("--compat"),
            Key::CompatOpen => Some("--compat-open"),
            Key::CorsOrigin => Some("--cors-origin"),
            Key::CompatEnv => Some("--compat-env"),
            Key::Workers => Some("--worker"),
            Key::AllowHost => Some("--allow-host"),
            Key::TrustedProxy => Some("--trusted-proxy"),
            Key::Limits => Some("--limit"),
            // A secret on a command line is seen by everyone who lists processes.
            Key::HttpAllow
            | Key::SmtpUrl
            | Key::Log
            | Key::Token
            | Key::TokenFile
            | Key::JwtSecret
            | Key::ExecTokenFile
            | Key::ClusterSecret
            | Key::DemoScale
            | Key::EnvLabel => None,
        }
    }
}

/// Raw settings from one place. Some are secrets, so there is no way to print them all.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct Layer(BTreeMap<Key, String>);

impl Layer {
    /// The text of a key, if this place sets it.
    pub(crate) fn get(&self, key: Key) -> Option<&str> {
        self.0.get(&key).map(String::as_str)
    }

    /// Sets a key if there is a value.
    pub(crate) fn set(&mut self, key: Key, value: Option<impl ToString>) {
        if let Some(value) = value {
            self.0.insert(key, value.to_string());
        }
    }

    /// Reads a settings file; `None` if there is none. A key that does not exist is an error, since a
    /// setting that silently does nothing is worse than one that is refused.
    pub(super) fn read(path: &Path) -> Fallible<Option<Layer>> {
        let what = || format!("cannot read the settings in {}", path.display());
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Failure::file(what(), &error, "correct the file, or move it away")),
        };
        match toml::from_str::<File>(&text) {
            Ok(file) if file.has_a_secret() && others_can_read(path) => Err(Failure::usage(
                what(),
                "it holds a secret, and others can read it",
                format!("chmod 600 {}", path.display()),
            )),
            Ok(file) => Ok(Some(file.into())),
            Err(error) => {
                let line = error.span().map_or(1, |span| text[..span.start].matches('\n').count() + 1);
                Err(Failure::usage(
                    what(),
                    format!("line {line}: {}", error.message()),
                    format!("correct {}:{line}; known settings: {}", path.display(), known()),
                ))
            }
        }
    }
}

impl fmt::Debug for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl FromIterator<(Key, String)> for Layer {
    fn from_iter<I: IntoIterator<Item = (Key, String)>>(iter: I) -> Layer {
        Layer(iter.into_iter().collect())
    }
}

/// A settings file, as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    url: Option<String>,
    listen: Option<String>,
    data: Option<String>,
    store: Option<String>,
    advertise: Option<String>,
    cluster_secret: Option<String>,
    redis: Option<String>,
    tls_cert: Option<String>,
    tls_key: Option<String>,
    tls_client_ca: Option<String>,
    ca: Option<String>,
    client_cert: Option<String>,
    client_key: Option<String>,
    output: Option<String>,
    color: Option<String>,
    log_format: Option<String>,
    log: Option<String>,
    otlp: Option<String>,
    auth: Option<String>,
    token: Option<String>,
    token_file: Option<String>,
    jwt_secret: Option<String>,
    exec_token_file: Option<String>,
    grace: Option<String>,
    compat: Option<String>,
    compat_open: Option<String>,
    cors_origin: Option<String>,
    http_allow: Option<String>,
    compat_env: Option<String>,
    workers: Option<String>,
    demo_scale: Option<String>,
    smtp_url: Option<String>,
    env_label: Option<String>,
    allow_host: Option<String>,
    trusted_proxy: Option<String>,
    limits: Option<String>,
}

impl File {
    fn has_a_secret(&self) -> bool {
        let with_password = |url: &String| url.contains('@');
        self.token.is_some() || self.jwt_secret.is_some() || self.smtp_url.as_ref().is_some_and(with_password)
    }
}

fn others_can_read(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path).is_ok_and(|file| file.permissions().mode() & 0o077 != 0)
}

impl From<File> for Layer {
    fn from(file: File) -> Layer {
        let mut layer = Layer::default();
        layer.set(Key::Url, file.url);
        layer.set(Key::Listen, file.listen);
        layer.set(Key::Data, file.data);
        layer.set(Key::Store, file.store);
        layer.set(Key::Advertise, file.advertise);
        layer.set(Key::ClusterSecret, file.cluster_secret);
        layer.set(Key::Redis, file.redis);
        layer.set(Key::TlsCert, file.tls_cert);
        layer.set(Key::TlsPrivate, file.tls_key);
        layer.set(Key::TlsClientCa, file.tls_client_ca);
        layer.set(Key::Ca, file.ca);
        layer.set(Key::ClientCert, file.client_cert);
        layer.set(Key::ClientPrivate, file.client_key);
        layer.set(Key::Output, file.output);
        layer.set(Key::Color, file.color);
        layer.set(Key::LogFormat, file.log_format);
        layer.set(Key::Log, file.log);
        layer.set(Key::Otlp, file.otlp);
        layer.set(Key::Auth, file.auth);
        layer.set(Key::Token, file.token);
        layer.set(Key::TokenFile, file.token_file);
        layer.set(Key::JwtSecret, file.jwt_secret);
        layer.set(Key::ExecTokenFile, file.exec_token_file);
        layer.set(Key::Grace, file.grace);
        layer.set(Key::Compat, file.compat);
        layer.set(Key::CompatOpen, file.compat_open);
        layer.set(Key::CorsOrigin, file.cors_origin);
        layer.set(Key::HttpAllow, file.http_allow);
        layer.set(Key::CompatEnv, file.compat_env);
        layer.set(Key::Workers, file.workers);
        layer.set(Key::DemoScale, file.demo_scale);
        layer.set(Key::SmtpUrl, file.smtp_url);
        layer.set(Key::EnvLabel, file.env_label);
        layer.set(Key::AllowHost, file.allow_host);
        layer.set(Key::TrustedProxy, file.trusted_proxy);
        layer.set(Key::Limits, file.limits);
        layer
    }
}

fn known() -> String {
    Key::ALL.map(Key::name).join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_key_in_a_file_is_refused_with_its_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("ganger.toml");
        std::fs::write(&path, "url = \"http://a:1\"\n\nlisten_on = \"x\"\n").unwrap();
        let failure = Layer::read(&path).unwrap_err();
        assert!(failure.why.contains("line 3") && failure.why.contains("listen_on"), "{}", failure.why);
        assert!(failure.fix.contains("ganger.toml:3"), "{}", failure.fix);
    }

    fn set_mode(path: &Path, mode: u32) {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    /// One that holds a token is for its owner alone.
    #[test]
    fn every_key_can_be_set_in_a_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("ganger.toml");
        let text: String = Key::ALL.iter().map(|key| format!("{} = \"v\"\n", key.name())).collect();
        std::fs::write(&path, text).unwrap();
        set_mode(&path, 0o644);
        let failure = Layer::read(&path).unwrap_err();
        assert!(failure.why.contains("others can read"), "{}", failure.why);
        set_mode(&path, 0o600);
        let layer = Layer::read(&path).unwrap().unwrap();
        assert!(Key::ALL.iter().all(|key| layer.get(*key) == Some("v")));
    }

    #[test]
    fn a_file_that_is_not_there_sets_nothing() {
        assert_eq!(Layer::read(Path::new("/nonexistent/ganger.toml")).unwrap(), None);
    }
}
