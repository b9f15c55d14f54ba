//! Logs, on standard error, for people or as JSON; and spans, to a collector.

use std::io;

use tracing_subscriber::filter::{EnvFilter, LevelFilter, Targets};
use tracing_subscriber::layer::{Layer, SubscriberExt as _};
use tracing_subscriber::registry;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::config::{Config, LogFormat};
use crate::failure::{Failure, Fallible};
use crate::output;
use crate::telemetry::{TARGET, Telemetry};

type AnyLayer = Box<dyn Layer<registry::Registry> + Send + Sync>;

/// Starts logging: from `info` on for services, from `warn` on for everything else. A service also sends spans, if
/// there is a collector; `service` is its name there.
pub(crate) fn start(config: &Config, service: Option<&'static str>) -> Fallible<Option<Telemetry>> {
    let default = if service.is_some() { "info" } else { "warn" };
    let wanted = config.log.value.as_deref().unwrap_or(default);
    let filter = EnvFilter::try_new(wanted).map_err(|error| {
        Failure::usage(
            format!("cannot use `{wanted}` to select logs"),
            error,
            format!("correct it ({}); an example is GANGER_LOG=info,ganger_server=debug", config.log.origin),
        )
    })?;
    let telemetry = match (service, &config.otlp.collector.value) {
        (Some(service), Some(url)) => Some(Telemetry::start(&config.otlp, url, service)?),
        (None, _) | (_, None) => None,
    };
    let mut layers = vec![logs(config, filter)];
    layers.extend(telemetry.as_ref().map(spans));
    let _ = registry().with(layers).try_init();
    match (service, &config.otlp.unused, &config.otlp.collector.value) {
        (Some(_), Some(why), _) => tracing::warn!("{why}"),
        (Some(_), None, Some(url)) => tracing::info!("spans are sent to {url}"),
        (None, _, _) | (_, None, None) => {}
    }
    Ok(telemetry)
}

fn logs(config: &Config, filter: EnvFilter) -> AnyLayer {
    // Spans are for collectors; and without one, nobody is interested and they are never made.
    let filter = match format!("{TARGET}=off").parse() {
        Ok(directive) => filter.add_directive(directive),
        Err(_) => filter,
    };
    let logs = tracing_subscriber::fmt::layer().with_writer(io::stderr);
    match config.log_format.value {
        LogFormat::Human => {
            let color = output::stderr_is_terminal() && config.terminal.color;
            logs.with_ansi(color).with_target(false).with_filter(filter).boxed()
        }
        LogFormat::Json => logs.json().flatten_event(true).with_filter(filter).boxed(),
    }
}

fn spans(telemetry: &Telemetry) -> AnyLayer {
    tracing_opentelemetry::layer()
        .with_tracer(telemetry.tracer())
        .with_location(false)
        .with_threads(false)
        .with_target(false)
        .with_tracked_inactivity(false)
        .with_filter(Targets::new().with_target(TARGET, LevelFilter::INFO))
        .boxed()
}
