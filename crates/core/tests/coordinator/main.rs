//! The coordinator as a whole, claim by claim.

mod blocked;
mod dispatch;
mod explained;
mod head;
mod life;
mod limits;
mod told;
mod world;
