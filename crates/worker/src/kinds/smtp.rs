//! A small SMTP client, one mail per connection.
//!
//! The moment that matters is the one between the last recipient and the text of the mail: up to it nothing can have
//! been delivered, after it nobody knows until the server answers. So the two halves are two calls, [`Smtp::prepare`] and
//! [`Prepared::send`], and the caller can do something durable between them. General libraries hide that moment behind one
//! call, which is why this is our own: RFC 5321 with EHLO, STARTTLS, AUTH PLAIN and LOGIN, and nothing else.

mod stream;
mod url;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tokio_rustls::TlsConnector;

use stream::{Stream, trusting_this_machine};
pub use url::{SmtpUrl, Tls, UrlError};

/// How long the server may take for anything but the mail itself.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long it may take to accept the mail: it may look at it closely first (RFC 5321 allows ten minutes).
const ACCEPT: Duration = Duration::from_secs(120);

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum SmtpError {
    /// The server said no, in its words.
    #[error("the mail server refused {step}: {code} {text}")]
    Refused {
        /// What was refused.
        step: &'static str,
        /// Its code, 4xx or 5xx.
        code: u16,
        /// Its words.
        text: String,
    },
    /// It said something that is no SMTP.
    #[error("the mail server does not speak SMTP: {0}")]
    Nonsense(&'static str),
    /// No encryption, where it is required.
    #[error("the mail server offers no encryption, which is required")]
    NoEncryption,
    /// It cannot be logged in to.
    #[error("the mail server offers neither AUTH PLAIN nor AUTH LOGIN")]
    NoLogin,
    /// The connection failed.
    #[error("the connection to the mail server failed")]
    Io(#[from] std::io::Error),
    /// It took too long.
    #[error("the mail server did not answer in time")]
    Silent(#[from] tokio::time::error::Elapsed),
}

impl SmtpError {
    /// Whether the server itself said no: then the mail was certainly not taken.
    #[must_use]
    pub const fn is_refusal(&self) -> bool {
        matches!(self, SmtpError::Refused { .. })
    }
}

/// A mail server. Cheap to clone.
#[derive(Clone)]
pub struct Smtp {
    url: SmtpUrl,
    /// Made when it is first needed: the certificates that this machine trusts are read from files.
    tls: Arc<OnceLock<TlsConnector>>,
    patience: Duration,
}

/// A connection on which everything is said but the mail.
#[derive(Debug)]
pub struct Prepared {
    stream: Stream,
}

impl Smtp {
    /// The server at that address.
    #[must_use]
    pub fn new(url: SmtpUrl) -> Smtp {
        Smtp { url, tls: Arc::default(), patience: PATIENCE }
    }

    /// Whom mails come from.
    #[must_use]
    pub fn from(&self) -> &str {
        self.url.from()
    }

    /// Connects, greets, encrypts, logs in, and names sender and recipient. Nothing is delivered by that.
    ///
    /// # Errors
    /// The server cannot be reached, or refuses one of these steps.
    pub async fn prepare(&self, to: &str) -> Result<Prepared, SmtpError> {
        tokio::time::timeout(self.patience, self.prepare_slowly(to)).await?
    }

    async fn prepare_slowly(&self, to: &str) -> Result<Prepared, SmtpError> {
        let mut stream = Stream::connect(self.url.host(), self.url.port()).await?;
        if self.url.tls() == Tls::Always {
            stream = stream.encrypt(self.url.host(), self.tls()?).await?;
        }
        stream.expect("the connection", 220).await?;
        let mut offers = ehlo(&mut stream).await?;
        let starttls = || offers.iter().any(|offer| offer.eq_ignore_ascii_case("STARTTLS"));
        match self.url.tls() {
            Tls::Always | Tls::Never => {}
            Tls::Required | Tls::IfOffered if starttls() => {
                stream.say("STARTTLS", "STARTTLS", 220).await?;
                stream = stream.encrypt(self.url.host(), self.tls()?).await?;
                // What was offered in the clear may have been put there by anybody.
                offers = ehlo(&mut stream).await?;
            }
            Tls::Required => return Err(SmtpError::NoEncryption),
            Tls::IfOffered => {}
        }
        if let Some((user, password)) = self.url.login() {
            log_in(&mut stream, &offers, user, password).await?;
        }
        stream.say("the sender", &format!("MAIL FROM:<{}>", self.url.from()), 250).await?;
        stream.say("the recipient", &format!("RCPT TO:<{to}>"), 250).await?;
        Ok(Prepared { stream })
    }

    fn tls(&self) -> Result<&TlsConnector, SmtpError> {
        if let Some(made) = self.tls.get() {
            return Ok(made);
        }
        let made = trusting_this_machine()?;
        Ok(self.tls.get_or_init(|| made))
    }
}

impl std::fmt::Debug for Smtp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Smtp({:?})", self.url)
    }
}

impl Prepared {
    /// Sends the mail, whose lines end with CR LF. Done when the server has taken it.
    ///
    /// # Errors
    /// The server refused it; or, after any other error, nobody knows.
    pub async fn send(mut self, mail: &str) -> Result<(), SmtpError> {
        let sent = async {
            self.stream.say("DATA", "DATA", 354).await?;
            self.stream.say("the mail", &format!("{}\r\n.", stuffed(mail)), 250).await
        };
        tokio::time::timeout(ACCEPT, sent).await??;
        // It is delivered whatever becomes of the farewell.
        let farewell = self.stream.say("QUIT", "QUIT", 221);
        let _ = tokio::time::timeout(Duration::from_secs(1), farewell).await;
        Ok(())
    }
}

/// A line that is a dot alone would end the mail, so a dot at the beginning of a line is written twice.
fn stuffed(mail: &str) -> String {
    let first = if mail.starts_with('.') { "." } else { "" };
    format!("{first}{}", mail.replace("\r\n.", "\r\n.."))
}

/// Greets, and tells what the server offers. By our address: many servers refuse a name that is not known to the world.
async fn ehlo(stream: &mut Stream) -> Result<Vec<String>, SmtpError> {
    let greeting = format!("EHLO {}", stream.literal());
    let mut lines = stream.say("EHLO", &greeting, 250).await?;
    // The first line is the server's name.
    lines.remove(0);
    Ok(lines)
}

async fn log_in(stream: &mut Stream, offers: &[String], user: &str, password: &str) -> Result<(), SmtpError> {
    let auth = offers.iter().map(|offer| offer.to_ascii_uppercase()).find(|offer| offer.starts_with("AUTH"));
    let offered =
        |name: &str| auth.as_ref().is_some_and(|auth| auth.split([' ', '=']).any(|word| word == name));
    if offered("PLAIN") {
        let secret = STANDARD.encode(format!("\0{user}\0{password}"));
        stream.say("the login", &format!("AUTH PLAIN {secret}"), 235).await?;
    } else if offered("LOGIN") {
        stream.say("the login", "AUTH LOGIN", 334).await?;
        stream.say("the login", &STANDARD.encode(user), 334).await?;
        stream.say("the login", &STANDARD.encode(password), 235).await?;
    } else {
        return Err(SmtpError::NoLogin);
    }
    Ok(())
}

#[cfg(test)]
#[path = "smtp_tests.rs"]
pub(super) mod tests;
