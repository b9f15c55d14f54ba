//! The command line's side of the REST API: bounded waits, safe retries, errors that say what to do.
//!
//! A request is repeated only if repeating it is harmless: reads, settings, and submissions, which
//! always carry an idempotency key. So a server that restarts in the middle of an import neither
//! loses nor doubles anything.

mod answer;
mod path;
mod refusal;
mod stream;

use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use reqwest::Method;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue, RETRY_AFTER};

pub(crate) use answer::Answer;
pub(crate) use path::with_query;
pub(crate) use stream::Streamed;

use crate::clock::Stopwatch;
use crate::config::{ClientTls, Config, Origin, ServerUrl, ServerUrls};
use crate::exit::Exit;
use crate::failure::{Failure, Fallible};
use ganger_core::trace::TraceContext;

/// A request and all its repetitions take no longer than this.
const PATIENCE: Duration = Duration::from_secs(30);
/// A server that was never reached gets this long, in case it is just starting.
const FIRST_PATIENCE: Duration = Duration::from_secs(2);
/// The longest wait for a connection.
const CONNECT: Duration = Duration::from_secs(5);
/// The longest wait for an answer, beyond what the server was asked to wait.
const ANSWER: Duration = Duration::from_secs(30);
/// Between repetitions, when the server does not say.
const PAUSE: Duration = Duration::from_millis(200);
/// The most that a server may make us pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
const EXEC_TOKEN: &str = "x-ganger-exec-token";
const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// Connections to the servers that will do; one is asked at a time.
#[derive(Debug)]
pub(crate) struct Client {
    http: reqwest::Client,
    urls: ServerUrls,
    /// Which of them is asked.
    asked: AtomicUsize,
    origin: Origin,
    reached: AtomicBool,
    /// What the server is shown.
    token: Option<HeaderValue>,
    /// What it is shown where a command may be run again.
    exec_token: Option<HeaderValue>,
    /// The trace that its calls are part of.
    trace: Option<TraceContext>,
}

/// One request.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// What is being done, as in "cannot …".
    what: String,
    method: Method,
    path: String,
    body: Option<Bytes>,
    key: Option<String>,
    exec_token: Option<HeaderValue>,
    wait: Duration,
    repeatable: bool,
}

impl Call {
    /// A read.
    pub(crate) fn get(what: impl Into<String>, path: impl Into<String>) -> Call {
        Call::new(Method::GET, what, path).repeatable()
    }

    /// A verb without a body.
    pub(crate) fn post(what: impl Into<String>, path: impl Into<String>) -> Call {
        Call::new(Method::POST, what, path)
    }

    /// A removal.
    pub(crate) fn delete(what: impl Into<String>, path: impl Into<String>) -> Call {
        Call::new(Method::DELETE, what, path)
    }

    /// A change of settings.
    pub(crate) fn put(what: impl Into<String>, path: impl Into<String>, body: impl Into<Bytes>) -> Call {
        let mut call = Call::new(Method::PUT, what, path).repeatable();
        call.body = Some(body.into());
        call
    }

    /// A submission. The key makes it safe to repeat.
    pub(crate) fn submit(what: impl Into<String>, path: &str, body: impl Into<Bytes>, key: String) -> Call {
        let mut call = Call::new(Method::POST, what, path).repeatable();
        call.body = Some(body.into());
        call.key = Some(key);
        call
    }

    /// A submission without a key: repeated, it would make another job.
    pub(crate) fn submit_once(what: impl Into<String>, path: &str, body: impl Into<Bytes>) -> Call {
        let mut call = Call::new(Method::POST, what, path);
        call.body = Some(body.into());
        call
    }

    /// The server may take this long on purpose.
    pub(crate) fn waiting(mut self, wait: Duration) -> Call {
        self.wait = wait;
        self
    }

    /// Doing it twice is as good as doing it once.
    pub(crate) fn repeatable(mut self) -> Call {
        self.repeatable = true;
        self
    }

    /// The first answer is the one that counts, also if it is "not now".
    pub(crate) fn once(mut self) -> Call {
        self.repeatable = false;
        self
    }

    /// Proves that the caller may submit `exec` jobs.
    pub(crate) fn with_exec_token(mut self, token: Option<HeaderValue>) -> Call {
        self.exec_token = token;
        self
    }

    /// Whether it may have a command run again: replaying jobs, and firing or resuming schedules.
    fn may_run_commands(&self) -> bool {
        let places = ["/v1/jobs/", "/v1/operations", "/v1/failures/", "/v1/schedules/"];
        self.method == Method::POST && places.iter().any(|place| self.path.starts_with(place))
    }

