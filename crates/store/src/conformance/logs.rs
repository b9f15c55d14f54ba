//! What attempts log.

use std::sync::Arc;

use ganger_core::JobId;
use ganger_core::change::{Applied, Change, LogLines};
use ganger_core::limits;

use super::leader::{Leader, spec};
use crate::store::Store;

fn lines(job: JobId, attempt: u32, text: impl Into<String>) -> Change {
    Change::Log(LogLines { job, attempt, text: text.into() })
}

pub(super) async fn a_log_is_kept_per_attempt_and_trimmed_at_its_bound(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let id = leader.submit(spec("a")).await;
    leader.commit(vec![lines(id, 1, "one\n"), lines(id, 2, "two\n"), lines(id, 1, "three\n")]).await;
    assert_eq!(leader.store.log(id, 1).await.unwrap(), "one\nthree\n");
    assert_eq!(leader.store.log(id, 2).await.unwrap(), "two\n");
    assert_eq!(leader.store.log(id, 3).await.unwrap(), "");
    let fill = format!("{}\n", "x".repeat(limits::LOG_BYTES - "one\nthree\n".len() - 1));
    leader.commit(vec![lines(id, 1, &fill)]).await;
    assert_eq!(leader.store.log(id, 1).await.unwrap().len(), limits::LOG_BYTES);
    leader.commit(vec![lines(id, 1, "\n")]).await;
    assert_eq!(leader.store.log(id, 1).await.unwrap(), format!("three\n{fill}\n"));
}

pub(super) async fn a_log_of_a_final_job_is_ignored(store: Arc<dyn Store>) {
    let mut leader = Leader::begin(store).await;
    let session = leader.open_session().await;
    let id = leader.submit(spec("a")).await;
    leader.commit(vec![lines(id, 1, "in time\n")]).await;
    leader.run_to(session, id, leader.succeeded()).await;
    assert_eq!(leader.commit_one(lines(id, 1, "late\n")).await, Applied::Done);
    assert_eq!(leader.store.log(id, 1).await.unwrap(), "in time\n");
    let unknown = leader.job_id();
    assert_eq!(leader.commit_one(lines(unknown, 1, "nobody\n")).await, Applied::Done);
}
