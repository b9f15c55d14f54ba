//! Where spans are sent, and how.
//!
//! `--otlp`, `GANGER_OTLP` and the files come first. Without them the standard variables of OpenTelemetry count, so that
//! a platform that sets them for all its programs reaches this one as well.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use ganger_core::trace::TraceContext;

use super::{Environment, Key, Layers, Origin, Setting};
use crate::failure::Fallible;

/// The standard variables that name a collector, the more special one first.
const ENDPOINTS: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];
/// The standard variables that name the protocol.
const PROTOCOLS: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"];

/// Everything about the export of spans.
#[derive(Clone, Debug)]
pub(crate) struct Otlp {
    /// The collector; nothing if spans are not sent.
    pub(crate) collector: Setting<Option<OtlpUrl>>,
    /// The environment names the service itself.
    pub(crate) named: bool,
    /// Whom to believe about the collector, if not those that the system knows.
    pub(crate) certificate: Option<String>,
    /// How much waits, and for how long.
    pub(crate) bounds: OtlpBounds,
    /// The trace that this process was started in: `TRACEPARENT` and `TRACESTATE`.
    pub(crate) caller: Option<TraceContext>,
    /// Why a collector that the environment names is not used.
    pub(crate) unused: Option<String>,
}

/// Bounds of the export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OtlpBounds {
    /// Spans that wait at most.
    pub(crate) queue: usize,
    /// Spans of one message at most.
    pub(crate) batch: usize,
    /// How long a span waits for company.
    pub(crate) delay: Duration,
    /// How long a message may take.
    pub(crate) timeout: Duration,
}

/// The address of a collector that speaks OTLP over gRPC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OtlpUrl(String);

/// What `--otlp` was given: an address, or `off`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OtlpChoice(Option<OtlpUrl>);

impl Otlp {
    pub(super) fn of(layers: &Layers, environment: &Environment) -> Fallible<Otlp> {
        let named = environment.get("OTEL_SERVICE_NAME").is_some()
            || environment.get("OTEL_RESOURCE_ATTRIBUTES").is_some_and(|all| all.contains("service.name="));
        let chosen: Setting<Option<OtlpChoice>> = layers.parsed(Key::Otlp)?;
        let mut unused = None;
        let collector = match chosen.value {
            Some(choice) => Setting { value: choice.0, origin: chosen.origin },
            None => standard(environment).unwrap_or_else(|why| {
                unused = Some(why);
                Setting { value: None, origin: Origin::Default }
            }),
        };
        let certificate = ["OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE", "OTEL_EXPORTER_OTLP_CERTIFICATE"]
            .into_iter()
            .find_map(|name| environment.get(name).map(str::to_owned));
        let caller = TraceContext::read(environment.get("TRACEPARENT"), environment.get("TRACESTATE"));
        Ok(Otlp { collector, named, certificate, bounds: OtlpBounds::of(environment), caller, unused })
    }

    /// As text, with its origin.
    pub(super) fn entry(&self) -> (Key, String, &Origin) {
        let shown = self.collector.value.as_ref().map(ToString::to_string).unwrap_or_default();
        (Key::Otlp, shown, &self.collector.origin)
    }
}

/// What the standard variables say. A program must not fail over variables that were set for others.
fn standard(environment: &Environment) -> Result<Setting<Option<OtlpUrl>>, String> {
    let off = Setting { value: None, origin: Origin::Default };
    let Some((name, text)) =
        ENDPOINTS.into_iter().find_map(|name| environment.get(name).map(|text| (name, text)))
    else {
        return Ok(off);
    };
    let disabled = environment.get("OTEL_SDK_DISABLED").is_some_and(|text| text.eq_ignore_ascii_case("true"));
    let elsewhere = environment.get("OTEL_TRACES_EXPORTER").is_some_and(|all| all != "otlp");
    if disabled || elsewhere {
        return Ok(off);
    }
    if let Some(protocol) = PROTOCOLS.into_iter().find_map(|name| environment.get(name))
        && protocol != "grpc"
    {
        return Err(format!(
            "spans are not sent to {name}: OTEL_EXPORTER_OTLP_PROTOCOL is `{protocol}`, only grpc is spoken here; \
             give a gRPC address with --otlp"
        ));
    }
    let url = text.parse().map_err(|why| format!("spans are not sent to {name}: it {why}"))?;
    Ok(Setting { value: Some(url), origin: Origin::StandardEnvironment(name) })
}

