//! What a server that is started here tells people about itself: the web page, and its settings.

use ganger_server::About;
use ganger_server::about::SettingShown;
use ganger_server::http::ui::Asset;

use crate::config::Config;

/// The files of the web page, as `build.rs` packed them: none if it was not built.
const ASSETS: &[Asset] = include!(concat!(env!("OUT_DIR"), "/ui.rs"));

/// What a server with these settings tells.
pub(crate) fn about(config: &Config) -> About {
    // The same texts as `ganger config show`: secrets are masked there.
    let settings = config.entries().into_iter().map(|(key, value, origin)| SettingShown {
        name: key.name(),
        value,
        origin: origin.to_string(),
    });
    About {
        ui: ASSETS,
        label: config.env_label.value.as_ref().map(ToString::to_string),
        store: config.store.value.to_string(),
        settings: settings.collect(),
    }
}

/// Whether the web page is there.
pub(crate) const fn is_there() -> bool {
    !ASSETS.is_empty()
}
