//! Against a server on loopback that really speaks SMTP, and that can be told to fail at each step.

use std::sync::{Arc, Mutex};

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{RootCertStore, ServerConfig};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use super::stream::{Bytes, trusting};
use super::*;

/// Made for these tests and trusted by nobody else: `localhost` and 127.0.0.1, for a hundred years.
const CERTIFICATE: &[u8] = include_bytes!("smtp/test_certificate.pem");
const KEY: &[u8] = include_bytes!("smtp/test_key.pem");

/// What the server does other than well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Mood {
    #[default]
    Well,
    /// Answers this line of the dialogue so; the body is the line `.`.
    Says(&'static str, &'static str),
    /// Closes the connection when it has read this line.
    HangsUp(&'static str),
}

/// How the server encrypts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Encryption {
    #[default]
    Never,
    Starttls,
    FromTheFirstByte,
}

/// A mail server, and what it took.
#[derive(Clone, Default)]
pub(crate) struct MailServer {
    encryption: Encryption,
    pub(crate) mails: Arc<Mutex<Vec<String>>>,
    pub(crate) said: Arc<Mutex<Vec<String>>>,
}

impl MailServer {
    /// Serves one connection after the other; the n-th in the n-th mood, and well after the last.
    pub(crate) async fn start(moods: Vec<Mood>) -> (MailServer, u16) {
        MailServer::default().listen(moods).await
    }

    async fn encrypting(encryption: Encryption, moods: Vec<Mood>) -> (MailServer, u16) {
        MailServer { encryption, ..MailServer::default() }.listen(moods).await
    }

    async fn listen(self, moods: Vec<Mood>) -> (MailServer, u16) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let serving = self.clone();
        tokio::spawn(async move {
            let mut moods = moods.into_iter();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let mood = moods.next().unwrap_or_default();
                let _ = serving.serve(Box::new(stream), mood).await;
            }
        });
        (self, port)
    }

    async fn serve(&self, mut stream: Box<dyn Bytes>, mood: Mood) -> std::io::Result<()> {
        let mut encrypted = self.encryption == Encryption::FromTheFirstByte;
        if encrypted {
            stream = Box::new(acceptor().accept(stream).await?);
        }
        let mut io = BufReader::new(stream);
        io.write_all(b"220 test ready\r\n").await?;
        let (mut line, mut mail) = (String::new(), None::<String>);
        loop {
            line.clear();
            if io.read_line(&mut line).await? == 0 {
                return Ok(());
            }
            let said = line.trim_end().to_owned();
            if let Some(text) = &mut mail
                && said != "."
            {
                // As RFC 5321 4.5.2 says.
                text.push_str(line.strip_prefix('.').unwrap_or(&line));
                continue;
            }
            self.said.lock().unwrap().push(said.clone());
            let verb = said.split([' ', ':']).next().unwrap_or_default().to_owned();
            match mood {
                Mood::HangsUp(at) if at == verb => return Ok(()),
                Mood::Says(at, words) if at == verb => {
                    mail = None;
                    io.write_all(format!("{words}\r\n").as_bytes()).await?;
                    continue;
                }
                Mood::Well | Mood::HangsUp(_) | Mood::Says(..) => {}
            }
            let answer = match verb.as_str() {
                "EHLO" if self.encryption == Encryption::Starttls && !encrypted => "250-test\r\n250 STARTTLS",
                "EHLO" => "250-test\r\n250-8BITMIME\r\n250 AUTH LOGIN PLAIN",
                "STARTTLS" => {
                    io.write_all(b"220 go on\r\n").await?;
                    io = BufReader::new(Box::new(acceptor().accept(io.into_inner()).await?));
                    encrypted = true;
                    continue;
                }
                "AUTH" => "235 welcome",
                "MAIL" | "RCPT" => "250 fine",
                "DATA" => {
                    mail = Some(String::new());
                    "354 go on"
                }
                "." => {
                    self.mails.lock().unwrap().extend(mail.take());
                    "250 taken"
                }
                "QUIT" => "221 bye",
                _ => "500 what?",
            };
            io.write_all(format!("{answer}\r\n").as_bytes()).await?;
        }
    }

    fn said(&self) -> Vec<String> {
        self.said.lock().unwrap().clone()
    }
}

