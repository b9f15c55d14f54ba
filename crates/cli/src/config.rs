//! Settings and where each came from. The only reader of the environment and of settings files.
//!
//! Raw settings are layers of text: flags, the environment, `./ganger.toml`, the user's
//! `config.toml`. [`Config`] is what they resolve to: parsed values, each with its [`Origin`]. An
//! earlier layer wins; nothing is merged within one setting.

mod compat_env;
mod entries;
mod environment;
mod http_allow;
mod layer;
mod otlp;
mod place;
mod servers;
mod tls;
mod tokens;
mod value;

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

pub(crate) use environment::{Environment, OF_THE_MANAGER};
pub(crate) use http_allow::HttpAllow;
pub(crate) use layer::{Key, Layer};
pub(crate) use otlp::{Otlp, OtlpBounds, OtlpChoice, OtlpUrl};
pub(crate) use place::{Place, RawStore};
pub(crate) use servers::ServerUrls;
pub(crate) use tls::{ClientTls, TlsSettings};
pub(crate) use tokens::{TokenPlaces, private_dir};
pub(crate) use value::{
    Color, EnvLabel, Format, Grace, HostNames, Listens, LogFormat, ServerUrl, Switch, Workers,
};

use ganger_core::access::Bounds;
use ganger_core::network::Proxies;
use ganger_server::http::compat::Profiles;
use ganger_server::http::cors::Origins;
use ganger_worker::kinds::demo::Scale;

use crate::failure::{Failure, Fallible};

/// The settings file of a project, in the working directory.
pub(crate) const LOCAL_FILE: &str = "ganger.toml";

/// A value and where it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Setting<T> {
    /// The value in force.
    pub(crate) value: T,
    /// Where it came from.
    pub(crate) origin: Origin,
}

/// Where a setting came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The command line.
    Flag(Key),
    /// The environment.
    Environment(Key),
    /// A variable of another scheduler, in the environment.
    CompatEnvironment(&'static str),
    /// A variable that many programs share.
    StandardEnvironment(&'static str),
    /// A settings file.
    File(PathBuf),
    /// Nobody said anything.
    Default,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Flag(key) => write!(f, "flag {}", key.flag().unwrap_or("(none)")),
            Origin::Environment(key) => write!(f, "env {}", key.variable()),
            Origin::CompatEnvironment(name) => write!(f, "env {name} (--compat-env)"),
            Origin::StandardEnvironment(name) => write!(f, "env {name}"),
            Origin::File(path) => write!(f, "file {}", path.display()),
            Origin::Default => f.write_str("default"),
        }
    }
}

