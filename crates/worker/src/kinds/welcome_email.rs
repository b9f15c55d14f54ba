//! `welcome_email`: a mail that greets somebody, once.
//!
//! Payload: `{"email": "ada@example.com", "name": "Ada"}`. A mail cannot be taken back, and a mail server does not recognise
//! one that it has had before. So the attempt is marked after the server took the recipient and before it is handed the mail
//! ([`Ctx::mark_effect`]). If the server then says no, nothing was delivered: the mark is taken off, and the attempt fails like any
//! other. If it says nothing (the connection breaks, the worker dies, time is up) the job dies as `delivery unknown`: only a
//! person may have it sent again. The Message-ID is the job's id.

use ganger_core::limits;
use ganger_core::mail::{is_address, is_name};
use serde::{Deserialize, Serialize};

use super::smtp::{Smtp, SmtpError};
use crate::clock;
use crate::context::Ctx;
use crate::error::JobError;
use crate::job::Job;

/// The kind `welcome_email`.
pub const WELCOME_EMAIL: Job<Welcome, Sent> = Job::new("welcome_email");

/// Bytes of a word in an encoded header: 75 characters with what is around it.
const WORD_BYTES: usize = 42;
/// Bytes of a line of an encoded body: 76 characters.
const BODY_LINE_BYTES: usize = 57;

/// Whom to welcome.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Welcome {
    /// Where.
    pub email: String,
    /// By which name.
    pub name: String,
}

/// What was sent.
#[derive(Debug, Deserialize, Serialize)]
pub struct Sent {
    /// As the mail carries it, without its brackets.
    pub message_id: String,
}

pub(super) async fn run(smtp: Smtp, ctx: Ctx, to: Welcome) -> Result<Sent, JobError> {
    check(&to)?;
    let message_id = format!("{}@ganger", ctx.job_id());
    let mail = mail(smtp.from(), &to, &message_id, &date(&clock::wall().to_string()));
    let prepared = ctx.unless_cancelled(smtp.prepare(&to.email)).await??;
    ctx.mark_effect().await?;
    match prepared.send(&mail).await {
        Ok(()) => Ok(Sent { message_id }),
        Err(refusal @ SmtpError::Refused { .. }) => {
            ctx.unmark_effect().await?;
            Err(refusal.into())
        }
        // The mark stands: whatever is said here, the job is not tried again.
        Err(unknown) => Err(unknown.into()),
    }
}

/// What would not get better by trying again.
fn check(to: &Welcome) -> Result<(), JobError> {
    if !is_address(&to.email) {
        return Err(JobError::fatal("`email` is no plain address like ada@example.com"));
    }
    if !is_name(&to.name) {
        let most = limits::MAIL_NAME_BYTES;
        let bounds = format!("`name` must have 1 to {most} bytes and no control characters");
        return Err(JobError::fatal(bounds));
    }
    Ok(())
}

/// The whole mail. Everything from outside is encoded, so that nothing of it can be taken for a header, or for the end.
fn mail(from: &str, to: &Welcome, message_id: &str, date: &str) -> String {
    let (subject, name) = (encoded_words(&format!("Welcome, {}", to.name)), encoded_words(&to.name));
    let text = format!("Hello {},\r\n\r\nwelcome! It is good to have you here.\r\n", to.name);
    let body: Vec<String> = text.as_bytes().chunks(BODY_LINE_BYTES).map(base64).collect();
    [
        format!("From: <{from}>"),
        format!("To: {name}\r\n <{}>", to.email),
        format!("Subject: {subject}"),
        format!("Date: {date}"),
        format!("Message-ID: <{message_id}>"),
        "MIME-Version: 1.0".into(),
        "Content-Type: text/plain; charset=utf-8".into(),
        "Content-Transfer-Encoding: base64".into(),
        String::new(),
        body.join("\r\n"),
    ]
    .join("\r\n")
}

fn base64(bytes: &[u8]) -> String {
    use ::base64::Engine as _;
    ::base64::engine::general_purpose::STANDARD.encode(bytes)
}

/// Text for a header (RFC 2047), cut between characters.
fn encoded_words(text: &str) -> String {
    let mut words = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (word, more) = rest.split_at(rest.floor_char_boundary(WORD_BYTES));
        words.push(format!("=?utf-8?B?{}?=", base64(word.as_bytes())));
        rest = more;
    }
    words.join("\r\n ")
}

/// `2026-11-16T08:49:08.46Z` as mails write it: `16 Nov 2026 08:49:08 +0000`.
fn date(rfc3339: &str) -> String {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let part = |range: std::ops::Range<usize>| rfc3339.get(range).unwrap_or_default();
    let month = part(5..7)
        .parse::<usize>()
        .ok()
        .and_then(|month| MONTHS.get(month.checked_sub(1)?))
        .unwrap_or(&"Jan");
    format!("{} {month} {} {} +0000", part(8..10), part(0..4), part(11..19))
}

#[cfg(test)]
#[path = "welcome_email_tests.rs"]
mod tests;
