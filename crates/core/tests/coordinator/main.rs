//! The coordinator as a whole, claim by claim.

mod dispatch;
mod explained;
mod life;
mod told;
mod world;
