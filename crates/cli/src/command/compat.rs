//! The flags of a server's compatible doors.

use clap::Args;
use ganger_server::http::compat::{CompatOptions, Profile, Profiles};
use ganger_server::http::cors::Origins;

use crate::config::{Config, Key, Layer};

/// Which compatible doors are served, and to whom.
#[derive(Args, Debug)]
pub(super) struct CompatFlags {
    /// The compatible doors to serve: letters of profiles such as a,b,d, or none [default: all of a,b,c,d] [env:
    /// GANGER_COMPAT]
    #[arg(long, value_name = "PROFILES")]
    compat: Option<Profiles>,
    /// Compatible doors that need no token even where everything else does; c always needs one [default: none] [env:
    /// GANGER_COMPAT_OPEN]
    #[arg(long, value_name = "PROFILES")]
    compat_open: Option<Profiles>,
    /// An origin whose pages may use this server from a browser, without cookies; may be repeated [env:
    /// GANGER_CORS_ORIGIN]
    #[arg(long = "cors-origin", value_name = "ORIGIN")]
    origins: Vec<Origins>,
}

impl CompatFlags {
    pub(super) fn settings(&self, layer: &mut Layer) {
        layer.set(Key::Compat, self.compat);
        layer.set(Key::CompatOpen, self.compat_open);
        let origins: Vec<String> = self.origins.iter().map(ToString::to_string).collect();
        layer.set(Key::CorsOrigin, (!origins.is_empty()).then(|| origins.join(",")));
    }
}

/// What the settings say of the compatible doors. Where commands are allowed and profile D is opened by name, nobody needs a token
/// for its commands either: a client of the original cannot send one.
pub(super) fn options(config: &Config, allow_exec: bool) -> CompatOptions {
    CompatOptions {
        profiles: config.compat.value,
        open: config.compat_open.value,
        open_commands: allow_exec && config.compat_open.value.has(Profile::D),
        signup: false,
        origins: config.cors_origin.value.clone().unwrap_or_default(),
        door_origins: Origins::default(),
    }
}