fn acceptor() -> TlsAcceptor {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let certificate = CertificateDer::from_pem_slice(CERTIFICATE).unwrap();
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], PrivateKeyDer::from_pem_slice(KEY).unwrap())
        .unwrap();
    TlsAcceptor::from(Arc::new(config))
}

/// A client that trusts the server of these tests.
fn trustful(url: &str) -> Smtp {
    let smtp = Smtp::new(url.parse().unwrap());
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(CERTIFICATE).unwrap()).unwrap();
    assert!(smtp.tls.set(trusting(roots).unwrap()).is_ok());
    smtp
}

fn smtp(port: u16) -> Smtp {
    let url = format!("smtp://user:secret@127.0.0.1:{port}?from=me@here.org&tls=never");
    Smtp::new(url.parse().unwrap())
}

/// What went wrong with a mail to Ada, in the words of an attempt's error.
async fn complaint(smtp: &Smtp) -> String {
    let error = match smtp.prepare("ada@example.com").await {
        Ok(prepared) => prepared.send("x").await.expect_err("it was taken"),
        Err(error) => error,
    };
    crate::error::JobError::retry(error).to_string()
}

#[tokio::test]
async fn a_mail_is_handed_over_in_two_halves() {
    let (server, port) = MailServer::start(vec![]).await;
    let prepared = smtp(port).prepare("ada@example.com").await.unwrap();
    assert_eq!(
        *server.said.lock().unwrap(),
        [
            "EHLO [127.0.0.1]",
            "AUTH PLAIN AHVzZXIAc2VjcmV0",
            "MAIL FROM:<me@here.org>",
            "RCPT TO:<ada@example.com>"
        ]
    );
    assert!(server.mails.lock().unwrap().is_empty(), "nothing is delivered by the first half");
    prepared.send("Subject: x\r\n\r\n.\r\n..body.\r\n.").await.unwrap();
    assert_eq!(*server.mails.lock().unwrap(), ["Subject: x\r\n\r\n.\r\n..body.\r\n.\r\n"]);
    assert_eq!((stuffed(".a\r\nb.\r\n.").as_str(), stuffed("").as_str()), ("..a\r\nb.\r\n..", ""));
}

#[tokio::test]
async fn a_refusal_is_told_in_the_words_of_the_server_and_anything_else_is_none() {
    for step in ["EHLO", "AUTH", "MAIL", "RCPT"] {
        let (_, port) =
            MailServer::start(vec![Mood::Says(step, "451-not\r\n451 now"), Mood::HangsUp(step)]).await;
        let refused = smtp(port).prepare("ada@example.com").await.unwrap_err();
        assert!(refused.is_refusal() && refused.to_string().ends_with("451 not now"), "{step}: {refused}");
        let broken = smtp(port).prepare("ada@example.com").await.unwrap_err();
        assert!(!broken.is_refusal(), "{step}: {broken}");
    }
    for step in ["DATA", "."] {
        let (_, port) = MailServer::start(vec![Mood::Says(step, "554 spam"), Mood::HangsUp(step)]).await;
        let prepared = smtp(port).prepare("ada@example.com").await.unwrap();
        assert!(prepared.send("x").await.unwrap_err().is_refusal(), "{step}");
        let prepared = smtp(port).prepare("ada@example.com").await.unwrap();
        assert!(!prepared.send("x").await.unwrap_err().is_refusal(), "{step}");
    }
}

#[tokio::test]
async fn a_login_is_said_under_encryption_and_what_was_offered_before_it_is_forgotten() {
    for (encryption, scheme) in [(Encryption::Starttls, "smtp"), (Encryption::FromTheFirstByte, "smtps")] {
        for host in ["localhost", "127.0.0.1"] {
            let (server, port) = MailServer::encrypting(encryption, vec![]).await;
            let smtp = trustful(&format!("{scheme}://user:secret@{host}:{port}?from=me@here.org"));
            smtp.prepare("ada@example.com").await.unwrap().send("hello").await.unwrap();
            assert_eq!(*server.mails.lock().unwrap(), ["hello\r\n"]);
            let said = server.said();
            let login = said.iter().position(|line| line.starts_with("AUTH")).unwrap();
            let starttls = said.iter().position(|line| line == "STARTTLS");
            assert_eq!(starttls.is_some(), encryption == Encryption::Starttls);
            assert!(starttls < Some(login), "{said:?}");
        }
    }
}

