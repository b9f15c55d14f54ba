//! Waiting for a job: until it ends, with or without what it logs.

use std::time::Duration;

use ganger_core::{JobId, limits};
use ganger_server::api::JobBody;

use crate::client::{Answer, Call, Client, with_query};
use crate::clock::Stopwatch;
use crate::failure::Fallible;
use crate::output::Out;
use crate::signals::Stops;

/// One question to the server waits at most this long.
const ROUND: Duration = Duration::from_secs(30);
/// While logs are followed they are fetched this often.
const LOG_ROUND: Duration = Duration::from_millis(250);

/// A log longer than this may have lost its beginning: whole lines go, of up to 8 KiB.
const FULL_LOG: usize = limits::LOG_BYTES - (8 << 10);

/// What waiting came to.
#[derive(Debug)]
pub(crate) enum Waited {
    /// The job is final: the server's document, and the same read.
    Final(Answer, Box<JobBody>),
    /// The time was up; this is where the job was.
    TimedOut(Box<JobBody>),
    /// The user no longer wants to wait. The job goes on.
    Interrupted,
}

/// Waits until a job is final.
pub(crate) async fn until_final(client: &Client, id: JobId, bound: Option<Duration>) -> Fallible<Waited> {
    let mut stops = Stops::listen()?;
    let watch = Stopwatch::start();
    // Bounded by `bound` where the user gave one; otherwise the user waits on purpose.
    loop {
        let round = bound.map_or(ROUND, |bound| watch.left_of(bound).min(ROUND));
        let answer = tokio::select! {
            answer = look(client, id, round) => answer?,
            () = stops.next() => return Ok(Waited::Interrupted),
        };
        let job = answer.read::<JobBody>()?;
        if job.state.is_final() {
            return Ok(Waited::Final(answer, Box::new(job)));
        }
        if bound.is_some_and(|bound| watch.left_of(bound).is_zero()) {
            return Ok(Waited::TimedOut(Box::new(job)));
        }
    }
}

/// Waits until a job is final and prints what it logs meanwhile, attempt after attempt.
pub(crate) async fn logs_until_final(
    client: &Client,
    id: JobId,
    out: Out,
    mut on_change: impl FnMut(&JobBody),
) -> Fallible<Waited> {
    let mut stops = Stops::listen()?;
    let mut tail = Tail::default();
    loop {
        let answer = tokio::select! {
            answer = look(client, id, LOG_ROUND) => answer?,
            () = stops.next() => return Ok(Waited::Interrupted),
        };
        let job = answer.read::<JobBody>()?;
        on_change(&job);
        // An attempt may have ended, and the next begun, since the last look.
        for attempt in tail.attempt.max(1)..=job.attempt {
            let text = log(client, id, attempt).await?;
            out.text(tail.fresh(attempt, &text))?;
        }
        if job.state.is_final() {
            if tail.gap {
                let kept = limits::LOG_BYTES >> 10;
                out.note(&format!(
                    "some of the output may be missing: of a log the last {kept} KiB are kept"
                ));
            }
            return Ok(Waited::Final(answer, Box::new(job)));
        }
    }
}

/// What an attempt has logged so far: the end of it, if it was much.
pub(crate) async fn log(client: &Client, id: JobId, attempt: u32) -> Fallible<String> {
    let path = with_query(&format!("/v1/jobs/{id}/logs"), [("attempt", Some(attempt.to_string()))]);
    Ok(client.send(&Call::get(format!("read the log of {id}"), path)).await?.body)
}

async fn look(client: &Client, id: JobId, wait: Duration) -> Fallible<Answer> {
    let wait_text = format!("{}ms", wait.as_millis());
    let path = with_query(&format!("/v1/jobs/{id}"), [("wait", Some(wait_text))]);
    client.send(&Call::get(format!("wait for {id}"), path).waiting(wait)).await
}

/// What was already shown of the log being followed.
#[derive(Debug, Default)]
struct Tail {
    attempt: u32,
    shown: String,
    /// Lines may have come and gone between two looks.
    gap: bool,
}

impl Tail {
    /// The part of `text`, the present end of the attempt's log, that was not shown yet.
    ///
    /// The server keeps only the last part of a long log, so what was shown before may be missing from
    /// its beginning.
    fn fresh<'a>(&mut self, attempt: u32, text: &'a str) -> &'a str {
        if attempt != self.attempt {
            self.attempt = attempt;
            self.shown.clear();
        }
        let overlap = self.overlap(text);
        // Nothing in common with what was shown; or seen for the first time, and as long as a log gets.
        let begins_late = if self.shown.is_empty() { text.len() > FULL_LOG } else { overlap == 0 };
        self.gap |= begins_late && !text.is_empty();
        self.shown = text.to_owned();
        &text[overlap..]
    }

    /// How much of the beginning of `text` is the end of what was shown.
    fn overlap(&self, text: &str) -> usize {
        let starts = std::iter::once(0).chain(self.shown.match_indices('\n').map(|(i, _)| i + 1));
        let known = starts.map(|start| &self.shown[start..]).find(|known| text.starts_with(known));
        known.map_or(0, str::len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_shown_once_while_a_log_grows() {
        let mut tail = Tail::default();
        assert_eq!(tail.fresh(1, ""), "");
        assert_eq!(tail.fresh(1, "a\n"), "a\n");
        assert_eq!(tail.fresh(1, "a\nb\n"), "b\n");
        assert_eq!(tail.fresh(1, "a\nb\n"), "");
    }

    #[test]
    fn a_log_that_lost_its_beginning_goes_on_where_it_was() {
        let mut tail = Tail::default();
        tail.fresh(1, "a\nb\nc\n");
        assert_eq!(tail.fresh(1, "c\nd\n"), "d\n");
        assert!(!tail.gap);
        assert_eq!(tail.fresh(1, "x\ny\n"), "x\ny\n", "nothing in common: all of it is new");
        assert!(tail.gap, "and something between may never have been seen");
    }

    #[test]
    fn the_next_attempt_has_its_own_log() {
        let mut tail = Tail::default();
        tail.fresh(1, "a\n");
        assert_eq!(tail.fresh(2, "a\n"), "a\n");
    }
}
