//! The porter of every door: who asks, and may he?

use std::borrow::Cow;
use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Uri};
use axum::response::Response;
use ganger_core::JobId;
use ganger_core::access::policy::{self, Found};
use ganger_core::access::{Access, Caller, Permission, Permissions, QueueScope, Role, Who};
use ganger_core::dependency::{self, Place};
use ganger_core::job::JobSpec;
use ganger_core::name::QueueName;
use tracing::info;

use super::asking::{Asking, must_see_job, not_his};
use super::held::until_over;
use crate::audit::{self, Author};
use crate::http::compat::{complete_token, unauthenticated};
use crate::http::parents::missing;
use crate::http::problem::{Code, Problem};
use crate::listener::{self, Peer};
use crate::relay::{Door, Relayed};
use crate::service::{Service, ServiceError};
use crate::tls::Secured;

/// Who asks, as text; absent where nobody is asked.
const CALLER: HeaderName = HeaderName::from_static("ganger-caller");
/// Queues that he is confined to, with commas between; absent if he is not.
const QUEUES: HeaderName = HeaderName::from_static("ganger-queues");

/// Lets in who may ask for this.
pub(crate) async fn porter(
    service: &Service,
    door: Door,
    request: Request,
    next: impl AsyncFnOnce(Request) -> Response,
) -> Response {
    let (mut parts, body) = request.into_parts();
    parts.headers.remove(CALLER);
    parts.headers.remove(QUEUES);
    let asking_door = service.auth().is_asking_door(parts.uri.path());
    if asking_door {
        complete_token(&mut parts.headers);
    }
    let admitted = match service.auth().is_required() || asking_door {
        false => Ok((Caller::anyone(), Access::Open)),
        true => admit(service, &parts).await,
    };
    let admitted = admitted.and_then(|(caller, access)| {
        let held = service.auth().held().take(&parts, &caller)?;
        Ok((caller, access, held))
    });
    match admitted {
        Ok((caller, access, held)) => {
            let body = service.auth().held().paced(body, access, &caller, service.clock());
            let author = access.is_audited().then(|| author(&parts, &caller));
            note(&mut parts.headers, &caller, access);
            if let Some(place) =
                parts.extensions.get::<Arc<listener::Place>>().filter(|_| caller.may != Permissions::NONE)
            {
                place.is_known();
            }
            parts.extensions.insert(Asking(Arc::new(caller)));
            let answer = next(Request::from_parts(parts, body));
            let answer = match author {
                Some(author) => audit::by(author, answer).await,
                None => answer.await,
            };
            until_over(answer, held)
        }
        Err(problem) if asking_door && problem.code == Code::Unauthenticated => {
            unauthenticated(&parts.headers)
        }
        Err(problem) => {
            let from = parts.extensions.get::<Peer>().map(|peer| peer.0.ip().to_string()).unwrap_or_default();
            let (code, path) = (problem.code.as_str(), shown(&parts.uri));
            info!(error.code = code, client = from, "refused {} {path} to {from}: {code}", parts.method);
            door.refuse(problem)
        }
    }
}

/// Who is written down beside what a request changes.
fn author(parts: &Parts, caller: &Caller) -> Author {
    let request_id = parts.headers.get("x-request-id").and_then(|id| id.to_str().ok());
    Author {
        who: caller.who.to_string(),
        from: parts.extensions.get::<Peer>().map(|peer| peer.0.ip()),
        operation: format!("{} {}", parts.method, shown(&parts.uri)),
        request_id: request_id.map(|id| id.chars().take(64).collect()),
    }
}

/// Whose request it is, for those who only see its headers: idempotency keys of different callers never meet, and jobs go to
/// queues of the caller only. Nobody but the porter writes these headers.
fn note(headers: &mut HeaderMap, caller: &Caller, access: Access) {
    if caller.who != Who::Anyone {
        let who = caller.who.to_string();
        let plain = HeaderValue::from_str(&who).ok();
        // A name from elsewhere may have any characters.
        let who = plain.or_else(|| HeaderValue::from_str(&format!("{:x?}", super::hash(&who))).ok());
        headers.extend(who.map(|who| (CALLER, who)));
    }
    if !caller.queues.is_all() {
        let globs = match access {
            Access::Needs(Permission::Enqueue, _) => caller.enqueues_into().join(","),
            Access::Needs(..) | Access::Open | Access::Known => caller.queues.globs().join(","),
        };
        let globs = HeaderValue::from_str(&globs);
        // Globs are plain text; if they were not, no queue would be his.
        headers.insert(QUEUES, globs.unwrap_or(HeaderValue::from_static("")));
    }
}

