//! Lines to and from a mail server, in the clear or encrypted.

use std::net::IpAddr;
use std::sync::Arc;

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader,
};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::SmtpError;

/// Longest line of a reply; RFC 5321 has 512.
const LINE_BYTES: u64 = 2_048;
/// Most lines of a reply.
const LINES: usize = 128;

/// What can be read from and written to.
pub(super) trait Bytes: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Bytes for T {}

/// A connection.
pub(super) struct Stream {
    io: BufReader<Box<dyn Bytes>>,
    from: IpAddr,
}

impl std::fmt::Debug for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Stream(from {})", self.from)
    }
}

impl Stream {
    pub(super) async fn connect(host: &str, port: u16) -> Result<Stream, SmtpError> {
        let plain = TcpStream::connect((bare(host), port)).await?;
        plain.set_nodelay(true)?;
        let from = plain.local_addr()?.ip().to_canonical();
        Ok(Stream { io: BufReader::new(Box::new(plain)), from })
    }

    /// Our own address, as a greeting takes it.
    pub(super) fn literal(&self) -> String {
        match self.from {
            IpAddr::V4(address) => format!("[{address}]"),
            IpAddr::V6(address) => format!("[IPv6:{address}]"),
        }
    }

    /// Everything after this is encrypted, and the server is who it should be.
    pub(super) async fn encrypt(self, host: &str, tls: &TlsConnector) -> Result<Stream, SmtpError> {
        // Whatever was sent in the clear after the answer to STARTTLS is not to be taken for said under encryption.
        if !self.io.buffer().is_empty() {
            return Err(SmtpError::Nonsense("it said something before the encryption began"));
        }
        let name = ServerName::try_from(bare(host).to_owned());
        let name = name.map_err(|_| SmtpError::Nonsense("its name cannot be that of a certificate"))?;
        let encrypted = tls.connect(name, self.io.into_inner()).await?;
        Ok(Stream { io: BufReader::new(Box::new(encrypted)), from: self.from })
    }

    /// Says a line and reads the answer, which must have that code.
    pub(super) async fn say(
        &mut self,
        step: &'static str,
        line: &str,
        code: u16,
    ) -> Result<Vec<String>, SmtpError> {
        self.io.write_all(line.as_bytes()).await?;
        self.io.write_all(b"\r\n").await?;
        self.io.flush().await?;
        self.expect(step, code).await
    }

    /// Reads an answer, which must have that code; its lines, without it.
    pub(super) async fn expect(&mut self, step: &'static str, code: u16) -> Result<Vec<String>, SmtpError> {
        let mut lines = Vec::new();
        for _ in 0..LINES {
            let (got, last, text) = self.line().await?;
            lines.push(text);
            if !last {
                continue;
            }
            // 251 and 252 take a recipient as well.
            return match got {
                _ if got == code || (code == 250 && (251..=252).contains(&got)) => Ok(lines),
                400.. => Err(SmtpError::Refused { step, code: got, text: lines.join(" ") }),
                _ => Err(SmtpError::Nonsense("its answer has an unexpected code")),
            };
        }
        Err(SmtpError::Nonsense("its answer does not end"))
    }

    /// One line of an answer: its code, whether it is the last, and its text.
    async fn line(&mut self) -> Result<(u16, bool, String), SmtpError> {
        let mut line = Vec::new();
        (&mut self.io).take(LINE_BYTES).read_until(b'\n', &mut line).await?;
        if line.is_empty() {
            return Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into());
        }
        if line.pop() != Some(b'\n') {
            return Err(SmtpError::Nonsense("a line of its answer is cut off or too long"));
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end_matches('\r');
        let code =
            text.get(..3).and_then(|code| code.parse::<u16>().ok()).filter(|code| (200..600).contains(code));
        let code = code.ok_or(SmtpError::Nonsense("a line of its answer has no code"))?;
        let last = !text[3..].starts_with('-');
        // It ends up in an error that people read.
        let words = text.get(4..).unwrap_or_default().chars().filter(|c| !c.is_control()).take(256).collect();
        Ok((code, last, words))
    }
}

/// Encryption with servers that have a certificate which this machine trusts.
pub(super) fn trusting_this_machine() -> Result<TlsConnector, SmtpError> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    trusting(roots)
}

/// Encryption with servers that have a certificate of one of these.
pub(super) fn trusting(roots: RootCertStore) -> Result<TlsConnector, SmtpError> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(std::io::Error::other)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}

/// An IPv6 address stands between brackets in a URL, and nowhere else.
fn bare(host: &str) -> &str {
    host.trim_start_matches('[').trim_end_matches(']')
}
