//! What only a database that servers share must do: elect one leader, survive, plan its statements well, and keep its
//! tables in order.

#![cfg(feature = "postgres")]

mod batches;
mod complete;
mod cost;
mod durability;
mod election;
mod enqueue;
mod migrations;
mod pooler;
mod readers;
mod retention;
mod statements;
mod support;
mod takeover;
mod texts;
mod tls;