    fn new(method: Method, what: impl Into<String>, path: impl Into<String>) -> Call {
        Call {
            what: what.into(),
            method,
            path: path.into(),
            body: None,
            key: None,
            exec_token: None,
            wait: Duration::ZERO,
            repeatable: false,
        }
    }
}

impl Client {
    /// A client for the server that the settings name.
    pub(crate) fn new(config: &Config) -> Fallible<Client> {
        let token = crate::token::header(config)?;
        // A file that was named and cannot be read is told by those commands that need it.
        let exec_token = crate::exec_token::find(config).ok().flatten();
        let (urls, origin) = (config.url.value.clone(), config.url.origin.clone());
        let trace = config.otlp.caller.clone();
        Ok(Client { token, exec_token, trace, ..Client::secured(urls, origin, &config.client_tls)? })
    }

    /// A client for the server that the settings name, which shows nothing.
    pub(crate) fn stranger(config: &Config) -> Fallible<Client> {
        let (urls, origin) = (config.url.value.clone(), config.url.origin.clone());
        Client::secured(urls, origin, &config.client_tls.without_certificate())
    }

    /// A client for a given server, or for several.
    pub(crate) fn to(urls: ServerUrls, origin: Origin) -> Fallible<Client> {
        Client::built(builder(), urls, origin)
    }

    fn secured(urls: ServerUrls, origin: Origin, tls: &ClientTls) -> Fallible<Client> {
        let builder = if urls.is_plain() { builder() } else { secured(builder(), tls)? };
        Client::built(builder, urls, origin)
    }

    fn built(mut builder: reqwest::ClientBuilder, urls: ServerUrls, origin: Origin) -> Fallible<Client> {
        if urls.is_plain() {
            // Without TLS no authorities are needed, and reading them would slow every command down.
            builder = builder.tls_certs_only([]);
        }
        if urls.is_loopback() {
            builder = builder.no_proxy();
        }
        let http = builder.build().map_err(|error| {
            let why = refusal::root_cause(&error);
            Failure::new(
                Exit::Failure,
                "cannot set up the HTTP client",
                why,
                "install the system's CA certificates",
            )
        })?;
        let (asked, reached) = (AtomicUsize::new(0), AtomicBool::new(false));
        Ok(Client { http, urls, asked, origin, reached, token: None, exec_token: None, trace: None })
    }

    /// Sends a request, repeats it where that is safe, and gives the answer if it is a success.
    pub(crate) async fn send(&self, call: &Call) -> Fallible<Answer> {
        let answer = self.send_for_any(call).await?;
        if answer.is_success() { Ok(answer) } else { Err(refusal::refused(&call.what, &answer)) }
    }

    /// Like [`Client::send`], but a refusal is an answer too.
    pub(crate) async fn send_for_any(&self, call: &Call) -> Fallible<Answer> {
        let watch = Stopwatch::start();
        let mut others = self.urls.each().len() - 1;
        // Bounded by PATIENCE: every round waits, but for one try of each server, and the time left only shrinks.
        loop {
            let tried = self.once(call).await;
            if tried.is_err() {
                self.ask_another();
            }
            let pause = match &tried {
                // Where nobody listens nothing was done, and another server may be there.
                Err(error) if error.is_connect() && others > 0 => {
                    others -= 1;
                    continue;
                }
                Ok(answer) if answer.was_not_taken() || (answer.is_busy() && call.repeatable) => {
                    answer.retry_after.unwrap_or(PAUSE)
                }
                Ok(_) => return tried.map_err(|error| self.unreachable(call, &error)),
                Err(error) if self.may_repeat(call, error) => PAUSE,
                Err(error) => return Err(self.unreachable(call, error)),
            };
            let patience = if self.reached.load(Ordering::Relaxed) { PATIENCE } else { FIRST_PATIENCE };
            let pause = pause.min(LONGEST_PAUSE);
            if watch.left_of(patience) <= pause {
                return tried.map_err(|error| self.unreachable(call, &error));
            }
            tokio::time::sleep(pause).await;
        }
    }

    /// Writes the body of an answer as it comes, however long it is.
    pub(crate) async fn download(&self, call: &Call, into: &mut impl Write) -> Fallible<()> {
        let mut streamed = self.open(call).await?;
        while let Some(chunk) = streamed.chunk(ANSWER).await? {
            into.write_all(&chunk).map_err(|error| Failure::output(&error))?;
        }
        into.flush().map_err(|error| Failure::output(&error))
    }

