//! A collector that speaks OTLP over gRPC and keeps what it is sent.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use opentelemetry_proto::tonic::collector::trace::v1::trace_service_server::{
    TraceService, TraceServiceServer,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value};
use opentelemetry_proto::tonic::trace::v1::{Span, span::SpanKind, status::StatusCode};
use tokio::runtime::Runtime;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;

use crate::common::eventually;

/// A span, as the tests look at it.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) service: String,
    pub(crate) name: String,
    pub(crate) kind: SpanKind,
    pub(crate) trace: String,
    pub(crate) span: String,
    /// Empty for a root.
    pub(crate) parent: String,
    /// `trace/span` of each.
    pub(crate) links: Vec<String>,
    pub(crate) attributes: BTreeMap<String, String>,
    pub(crate) failed: bool,
    pub(crate) state: String,
    began: u64,
}

impl Seen {
    /// An attribute, empty if it has none of that name.
    pub(crate) fn has(&self, name: &str) -> &str {
        self.attributes.get(name).map_or("", String::as_str)
    }
}

type Kept = Arc<Mutex<Vec<Seen>>>;

/// A collector at work; it ends when it is dropped.
pub(crate) struct Collector {
    pub(crate) url: String,
    kept: Kept,
    _runtime: Runtime,
}

impl Collector {
    /// On a free port.
    pub(crate) fn start() -> Collector {
        Collector::on(SocketAddr::from(([127, 0, 0, 1], 0)))
    }

    /// On this address.
    pub(crate) fn on(address: SocketAddr) -> Collector {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.expect("a runtime");
        let kept = Kept::default();
        let inside = runtime.enter();
        let incoming = eventually("the collector's port is free", || TcpIncoming::bind(address).ok());
        let address = incoming.local_addr().expect("it has an address");
        let service = TraceServiceServer::new(Keeper(kept.clone()));
        runtime.spawn(Server::builder().add_service(service).serve_with_incoming(incoming));
        drop(inside);
        Collector { url: format!("http://{address}"), kept, _runtime: runtime }
    }

    /// Everything it was sent.
    pub(crate) fn all(&self) -> Vec<Seen> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The spans of this name that are about this job, once there are so many, in the order in which they began.
    pub(crate) fn of(&self, job: &str, name: &str, count: usize) -> Vec<Seen> {
        let mut found = eventually(&format!("{count} spans `{name}` of {job}"), || {
            let is = |span: &Seen| span.name == name && span.has("messaging.message.id") == job;
            let found: Vec<Seen> = self.all().into_iter().filter(is).collect();
            (found.len() >= count).then_some(found)
        });
        found.sort_by_key(|span| span.began);
        found
    }

    /// The only one.
    pub(crate) fn one(&self, job: &str, name: &str) -> Seen {
        let mut found = self.of(job, name, 1);
        assert_eq!(found.len(), 1, "{found:#?}");
        found.remove(0)
    }
}

struct Keeper(Kept);

#[tonic::async_trait]
impl TraceService for Keeper {
    async fn export(
        &self,
        request: tonic::Request<ExportTraceServiceRequest>,
    ) -> Result<tonic::Response<ExportTraceServiceResponse>, tonic::Status> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for resource in request.into_inner().resource_spans {
            let about = attributes(&resource.resource.unwrap_or_default().attributes);
            let service = about.get("service.name").cloned().unwrap_or_default();
            let spans = resource.scope_spans.into_iter().flat_map(|scope| scope.spans);
            kept.extend(spans.map(|span| seen(&service, &span)));
        }
        Ok(tonic::Response::new(ExportTraceServiceResponse::default()))
    }
}

fn seen(service: &str, span: &Span) -> Seen {
    let links = span.links.iter().map(|link| format!("{}/{}", hex(&link.trace_id), hex(&link.span_id)));
    Seen {
        service: service.to_owned(),
        name: span.name.clone(),
        kind: span.kind(),
        trace: hex(&span.trace_id),
        span: hex(&span.span_id),
        parent: hex(&span.parent_span_id),
        links: links.collect(),
        attributes: attributes(&span.attributes),
        failed: span.status.as_ref().is_some_and(|status| status.code() == StatusCode::Error),
        state: span.trace_state.clone(),
        began: span.start_time_unix_nano,
    }
}

fn attributes(all: &[KeyValue]) -> BTreeMap<String, String> {
    // Ours are texts and numbers.
    let text = |value: &any_value::Value| {
        if let any_value::Value::StringValue(text) = value {
            return text.clone();
        }
        if let any_value::Value::IntValue(number) = value {
            return number.to_string();
        }
        format!("{value:?}")
    };
    let value = |one: &KeyValue| one.value.as_ref().and_then(|value| value.value.as_ref()).map(text);
    all.iter().filter_map(|one| Some((one.key.clone(), value(one)?))).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
