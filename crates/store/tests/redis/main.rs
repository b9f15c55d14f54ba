//! Redis as an accelerator: each role against a real server that is emptied, stopped, killed and brought back.
#![expect(unreachable_pub, reason = "the modules of a test binary are public to each other only")]

mod common;
mod events;
mod finals;
mod idempotency;
mod ingest;
mod link;
