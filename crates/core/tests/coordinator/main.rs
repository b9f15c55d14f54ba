//! The coordinator as a whole, claim by claim.

mod dispatch;
mod life;
mod world;
