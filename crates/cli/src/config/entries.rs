//! Settings as text, for `ganger config show`. Secrets are masked here.

use std::fmt;

use super::value::Grace;
use super::{Config, Key, Origin, place, tls};

impl Config {
    /// Every setting as text, with its origin, in the order of [`Key::ALL`].
    pub(crate) fn entries(&self) -> Vec<(Key, String, &Origin)> {
        Key::ALL
            .into_iter()
            .map(|key| match key {
                Key::Url => (key, self.url.value.to_string(), &self.url.origin),
                Key::Listen => (key, self.listen.value.to_string(), &self.listen.origin),
                Key::Data => (key, self.data.value.display().to_string(), &self.data.origin),
                Key::Store => (key, self.store.value.to_string(), &self.store.origin),
                Key::Advertise => (key, shown(self.advertise.value.as_ref()), &self.advertise.origin),
                Key::ClusterSecret => {
                    let shown = self.cluster_secret.value.0.as_ref().map_or("", |_| place::MASK);
                    (key, shown.to_owned(), &self.cluster_secret.origin)
                }
                Key::Redis => {
                    let shown = self.redis.value.0.as_deref().map(place::masked).unwrap_or_default();
                    (key, shown, &self.redis.origin)
                }
                Key::TlsCert => tls::entry(key, &self.tls.cert),
                Key::TlsPrivate => tls::entry(key, &self.tls.key),
                Key::TlsClientCa => tls::entry(key, &self.tls.client_ca),
                Key::Ca => tls::entry(key, &self.client_tls.ca),
                Key::ClientCert => tls::entry(key, &self.client_tls.cert),
                Key::ClientPrivate => tls::entry(key, &self.client_tls.key),
                Key::Output => (key, self.output.value.to_string(), &self.output.origin),
                Key::Color => (key, self.color.value.to_string(), &self.color.origin),
                Key::LogFormat => (key, self.log_format.value.to_string(), &self.log_format.origin),
                Key::Log => (key, self.log.value.clone().unwrap_or_default(), &self.log.origin),
                Key::Otlp => self.otlp.entry(),
                Key::Auth => {
                    let shown = self.auth.value.map(|auth| auth.to_string()).unwrap_or_default();
                    (key, shown, &self.auth.origin)
                }
                Key::Token => {
                    let shown = self.token.value.0.as_ref().map_or("", |_| place::MASK);
                    (key, shown.to_owned(), &self.token.origin)
                }
                Key::TokenFile => (key, self.token_file.value.display().to_string(), &self.token_file.origin),
                Key::JwtSecret => {
                    let shown = self.jwt_secret.value.0.as_ref().map_or("", |_| place::MASK);
                    (key, shown.to_owned(), &self.jwt_secret.origin)
                }
                Key::ExecTokenFile => {
                    let path = self.exec_token_file.value.display().to_string();
                    (key, path, &self.exec_token_file.origin)
                }
                Key::Grace => (key, Grace(self.grace.value).to_string(), &self.grace.origin),
                Key::Compat => (key, self.compat.value.to_string(), &self.compat.origin),
                Key::CompatOpen => (key, self.compat_open.value.to_string(), &self.compat_open.origin),
                Key::CorsOrigin => {
                    let shown = self.cors_origin.value.as_ref().map(ToString::to_string).unwrap_or_default();
                    (key, shown, &self.cors_origin.origin)
                }
                Key::HttpAllow => (key, self.http_allow.value.to_string(), &self.http_allow.origin),
                Key::CompatEnv => (key, self.compat_env.value.to_string(), &self.compat_env.origin),
                Key::Workers => {
                    let shown = self.workers.value.as_ref().map(ToString::to_string).unwrap_or_default();
                    (key, shown, &self.workers.origin)
                }
                Key::DemoScale => (key, self.demo_scale.value.to_string(), &self.demo_scale.origin),
                Key::SmtpUrl => {
                    let shown = self.smtp_url.value.0.as_deref().map(place::masked).unwrap_or_default();
                    (key, shown, &self.smtp_url.origin)
                }
                Key::EnvLabel => (key, shown(self.env_label.value.as_ref()), &self.env_label.origin),
                Key::AllowHost => (key, self.allow_host.value.to_string(), &self.allow_host.origin),
                Key::TrustedProxy => (key, self.trusted_proxy.value.to_string(), &self.trusted_proxy.origin),
                Key::Limits => (key, self.limits.value.to_string(), &self.limits.origin),
            })
            .collect()
    }
}

/// A value as text; nothing if there is none.
fn shown<T: fmt::Display>(value: Option<&T>) -> String {
    value.map(ToString::to_string).unwrap_or_default()
}
