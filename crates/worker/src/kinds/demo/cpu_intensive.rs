//! `cpu_intensive`: hashes a block again and again, each time with the last hash in it.

use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::content::Content;
use super::{Scale, go_on};
use crate::context::Ctx;
use crate::error::JobError;
use crate::job::Job;

pub(super) const CPU_INTENSIVE: Job<Content, Hashed> = Job::new("cpu_intensive");

/// How much is hashed at a time.
const BLOCK_BYTES: usize = 170_000;

/// What was done.
#[derive(Debug, Serialize)]
pub(super) struct Hashed {
    /// How often.
    pub(super) hashes: u32,
    /// The last hash.
    pub(super) digest: String,
}

pub(super) fn work(ctx: &Ctx, scale: Scale) -> Result<Hashed, JobError> {
    let hashes = scale.count(5_000..=15_000);
    let seed = rand::random::<u8>();
    let mut block: Vec<u8> = (0..BLOCK_BYTES).map(|n| seed.wrapping_add((n % 251) as u8)).collect();
    let mut digest = [0u8; 32];
    for done in 0..hashes {
        go_on(ctx)?;
        digest = Sha256::digest(&block).into();
        // The next hash depends on this one: none of them can be left out.
        block[..digest.len()].copy_from_slice(&digest);
        if done % 256 == 0 {
            ctx.progress(done as f32 / hashes as f32, format!("{done} of {hashes} hashes"));
        }
    }
    Ok(Hashed { hashes, digest: digest.iter().map(|byte| format!("{byte:02x}")).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ganger_core::message::CancelWhy;

    #[test]
    fn it_hashes_and_stops_when_told_to() {
        let hashed = work(&Ctx::for_test("cpu_intensive"), Scale::TINY).unwrap();
        assert_eq!((hashed.hashes, hashed.digest.len()), (1, 64));
        let ctx = Ctx::for_test("cpu_intensive");
        ctx.cancel(CancelWhy::Cancelled);
        assert!(work(&ctx, Scale::default()).is_err());
    }
}
