//! The attempts that run now, with the moments at which something must happen to them.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use ganger_core::message::CancelWhy;
use ganger_core::{Fence, Mono};
use tokio_util::sync::CancellationToken;

use crate::context::Ctx;
use crate::threads::Grant;

/// What an attempt's time brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Alarm {
    /// It ran longer than its timeout: tell it to stop.
    Timeout,
    /// It was told to stop and did not: drop it.
    Abort,
}

/// One attempt that runs.
pub(crate) struct Live {
    pub(crate) ctx: Ctx,
    pub(crate) grant: Grant,
    pub(crate) abort: CancellationToken,
    alarm: Option<(Mono, Alarm)>,
}

/// All attempts that run.
#[derive(Default)]
pub(crate) struct Running {
    attempts: HashMap<Fence, Live>,
    alarms: BTreeSet<(Mono, Fence, Alarm)>,
}

impl Running {
    pub(crate) fn insert(&mut self, now: Mono, ctx: Ctx, grant: Grant, abort: CancellationToken) {
        let fence = ctx.fence();
        let alarm = ctx.work().timeout.map(|timeout| (now + timeout, Alarm::Timeout));
        self.attempts.insert(fence, Live { ctx, grant, abort, alarm: None });
        self.set_alarm(fence, alarm);
    }

    /// Signals the handler, and has it dropped after the grace if it can be.
    pub(crate) fn cancel(&mut self, now: Mono, fence: Fence, why: CancelWhy, grace: Duration) {
        if let Some(live) = self.attempts.get(&fence) {
            live.ctx.cancel(why);
            self.set_alarm(fence, Some((now + grace, Alarm::Abort)));
        }
    }

    pub(crate) fn remove(&mut self, fence: Fence) -> Option<Live> {
        self.set_alarm(fence, None);
        self.attempts.remove(&fence)
    }

    pub(crate) fn get(&self, fence: Fence) -> Option<&Live> {
        self.attempts.get(&fence)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Live> + '_ {
        self.attempts.values()
    }

    pub(crate) fn fences(&self) -> Vec<Fence> {
        self.attempts.keys().copied().collect()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.attempts.is_empty()
    }

    /// When [`Running::next_alarm`] next has something.
    pub(crate) fn due(&self) -> Option<Mono> {
        self.alarms.first().map(|(at, _, _)| *at)
    }

    /// An alarm whose time has come; it rings once.
    pub(crate) fn next_alarm(&mut self, now: Mono) -> Option<(Fence, Alarm)> {
        let (at, fence, alarm) = *self.alarms.first()?;
        if now < at {
            return None;
        }
        self.set_alarm(fence, None);
        Some((fence, alarm))
    }

    fn set_alarm(&mut self, fence: Fence, alarm: Option<(Mono, Alarm)>) {
        let Some(live) = self.attempts.get_mut(&fence) else { return };
        if let Some((at, old)) = std::mem::replace(&mut live.alarm, alarm) {
            self.alarms.remove(&(at, fence, old));
        }
        if let Some((at, new)) = alarm {
            self.alarms.insert((at, fence, new));
        }
    }
}
