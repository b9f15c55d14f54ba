//! The variables of the schedulers that Ganger stands in for, read as settings where `--compat-env` asks for it.
//!
//! | variable | setting |
//! |---|---|
//! | `DATABASE_URL`, or `POSTGRES_HOST`, `_PORT`, `_USER`, `_PASSWORD`, `_DB` | `store` |
//! | `REDIS_ADDR`, `REDIS_URL`, or `REDIS_HOST`, `_PORT`, `_PASSWORD`, `_DB` | `redis` |
//! | `API_PORT` | `listen`, on this machine only |
//! | `COORDINATOR_ADDRESS` | `url` |
//! | `WORKER_1_THREADS`, `WORKER_2_THREADS` | `workers` of `ganger dev` |
//! | `JWT_SECRET` | `jwt_secret` |
//! | `SMTP_EMAIL`, `SMTP_PASSWORD`, and `SMTP_HOST`, `SMTP_PORT` if given | `smtp_url` |
//!
//! They are weaker than Ganger's own variables and stronger than settings files.

use super::Environment;
use super::layer::{Key, Layer};

/// What these variables say, each setting with the name of the variable that `ganger config show` tells.
pub(super) fn layer(environment: &Environment) -> (Layer, Vec<(Key, &'static str)>) {
    let found = [
        (Key::Store, store(environment)),
        (Key::Redis, redis(environment)),
        (Key::Listen, environment.get("API_PORT").map(|port| ("API_PORT", port.to_owned()))),
        (Key::Url, environment.get("COORDINATOR_ADDRESS").map(|at| ("COORDINATOR_ADDRESS", url(at)))),
        (Key::Workers, workers(environment)),
        (Key::JwtSecret, environment.get("JWT_SECRET").map(|secret| ("JWT_SECRET", secret.to_owned()))),
        (Key::SmtpUrl, smtp(environment)),
    ];
    let (mut layer, mut names) = (Layer::default(), Vec::new());
    for (key, found) in found {
        if let Some((name, text)) = found {
            layer.set(key, Some(text));
            names.push((key, name));
        }
    }
    (layer, names)
}

fn store(environment: &Environment) -> Option<(&'static str, String)> {
    if let Some(url) = environment.get("DATABASE_URL") {
        return Some(("DATABASE_URL", without_schema(url)));
    }
    let part = |name| environment.get(name);
    let (host, database) = (part("POSTGRES_HOST"), part("POSTGRES_DB"));
    if host.is_none() && database.is_none() {
        return None;
    }
    let user = part("POSTGRES_USER").unwrap_or("postgres");
    let who = credentials(Some(user), part("POSTGRES_PASSWORD"));
    let (host, port) = (host.unwrap_or("localhost"), part("POSTGRES_PORT").unwrap_or("5432"));
    Some(("POSTGRES_*", format!("postgres://{who}{host}:{port}/{}", database.unwrap_or(user))))
}

/// The `schema` of an address is for another client: everything of ours is in the schema `ganger`.
fn without_schema(url: &str) -> String {
    let Some((base, query)) = url.split_once('?') else { return url.to_owned() };
    let kept: Vec<&str> = query.split('&').filter(|pair| !pair.starts_with("schema=")).collect();
    if kept.is_empty() { base.to_owned() } else { format!("{base}?{}", kept.join("&")) }
}

fn redis(environment: &Environment) -> Option<(&'static str, String)> {
    let part = |name| environment.get(name);
    let database = part("REDIS_DB").map(|database| format!("/{database}")).unwrap_or_default();
    let who = credentials(None, part("REDIS_PASSWORD"));
    if let Some(url) = part("REDIS_URL") {
        return Some(("REDIS_URL", url.to_owned()));
    }
    // Some of the originals wrote a URL there, and some `host:port`.
    if let Some(url) = part("REDIS_ADDR").filter(|address| address.contains("://")) {
        return Some(("REDIS_ADDR", url.to_owned()));
    }
    if let Some(address) = part("REDIS_ADDR") {
        let local = if address.starts_with(':') { "localhost" } else { "" };
        return Some(("REDIS_ADDR", format!("redis://{who}{local}{address}{database}")));
    }
    let host = part("REDIS_HOST")?;
    Some(("REDIS_*", format!("redis://{who}{host}:{}{database}", part("REDIS_PORT").unwrap_or("6379"))))
}

fn url(address: &str) -> String {
    match address {
        url if url.contains("://") => url.to_owned(),
        port if port.starts_with(':') => format!("http://localhost{port}"),
        address => format!("http://{address}"),
    }
}

fn workers(environment: &Environment) -> Option<(&'static str, String)> {
    let threads: Vec<&str> = ["WORKER_1_THREADS", "WORKER_2_THREADS"]
        .into_iter()
        .filter_map(|name| environment.get(name))
        .collect();
    (!threads.is_empty()).then(|| ("WORKER_1_THREADS, WORKER_2_THREADS", threads.join(",")))
}

/// The original logged in to the mail server of its author's provider.
fn smtp(environment: &Environment) -> Option<(&'static str, String)> {
    let part = |name| environment.get(name);
    let email = part("SMTP_EMAIL")?;
    let host = part("SMTP_HOST").unwrap_or("smtp.gmail.com");
    // 465 is encrypted from the first byte; on any other port encryption has to be asked for.
    let port = part("SMTP_PORT").unwrap_or("465");
    let scheme = if port == "465" { "smtps" } else { "smtp" };
    let who = part("SMTP_PASSWORD").map(|password| credentials(Some(email), Some(password)));
    let (who, from) = (who.unwrap_or_default(), escaped(email));
    Some(("SMTP_*", format!("{scheme}://{who}{host}:{port}?from={from}")))
}

/// Who and with which password, as an address says it.
fn credentials(user: Option<&str>, password: Option<&str>) -> String {
    match (user, password) {
        (None, None) => String::new(),
        (Some(user), None) => format!("{}@", escaped(user)),
        (user, Some(password)) => format!("{}:{}@", escaped(user.unwrap_or_default()), escaped(password)),
    }
}

/// A text within an address: whatever could end it there is written as bytes.
fn escaped(text: &str) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~".contains(byte);
    text.bytes().map(|b| if plain(&b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)], key: Key) -> Option<String> {
        layer(&Environment::of(variables)).0.get(key).map(str::to_owned)
    }

    #[test]
    fn each_variable_becomes_the_setting_that_it_meant() {
        for (variables, key, text) in [
            (
                &[("DATABASE_URL", "postgresql://u:p@db:5432/jobs?schema=public&sslmode=disable")][..],
                Key::Store,
                "postgresql://u:p@db:5432/jobs?sslmode=disable",
            ),
            (&[("DATABASE_URL", "postgres://db/jobs?schema=public")], Key::Store, "postgres://db/jobs"),
            (
                &[
                    ("POSTGRES_HOST", "db"),
                    ("POSTGRES_USER", "ada"),
                    ("POSTGRES_PASSWORD", "p@ss/w:rd"),
                    ("POSTGRES_DB", "jobs"),
                    ("POSTGRES_PORT", "6000"),
                ],
                Key::Store,
                "postgres://ada:p%40ss%2Fw%3Ard@db:6000/jobs",
            ),
            (&[("POSTGRES_DB", "jobs")], Key::Store, "postgres://postgres@localhost:5432/jobs"),
            (&[("REDIS_ADDR", "cache:6379")], Key::Redis, "redis://cache:6379"),
            (&[("REDIS_ADDR", ":6379"), ("REDIS_PASSWORD", "x")], Key::Redis, "redis://:x@localhost:6379"),
            (&[("REDIS_ADDR", "redis://redis:6379")], Key::Redis, "redis://redis:6379"),
            (&[("REDIS_ADDR", "rediss://:x@cache:6380/2")], Key::Redis, "rediss://:x@cache:6380/2"),
            (&[("REDIS_HOST", "cache"), ("REDIS_DB", "2")], Key::Redis, "redis://cache:6379/2"),
            (&[("REDIS_URL", "rediss://cache")], Key::Redis, "rediss://cache"),
            (&[("API_PORT", "8000")], Key::Listen, "8000"),
            (&[("COORDINATOR_ADDRESS", "coordinator:9000")], Key::Url, "http://coordinator:9000"),
            (&[("COORDINATOR_ADDRESS", ":9000")], Key::Url, "http://localhost:9000"),
            (&[("COORDINATOR_ADDRESS", "https://c")], Key::Url, "https://c"),
            (&[("WORKER_1_THREADS", "4"), ("WORKER_2_THREADS", "8")], Key::Workers, "4,8"),
            (&[("WORKER_2_THREADS", "8")], Key::Workers, "8"),
            (&[("JWT_SECRET", "s3cret")], Key::JwtSecret, "s3cret"),
            (
                &[("SMTP_EMAIL", "ada@gmail.com"), ("SMTP_PASSWORD", "p@ss word")],
                Key::SmtpUrl,
                "smtps://ada%40gmail.com:p%40ss%20word@smtp.gmail.com:465?from=ada%40gmail.com",
            ),
            (
                &[("SMTP_EMAIL", "a@b.c"), ("SMTP_HOST", "localhost"), ("SMTP_PORT", "2525")],
                Key::SmtpUrl,
                "smtp://localhost:2525?from=a%40b.c",
            ),
        ] {
            assert_eq!(read(variables, key).as_deref(), Some(text), "{variables:?}");
        }
        assert_eq!(
            layer(&Environment::of(&[
                ("POSTGRES_PASSWORD", "x"),
                ("REDIS_PORT", "1"),
                ("SMTP_PASSWORD", "x")
            ]))
            .1,
            []
        );
    }
}