/// Whose idempotency keys a request brings.
pub(crate) fn caller(headers: &HeaderMap) -> &str {
    headers.get(CALLER).and_then(|who| who.to_str().ok()).unwrap_or("anyone")
}

/// The queues that a request is confined to, if it is, as [`in_queues`] reads them.
pub(crate) fn queues(headers: &HeaderMap) -> Option<&str> {
    headers.get(QUEUES).map(|globs| globs.to_str().unwrap_or_default())
}

/// Whether a queue is among those that a request is confined to.
///
/// # Errors
/// It is not.
pub(crate) fn in_queues(queues: Option<&str>, queue: &QueueName) -> Result<(), Problem> {
    let Some(globs) = queues else { return Ok(()) };
    match QueueScope::parse(globs.split(',')) {
        Ok(scope) if scope.contains(queue) => Ok(()),
        Ok(_) | Err(_) => Err(not_his(queue)),
    }
}

/// Whether the parents that jobs wait for are all of queues that the request is confined to. One that is not is not there.
///
/// # Errors
/// The first that is not.
pub(crate) async fn parents(
    service: &Service,
    queues: Option<&str>,
    specs: &[JobSpec],
    base: &str,
) -> Result<(), Problem> {
    if queues.is_none() {
        return Ok(());
    }
    for (job, spec) in specs.iter().enumerate() {
        let named = spec.depends_on.iter().enumerate();
        for (nth, parent) in named.filter(|(_, parent)| dependency::referenced(parent.job).is_none()) {
            let seen = match service.job(parent.job).await {
                Ok(view) => in_queues(queues, &view.stored.spec.queue).is_ok(),
                Err(ServiceError::NoSuchJob(_)) => false,
                Err(error) => return Err(error.into()),
            };
            if !seen {
                return Err(missing(parent.job, Place { job, nth }, base));
            }
        }
    }
    Ok(())
}

async fn admit(service: &Service, request: &Parts) -> Result<(Caller, Access), Problem> {
    let (method, uri, headers) = (&request.method, &request.uri, &request.headers);
    let found = policy::find(method.as_str(), uri.path());
    let relayed = request.extensions.get::<Relayed>().is_some();
    let from = request.extensions.get::<Peer>().map(|peer| peer.0.ip());
    let local = is_local_metrics(service, uri, headers, from, relayed);
    if found == Found::Operation(Access::Open) || local || is_metrics_of_another_server(request) {
        return Ok((Caller { may: Permissions::NONE, ..Caller::anyone() }, Access::Open));
    }
    if service.auth().is_open_door(uri.path()) {
        return Ok((Caller { may: Role::Submitter.permissions(), ..Caller::anyone() }, Access::Open));
    }
    // Who he is comes first: nobody learns what there is before he is known.
    let certificate =
        request.extensions.get::<Secured>().and_then(|Secured(certificate)| certificate.as_deref());
    let caller = service.recognise(headers, certificate, from).await?;
    if super::is_by_cookie(headers) && !matches!(*method, Method::GET | Method::HEAD) {
        super::own_page(headers, uri)?;
    }
    let access = match found {
        Found::Operation(access) => access,
        Found::OtherMethod => {
            let detail = format!("`{}` has no method {method}", shown(uri));
            return Err(Problem::new(Code::MethodNotAllowed, detail));
        }
        Found::Nowhere => {
            return Err(Problem::new(Code::NoSuchRoute, format!("there is nothing at `{}`", shown(uri))));
        }
    };
    caller.allows(access).map_err(|lacking| Problem::new(Code::Forbidden, lacking.to_string()))?;
    if !caller.queues.is_all() {
        confined(service, &caller, method, uri.path()).await?;
    }
    Ok((caller, access))
}

