//! Reads pages of live jobs for a leader that compares its memory with the store.

use std::sync::Arc;

use ganger_core::change::{LivePage, LiveQuery};
use ganger_store::Store;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tracing::warn;

/// What was read; nothing if it could not be.
pub type Read = Option<Box<LivePage>>;

/// The reader of one term. Ends when dropped: a page that is then still being read is of no use to anybody.
#[derive(Debug)]
pub struct Reader {
    runtime: Handle,
    reading: Option<JoinHandle<Read>>,
}

impl Reader {
    /// Reads nothing yet. What the store does, it does on this runtime.
    #[must_use]
    pub fn new(runtime: Handle) -> Reader {
        Reader { runtime, reading: None }
    }

    /// Begins to read; [`Reader::page`] waits for it.
    pub fn read(&mut self, store: Arc<dyn Store>, query: LiveQuery) {
        let reading = self.runtime.spawn(async move {
            let page = store.live(&query).await;
            page.inspect_err(|cause| warn!("cannot compare memory with the store: {cause}"))
                .ok()
                .map(Box::new)
        });
        if let Some(earlier) = self.reading.replace(reading) {
            earlier.abort();
        }
    }

    /// Waits for the page; for ever if there is none. Giving up the future loses nothing.
    pub async fn page(&mut self) -> Read {
        let Some(reading) = &mut self.reading else { return std::future::pending().await };
        let page = reading.await;
        self.reading = None;
        // A store that panicked has nothing to say.
        page.unwrap_or_default()
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        if let Some(reading) = &self.reading {
            reading.abort();
        }
    }
}
