//! One leader at a time, noticed soon when it goes.

use std::time::Duration;

use ganger_core::change::{Applied, Change};
use ganger_core::{Term, Wall};
use ganger_store::shared::{Candidate, Election, ServerRecord, SharedStore};
use ganger_store::testing::{Durability, Postgres};
use ganger_store::{CommitError, PgStore};
use tokio::time::timeout;

use crate::support::{Leader, connect, fresh, open, submission};

/// Longer than anything here may take, on a machine that does much else.
const LONG: Duration = Duration::from_secs(20);

fn candidate(server: &str, ttl: Duration) -> Candidate {
    Candidate { server: server.into(), address: format!("http://{server}:8080"), ttl }
}

async fn leads(store: &PgStore, server: &str, ttl: Duration) -> Term {
    match store.stand(&candidate(server, ttl), 0).await.unwrap() {
        Election::Leads(term) => term,
        Election::Follows(leader) => panic!("{server} follows {leader:?}"),
    }
}

/// Whom a server follows, if it does not lead.
async fn follows(store: &PgStore, server: &str) -> Option<String> {
    match store.stand(&candidate(server, LONG), 0).await.unwrap() {
        Election::Leads(_) => None,
        Election::Follows(leader) => Some(leader.server),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_twenty_that_stand_at_once_one_leads_and_the_others_follow_it() {
    let (first, url) = fresh().await;
    for round in 0..3 {
        let mut standing = tokio::task::JoinSet::new();
        for n in 0..20 {
            let url = url.clone();
            standing.spawn(async move {
                let store = open(&url).await;
                let name = format!("round-{round}-server-{n}");
                let stood = store.stand(&candidate(&name, LONG), 0).await.unwrap();
                // The winner's connection must outlive the others' looks.
                (store, name, stood)
            });
        }
        let all = standing.join_all().await;
        let winners: Vec<&(PgStore, String, Election)> =
            all.iter().filter(|(_, _, stood)| matches!(stood, Election::Leads(_))).collect();
        assert_eq!(winners.len(), 1, "{:?}", all.iter().map(|(_, n, e)| (n, e)).collect::<Vec<_>>());
        let (_, winner, Election::Leads(term)) = winners[0] else { panic!("it leads") };
        assert_eq!(term.number, round + 1);
        assert_eq!(follows(&first, "late").await.as_deref(), Some(winner.as_str()));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_leader_that_renews_is_followed_and_one_that_does_not_is_replaced() {
    let (alice, url) = fresh().await;
    let bob = open(&url).await;
    let ttl = Duration::from_millis(1_500);
    let term = leads(&alice, "alice", ttl).await;
    alice.renew(term).await.unwrap();
    assert_eq!(follows(&bob, "bob").await.as_deref(), Some("alice"));
    // Alice's connection stays open, as that of a stopped process does; only her row grows old.
    let replaced = timeout(LONG, async {
        while follows(&bob, "bob").await.is_some() {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    });
    replaced.await.unwrap();
    assert_eq!(alice.renew(term).await, Err(CommitError::TermLost));
    assert_eq!(alice.resign(term).await, Err(CommitError::TermLost));
    assert_eq!(follows(&alice, "alice").await.as_deref(), Some("bob"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_comes_back_under_its_own_name_need_not_wait_for_itself() {
    let (alice, url) = fresh().await;
    let first = leads(&alice, "alice", LONG).await;
    let again = open(&url).await;
    let second = leads(&again, "alice", LONG).await;
    assert_eq!(second.number, first.number + 1);
    assert_eq!(alice.renew(first).await, Err(CommitError::TermLost));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_term_is_larger_than_what_a_candidate_has_heard_of() {
    let (alice, _) = fresh().await;
    let stood = alice.stand(&candidate("alice", LONG), 41).await.unwrap();
    assert!(matches!(stood, Election::Leads(Term { number: 42, .. })), "{stood:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_closed_connection_is_noticed_at_once() {
    let (alice, url) = fresh().await;
    let bob = open(&url).await;
    let term = leads(&alice, "alice", LONG).await;
    let watching = tokio::spawn({
        let bob = bob.clone();
        async move { bob.vacated(term).await }
    });
    // Asking again and again is one wait.
    for _ in 0..10 {
        assert!(timeout(Duration::from_millis(20), bob.vacated(term)).await.is_err());
    }
    assert_eq!(waiting(&url).await, 1);
    assert_eq!(follows(&bob, "bob").await.as_deref(), Some("alice"));
    drop(alice);
    timeout(LONG, watching).await.unwrap().unwrap();
    assert_eq!(follows(&bob, "bob").await, None);
}

/// Connections that wait for the lock of a term.
async fn waiting(url: &str) -> i64 {
    let client = connect(url).await;
    let blocked = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
                   AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
    client.query_one(blocked, &[]).await.unwrap().get(0)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wait_for_an_earlier_term_does_not_stay_in_the_database() {
    let (alice, url) = fresh().await;
    let bob = open(&url).await;
    let first = leads(&alice, "alice", LONG).await;
    assert!(timeout(Duration::from_millis(300), bob.vacated(first)).await.is_err());
    let second = alice.stand(&candidate("alice", LONG), 0).await.unwrap();
    let Election::Leads(second) = second else { panic!("{second:?}") };
    assert!(timeout(Duration::from_millis(300), bob.vacated(second)).await.is_err());
    assert_eq!(waiting(&url).await, 1);
    drop(bob);
    let gone = timeout(LONG, async {
        while waiting(&url).await > 0 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    });
    gone.await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_resigns_is_followed_by_the_next_and_writes_nothing_more() {
    let (alice, url) = fresh().await;
    let bob = open(&url).await;
    let term = leads(&alice, "alice", LONG).await;
    let mut leader = Leader::of_term(&alice, term).await;
    leader.submit(1).await;
    let watching = tokio::spawn({
        let bob = bob.clone();
        async move { bob.vacated(term).await }
    });
    alice.resign(term).await.unwrap();
    timeout(LONG, watching).await.unwrap().unwrap();
    assert_eq!(alice.cluster().await.unwrap().leader, None);
    let job = leader.new_job("null");
    assert_eq!(leader.try_commit(vec![submission(vec![job])]).await, Err(CommitError::TermLost));
    assert_eq!(alice.renew(term).await, Err(CommitError::TermLost));
    assert_eq!(follows(&bob, "bob").await, None);
}

/// A zombie: its process was stopped, and wakes up when another leads.
#[tokio::test(flavor = "multi_thread")]
async fn a_deposed_leader_commits_nothing_and_the_next_one_does() {
    let (alice, url) = fresh().await;
    let bob = open(&url).await;
    let mut old = Leader::begin(&alice).await;
    old.submit(3).await;
    let mut new = Leader::begin(&bob).await;
    let job = old.new_job("null");
    assert_eq!(old.try_commit(vec![submission(vec![job])]).await, Err(CommitError::TermLost));
    let empty = old.try_commit(vec![Change::Prune { now: Wall(0), limit: 1 }]).await;
    assert_eq!(empty, Err(CommitError::TermLost));
    new.submit(1).await;
    assert_eq!(new.commit(vec![]).await, Vec::<Applied>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_are_shown_while_they_live() {
    let (alice, url) = fresh().await;
    let bob = open(&url).await;
    let record = |name: &str| ServerRecord {
        name: name.into(),
        address: format!("http://{name}"),
        version: "1.2.3".into(),
        started_at: Wall(7),
    };
    assert_eq!(alice.cluster().await.unwrap(), ganger_store::shared::ClusterView::default());
    alice.announce(&record("alice")).await.unwrap();
    bob.announce(&record("bob")).await.unwrap();
    alice.announce(&record("alice")).await.unwrap();
    let term = leads(&alice, "alice", LONG).await;
    let view = bob.cluster().await.unwrap();
    let servers: Vec<_> = view.servers.iter().map(|view| view.server.clone()).collect();
    assert_eq!(servers, [record("alice"), record("bob")]);
    assert!(view.servers.iter().all(|view| view.seen_ago < LONG));
    let leader = view.leader.unwrap();
    assert_eq!((leader.term, leader.server.as_str(), leader.batch), (term, "alice", 0));
    assert_eq!(leader.address, "http://alice:8080");
    assert!(leader.since > Wall(0) && leader.renewed_ago < LONG);
    bob.withdraw("bob").await.unwrap();
    // One that was not heard of for long is not shown, and is forgotten by whoever speaks next.
    bob.announce(&record("carol")).await.unwrap();
    let client = connect(&url).await;
    let age = "UPDATE ganger.server SET seen_at = seen_at - interval '2 hours' WHERE name = 'carol'";
    client.batch_execute(age).await.unwrap();
    assert_eq!(bob.cluster().await.unwrap().servers.len(), 1);
    alice.announce(&record("alice")).await.unwrap();
    let rows = client.query_one("SELECT count(*) FROM ganger.server", &[]).await.unwrap();
    assert_eq!(rows.get::<_, i64>(0), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_that_break_a_promise_are_named() {
    let (store, _) = fresh().await;
    // The cluster of the tests runs without fsync.
    let dangers = store.dangers().await.unwrap();
    assert_eq!(dangers.len(), 1, "{dangers:?}");
    assert!(dangers[0].contains("fsync = off") && dangers[0].contains("set fsync = on"), "{dangers:?}");
}

/// What an idle cluster does all day costs the database one statement each time.
#[tokio::test(flavor = "multi_thread")]
async fn what_an_idle_server_repeats_is_one_statement_each() {
    let cluster = Postgres::start_with(Durability::None);
    let url = cluster.migrated_database().await;
    let (alice, bob) = (open(&url).await, open(&url).await);
    let term = leads(&alice, "alice", LONG).await;
    let record =
        ServerRecord { name: "a".into(), address: "a".into(), version: "1".into(), started_at: Wall(7) };
    assert!(follows(&bob, "bob").await.is_some());
    assert_eq!(alice.inbox(10).await.unwrap(), vec![]);
    let client = connect(&url).await;
    client.batch_execute("ALTER SYSTEM SET log_statement = 'all'").await.unwrap();
    client.batch_execute("SELECT pg_reload_conf()").await.unwrap();
    // The settings reach the other connections between two of their statements.
    let reached = timeout(LONG, async {
        while !cluster.log().contains("execute") {
            alice.renew(term).await.unwrap();
        }
    });
    reached.await.unwrap();
    let before = statements(&cluster);
    for _ in 0..10 {
        alice.renew(term).await.unwrap();
        alice.announce(&record).await.unwrap();
        assert!(follows(&bob, "bob").await.is_some());
        assert_eq!(alice.inbox(10).await.unwrap(), vec![]);
    }
    assert_eq!(statements(&cluster) - before, 40);
}

/// How many statements the database has logged.
fn statements(cluster: &Postgres) -> usize {
    let log = cluster.log();
    log.lines().filter(|line| line.contains("LOG:  execute") || line.contains("LOG:  statement")).count()
}

/// The leader's connection breaks, and the database has not yet noticed when it comes back on another one.
#[tokio::test(flavor = "multi_thread")]
async fn a_leader_takes_the_lock_of_its_term_again_on_a_new_connection() {
    let (alice, url) = fresh().await;
    let term = leads(&alice, "alice", LONG).await;
    let client = connect(&url).await;
    let key = "((1196314183::bigint << 32) + 1)";
    let holder = "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1
                  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
    let first: i32 = client.query_one(holder, &[]).await.unwrap().get(0);
    client.execute("SELECT pg_terminate_backend($1)", &[&first]).await.unwrap();
    // Somebody else has the lock for a moment.
    let reached = timeout(LONG, async {
        let try_lock = format!("SELECT pg_try_advisory_lock({key})");
        while !client.query_one(&try_lock, &[]).await.unwrap().get::<_, bool>(0) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    });
    reached.await.unwrap();
    let renewed = timeout(LONG, async {
        while alice.renew(term).await.is_err() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    });
    renewed.await.unwrap();
    client.query_one(&format!("SELECT pg_advisory_unlock({key})"), &[]).await.unwrap();
    alice.renew(term).await.unwrap();
    let bob = open(&url).await;
    assert_eq!(follows(&bob, "bob").await.as_deref(), Some("alice"));
}