/// Everything that can be set, resolved.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    /// The server that client commands talk to, or several that will do.
    pub(crate) url: Setting<ServerUrls>,
    /// The addresses that a server listens on.
    pub(crate) listen: Setting<Listens>,
    /// Where a server keeps its data.
    pub(crate) data: Setting<PathBuf>,
    /// Where jobs are kept.
    pub(crate) store: Setting<Place>,
    /// Where other servers and workers reach a server.
    pub(crate) advertise: Setting<Option<ServerUrl>>,
    /// What the servers of a cluster know, and nobody else.
    pub(crate) cluster_secret: Setting<Secret>,
    /// Redis in front of the store; its address may hold a password.
    pub(crate) redis: Setting<Secret>,
    /// What a server shows to its clients.
    pub(crate) tls: TlsSettings,
    /// Whom a client believes, and what it shows.
    pub(crate) client_tls: ClientTls,
    /// How answers are printed.
    pub(crate) output: Setting<Format>,
    /// When to use colour.
    pub(crate) color: Setting<Color>,
    /// How logs are written.
    pub(crate) log_format: Setting<LogFormat>,
    /// Which logs are written; each command has its own default.
    pub(crate) log: Setting<Option<String>>,
    /// Where spans are sent.
    pub(crate) otlp: Otlp,
    /// Whether a server asks who calls.
    pub(crate) auth: Setting<Option<Switch>>,
    /// Where tokens of servers on this machine are.
    pub(crate) tokens: TokenPlaces,
    /// What the server is shown.
    pub(crate) token: Setting<Secret>,
    /// The file that holds it.
    pub(crate) token_file: Setting<PathBuf>,
    /// What access tokens of other issuers are signed with.
    pub(crate) jwt_secret: Setting<Secret>,
    /// The token that `exec` jobs need.
    pub(crate) exec_token_file: Setting<PathBuf>,
    /// How long running jobs may finish when a worker stops.
    pub(crate) grace: Setting<Duration>,
    /// The compatible doors that are served.
    pub(crate) compat: Setting<Profiles>,
    /// Those that need no token.
    pub(crate) compat_open: Setting<Profiles>,
    /// Origins whose pages may use a server.
    pub(crate) cors_origin: Setting<Option<Origins>>,
    /// Where `http` jobs may connect to although it is not the public internet.
    pub(crate) http_allow: Setting<HttpAllow>,
    /// Whether the variables of other schedulers count.
    pub(crate) compat_env: Setting<bool>,
    /// Threads of each worker of `ganger dev`.
    pub(crate) workers: Setting<Option<Workers>>,
    /// How much of the workloads for demonstrations is done.
    pub(crate) demo_scale: Setting<Scale>,
    /// The mail server; its address may hold a password.
    pub(crate) smtp_url: Setting<Secret>,
    /// What people call this installation.
    pub(crate) env_label: Setting<Option<EnvLabel>>,
    /// Names that a proxy in front of a server is reached by.
    pub(crate) allow_host: Setting<HostNames>,
    /// Proxies that say who is behind them.
    pub(crate) trusted_proxy: Setting<Proxies>,
    /// How much one caller may have at a time.
    pub(crate) limits: Setting<Bounds>,
    /// What is known about the terminal.
    pub(crate) terminal: Terminal,
}

/// What the environment says about the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Terminal {
    /// It shows more than ASCII.
    pub(crate) utf8: bool,
    /// It understands colours, and its user wants them.
    pub(crate) color: bool,
}

impl Config {
    /// Resolves every setting from the flags, the given environment and the files it points to.
    pub(crate) fn resolve(flags: Layer, environment: &Environment, directory: &Path) -> Fallible<Config> {
        let mut layers = vec![(Source::Flags, flags), (Source::Environment, environment.layer())];
        let files = [Some(directory.join(LOCAL_FILE)), environment.user_file()];
        for path in files.into_iter().flatten() {
            if let Some(layer) = Layer::read(&path)? {
                layers.push((Source::File(path), layer));
            }
        }
        let mut layers = Layers(layers);
        let compat_env = layers.pick(Key::CompatEnv, || false)?;
        if compat_env.value {
            let (layer, names) = compat_env::layer(environment);
            layers.0.insert(2, (Source::CompatEnvironment(names), layer));
        }
        let data = layers.pick(Key::Data, || environment.default_data())?;
        let (data, store) = layers.places(data)?;
        let tokens = TokenPlaces::of(&data, &store, &environment.home_of_ganger());
        let (exec_token, admin_token) = (tokens.dir.join(EXEC_TOKEN_FILE), tokens.dir.join(ADMIN_TOKEN_FILE));
        Ok(Config {
            url: layers.pick(Key::Url, ServerUrls::default)?,
            listen: layers.pick(Key::Listen, Listens::default)?,
            data,
            store,
            advertise: layers.parsed(Key::Advertise)?,
            cluster_secret: layers.optional(Key::ClusterSecret).map(Secret),
            redis: layers.optional(Key::Redis).map(Secret),
            tls: TlsSettings::of(&layers),
            client_tls: ClientTls::of(&layers),
            output: layers.pick(Key::Output, || Format::Table)?,
            color: layers.pick(Key::Color, || Color::Auto)?,
            log_format: layers.pick(Key::LogFormat, || LogFormat::Human)?,
            log: layers.optional(Key::Log),
            otlp: Otlp::of(&layers, environment)?,
            auth: layers.parsed(Key::Auth)?,
            tokens,
            token: layers.optional(Key::Token).map(Secret),
            token_file: layers.pick(Key::TokenFile, || admin_token)?,
            jwt_secret: layers.optional(Key::JwtSecret).map(Secret),
            exec_token_file: layers.pick(Key::ExecTokenFile, || exec_token)?,
            grace: layers.pick(Key::Grace, Grace::default)?.map(|g| g.0),
            compat: layers.pick(Key::Compat, || Profiles::ALL)?,
            compat_open: layers.pick(Key::CompatOpen, || Profiles::NONE)?,
            cors_origin: layers.parsed(Key::CorsOrigin)?,
            http_allow: layers.pick(Key::HttpAllow, HttpAllow::default)?,
            compat_env,
            workers: layers.parsed(Key::Workers)?,
            demo_scale: layers.pick(Key::DemoScale, Scale::default)?,
            smtp_url: layers.optional(Key::SmtpUrl).map(Secret),
            env_label: layers.parsed(Key::EnvLabel)?,
            allow_host: layers.pick(Key::AllowHost, HostNames::default)?,
            trusted_proxy: layers.pick(Key::TrustedProxy, Proxies::default)?,
            limits: layers.pick(Key::Limits, Bounds::default)?,
            terminal: environment.terminal(),
        })
    }
}

