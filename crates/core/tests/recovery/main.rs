//! What the coordinator does when things go wrong, step by step against the store in memory: takeovers,
//! refused batches, workers that cannot be reached, and counts that stay exact through all of it.

mod counters;
mod early;
mod joint;
mod leader;
mod prefetch;
mod refusals;
mod takeovers;
mod unreachable;
