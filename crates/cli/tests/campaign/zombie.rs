//! A leader that stops, is replaced, and wakes up: it still believes. Whatever it did then would be seen in the rows
//! of the store, or in what it answers.

use std::time::Duration;

use ganger_store::testing::peek;
use serde_json::{Value, json};

use super::cluster::{Cluster, LEADER_TTL, Leader, SERVERS};
use super::now;

/// How long a leader that woke up is watched.
const WATCHED: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(50);

/// What the store shows at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sighting {
    /// Who leads, and its last batch.
    pub(crate) leader: Leader,
    /// Leases of the term that is over.
    pub(crate) old_leases: u64,
}

/// What must not be seen after a leader of an earlier term woke up: the term going back, another server in the same term, a
/// batch of the present term undone, or leases given in the old one.
pub(crate) fn deeds(before: &Sighting, after: &Sighting) -> Option<String> {
    let (last, seen) = (&before.leader, &after.leader);
    let same_term = seen.term == last.term;
    let usurped = seen.term < last.term || (same_term && seen.server != last.server);
    let undone = same_term && seen.batch < last.batch;
    let leased = after.old_leases > before.old_leases;
    (usurped || undone || leased).then(|| format!("{before:?} became {after:?}"))
}

/// What must not come from a server that was replaced in that term: that it leads in it, or a job that nobody knows.
pub(crate) fn lies(over: u64, cluster: Option<&Value>, acked: Option<&str>, known: bool) -> Vec<String> {
    let mut lies = Vec::new();
    if let Some(seen) = cluster.filter(|seen| seen["role"] == "leader")
        && seen["leader"]["term"].as_u64().is_none_or(|term| term <= over)
    {
        lies.push(format!("it says that it leads, although term {over} is over: {seen}"));
    }
    if let Some(job) = acked.filter(|_| !known) {
        lies.push(format!("it acknowledged {job}, which is not there"));
    }
    lies
}

/// Stops the leader until another leads, wakes it, asks it at once, and watches; tells what it did.
pub(crate) async fn wake(cluster: &mut Cluster) -> Vec<String> {
    let zombie = cluster.leader().await;
    let old = cluster.until("the row of the leader", async || cluster.leader_row()).await;
    cluster.signal(zombie, "STOP");
    cluster.leader_but(Some(zombie)).await;
    // Past the authority of the old one by its own clock as well.
    tokio::time::sleep(LEADER_TTL).await;
    let mut last = sighting(cluster, old.term).await;
    let mut found = Vec::new();
    if last.leader.term <= old.term {
        found.push(format!("{old:?} was replaced, and the store says {last:?}"));
    }
    cluster.signal(zombie, "CONT");
    let acked = submit(&cluster.urls()[zombie]).await;
    let until = now() + WATCHED;
    while now() < until {
        let seen = sighting(cluster, old.term).await;
        found.extend(deeds(&last, &seen));
        last = seen;
        tokio::time::sleep(LOOK).await;
    }
    let known = match &acked {
        Some(job) => is_known(cluster, zombie, job).await,
        None => false,
    };
    found.extend(lies(old.term, cluster.seen_by(zombie).await.as_ref(), acked.as_deref(), known));
    found
}

async fn sighting(cluster: &Cluster, old: u64) -> Sighting {
    let look = async || Some((cluster.leader_row()?, peek::leases_of(cluster.store(), old)?));
    let (leader, old_leases) = cluster.until("the rows of the store", look).await;
    Sighting { leader, old_leases }
}

/// One submission, not repeated: the job that was acknowledged, if one was.
async fn submit(url: &str) -> Option<String> {
    let body = json!({"kind": "kind.of.nobody"});
    let request = reqwest::Client::new().post(format!("{url}/v1/jobs")).json(&body);
    let answer = request.timeout(Duration::from_secs(10)).send().await.ok()?;
    if !answer.status().is_success() {
        return None;
    }
    Some(answer.json::<Value>().await.ok()?["id"].as_str()?.to_owned())
}

/// Whether another server than the zombie knows the job, itself or from whoever leads.
async fn is_known(cluster: &Cluster, zombie: usize, job: &str) -> bool {
    let url = format!("{}/v1/jobs/{job}", cluster.urls()[(zombie + 1) % SERVERS]);
    let ask = async || match reqwest::get(&url).await.ok()?.status() {
        reqwest::StatusCode::NOT_FOUND => Some(false),
        status => status.is_success().then_some(true),
    };
    cluster.until("another server tells of the job", ask).await
}
