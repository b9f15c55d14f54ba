//! Waiting for a leader, within bounds.

use std::time::Duration;

use ganger_core::Mono;
use tokio::sync::{OwnedSemaphorePermit, watch};

use super::Inner;
use super::measures::{Ended, OneMore};
use crate::coordinator_thread::Phase;
use crate::http::problem::{Code, Problem};

/// A leader that could not be reached is tried again after this, at first.
const FIRST_PAUSE: Duration = Duration::from_millis(20);
/// And after this, later.
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

/// One call that waits, now and then.
pub(super) struct Waiting<'a> {
    relay: &'a Inner,
    phase: watch::Receiver<Phase>,
    left: Duration,
    pause: Duration,
    seat: Option<(OwnedSemaphorePermit, OneMore)>,
}

impl<'a> Waiting<'a> {
    pub(super) fn new(relay: &'a Inner) -> Waiting<'a> {
        let (phase, left) = (relay.phase.clone(), relay.options.hold);
        Waiting { relay, phase, left, pause: FIRST_PAUSE, seat: None }
    }

    /// It is tried now, and waits no more; what is seen from now on is no news.
    pub(super) fn over(&mut self) {
        self.seat = None;
        self.phase.mark_unchanged();
    }

    /// Waits until it is worth trying again. The time since `since` was waited already.
    pub(super) async fn wait(&mut self, since: Mono, why: String) -> Result<(), (Ended, Problem)> {
        self.take_seat()?;
        let clock = self.relay.service.clock();
        let tried = clock.now().mono.since(since);
        let rest = self.left.saturating_sub(tried);
        if rest.is_zero() {
            let bound = self.relay.options.hold.as_secs_f64();
            let detail = format!("there was no leader within {bound} s: {why}");
            return Err((Ended::NoLeader, Problem::new(Code::NoLeader, detail)));
        }
        tokio::select! {
            changed = self.phase.changed() => {
                if changed.is_err() {
                    tokio::time::sleep(self.pause.min(rest)).await;
                }
            }
            () = tokio::time::sleep(self.pause.min(rest)) => {}
        }
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        self.left = self.left.saturating_sub(clock.now().mono.since(since));
        Ok(())
    }

    fn take_seat(&mut self) -> Result<(), (Ended, Problem)> {
        if self.seat.is_some() {
            return Ok(());
        }
        let Ok(permit) = self.relay.seats.clone().try_acquire_owned() else {
            let most = self.relay.options.most_held;
            let problem = Problem::new(Code::Overloaded, format!("{most} calls wait for a leader already"));
            return Err((Ended::Overloaded, problem));
        };
        self.seat = Some((permit, self.relay.measures.holds()));
        Ok(())
    }
}