/// What a path names must be the caller's. A job that is not is not there for him.
async fn confined(service: &Service, caller: &Caller, method: &Method, path: &str) -> Result<(), Problem> {
    let mut segments = path.split('/').skip(2);
    match (segments.next(), segments.next()) {
        (Some("queues" | "scaling"), Some(segment)) => {
            // Verbs are told by POST; to every other method a colon is a part of the name.
            let has_verb = *method == Method::POST && segments.next().is_none();
            match queue_of(segment, has_verb) {
                Some(queue) if caller.sees(&queue) => Ok(()),
                Some(_) | None => {
                    Err(Problem::new(Code::Forbidden, "this queue is not among those of this caller"))
                }
            }
        }
        (Some("jobs"), Some(segment)) => {
            let id = segment.split([':', '%']).next().unwrap_or_default();
            // An id in another spelling, which the door might understand, must not pass unseen.
            let Ok(id) = id.parse::<JobId>() else {
                let detail =
                    "this is not an id as it is shown: `job_` and 26 characters, none of them encoded";
                return Err(Problem::new(Code::InvalidParameter, detail));
            };
            must_see_job(service, caller, id).await
        }
        (_, _) => Ok(()),
    }
}

/// The queue that a segment names, as its door reads it: the whole of it, or what is before its last colon.
fn queue_of(segment: &str, has_verb: bool) -> Option<QueueName> {
    let plain = segment.replace("%3A", ":").replace("%3a", ":");
    let name = if has_verb { plain.rsplit_once(':')?.0 } else { plain.as_str() };
    // Any other letter that is encoded makes it no name.
    name.parse().ok()
}

/// On a server that only its own machine reaches, its own programs may measure it; what came through a proxy may come from anywhere.
fn is_local_metrics(
    service: &Service,
    uri: &Uri,
    headers: &HeaderMap,
    from: Option<IpAddr>,
    relayed: bool,
) -> bool {
    let proxied = headers.contains_key("forwarded") || headers.contains_key("x-forwarded-for");
    uri.path() == "/metrics"
        && service.listens_on_loopback()
        && from.is_some_and(|from| from.to_canonical().is_loopback())
        && !proxied
        && !relayed
}

/// A server that knows the secret asks for the gauges of the cluster only on behalf of someone it has let in itself.
fn is_metrics_of_another_server(request: &Parts) -> bool {
    let sealed = request.extensions.get::<Relayed>().is_some_and(|relayed| relayed.sealed);
    sealed && request.method == Method::GET && request.uri.path() == "/metrics"
}

/// A path for logs and refusals. The token of a lease, which proves it, is left out.
fn shown(uri: &Uri) -> String {
    let path = match uri.path().strip_prefix("/v1/leases/") {
        Some(rest) => {
            Cow::from(format!("/v1/leases/{{token}}:{}", rest.rsplit_once(':').map_or("", |(_, verb)| verb)))
        }
        None => Cow::from(uri.path()),
    };
    path.chars().take(128).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_proves_a_lease_is_not_shown() {
        let of = |path: &str| shown(&path.parse::<Uri>().unwrap());
        assert_eq!(of("/v1/leases/c2VjcmV0:complete?x=1"), "/v1/leases/{token}:complete");
        assert_eq!(of("/v1/leases/c2VjcmV0"), "/v1/leases/{token}:");
        assert_eq!(of("/v1/jobs/job_1:cancel"), "/v1/jobs/job_1:cancel");
        assert_eq!(of(&format!("/{}", "a".repeat(500))).len(), 128);
    }

    #[test]
    fn a_queue_is_read_as_its_door_reads_it() {
        let of = |segment: &str, has_verb| queue_of(segment, has_verb).map(|queue| queue.to_string());
        assert_eq!(of("mail:pause", true).as_deref(), Some("mail"));
        assert_eq!(of("mail:x%3Apause", true).as_deref(), Some("mail:x"));
        assert_eq!(of("mail:pause", false).as_deref(), Some("mail:pause"));
        assert_eq!(of("mail", false).as_deref(), Some("mail"));
        for unreadable in ["%6Dail", "mail%2Fx", "", "mail%00"] {
            assert_eq!(of(unreadable, false), None, "{unreadable}");
        }
        assert_eq!(of("mail", true), None, "a verb is missing");
    }
}
