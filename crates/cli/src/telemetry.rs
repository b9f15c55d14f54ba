//! Spans, sent to a collector over OTLP if there is one.
//!
//! Work never waits for it: a span that is over goes into a bounded queue, and a runtime of its own takes it from there
//! (`telemetry/sender.rs`). Without a collector nothing here exists, and a span costs the look at a flag.

mod sender;

use std::time::Duration;

use opentelemetry::KeyValue;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_otlp::{SpanExporter, WithExportConfig as _, WithTonicConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider, SpanExporter as _};
use tokio::runtime::{self, Runtime};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tonic::transport::{Certificate, ClientTlsConfig, Endpoint};

use crate::config::{Otlp, OtlpUrl};
use crate::failure::{Failure, Fallible};
use sender::{Sender, queue};

/// The target of the spans that are sent, and that no log shows.
pub(crate) const TARGET: &str = "ganger::trace";
/// How long a collector may take to be reached.
const CONNECT_WITHIN: Duration = Duration::from_secs(5);
/// How long the last spans may take when the process stops.
const LAST_WITHIN: Duration = Duration::from_secs(3);

/// Sends spans until it is stopped.
pub(crate) struct Telemetry {
    provider: SdkTracerProvider,
    runtime: Runtime,
    sending: JoinHandle<()>,
    stop: CancellationToken,
}

impl Telemetry {
    /// Starts to send spans to this collector. One that is away is tried again.
    pub(crate) fn start(settings: &Otlp, url: &OtlpUrl, service: &'static str) -> Fallible<Telemetry> {
        let failed = |why: String| {
            Failure::usage(
                format!("cannot send spans to {url}"),
                why,
                "correct --otlp, or leave it out; docs/tracing.md says more",
            )
        };
        // A single thread of its own: exporting on a runtime that is busy, or has one worker, can block for ever.
        let runtime = runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("ganger-otlp")
            .enable_all()
            .build()
            .map_err(|error| failed(error.to_string()))?;
        let inside = runtime.enter();
        let channel = endpoint(settings, url).map_err(&failed)?.connect_lazy();
        let resource = resource(settings, service);
        let mut exporter = SpanExporter::builder()
            .with_tonic()
            .with_channel(channel)
            .with_timeout(settings.bounds.timeout)
            .build()
            .map_err(|error| failed(error.to_string()))?;
        exporter.set_resource(&resource);
        let (ended, waiting, counts) = queue(settings.bounds.queue);
        let stop = CancellationToken::new();
        let sender = Sender { exporter, waiting, counts, url: url.to_string(), bounds: settings.bounds };
        let sending = runtime.spawn(sender.run(stop.clone()));
        // Reads OTEL_TRACES_SAMPLER; without it, what a parent says, and every trace that begins here.
        let provider =
            SdkTracerProvider::builder().with_resource(resource).with_span_processor(ended).build();
        drop(inside);
        Ok(Telemetry { provider, runtime, sending, stop })
    }

    pub(crate) fn tracer(&self) -> SdkTracer {
        self.provider.tracer("ganger")
    }

    /// Sends what is left, but not for long. Must be called outside of any runtime.
    pub(crate) fn stop(self) {
        self.stop.cancel();
        let Telemetry { runtime, sending, .. } = self;
        let last = runtime.block_on(async { tokio::time::timeout(LAST_WITHIN, sending).await });
        if last.is_err() {
            tracing::warn!("the collector did not take the last spans within {LAST_WITHIN:?}: they are lost");
        }
        runtime.shutdown_background();
    }
}

fn endpoint(settings: &Otlp, url: &OtlpUrl) -> Result<Endpoint, String> {
    let endpoint = Endpoint::from_shared(url.to_string()).map_err(|error| error.to_string())?;
    let endpoint = endpoint.connect_timeout(CONNECT_WITHIN);
    if !url.is_tls() {
        return Ok(endpoint);
    }
    let tls = match &settings.certificate {
        None => ClientTlsConfig::new().with_native_roots(),
        Some(path) => {
            let pem = std::fs::read(path)
                .map_err(|error| format!("cannot read OTEL_EXPORTER_OTLP_CERTIFICATE {path}: {error}"))?;
            ClientTlsConfig::new().ca_certificate(Certificate::from_pem(pem))
        }
    };
    endpoint.tls_config(tls).map_err(|error| error.to_string())
}

/// Who sends: what OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME say, or else this program.
fn resource(settings: &Otlp, service: &'static str) -> Resource {
    let version = KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
    let resource = Resource::builder().with_attribute(version);
    if settings.named { resource.build() } else { resource.with_service_name(service).build() }
}
