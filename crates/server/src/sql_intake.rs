//! Takes in what users' transactions submitted inside the store, for as long as this server leads.
//!
//! It looks when the store says that there is something, and once a second in any case. A look takes a bounded number of
//! rows, and the next one follows at once while there are more. One look at a time: a row is handed over again only if
//! nobody knows what became of it, and then the store knows.

use std::sync::Arc;
use std::time::Duration;

use ganger_core::limits;
use ganger_store::shared::SharedStore;
use tokio_util::task::AbortOnDropHandle;
use tracing::{debug, warn};

use crate::coordinator_thread::Phase;
use crate::http;
use crate::service::Service;

/// It looks so often without having been told to.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Longest wait for the store.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);

/// Takes in until it is dropped.
#[derive(Debug)]
pub(crate) struct SqlIntake {
    _task: Option<AbortOnDropHandle<()>>,
}

/// What a look came to.
enum Looked {
    /// There may be more.
    TookSome,
    /// There was nothing, or it could not be had.
    Wait,
}

impl SqlIntake {
    /// Starts on the present runtime. A store that users' transactions do not reach has no inbox.
    #[must_use]
    pub(crate) fn start(service: &Service) -> SqlIntake {
        let task = service.membership().shared().map(|shared| {
            let service = service.clone();
            AbortOnDropHandle::new(tokio::spawn(take_in_all(service, shared)))
        });
        SqlIntake { _task: task }
    }
}

async fn take_in_all(service: Service, shared: Arc<dyn SharedStore>) {
    let mut phase = service.phase();
    let mut well = true;
    let mut last = None;
    loop {
        // Over when the coordinator's thread is.
        if phase.wait_for(|phase| matches!(phase, Phase::Leading(_))).await.is_err() {
            return;
        }
        let looked = match look(&service, &*shared, &mut last).await {
            Ok(looked) => {
                well = true;
                looked
            }
            Err(cause) => {
                if std::mem::take(&mut well) {
                    warn!("cannot take in what was submitted in the database: {cause}; trying again");
                } else {
                    debug!("cannot take in what was submitted in the database: {cause}");
                }
                tokio::time::sleep(LOOK_EVERY).await;
                Looked::TookSome
            }
        };
        match looked {
            Looked::TookSome => {}
            Looked::Wait => {
                // Told or not, it is time to look again.
                let _ = tokio::time::timeout(LOOK_EVERY, shared.inbox_woken()).await;
            }
        }
    }
}

/// Takes in the oldest rows. `last` is the first row of the look before: one that is still there is not hurried.
async fn look(
    service: &Service,
    shared: &dyn SharedStore,
    last: &mut Option<i64>,
) -> Result<Looked, Box<dyn std::error::Error + Send + Sync>> {
    let rows = tokio::time::timeout(ANSWER_WITHIN, shared.inbox(limits::INBOX_ROWS)).await??;
    let first = rows.first().map(|row| row.row);
    let stuck = first.is_some() && std::mem::replace(last, first) == first;
    if rows.is_empty() {
        return Ok(Looked::Wait);
    }
    let now = service.clock().now().wall;
    let jobs = rows.into_iter().map(|row| http::from_inbox(row, now)).collect();
    service.take_in(jobs).await?;
    Ok(if stuck { Looked::Wait } else { Looked::TookSome })
}
