//! Logs: on standard error, for people or as JSON.

use std::io;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::util::SubscriberInitExt;

use crate::config::{Config, LogFormat};
use crate::failure::{Failure, Fallible};
use crate::output;

/// Starts logging: from `info` on for services, from `warn` on for everything else.
pub(crate) fn start(config: &Config, service: bool) -> Fallible<()> {
    let default = if service { "info" } else { "warn" };
    let wanted = config.log.value.as_deref().unwrap_or(default);
    let filter = EnvFilter::try_new(wanted).map_err(|error| {
        Failure::usage(
            format!("cannot use `{wanted}` to select logs"),
            error,
            format!("correct it ({}); an example is GANGER_LOG=info,ganger_server=debug", config.log.origin),
        )
    })?;
    let logs = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr);
    match config.log_format.value {
        LogFormat::Human => {
            let color = output::stderr_is_terminal() && config.terminal.color;
            let _ = logs.with_ansi(color).with_target(false).finish().try_init();
        }
        LogFormat::Json => {
            let _ = logs.json().flatten_event(true).finish().try_init();
        }
    }
    Ok(())
}
