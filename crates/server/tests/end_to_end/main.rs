//! The whole server, end to end: real coordinator, real store, real connections.
#![expect(unreachable_pub, reason = "the modules of a test binary are public to each other only")]

mod claims;
mod cluster;
mod common;
mod doubt;
mod faults;
mod faulty;
mod gauges;
mod life_of_a_job;
mod link;
mod metrics;
mod mirrors;
mod mirrors_of_jobs;
mod operations;
mod programs;
mod relay;
mod relay_attacks;
mod relay_cluster;
mod relay_crowd;
mod relay_faults;
mod relay_wires;
mod retention;
mod start_and_stop;
mod streams;
mod wide;
mod worker;
