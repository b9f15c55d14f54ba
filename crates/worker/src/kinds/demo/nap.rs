//! `default`: sleeps for a while that is drawn at random.

use std::time::Duration;

use serde::Serialize;

use super::Scale;
use super::content::Content;
use crate::context::Ctx;
use crate::error::JobError;
use crate::job::Job;

pub(super) const DEFAULT: Job<Content, Slept> = Job::new("default");

/// How fast such jobs are, and the seconds that each sort takes.
const SPEEDS: [(&str, f64, f64); 3] = [("fast", 0.1, 1.0), ("medium", 1.0, 10.0), ("slow", 10.0, 50.0)];

/// What was done.
#[derive(Debug, Serialize)]
pub(super) struct Slept {
    speed: &'static str,
    slept_ms: u64,
}

pub(super) async fn run(ctx: Ctx, content: Content, scale: Scale) -> Result<Slept, JobError> {
    content.check()?;
    let (speed, length) = drawn(scale);
    ctx.log(format!("a {speed} job: {} ms", length.as_millis()));
    ctx.unless_cancelled(tokio::time::sleep(length)).await?;
    Ok(Slept { speed, slept_ms: u64::try_from(length.as_millis()).unwrap_or(u64::MAX) })
}

fn drawn(scale: Scale) -> (&'static str, Duration) {
    let (speed, least, most) = SPEEDS[rand::random_range(0..SPEEDS.len())];
    (speed, scale.time(least..=most))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ganger_core::message::CancelWhy;

    #[test]
    fn every_speed_is_drawn_and_within_its_bounds() {
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..500 {
            let (speed, length) = drawn(Scale::default());
            let (_, least, most) = *SPEEDS.iter().find(|(known, ..)| *known == speed).unwrap();
            assert!((least..=most).contains(&length.as_secs_f64()), "{speed}: {length:?}");
            seen.insert(speed);
        }
        assert_eq!(seen.len(), SPEEDS.len());
    }

    #[tokio::test]
    async fn it_sleeps_as_long_as_it_says() {
        let slept = run(Ctx::for_test("default"), Content("x".into()), Scale::TINY).await.unwrap();
        assert!(slept.slept_ms <= 5, "{slept:?}");
    }

    #[tokio::test]
    async fn it_stops_when_told_to() {
        let ctx = Ctx::for_test("default");
        ctx.cancel(CancelWhy::Cancelled);
        assert!(run(ctx, Content(String::new()), Scale::default()).await.is_err());
    }
}
