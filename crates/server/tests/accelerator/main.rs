//! The server with Redis in front of its store: faster while Redis is there, and right whatever becomes of it.
#![expect(unreachable_pub, reason = "the modules of a test binary are public to each other only")]

#[path = "../end_to_end/faulty.rs"]
#[expect(dead_code, reason = "the store fails in more ways than are needed here")]
mod faulty;

#[path = "../end_to_end/worker.rs"]
#[expect(dead_code, reason = "a worker can say more than is needed here")]
mod worker;

mod buffered;
mod common;
mod events;
mod finals;
mod keys;
mod site;
mod told;
