//! The coordinator as a whole, claim by claim.

mod blocked;
mod chatter;
mod dispatch;
mod estimates;
mod explained;
mod head;
mod life;
mod limits;
mod told;
mod turns;
mod world;
