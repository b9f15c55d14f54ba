//! Trying again: soon while the server is away, and rarely while it does not let this worker in.

use std::time::Duration;

use ganger_core::Mono;

use super::Driver;
use crate::desk::Desk;
use crate::wire::Broken;

/// Between tries of a worker that is not let in: what is wrong with it is mended by people, not by trying.
const DENIED: Duration = Duration::from_secs(30);

impl Driver {
    /// The server has answered the hello.
    pub(super) fn welcomed(&mut self, desk: &mut Desk, now: Mono) {
        let session = desk.session.id();
        tracing::info!(worker.id = %session, "connected as {session}");
        self.redial.reset();
        self.denied = false;
        // Before the results: the log of an attempt that is over is not taken any more.
        for log in std::mem::take(&mut desk.late_logs) {
            desk.outbox.push(now, log);
        }
        self.chatter_at = Some(now);
        self.stand(desk, None);
    }

    /// There is no connection any more; another is dialled in a while.
    pub(super) fn reconnect(&mut self, desk: &mut Desk, broken: Broken) {
        let (delay, reason) = match broken {
            Broken::Away(reason) => {
                let delay = self.redial.next();
                tracing::warn!("not connected: {reason}; trying again in {delay:?}");
                (delay, reason)
            }
            Broken::Throttled(reason, after) => {
                let delay = self.redial.next().max(after);
                // Whoever was turned away too often is throttled: what to do about it was said.
                if !self.denied {
                    tracing::warn!("the server takes no more for now: {reason}; trying again in {delay:?}");
                }
                (delay, reason)
            }
            Broken::Denied(reason) => {
                let delay = self.redial.next().max(DENIED.mul_f64(rand::random_range(0.5..=1.0)));
                if !std::mem::replace(&mut self.denied, true) {
                    tracing::error!(
                        "the server does not let this worker in: {reason}; give it a token of the role `worker` in GANGER_TOKEN \
                         (`ganger token create NAME --role worker`), or a certificate, and start it again; until then it tries every {DENIED:?}"
                    );
                }
                (delay, reason)
            }
        };
        self.wire = None;
        self.probe = None;
        desk.outbox.clear();
        self.redial_at = Some(self.clock.mono() + delay);
        self.stand(desk, Some(reason));
    }
}
