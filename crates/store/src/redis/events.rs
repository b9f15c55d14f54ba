//! Live events between servers: the leader publishes, standbys listen.
//!
//! Publishing promises nothing: a message that nobody hears is gone. So every message carries the leader's term and the
//! number of its first event, and a leader without news says so once a second. From that a listener knows by
//! itself what it missed, and that it hears a leader at all: a loss is told as [`Heard::Dropped`] within about a
//! second, and silence ends the subscription. It never passes in silence.

use std::time::Duration;

use futures::StreamExt;
use ganger_core::Term;
use ganger_core::event::Event;
use redis::aio::PubSub;
use serde::{Deserialize, Serialize};

use super::link::Trouble;
use super::{Redis, Role};

/// Most events of one message.
pub const MESSAGE_EVENTS: usize = 256;
/// A leader without news says so this often.
pub const WORD_EVERY: Duration = Duration::from_secs(1);
/// A listener that hears nothing for so long does not hear the leader.
pub const SILENCE: Duration = Duration::from_secs(4);

/// What a listener hears.
#[derive(Clone, Debug, PartialEq)]
pub enum Heard {
    /// Events of the leader of this term, numbered from `first`. May be none: the leader is there.
    Events {
        /// Whose.
        term: Term,
        /// Number of the first.
        first: u64,
        /// In order, without gaps.
        events: Vec<Event>,
    },
    /// Events were missed: so many, or nobody knows how many.
    Dropped(Option<u64>),
}

/// Listens on a connection of its own.
pub struct Subscription {
    listening: PubSub,
    track: Track,
    /// What is still to be told of the last message.
    rest: Option<Heard>,
}

#[derive(Serialize, Deserialize)]
struct Message {
    term: Term,
    first: u64,
    events: Vec<Event>,
}

#[derive(Serialize)]
struct MessageRef<'a> {
    term: Term,
    first: u64,
    events: &'a [&'a Event],
}

impl Redis {
    /// Publishes events of this term, numbered from `first` without gaps, at most [`MESSAGE_EVENTS`]; none says that
    /// `first` is the next, or if it is 0 that the next is not known yet. `false` if it failed; listeners learn that by the numbers.
    pub async fn publish(&self, term: Term, first: u64, events: &[&Event]) -> bool {
        let events = &events[..events.len().min(MESSAGE_EVENTS)];
        let Ok(message) = serde_json::to_vec(&MessageRef { term, first, events }) else { return false };
        let mut command = redis::cmd("PUBLISH");
        command.arg(self.key("events")).arg(message);
        match self.link().query::<u64>(&command).await {
            Ok(heard_by) => {
                if heard_by > 0 && !events.is_empty() {
                    self.hit(Role::Events);
                }
                true
            }
            Err(trouble) => {
                self.fell_back(Role::Events, &trouble);
                false
            }
        }
    }

    /// Begins to listen. `None` if Redis is away.
    pub async fn subscribe(&self) -> Option<Subscription> {
        match self.link().listening(&self.key("events")).await {
            Ok(listening) => Some(Subscription { listening, track: Track::default(), rest: None }),
            Err(trouble) => {
                // Looked for again and again: only an answer that is new is worth counting.
                if trouble != Trouble::Away {
                    self.fell_back(Role::Events, &trouble);
                }
                None
            }
        }
    }
}

impl Subscription {
    /// What comes next; `None` if the connection is gone or no leader was heard for [`SILENCE`].
    pub async fn next(&mut self) -> Option<Heard> {
        if let Some(rest) = self.rest.take() {
            return Some(rest);
        }
        let mut messages = self.listening.on_message();
        let heard = async {
            loop {
                let message = messages.next().await?;
                // A message of another version is a loss, which the next numbers tell.
                let Ok(message) = serde_json::from_slice(message.get_payload_bytes()) else { continue };
                let (dropped, events) = self.track.take(message);
                match (dropped, events) {
                    (Some(dropped), events) => {
                        self.rest = events;
                        return Some(dropped);
                    }
                    (None, Some(events)) => return Some(events),
                    (None, None) => {}
                }
            }
        };
        tokio::time::timeout(SILENCE, heard).await.ok().flatten()
    }
}