/// The file beside the data that holds the token for `exec` jobs.
pub(crate) const EXEC_TOKEN_FILE: &str = "exec-token";
/// The file beside the data that holds the first token.
pub(crate) const ADMIN_TOKEN_FILE: &str = "admin-token";

/// A text that is never shown.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Secret(pub(crate) Option<String>);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(place::MASK)
    }
}

impl<T> Setting<T> {
    fn map<U>(self, f: impl FnOnce(T) -> U) -> Setting<U> {
        Setting { value: f(self.value), origin: self.origin }
    }
}

enum Source {
    Flags,
    Environment,
    CompatEnvironment(Vec<(Key, &'static str)>),
    File(PathBuf),
}

impl Source {
    fn origin(&self, key: Key) -> Origin {
        match self {
            Source::Flags => Origin::Flag(key),
            Source::Environment => Origin::Environment(key),
            Source::CompatEnvironment(names) => {
                let name = names.iter().find(|(named, _)| *named == key).map_or("", |(_, name)| name);
                Origin::CompatEnvironment(name)
            }
            Source::File(path) => Origin::File(path.clone()),
        }
    }
}

/// Raw settings, the strongest first.
struct Layers(Vec<(Source, Layer)>);

impl Layers {
    fn find(&self, key: Key) -> Option<(Origin, &str)> {
        self.0.iter().find_map(|(source, layer)| layer.get(key).map(|text| (source.origin(key), text)))
    }

    fn pick<T: FromStr>(&self, key: Key, default: impl FnOnce() -> T) -> Fallible<Setting<T>>
    where
        T::Err: fmt::Display,
    {
        match self.find(key) {
            Some((origin, text)) => match text.parse() {
                Ok(value) => Ok(Setting { value, origin }),
                Err(why) => Err(unusable(key, text, &origin, &why)),
            },
            None => Ok(Setting { value: default(), origin: Origin::Default }),
        }
    }

    /// Where the data is and where jobs are kept. The two say the same for SQLite: the stronger one counts.
    fn places(&self, data: Setting<PathBuf>) -> Fallible<(Setting<PathBuf>, Setting<Place>)> {
        let beside = |data: &Setting<PathBuf>| data.clone().map(Place::Sqlite);
        let store = self.pick(Key::Store, || Place::Sqlite(data.value.clone()))?;
        let flagged = |origin: &Origin| matches!(origin, Origin::Flag(_));
        if store.origin == Origin::Default || (flagged(&data.origin) && !flagged(&store.origin)) {
            let store = beside(&data);
            return Ok((data, store));
        }
        match &store.value {
            Place::Sqlite(dir) => Ok((Setting { value: dir.clone(), origin: store.origin.clone() }, store)),
            Place::Postgres(_) => Ok((data, store)),
        }
    }

    fn parsed<T: FromStr>(&self, key: Key) -> Fallible<Setting<Option<T>>>
    where
        T::Err: fmt::Display,
    {
        match self.find(key) {
            Some((origin, text)) => match text.parse() {
                Ok(value) => Ok(Setting { value: Some(value), origin }),
                Err(why) => Err(unusable(key, text, &origin, &why)),
            },
            None => Ok(Setting { value: None, origin: Origin::Default }),
        }
    }

    fn optional(&self, key: Key) -> Setting<Option<String>> {
        match self.find(key) {
            Some((origin, text)) => Setting { value: Some(text.to_owned()), origin },
            None => Setting { value: None, origin: Origin::Default },
        }
    }
}

fn unusable(key: Key, text: &str, origin: &Origin, why: &dyn fmt::Display) -> Box<Failure> {
    let text = if matches!(key, Key::Store | Key::Otlp) { place::masked(text) } else { text.to_owned() };
    Failure::usage(
        format!("cannot use `{text}` as `{}`", key.name()),
        why,
        format!("correct it: it came from {origin}; `ganger config show` lists every setting"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(flags: &[(Key, &str)], variables: &[(&str, &str)], directory: &Path) -> Fallible<Config> {
        let flags = flags.iter().map(|(key, text)| (*key, (*text).to_owned())).collect();
        Config::resolve(flags, &Environment::of(variables), directory)
    }

    /// The same setting in all five places: take them away one by one.
    #[test]
    fn a_flag_beats_the_environment_beats_the_project_beats_the_user_beats_the_default() {
        let dir = tempfile::tempdir().unwrap();
        let user = dir.path().join("xdg/ganger");
        std::fs::create_dir_all(&user).unwrap();
        let xdg = dir.path().join("xdg").display().to_string();
        let with_env = [("XDG_CONFIG_HOME", xdg.as_str()), ("GANGER_URL", "http://env:1")];
        std::fs::write(dir.path().join(LOCAL_FILE), "url = \"http://project:2\"\n").unwrap();
        std::fs::write(user.join("config.toml"), "url = \"http://user:3\"\n").unwrap();

        let seen = |config: &Config| (config.url.value.to_string(), config.url.origin.clone());
        let all = resolve(&[(Key::Url, "http://flag:0")], &with_env, dir.path()).unwrap();
        assert_eq!(seen(&all), ("http://flag:0".into(), Origin::Flag(Key::Url)));
        let env = resolve(&[], &with_env, dir.path()).unwrap();
        assert_eq!(seen(&env), ("http://env:1".into(), Origin::Environment(Key::Url)));
        let project = resolve(&[], &with_env[..1], dir.path()).unwrap();
        assert_eq!(seen(&project), ("http://project:2".into(), Origin::File(dir.path().join(LOCAL_FILE))));
        std::fs::remove_file(dir.path().join(LOCAL_FILE)).unwrap();
        let by_user = resolve(&[], &with_env[..1], dir.path()).unwrap();
        assert_eq!(seen(&by_user), ("http://user:3".into(), Origin::File(user.join("config.toml"))));
        let default = resolve(&[], &[], dir.path()).unwrap();
        assert_eq!(seen(&default), ("http://127.0.0.1:8080".into(), Origin::Default));
    }

    #[test]
    fn a_value_that_cannot_be_read_is_refused_naming_its_origin() {
        let dir = tempfile::tempdir().unwrap();
        let failure = resolve(&[], &[("GANGER_LISTEN", "nowhere")], dir.path()).unwrap_err();
        assert!(failure.what.contains("`nowhere` as `listen`"), "{}", failure.what);
        assert!(failure.fix.contains("env GANGER_LISTEN"), "{}", failure.fix);
    }

    #[test]
    fn variables_of_others_count_only_where_they_are_asked_for_and_less_than_our_own() {
        let dir = tempfile::tempdir().unwrap();
        let theirs = [("DATABASE_URL", "postgres://u:hush@db/jobs?schema=x"), ("WORKER_1_THREADS", "4")];
        let off = resolve(&[], &theirs, dir.path()).unwrap();
        assert!(matches!(off.store.value, Place::Sqlite(_)));
        let on = resolve(&[(Key::CompatEnv, "true")], &theirs, dir.path()).unwrap();
        assert_eq!(on.store.value.to_string(), "postgres://u:***@db/jobs");
        assert_eq!(on.store.origin.to_string(), "env DATABASE_URL (--compat-env)");
        assert_eq!(on.workers.value.unwrap().each(), [4]);
        let both: Vec<_> = theirs.into_iter().chain([("GANGER_STORE", "sqlite:/g")]).collect();
        let own = resolve(&[(Key::CompatEnv, "true")], &both, dir.path()).unwrap();
        assert_eq!(own.store.value.to_string(), "sqlite:/g");
    }

    #[test]
    fn the_token_lies_beside_the_data_unless_told_otherwise() {
        let dir = tempfile::tempdir().unwrap();
        let config = resolve(&[(Key::Data, "/srv/g")], &[], dir.path()).unwrap();
        assert_eq!(config.exec_token_file.value, Path::new("/srv/g/exec-token"));
        let config = resolve(&[], &[("GANGER_EXEC_TOKEN_FILE", "/t")], dir.path()).unwrap();
        assert_eq!(config.exec_token_file.value, Path::new("/t"));
    }

    #[test]
    fn a_store_in_sqlite_is_a_data_directory_and_a_flag_beats_the_environment() {
        let dir = tempfile::tempdir().unwrap();
        let sqlite =
            resolve(&[(Key::Store, "sqlite:/srv/g")], &[("GANGER_DATA", "/other")], dir.path()).unwrap();
        assert_eq!(sqlite.data.value, Path::new("/srv/g"));
        let database = [("GANGER_STORE", "postgres://u:secret@h/d")];
        let postgres = resolve(&[], &database, dir.path()).unwrap();
        assert!(matches!(postgres.store.value, Place::Postgres(_)));
        let data = resolve(&[(Key::Data, "/srv/g")], &database, dir.path()).unwrap();
        assert_eq!(data.store.value, Place::Sqlite("/srv/g".into()));
    }

    #[test]
    fn secrets_are_not_shown() {
        let dir = tempfile::tempdir().unwrap();
        let variables = [
            ("GANGER_STORE", "postgres://u:hush@h/d"),
            ("GANGER_CLUSTER_SECRET", "hush"),
            ("GANGER_TOKEN", "hush"),
            ("GANGER_JWT_SECRET", "hush"),
            ("GANGER_REDIS", "rediss://:hush@r:6379/1"),
        ];
        let config = resolve(&[], &variables, dir.path()).unwrap();
        let shown: Vec<String> = config.entries().into_iter().map(|(_, value, _)| value).collect();
        assert!(shown.contains(&"postgres://u:***@h/d".to_owned()), "{shown:?}");
        assert!(shown.contains(&"rediss://:***@r:6379/1".to_owned()), "{shown:?}");
        assert!(!format!("{shown:?} {config:?}").contains("hush"));
        let failure = resolve(&[], &[("GANGER_STORE", "mysql://u:hush@h/d")], dir.path()).unwrap_err();
        assert!(!format!("{failure:?}").contains("hush"), "{failure:?}");
    }

    #[test]
    fn every_key_is_shown() {
        let dir = tempfile::tempdir().unwrap();
        let config = resolve(&[], &[("HOME", "/home/ada")], dir.path()).unwrap();
        assert_eq!(config.entries().len(), Key::ALL.len());
        assert_eq!(config.data.value, Path::new("/home/ada/.local/share/ganger/dev"));
    }
}
