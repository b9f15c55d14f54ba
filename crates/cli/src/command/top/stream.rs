//! The one connection to the stream of events: read, taken apart, made again when it breaks.

use std::sync::Arc;
use std::time::Duration;

use ganger_core::event::Event;
use tokio::sync::mpsc;

use super::model::Link;
use super::update::{Message, Told, told_in_one_line};
use crate::client::{Call, Client};
use crate::exit::Exit;
use crate::failure::Failure;

/// What top listens to. Not to jobs and attempts: there may be thousands a second, and the counts have them all.
const PATH: &str = "/v1/events?topics=counts,queue,worker,schedule,operation";
/// The server says every 15 s that it lives; one that does not is gone.
const SILENCE: Duration = Duration::from_secs(20);
/// Between two tries.
const PAUSE: Duration = Duration::from_millis(500);
/// After a refusal: a token may be given, a place may become free.
const LONG_PAUSE: Duration = Duration::from_secs(5);
/// Longest line that is kept; a longer one is not of this server.
const LINE: usize = 8 << 20;

/// Listens until nobody wants to hear.
pub(super) async fn follow(client: Arc<Client>, messages: mpsc::Sender<Message>) {
    // Ends with the receiver; every round waits.
    loop {
        let failure = match listen(&client, &messages).await {
            Ok(()) => return,
            Err(failure) => failure,
        };
        let refused = matches!(failure.exit, Exit::Denied | Exit::Usage | Exit::NotFound);
        let why = told_in_one_line(&failure);
        let link = if refused { Link::Refused(why) } else { Link::Broken { since: Duration::ZERO, why } };
        if messages.send(Message::Linked(link)).await.is_err() {
            return;
        }
        tokio::time::sleep(if refused || failure.problem.is_some() { LONG_PAUSE } else { PAUSE }).await;
    }
}

/// One connection; well if nobody wants to hear any more.
async fn listen(client: &Client, messages: &mpsc::Sender<Message>) -> Result<(), Box<Failure>> {
    let mut streamed = client.open(&Call::get("follow the events", PATH)).await?;
    if messages.send(Message::Linked(Link::Open)).await.is_err() {
        return Ok(());
    }
    let mut frames = Frames::default();
    while let Some(chunk) = streamed.chunk(SILENCE).await? {
        let mut told: Vec<Told> = frames.take(&chunk).iter().filter_map(Frame::told).collect();
        told.insert(0, Told::Alive);
        for told in told {
            if messages.send(Message::Told(told)).await.is_err() {
                return Ok(());
            }
        }
    }
    Err(Failure::new(Exit::Unreachable, "the server has ended the stream of events", "", ""))
}

/// One frame of Server-Sent Events.
#[derive(Debug, Default, PartialEq, Eq)]
struct Frame {
    event: String,
    data: String,
}

impl Frame {
    /// What it says; nothing, if it is of a newer server and not understood.
    fn told(&self) -> Option<Told> {
        match self.event.as_str() {
            "counts" => serde_json::from_str(&self.data).ok().map(Told::Counts),
            "operation" => serde_json::from_str(&self.data).ok().map(Told::Operation),
            "gap" => Some(Told::Gap),
            _ => serde_json::from_str::<Event>(&self.data).ok().map(Box::new).map(Told::Event),
        }
    }
}

/// Takes frames out of pieces that end anywhere.
#[derive(Debug, Default)]
struct Frames {
    rest: Vec<u8>,
    begun: Frame,
}

impl Frames {
    fn take(&mut self, chunk: &[u8]) -> Vec<Frame> {
        let mut whole = Vec::new();
        self.rest.extend_from_slice(chunk);
        while let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.rest.drain(..=end).collect();
            let line = String::from_utf8_lossy(&line);
            let line = line.trim_end_matches(['\n', '\r']);
            if line.is_empty() {
                let frame = std::mem::take(&mut self.begun);
                if !frame.data.is_empty() {
                    whole.push(frame);
                }
                continue;
            }
            let (field, value) = line.split_once(':').unwrap_or((line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match field {
                "event" => value.clone_into(&mut self.begun.event),
                "data" => {
                    if !self.begun.data.is_empty() {
                        self.begun.data.push('\n');
                    }
                    self.begun.data.push_str(value);
                }
                // Comments, ids, and what is not known.
                _ => {}
            }
        }
        if self.rest.len() > LINE {
            self.rest.clear();
        }
        whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_whole_however_the_pieces_are_cut() {
        let text = ": hello\nevent: counts\ndata: {\"a\":1}\n\n:\n\nid: 1-2\r\nevent: gap\r\ndata: {}\r\n\r\ndata: x\ndata: y\n\n";
        let frame = |event: &str, data: &str| Frame { event: event.into(), data: data.into() };
        let all = [frame("counts", "{\"a\":1}"), frame("gap", "{}"), frame("", "x\ny")];
        for size in 1..text.len() {
            let mut frames = Frames::default();
            let taken: Vec<Frame> =
                text.as_bytes().chunks(size).flat_map(|chunk| frames.take(chunk)).collect();
            assert_eq!(taken, all, "in pieces of {size}");
        }
    }

    #[test]
    fn what_is_not_understood_is_left_out() {
        assert!(Frame { event: "new".into(), data: "{\"event\":\"new\"}".into() }.told().is_none());
        assert!(Frame { event: "counts".into(), data: "?".into() }.told().is_none());
        assert!(matches!(Frame { event: "gap".into(), data: "{}".into() }.told(), Some(Told::Gap)));
    }
}
