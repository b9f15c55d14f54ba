//! Mails that are taken, refused, or lost on the way.

use super::*;
use crate::kinds::smtp::tests::{MailServer, Mood};

fn ada() -> Welcome {
    Welcome { email: "ada@example.com".into(), name: "Ada Lovelace".into() }
}

async fn send(port: u16, to: Welcome) -> Result<Sent, JobError> {
    let smtp = Smtp::new(format!("smtp://127.0.0.1:{port}?from=me@here.org").parse().unwrap());
    run(smtp, Ctx::for_test("welcome_email"), to).await
}

#[tokio::test]
async fn a_mail_is_sent_whose_id_is_that_of_the_job() {
    let (server, port) = MailServer::start(vec![]).await;
    let sent = send(port, ada()).await.unwrap();
    assert_eq!(sent.message_id, format!("{}@ganger", Ctx::for_test("x").job_id()));
    let mails = server.mails.lock().unwrap();
    assert_eq!(mails.len(), 1);
    assert!(mails[0].contains(&format!("Message-ID: <{}>\r\n", sent.message_id)), "{}", mails[0]);
    assert!(mails[0].contains("\r\n <ada@example.com>\r\n"), "{}", mails[0]);
}

#[tokio::test]
async fn whatever_the_server_says_before_it_took_the_mail_the_attempt_fails_and_may_be_repeated() {
    for step in ["EHLO", "MAIL", "RCPT", "DATA", "."] {
        let (server, port) = MailServer::start(vec![Mood::Says(step, "550 no")]).await;
        let error = send(port, ada()).await.unwrap_err();
        assert!(!error.is_fatal() && error.to_string().ends_with("550 no"), "{step}: {error}");
        send(port, ada()).await.unwrap();
        assert_eq!(server.mails.lock().unwrap().len(), 1, "{step}");
    }
}

#[tokio::test]
async fn what_cannot_be_an_address_or_a_name_is_fatal_and_nobody_is_called() {
    let wrong = [
        ("ada", "Ada"),
        ("a@b\r\nRCPT TO:<c@d>", "Ada"),
        ("a@b", ""),
        ("a@b", "A\r\nBcc: x@y"),
        ("<a@b>", "A"),
    ];
    for (email, name) in wrong {
        let error = send(1, Welcome { email: email.into(), name: name.into() }).await.unwrap_err();
        assert!(error.is_fatal(), "{email} {name}");
    }
}

#[test]
fn no_line_of_a_mail_is_long_or_begins_with_a_dot_whatever_the_name() {
    for name in ["Ada", ".", "...", &"ä".repeat(128), "=?utf-8?B?eA==?=", "👨‍👩‍👧 Ω"] {
        let to = Welcome { name: name.into(), ..ada() };
        let mail = mail("me@here.org", &to, "id@ganger", "16 Nov 2026 08:49:08 +0000");
        for line in mail.split("\r\n") {
            assert!(line.len() <= 78 && !line.starts_with('.') && line.is_ascii(), "{line}");
            assert!(!line.contains('\n') && !line.contains('\r'), "{line}");
        }
        assert_eq!(mail.split("\r\n\r\n").count(), 2, "a head and a body");
    }
}

#[test]
fn the_date_is_as_mails_write_it() {
    assert_eq!(date("2026-11-16T08:49:08.46432Z"), "16 Nov 2026 08:49:08 +0000");
}