#[tokio::test]
async fn a_server_that_is_not_trusted_hears_no_login() {
    for (encryption, scheme) in [(Encryption::Starttls, "smtp"), (Encryption::FromTheFirstByte, "smtps")] {
        let (server, port) = MailServer::encrypting(encryption, vec![]).await;
        let smtp = Smtp::new(format!("{scheme}://user:secret@127.0.0.1:{port}").parse().unwrap());
        let why = complaint(&smtp).await;
        assert!(why.contains("certificate"), "{why}");
        assert!(!server.said().iter().any(|line| line.starts_with("AUTH")));
    }
}

#[tokio::test]
async fn without_the_encryption_that_is_required_nothing_is_said() {
    let (server, port) = MailServer::start(vec![]).await;
    let smtp = trustful(&format!("smtp://user:secret@127.0.0.1:{port}"));
    let error = smtp.prepare("ada@example.com").await.unwrap_err();
    assert!(matches!(error, SmtpError::NoEncryption), "{error}");
    assert_eq!(server.said(), ["EHLO [127.0.0.1]"], "no password, above all");
    let without_login = trustful(&format!("smtp://127.0.0.1:{port}"));
    without_login.prepare("ada@example.com").await.unwrap();
}

/// Somebody between us and the server adds an answer in the clear, for us to take as said under encryption.
#[tokio::test]
async fn what_is_said_before_the_encryption_begins_is_not_believed_after_it() {
    let moods = vec![Mood::Says("STARTTLS", "220 go on\r\n250 AUTH PLAIN")];
    let (server, port) = MailServer::encrypting(Encryption::Starttls, moods).await;
    let why = complaint(&trustful(&format!("smtp://user:secret@127.0.0.1:{port}"))).await;
    assert!(why.contains("before the encryption began"), "{why}");
    assert_eq!(server.said().last().unwrap(), "STARTTLS");
}

#[tokio::test]
async fn a_server_without_a_login_that_we_know_is_told_apart() {
    let moods = vec![Mood::Says("EHLO", "250-test\r\n250 AUTH GSSAPI"), Mood::Says("EHLO", "250 AUTH=LOGIN")];
    let (server, port) = MailServer::start(moods).await;
    assert!(complaint(&smtp(port)).await.contains("neither AUTH PLAIN nor AUTH LOGIN"));
    // The first line is a name, whatever it looks like.
    assert!(complaint(&smtp(port)).await.contains("neither AUTH PLAIN nor AUTH LOGIN"));
    assert!(!server.said().iter().any(|line| line.starts_with("AUTH")));
}

#[tokio::test]
async fn a_server_that_speaks_nonsense_is_an_error() {
    let long = |bytes: usize| String::leak(format!("250 {}", "x".repeat(bytes - "250 \r\n".len()))) as &str;
    let lines = |count: usize| String::leak("250-x\r\n".repeat(count - 1) + "250 AUTH PLAIN") as &str;
    for nonsense in ["hello", "2", "999 x", "300 what", "ä50 x", "", long(2_049), lines(129)] {
        let (_, port) = MailServer::start(vec![Mood::Says("EHLO", nonsense)]).await;
        let why = complaint(&smtp(port)).await;
        assert!(why.starts_with("the mail server does not speak SMTP"), "{nonsense}: {why}");
    }
    let (server, port) = MailServer::start(vec![Mood::Says("EHLO", lines(128)), Mood::Well]).await;
    smtp(port).prepare("ada@example.com").await.unwrap();
    let (_, port) = MailServer::start(vec![Mood::Says("RCPT", long(2_048))]).await;
    smtp(port).prepare("ada@example.com").await.unwrap();
    drop(server);
}

#[tokio::test]
async fn a_server_that_says_nothing_is_left() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let silent = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let _ = stream.read(&mut [0]).await;
    });
    let hasty = Smtp { patience: Duration::from_millis(50), ..smtp(port) };
    assert!(complaint(&hasty).await.contains("did not answer in time"));
    silent.await.unwrap();
}
