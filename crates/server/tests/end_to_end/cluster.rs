//! Several servers on one store: one leads, the others follow, and whatever happens to the leader no job is lost
//! and none that runs is restarted.

use std::sync::Arc;
use std::time::Duration;

use ganger_core::job::State;
use ganger_core::message::{ToLeader, ToWorker};
use ganger_core::outcome::Report;
use ganger_core::{JobId, Term};
use ganger_server::api::{ClusterBody, RoleName};
use ganger_server::coordinator_thread::Phase;
use ganger_server::service::ServiceError;
use ganger_server::testing::{self, TestServer};
use ganger_store::read::ListQuery;
use ganger_store::{MemoryStore, Store};

use crate::common::{ended, eventually, spec, submit, within};
use crate::link::{Link, Passes, shared_store};
use crate::worker::Worker;

/// Long enough for a loaded machine, short enough to wait for.
const TTL: Duration = Duration::from_secs(2);
/// Nobody waits for this one: whoever leads sooner was told.
const LONG_TTL: Duration = Duration::from_secs(600);

struct Member {
    server: TestServer,
    link: Link,
}

async fn join(store: &Arc<MemoryStore>, ttl: Duration) -> Member {
    start(Link::to(store), ttl).await
}

async fn start(link: Link, ttl: Duration) -> Member {
    let mut options = testing::options(Arc::new(link.clone()));
    options.leader_ttl = ttl;
    options.patience = Duration::from_millis(300);
    Member { server: testing::start_with(options).await, link }
}

impl Member {
    async fn leads(&self) -> Term {
        self.leads_after(0).await
    }

    /// Waits until it leads in a term later than this.
    async fn leads_after(&self, term: u64) -> Term {
        let mut phase = self.server.service().phase();
        let leads = |phase: &Phase| matches!(phase, Phase::Leading(t) if t.number > term);
        let led = within("leadership", phase.wait_for(leads)).await.unwrap().clone();
        let Phase::Leading(term) = led else { unreachable!("it was waited for") };
        term
    }

    async fn follows(&self, other: &Member) {
        let name = other.name();
        let mut phase = self.server.service().phase();
        let follows = |phase: &Phase| matches!(phase, Phase::Following(leader) if leader.server == name);
        within("following", phase.wait_for(follows)).await.unwrap();
    }

    fn name(&self) -> String {
        self.server.service().membership().server().name.clone()
    }

    async fn get(&self, path: &str) -> (u16, String) {
        let answer = reqwest::get(format!("{}{path}", self.server.url())).await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    }

    /// As a machine that loses its power: nothing of it reaches the store any more.
    fn crashes(self) {
        self.link.pass(Passes::Nothing);
        drop(self.server);
    }
}