    /// Begins to read an answer that has no end in sight. A server that is not there is not waited for: the next try asks
    /// another one, if several are named.
    pub(crate) async fn open(&self, call: &Call) -> Fallible<Streamed> {
        let mut request = self.http.request(call.method.clone(), self.url().at(&call.path));
        if let Some(token) = &self.token {
            request = request.header(AUTHORIZATION, token);
        }
        let sent = tokio::time::timeout(ANSWER, request.send()).await;
        let response = match sent {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => {
                self.ask_another();
                return Err(self.unreachable(call, &error));
            }
            Err(_) => {
                self.ask_another();
                return Err(stream::silent(&call.what));
            }
        };
        let status = response.status().as_u16();
        if !response.status().is_success() {
            let body = response.text().await.unwrap_or_default();
            return Err(refusal::refused(&call.what, &Answer { status, retry_after: None, body }));
        }
        Ok(Streamed::new(call.what.clone(), response))
    }

    /// The server that is asked at present.
    pub(crate) fn address(&self) -> String {
        self.url().to_string()
    }

    async fn once(&self, call: &Call) -> Result<Answer, reqwest::Error> {
        let mut request = self
            .http
            .request(call.method.clone(), self.url().at(&call.path))
            .timeout(ANSWER + call.wait)
            .header(ACCEPT, "application/json");
        if let Some(body) = &call.body {
            request = request.header(CONTENT_TYPE, "application/json").body(body.clone());
        }
        if let Some(key) = &call.key {
            request = request.header(IDEMPOTENCY_KEY, key);
        }
        if let Some(token) = &self.token {
            request = request.header(AUTHORIZATION, token);
        }
        let of_client = self.exec_token.as_ref().filter(|_| call.may_run_commands());
        if let Some(token) = call.exec_token.as_ref().or(of_client) {
            request = request.header(EXEC_TOKEN, token);
        }
        if let Some(trace) = &self.trace {
            request = request.header("traceparent", trace.parent.to_string());
            if !trace.state.is_empty() {
                request = request.header("tracestate", &trace.state);
            }
        }
        let response = request.send().await?;
        self.reached.store(true, Ordering::Relaxed);
        let status = response.status().as_u16();
        let retry_after = seconds(response.headers().get(RETRY_AFTER));
        Ok(Answer { status, retry_after, body: response.text().await? })
    }

    fn url(&self) -> &ServerUrl {
        let each = self.urls.each();
        &each[self.asked.load(Ordering::Relaxed) % each.len()]
    }

    fn ask_another(&self) {
        self.asked.fetch_add(1, Ordering::Relaxed);
    }

    /// A connection that was never made did nothing; one that broke may have.
    fn may_repeat(&self, call: &Call, error: &reqwest::Error) -> bool {
        let reached = self.reached.load(Ordering::Relaxed);
        if error.is_connect() {
            reached || call.key.is_some()
        } else {
            call.repeatable && !error.is_timeout()
        }
    }

    fn unreachable(&self, call: &Call, error: &reqwest::Error) -> Box<Failure> {
        refusal::unreachable(&call.what, &self.urls, &self.origin, error)
    }
}

fn builder() -> reqwest::ClientBuilder {
    reqwest::Client::builder()
        .connect_timeout(CONNECT)
        .tcp_nodelay(true)
        .redirect(reqwest::redirect::Policy::none())
        .user_agent(concat!("ganger-cli/", env!("CARGO_PKG_VERSION")))
}

/// With the authorities and the certificate that the settings name.
fn secured(mut builder: reqwest::ClientBuilder, tls: &ClientTls) -> Fallible<reqwest::ClientBuilder> {
    let unusable = |what: &str, error: &reqwest::Error| {
        let fix =
            "correct the file: PEM, with `BEGIN CERTIFICATE`, and for a certificate of your own its key";
        Failure::usage(format!("cannot use {what}"), refusal::root_cause(error), fix)
    };
    if let Some(ca) = tls.ca()? {
        let authorities = reqwest::Certificate::from_pem_bundle(&ca);
        builder = builder.tls_certs_only(
            authorities.map_err(|error| unusable("the authority in --ca or GANGER_CA", &error))?,
        );
    }
    if let Some((mut certificate, key)) = tls.identity()? {
        certificate.push(b'\n');
        certificate.extend(key);
        let identity = reqwest::Identity::from_pem(&certificate);
        builder = builder.identity(identity.map_err(|error| unusable("the client certificate", &error))?);
    }
    Ok(builder)
}

fn seconds(header: Option<&HeaderValue>) -> Option<Duration> {
    header?.to_str().ok()?.trim().parse().ok().map(Duration::from_secs)
}
