//! The coordinator as a whole, claim by claim.

mod blocked;
mod chatter;
mod dispatch;
mod explained;
mod life;
mod limits;
mod told;
mod world;