/// Where in the leader's events a listener is.
#[derive(Debug, Default)]
struct Track {
    at: Option<(Term, u64)>,
}

impl Track {
    /// What was missed before this message, and what is new in it.
    fn take(&mut self, mut message: Message) -> (Option<Heard>, Option<Heard>) {
        let (term, mut first) = (message.term, message.first);
        let next = first + message.events.len() as u64;
        let dropped = match self.at {
            None => None,
            // A leader that does not know yet that it was replaced.
            Some((at, _)) if term.number < at.number => return (None, None),
            // Nobody knows what the one before still had to say.
            Some((at, _)) if term != at => Some(Heard::Dropped(None)),
            // The leader had not said anything yet that has a number.
            Some((_, 0)) => None,
            Some((_, expected)) if first > expected => Some(Heard::Dropped(Some(first - expected))),
            Some((_, expected)) => {
                let known = usize::try_from(expected - first).unwrap_or(usize::MAX).min(message.events.len());
                message.events.drain(..known);
                first += known as u64;
                None
            }
        };
        let expected =
            self.at.map_or(next, |(at, expected)| if at == term { expected.max(next) } else { next });
        self.at = Some((term, expected));
        (dropped, Some(Heard::Events { term, first, events: message.events }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ganger_core::Wall;

    fn message(term: u64, first: u64, events: usize) -> Message {
        let queue = "mail".parse().unwrap();
        let event = Event::Queue { queue, paused: false, draining: false, at: Wall(0) };
        Message { term: Term { number: term, id: 1 }, first, events: vec![event; events] }
    }

    fn told(track: &mut Track, message: Message) -> (Option<Heard>, Option<(u64, usize)>) {
        let (dropped, events) = track.take(message);
        let events = events.map(|heard| match heard {
            Heard::Events { first, events, .. } => (first, events.len()),
            Heard::Dropped(_) => panic!("a loss is told first"),
        });
        (dropped, events)
    }

    #[test]
    fn what_follows_without_a_gap_is_told_and_nothing_else() {
        let mut track = Track::default();
        assert_eq!(told(&mut track, message(1, 7, 3)), (None, Some((7, 3))));
        assert_eq!(told(&mut track, message(1, 10, 0)), (None, Some((10, 0))));
        assert_eq!(told(&mut track, message(1, 10, 2)), (None, Some((10, 2))));
        // Heard twice.
        assert_eq!(told(&mut track, message(1, 11, 2)), (None, Some((12, 1))));
    }

    #[test]
    fn a_gap_is_told_also_if_the_lost_events_were_the_last() {
        let mut track = Track::default();
        told(&mut track, message(1, 1, 2));
        assert_eq!(told(&mut track, message(1, 5, 1)), (Some(Heard::Dropped(Some(2))), Some((5, 1))));
        assert_eq!(told(&mut track, message(1, 9, 0)), (Some(Heard::Dropped(Some(3))), Some((9, 0))));
        assert_eq!(told(&mut track, message(1, 9, 1)), (None, Some((9, 1))));
    }

    #[test]
    fn a_leader_that_has_no_number_yet_is_heard_without_a_loss() {
        let mut track = Track::default();
        assert_eq!(told(&mut track, message(1, 0, 0)), (None, Some((0, 0))));
        assert_eq!(told(&mut track, message(1, 8, 2)), (None, Some((8, 2))));
        assert_eq!(told(&mut track, message(1, 11, 0)), (Some(Heard::Dropped(Some(1))), Some((11, 0))));
    }

    /// A deposed leader may publish a moment longer; its successor's numbers have nothing to do with its own.
    #[test]
    fn another_term_is_a_loss_of_unknown_size_and_an_earlier_one_is_not_heard() {
        let mut track = Track::default();
        told(&mut track, message(1, 1, 9));
        assert_eq!(told(&mut track, message(2, 1, 1)), (Some(Heard::Dropped(None)), Some((1, 1))));
        assert_eq!(told(&mut track, message(1, 10, 1)), (None, None));
        assert_eq!(told(&mut track, message(2, 2, 1)), (None, Some((2, 1))));
    }
}