impl OtlpBounds {
    /// The standard variables, within reason.
    fn of(environment: &Environment) -> OtlpBounds {
        let number = |name: &str, usual: u64, low: u64, high: u64| {
            environment.get(name).and_then(|text| text.parse().ok()).unwrap_or(usual).clamp(low, high)
        };
        let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let queue = count(number("OTEL_BSP_MAX_QUEUE_SIZE", 8_192, 1, 1 << 20));
        OtlpBounds {
            queue,
            batch: count(number("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 512, 1, 8_192)).min(queue),
            delay: Duration::from_millis(number("OTEL_BSP_SCHEDULE_DELAY", 1_000, 1, 60_000)),
            timeout: Duration::from_millis(number("OTEL_EXPORTER_OTLP_TIMEOUT", 10_000, 1, 60_000)),
        }
    }
}

impl OtlpUrl {
    pub(crate) fn is_tls(&self) -> bool {
        self.0.starts_with("https://")
    }
}

impl FromStr for OtlpUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<OtlpUrl, String> {
        let uri: http::Uri = text.parse().map_err(|error| format!("is not an address: {error}"))?;
        let Some(authority) = uri.authority().filter(|_| matches!(uri.scheme_str(), Some("http" | "https")))
        else {
            return Err("must be like http://HOST:4317 or https://HOST:4317".into());
        };
        if authority.as_str().contains('@') {
            return Err("must not hold a password: put it into OTEL_EXPORTER_OTLP_HEADERS".into());
        }
        if !matches!(uri.path(), "" | "/") {
            return Err("must have no path: only OTLP over gRPC is spoken here, usually on port 4317".into());
        }
        Ok(OtlpUrl(text.trim_end_matches('/').to_owned()))
    }
}

impl fmt::Display for OtlpUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for OtlpChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<OtlpChoice, String> {
        Ok(OtlpChoice(if text == "off" { None } else { Some(text.parse()?) }))
    }
}

impl fmt::Display for OtlpChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(url) => url.fmt(f),
            None => f.write_str("off"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Layer};

    fn resolve(flag: Option<&str>, variables: &[(&str, &str)]) -> Fallible<Otlp> {
        let flags: Layer = flag.map(|text| (Key::Otlp, text.to_owned())).into_iter().collect();
        let nowhere = std::path::Path::new("/nonexistent");
        Config::resolve(flags, &Environment::of(variables), nowhere).map(|config| config.otlp)
    }

    fn collector(flag: Option<&str>, variables: &[(&str, &str)]) -> Option<String> {
        resolve(flag, variables).unwrap().collector.value.map(|url| url.to_string())
    }

    #[test]
    fn spans_are_not_sent_unless_somebody_says_where() {
        assert_eq!(collector(None, &[]), None);
        assert_eq!(collector(Some("http://c:4317/"), &[]).as_deref(), Some("http://c:4317"));
        let standard = [("OTEL_EXPORTER_OTLP_ENDPOINT", "http://std:4317")];
        assert_eq!(collector(None, &standard).as_deref(), Some("http://std:4317"));
        assert_eq!(collector(Some("http://c:4317"), &standard).as_deref(), Some("http://c:4317"));
        assert_eq!(collector(Some("off"), &standard), None);
        let both = [standard[0], ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://traces:4317")];
        assert_eq!(collector(None, &both).as_deref(), Some("https://traces:4317"));
        let own = [standard[0], ("GANGER_OTLP", "http://own:4317")];
        assert_eq!(collector(None, &own).as_deref(), Some("http://own:4317"));
    }

    #[test]
    fn standard_variables_for_others_are_no_error() {
        let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://std:4318");
        for other in [("OTEL_SDK_DISABLED", "true"), ("OTEL_TRACES_EXPORTER", "none")] {
            let otlp = resolve(None, &[endpoint, other]).unwrap();
            assert!(otlp.collector.value.is_none() && otlp.unused.is_none(), "{other:?}");
        }
        let http = resolve(None, &[endpoint, ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")]).unwrap();
        assert!(
            http.unused.is_some_and(|why| why.contains("http/protobuf")) && http.collector.value.is_none()
        );
        let rubbish = resolve(None, &[("OTEL_EXPORTER_OTLP_ENDPOINT", "collector")]).unwrap();
        assert!(rubbish.unused.is_some_and(|why| why.contains("http://HOST:4317")));
    }

    #[test]
    fn an_address_of_our_own_that_cannot_be_used_is_refused_with_what_to_do() {
        for (text, said) in [
            ("collector:4317", "http://HOST:4317"),
            ("http://user:secret@c:4317", "OTEL_EXPORTER_OTLP_HEADERS"),
            ("http://c:4318/v1/traces", "no path"),
        ] {
            let failure = resolve(Some(text), &[]).unwrap_err();
            assert!(failure.why.contains(said), "{text}: {}", failure.why);
        }
    }

    #[test]
    fn bounds_follow_the_standard_variables_within_reason() {
        let usual = resolve(None, &[]).unwrap().bounds;
        assert_eq!((usual.queue, usual.batch), (8_192, 512));
        let set = [("OTEL_BSP_MAX_QUEUE_SIZE", "64"), ("OTEL_BSP_SCHEDULE_DELAY", "5")];
        let bounds = resolve(None, &set).unwrap().bounds;
        assert_eq!((bounds.queue, bounds.batch, bounds.delay), (64, 64, Duration::from_millis(5)));
        let silly = resolve(None, &[("OTEL_BSP_MAX_QUEUE_SIZE", "0")]).unwrap().bounds;
        assert_eq!(silly.queue, 1);
    }
}
