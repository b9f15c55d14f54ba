//! `ganger config`: the settings in force, and where each came from.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::json;

use super::compat::CompatFlags;
use crate::config::{Grace, Key, Layer, Listens, RawStore, ServerUrl};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Fallible;
use crate::output::{Cell, Paint, Shown, Table};

/// The settings in force, and where each came from.
#[derive(Args, Debug)]
#[command(after_help = "\
Settings are looked for in this order: flag, environment (GANGER_…), ./ganger.toml,
$XDG_CONFIG_HOME/ganger/config.toml, default.

Example:
  ganger config show")]
pub(crate) struct ConfigCommand {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Show(Show),
}

/// Show every setting with its origin.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ganger config show
  GANGER_URL=http://10.0.0.5:8080 ganger config show -o json")]
struct Show {
    /// As for `ganger server`
    #[arg(long, value_name = "ADDRESS")]
    listen: Vec<Listens>,
    /// As for `ganger server`
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// As for `ganger server`
    #[arg(long, value_name = "URL", conflicts_with = "data")]
    store: Option<RawStore>,
    /// As for `ganger server`
    #[arg(long, value_name = "URL")]
    advertise: Option<ServerUrl>,
    /// As for `ganger server`
    #[arg(long, value_name = "URL")]
    redis: Option<RawStore>,
    /// As for `ganger worker`
    #[arg(long, value_name = "DURATION")]
    grace: Option<Grace>,
    #[command(flatten)]
    compat: CompatFlags,
}

impl ConfigCommand {
    pub(super) fn run(self, context: &Context) -> Fallible<Exit> {
        let Verb::Show(_) = self.verb;
        let entries = context.config.entries();
        let document = |(key, value, origin): &(Key, String, &crate::config::Origin)| json!({ "setting": key.name(), "value": value, "origin": origin.to_string() });
        let items: Vec<_> = entries.iter().map(document).collect();
        let body = json!({ "items": items }).to_string();
        let parts =
            items.iter().filter_map(|item| serde_json::value::to_raw_value(item).ok()).collect::<Vec<_>>();
        let shown = Shown {
            body: &body,
            items: parts.iter().map(AsRef::as_ref).collect(),
            names: entries.iter().map(|(key, ..)| key.name().to_owned()).collect(),
        };
        context.out.show(&shown, |_| {
            let mut table = Table::new(["SETTING", "VALUE", "ORIGIN"]);
            for (key, value, origin) in &entries {
                table.row(vec![
                    key.name().into(),
                    value.into(),
                    Cell::painted(origin.to_string(), Paint::Dim),
                ]);
            }
            table.render(context.out.style())
        })?;
        Ok(Exit::Success)
    }

    pub(super) fn settings(&self, layer: &mut Layer) -> Option<&Path> {
        let Verb::Show(show) = &self.verb;
        layer.set(Key::Listen, Listens::joined(&show.listen));
        show.compat.settings(layer);
        layer.set(Key::Grace, show.grace);
        layer.set(Key::Store, show.store.as_ref().map(RawStore::text));
        layer.set(Key::Advertise, show.advertise.as_ref());
        layer.set(Key::Redis, show.redis.as_ref().map(RawStore::text));
        show.data.as_deref()
    }
}
