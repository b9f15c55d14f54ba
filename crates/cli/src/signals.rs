//! Being told to stop: ctrl-C, SIGTERM.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::exit::Exit;
use crate::failure::{Failure, Fallible};

/// The requests to stop that reach this process.
#[derive(Debug)]
pub(crate) struct Stops {
    interrupt: Signal,
    terminate: Signal,
}

impl Stops {
    /// From now on such requests come here and no longer end the process.
    pub(crate) fn listen() -> Fallible<Stops> {
        let on = |kind| {
            signal(kind).map_err(|error| Failure::new(Exit::Failure, "cannot listen for signals", error, ""))
        };
        Ok(Stops { interrupt: on(SignalKind::interrupt())?, terminate: on(SignalKind::terminate())? })
    }

    /// Waits for the next request.
    pub(crate) async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