/// The jobs that are really there.
async fn stored(store: &MemoryStore) -> Vec<JobId> {
    let query = ListQuery { limit: 100, ..ListQuery::default() };
    store.list(&query, ganger_core::Wall(0)).await.unwrap().jobs.iter().map(|job| job.id).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn one_server_leads_and_the_others_follow_and_every_one_tells_so() {
    let store = shared_store();
    let alice = join(&store, TTL).await;
    let term = alice.leads().await;
    let bob = join(&store, TTL).await;
    let carol = join(&store, TTL).await;
    bob.follows(&alice).await;
    carol.follows(&alice).await;
    eventually("three announcements", || async {
        let view = store.shared().unwrap().cluster().await.unwrap();
        view.servers.len() == 3
    })
    .await;
    submit(alice.server.service(), spec("x", "1")).await;
    for member in [&alice, &bob, &carol] {
        let (status, body) = member.get("/v1/cluster").await;
        let seen: ClusterBody = serde_json::from_str(&body).unwrap();
        assert_eq!((status, seen.embedded, seen.incomplete.as_deref()), (200, false, None), "{body}");
        let leader = seen.leader.unwrap();
        assert_eq!((leader.name, leader.address), (alice.name(), alice.server.url()));
        assert_eq!((leader.term, leader.batch), (term.number, 1));
        assert!(leader.lag_ms < TTL.as_millis() as u64, "{body}");
        assert_eq!(seen.items.iter().filter(|item| item.role == RoleName::Leader).count(), 1, "{body}");
        let (status, ready) = member.get("/readyz?verbose").await;
        assert_eq!(status, 200, "{ready}");
        assert!(ready.contains("[+]durability ok"), "{ready}");
    }
    let (_, ready) = bob.get("/readyz?verbose").await;
    assert!(ready.contains(&format!("follows {} in term {term}", alice.name())), "{ready}");
    let (_, metrics) = bob.get("/metrics").await;
    assert!(metrics.contains("ganger_leader 0\n") && metrics.contains("ganger_store_up 1\n"), "{metrics}");
    let queued = "ganger_queue_jobs{queue=\"default\",state=\"queued\"} 1\n";
    assert!(metrics.contains("ganger_cluster_known 1\n") && metrics.contains(queued), "{metrics}");
    eventually("a renewal", || async {
        let (_, metrics) = alice.get("/metrics").await;
        assert!(metrics.contains("ganger_leader 1\n"), "{metrics}");
        assert!(metrics.contains(&format!("ganger_term {}\n", term.number)), "{metrics}");
        !metrics.contains("ganger_leader_renewals_total 0\n")
    })
    .await;
    for member in [carol, bob, alice] {
        member.server.stop().await;
    }
    let view = store.shared().unwrap().cluster().await.unwrap();
    assert!(view.servers.is_empty() && view.leader.is_none(), "whoever stopped is not shown: {view:?}");
}

/// P9. The leader's row would be good for ten minutes: only its word can make the other lead now.
#[tokio::test(flavor = "multi_thread")]
async fn a_leader_that_stops_hands_over_at_once_and_what_runs_is_not_restarted() {
    let store = shared_store();
    let alice = join(&store, LONG_TTL).await;
    let term = alice.leads().await;
    let bob = join(&store, LONG_TTL).await;
    bob.follows(&alice).await;
    let job = submit(alice.server.service(), spec("x", "1")).await;
    let mut worker = Worker::start(&alice.server.url()).await;
    let parcel = worker.work().await;
    alice.server.stop().await;
    assert_eq!(bob.leads().await.number, term.number + 1);
    let mut worker = Worker::again(&bob.server.url(), &worker).await;
    assert_eq!(worker.work().await.work.fence, parcel.work.fence, "told again under the same fence");
    worker.report(&parcel, Report::Ok("1".into())).await;
    worker.acknowledged(&parcel).await;
    let job = ended(bob.server.service(), job).await.stored;
    assert_eq!((job.state, job.standing.attempt), (State::Succeeded, 1));
    bob.server.stop().await;
}

/// P1, P9. What was acknowledged is there, what runs goes on, and its result is recorded by the next leader.
#[tokio::test(flavor = "multi_thread")]
async fn a_leader_that_is_gone_is_replaced_and_its_jobs_go_on() {
    let store = shared_store();
    let alice = join(&store, TTL).await;
    let term = alice.leads().await;
    let bob = join(&store, TTL).await;
    bob.follows(&alice).await;
    let running = submit(alice.server.service(), spec("x", "1")).await;
    let mut worker = Worker::start(&alice.server.url()).await;
    let parcel = worker.work().await;
    let mut waiting = spec("x", "2");
    waiting.run_at = Some(ganger_core::Wall(i64::MAX / 2));
    let waiting = submit(alice.server.service(), waiting).await;
    alice.crashes();
    assert_eq!(bob.leads().await.number, term.number + 1);
    assert_eq!(bob.server.service().job(waiting).await.unwrap().stored.state, State::Scheduled);
    let mut worker = Worker::again(&bob.server.url(), &worker).await;
    worker.report(&parcel, Report::Ok("1".into())).await;
    worker.acknowledged(&parcel).await;
    let job = ended(bob.server.service(), running).await.stored;
    assert_eq!((job.state, job.standing.attempt), (State::Succeeded, 1));
    bob.server.stop().await;
}

/// The zombie: Alice's thread hangs while the rest of her process lives. She must not keep her row, and when she
/// goes on she must neither write nor answer.
#[tokio::test(flavor = "multi_thread")]
async fn a_leader_that_stood_still_writes_nothing_once_another_leads() {
    let store = shared_store();
    let alice = join(&store, TTL).await;
    alice.leads().await;
    let bob = join(&store, TTL).await;
    bob.follows(&alice).await;
    let (go_on, blocked) = std::sync::mpsc::channel::<()>();
    let inbox = alice.server.service().inbox().clone();
    let (holds, held) = tokio::sync::oneshot::channel();
    let look = tokio::spawn(async move {
        let hold = move |_: &_, _| {
            let _ = holds.send(());
            blocked.recv().is_ok()
        };
        inbox.look(hold).await
    });
    // Were it asked before it hangs, it would rightly take the job.
    within("the thread hangs", held).await.unwrap();
    let late = tokio::spawn({
        let service = alice.server.service().clone();
        async move { service.submit(None, vec![spec("late", "1")]).await }
    });
    bob.leads().await;
    let kept = submit(bob.server.service(), spec("kept", "1")).await;
    go_on.send(()).unwrap();
    look.await.unwrap().unwrap();
    let answer = within("an answer", late).await.unwrap();
    assert!(matches!(answer, Err(ServiceError::Unknown(_))), "{answer:?}");
    alice.follows(&bob).await;
    assert_eq!(stored(&store).await, [kept], "only what the leader took in");
    alice.server.stop().await;
    bob.server.stop().await;
}

/// Alice reaches the store, but her renewals do not. Without authority she answers no worker and writes nothing,
/// although the store would let her until Bob leads.
#[tokio::test(flavor = "multi_thread")]
async fn a_leader_that_cannot_renew_falls_silent_before_another_leads() {
    let store = shared_store();
    let alice = join(&store, TTL).await;
    alice.leads().await;
    let mut worker = Worker::start(&alice.server.url()).await;
    assert_eq!(worker.hear().await.unwrap(), Some(ToWorker::Pong { number: 1 }));
    alice.link.pass(Passes::NoRenewals);
    // Her pings are answered for as long as the last renewal lasts, and not a moment longer.
    let silent = async {
        for number in 2.. {
            worker.say(ToLeader::Ping { number }).await;
            let heard = tokio::time::timeout(TTL / 2, worker.hear()).await;
            if heard.is_err() {
                return;
            }
        }
    };
    within("silence", silent).await;
    let call = tokio::spawn({
        let service = alice.server.service().clone();
        async move { service.submit(None, vec![spec("x", "1")]).await }
    });
    let bob = join(&store, TTL).await;
    bob.leads().await;
    assert_eq!(stored(&store).await, [], "the store would have taken it, but she had no authority");
    alice.link.pass(Passes::All);
    let answer = within("an answer", call).await.unwrap();
    assert!(matches!(answer, Err(ServiceError::Unknown(_))), "{answer:?}");
    alice.follows(&bob).await;
    assert_eq!(stored(&store).await, []);
    alice.server.stop().await;
    bob.server.stop().await;
}

/// The database is away for longer than the leader's TTL and for less than the session's: nothing is acknowledged,
/// everyone says so, nobody is declared lost, and when it is back the result is recorded without a restart of
/// anything.
#[tokio::test(flavor = "multi_thread")]
async fn an_outage_of_the_store_acknowledges_nothing_and_restarts_nothing() {
    let store = shared_store();
    let members = [join(&store, TTL).await, join(&store, TTL).await];
    let term = members[0].leads().await;
    members[1].follows(&members[0]).await;
    let job = submit(members[0].server.service(), spec("x", "1")).await;
    let mut worker = Worker::start(&members[0].server.url()).await;
    let parcel = worker.work().await;
    members.iter().for_each(|member| member.link.pass(Passes::Nothing));
    worker.report(&parcel, Report::Ok("1".into())).await;
    let call = tokio::spawn({
        let service = members[0].server.service().clone();
        async move { service.submit(None, vec![spec("y", "1")]).await }
    });
    for member in &members {
        eventually("red readiness", || async { member.get("/readyz").await.0 == 503 }).await;
        let (_, ready) = member.get("/readyz").await;
        assert!(ready.contains("[-]store failed"), "{ready}");
        assert_eq!(member.get("/livez").await.0, 200);
        let (_, metrics) = member.get("/metrics").await;
        assert!(metrics.contains("ganger_store_up 0\n"), "{metrics}");
    }
    let (status, cluster) = members[1].get("/v1/cluster").await;
    assert!(status == 200 && cluster.contains("\"incomplete\":"), "{cluster}");
    tokio::time::sleep(TTL * 2).await;
    assert!(!call.is_finished() || call.await.unwrap().is_err(), "nobody is told yes");
    members.iter().for_each(|member| member.link.pass(Passes::All));
    // Either goes on in its term, or the other takes over: both are right.
    let leader = async {
        loop {
            for member in &members {
                let phase = member.server.service().phase().borrow().clone();
                let held = store.shared().unwrap().cluster().await.unwrap().leader;
                if let (Phase::Leading(term), Some(held)) = (phase, held)
                    && held.term == term
                    && member.get("/readyz").await.0 == 200
                {
                    return member;
                }
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let leader = within("a leader", leader).await;
    let mut worker = Worker::again(&leader.server.url(), &worker).await;
    worker.report(&parcel, Report::Ok("1".into())).await;
    worker.acknowledged(&parcel).await;
    let job = ended(leader.server.service(), job).await.stored;
    assert_eq!((job.state, job.standing.attempt, job.standing.lost), (State::Succeeded, 1, 0));
    assert!(leader.leads().await.number <= term.number + 1);
    for member in members {
        member.server.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_cannot_reach_its_store_starts_and_says_so_and_leads_once_it_can() {
    let link = Link::to(&shared_store()).dangerous("fsync is off");
    link.pass(Passes::Nothing);
    let alice = start(link, TTL).await;
    assert_eq!(alice.get("/livez").await.0, 200);
    let (status, ready) = alice.get("/readyz").await;
    assert_eq!(status, 503);
    assert!(ready.contains("[-]store failed: the store is unavailable: the link is cut"), "{ready}");
    assert!(ready.contains("[-]durability failed: unknown"), "nobody has asked it: {ready}");
    let refused = alice.server.service().submit(None, vec![spec("x", "1")]).await.unwrap_err();
    assert!(matches!(refused, ServiceError::NotReady(_)), "{refused}");
    alice.link.pass(Passes::All);
    alice.leads().await;
    submit(alice.server.service(), spec("x", "1")).await;
    // A database that forgets is no reason to stop, and every reason to say so.
    eventually("the warning", || async {
        let (status, ready) = alice.get("/readyz").await;
        status == 200 && ready.contains("[!]durability warning: fsync is off")
    })
    .await;
    alice.server.stop().await;
}

/// It was elected, and was still loading: the next one need not wait for its row to run out.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_stops_while_it_takes_over_gives_the_leadership_back() {
    let store = shared_store();
    let link = Link::to(&store);
    link.pass(Passes::NoLoads);
    let alice = start(link, LONG_TTL).await;
    let leader = async || store.shared().unwrap().cluster().await.unwrap().leader;
    eventually("the election", async || leader().await.is_some()).await;
    let bob = join(&store, LONG_TTL).await;
    alice.server.stop().await;
    assert!(leader().await.is_none_or(|leader| leader.server == bob.name()));
    bob.leads().await;
    bob.server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_alone_on_its_store_tells_its_last_batch_too() {
    let server = testing::start().await;
    let batch = async || {
        let body = reqwest::get(format!("{}/v1/cluster", server.url())).await.unwrap().text().await.unwrap();
        let seen: ClusterBody = serde_json::from_str(&body).unwrap();
        assert!(seen.embedded, "{body}");
        seen.leader.unwrap().batch
    };
    submit(server.service(), spec("x", "1")).await;
    let first = batch().await;
    submit(server.service(), spec("x", "1")).await;
    assert_eq!((first, batch().await), (1, 2));
    server.stop().await;
}
