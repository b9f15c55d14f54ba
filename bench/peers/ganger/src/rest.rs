//! One connection to the REST door. The SDK's own client is not what is measured: it gives each submission an idempotency key and looks for
//! the leader among several servers, which no peer does.

use anyhow::{Context, ensure};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{CONTENT_TYPE, HOST};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::sync::Mutex;

pub struct Rest {
    host: String,
    /// One request after the other.
    connection: Mutex<SendRequest<Full<Bytes>>>,
}

impl Rest {
    pub async fn connect(url: &str) -> anyhow::Result<Rest> {
        let host = url.strip_prefix("http://").context("the address of the server is not http://…")?;
        let host = host.trim_end_matches('/').to_owned();
        let stream = TcpStream::connect(&host).await?;
        stream.set_nodelay(true)?;
        let (connection, attend) = handshake(TokioIo::new(stream)).await?;
        // Ends with the connection, whose requests then fail and say why.
        tokio::spawn(attend);
        Ok(Rest { host, connection: Mutex::new(connection) })
    }

    /// The answer to this, if it is a good one.
    pub async fn post(&self, path: &str, key: Option<String>, body: String) -> anyhow::Result<Bytes> {
        let request = Request::post(path).header(HOST, &self.host).header(CONTENT_TYPE, "application/json");
        let request = match key {
            Some(key) => request.header("idempotency-key", key),
            None => request,
        };
        let mut connection = self.connection.lock().await;
        connection.ready().await?;
        let answer = connection.send_request(request.body(Full::from(body))?).await?;
        let status = answer.status();
        let bytes = answer.into_body().collect().await?.to_bytes();
        ensure!(status.is_success(), "{path} was answered with {status}: {}", String::from_utf8_lossy(&bytes));
        Ok(bytes)
    }
}
