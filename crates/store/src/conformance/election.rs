//! The election of servers that share a store, and the list of them.
//!
//! [`run`] takes a way to make a store that is open several times. Time passes as that store's clock says,
//! so how is told with it: a clock that a test moves, or a real wait.

use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use ganger_core::change::Batch;
use ganger_core::{Term, Wall};

use super::{NameOnPanic, Story};
use crate::shared::{Candidate, Election, LeaderView, SERVER_FORGOTTEN_AFTER, ServerRecord, SharedStore};
use crate::store::{CommitError, Store};

/// One store as several servers have it open.
pub struct Servers {
    /// One for each of three servers, or the same thrice.
    pub stores: [Arc<dyn Store>; 3],
    /// Lets so much time pass, at least.
    pub pass: Box<dyn Fn(Duration) -> Story + Send + Sync>,
    /// Whether a minute can pass without anyone waiting for it.
    pub quick: bool,
}

/// Without a renewal for so long others may take over. Short, because some suites really wait for it.
const TTL: Duration = Duration::from_millis(400);

type Claim = (&'static str, fn(Servers) -> Story);

macro_rules! claims {
    ($($claim:ident),* $(,)?) => { &[$((stringify!($claim), |servers| Box::pin($claim(servers)))),*] };
}

const CLAIMS: &[Claim] = claims![
    the_first_to_stand_leads_and_the_others_follow,
    a_leader_that_renews_stays_and_one_that_does_not_is_replaced,
    standing_again_begins_a_new_term_for_the_leader_itself,
    a_term_is_larger_than_what_was_asked_for,
    a_leader_that_resigned_is_replaced_at_once_and_writes_nothing_more,
    a_deposed_leader_can_neither_renew_nor_resign_nor_write,
    of_many_that_stand_at_once_one_leads,
    whoever_waits_for_a_leader_to_be_gone_is_told,
    servers_are_listed_until_they_withdraw,
    a_server_that_fell_silent_is_forgotten,
];

/// Shows every claim on a store of its own.
///
/// # Panics
/// If a claim does not hold; its name is printed.
pub async fn run(make: impl AsyncFn() -> Servers) {
    for (name, claim) in CLAIMS {
        let failed = NameOnPanic(name);
        claim(make().await).await;
        std::mem::forget(failed);
    }
}

impl Servers {
    fn shared(&self, server: usize) -> Arc<dyn SharedStore> {
        self.stores[server].shared().expect("a store that several servers share")
    }

    /// This server stands.
    async fn stand(&self, server: usize) -> Election {
        self.shared(server).stand(&candidate(server), 0).await.unwrap()
    }

    async fn leads(&self, server: usize) -> Term {
        match self.stand(server).await {
            Election::Leads(term) => term,
            Election::Follows(leader) => panic!("{server} follows {leader:?}"),
        }
    }

    async fn follows(&self, server: usize) -> LeaderView {
        match self.stand(server).await {
            Election::Follows(leader) => leader,
            Election::Leads(term) => panic!("{server} leads in term {term}"),
        }
    }

    async fn write(&self, server: usize, term: Term, number: u64) -> Result<(), CommitError> {
        let batch = Arc::new(Batch::new(number, vec![]));
        self.stores[server].commit(term, batch).await.map(|_| ())
    }
}

fn name(server: usize) -> String {
    ["alice", "bob", "carol"][server].to_owned()
}

fn candidate(server: usize) -> Candidate {
    Candidate { server: name(server), address: format!("http://{}:8080", name(server)), ttl: TTL }
}

fn record(server: usize) -> ServerRecord {
    ServerRecord {
        name: name(server),
        address: format!("http://{}:8080", name(server)),
        version: "1.2.3".into(),
        started_at: Wall(1_700_000_000_000_000 + server as i64),
    }
}

async fn the_first_to_stand_leads_and_the_others_follow(servers: Servers) {
    assert_eq!(servers.shared(0).cluster().await.unwrap().leader, None, "nobody has led yet");
    let term = servers.leads(0).await;
    assert_eq!(term.number, 1);
    servers.write(0, term, 1).await.unwrap();
    servers.write(0, term, 2).await.unwrap();
    for other in [1, 2] {
        let leader = servers.follows(other).await;
        assert_eq!((leader.term, leader.server.as_str()), (term, "alice"));
        assert_eq!((leader.address.as_str(), leader.batch), ("http://alice:8080", 2));
        let seen = servers.shared(other).cluster().await.unwrap().leader.unwrap();
        assert_eq!((seen.term, seen.server, seen.batch), (term, leader.server, 2));
    }
}

async fn a_leader_that_renews_stays_and_one_that_does_not_is_replaced(servers: Servers) {
    let term = servers.leads(0).await;
    for _ in 0..4 {
        (servers.pass)(TTL / 3).await;
        servers.shared(0).renew(term).await.unwrap();
    }
    let leader = servers.follows(1).await;
    assert_eq!(leader.term, term);
    assert!(leader.renewed_ago < TTL, "{:?}", leader.renewed_ago);
    (servers.pass)(TTL * 2).await;
    let next = servers.leads(1).await;
    assert_eq!(next.number, term.number + 1);
    assert_ne!(next.id, term.id);
    assert_eq!(servers.follows(0).await.server, "bob");
}

/// A process that came back under its own name need not wait for itself.
async fn standing_again_begins_a_new_term_for_the_leader_itself(servers: Servers) {
    let first = servers.leads(0).await;
    let second = servers.leads(0).await;
    assert_eq!(second.number, first.number + 1);
    assert_eq!(servers.write(0, first, 1).await, Err(CommitError::TermLost));
    servers.write(0, second, 1).await.unwrap();
}

async fn a_term_is_larger_than_what_was_asked_for(servers: Servers) {
    let elected = servers.shared(0).stand(&candidate(0), 41).await.unwrap();
    assert!(matches!(elected, Election::Leads(term) if term.number == 42), "{elected:?}");
}

async fn a_leader_that_resigned_is_replaced_at_once_and_writes_nothing_more(servers: Servers) {
    let term = servers.leads(0).await;
    servers.write(0, term, 1).await.unwrap();
    servers.shared(0).resign(term).await.unwrap();
    assert_eq!(servers.shared(2).cluster().await.unwrap().leader, None);
    // Also before anyone else leads, and also what was written before.
    for number in [1, 2] {
        assert_eq!(servers.write(0, term, number).await, Err(CommitError::TermLost));
    }
    assert_eq!(servers.shared(0).renew(term).await, Err(CommitError::TermLost));
    let next = servers.leads(1).await;
    assert_eq!(next.number, term.number + 1);
    servers.write(1, next, 1).await.unwrap();
}

/// The zombie: Alice stands still for longer than her TTL, Bob leads, Alice goes on as if nothing had happened.
async fn a_deposed_leader_can_neither_renew_nor_resign_nor_write(servers: Servers) {
    let old = servers.leads(0).await;
    servers.write(0, old, 1).await.unwrap();
    (servers.pass)(TTL * 2).await;
    let new = servers.leads(1).await;
    assert_eq!(servers.shared(0).renew(old).await, Err(CommitError::TermLost));
    assert_eq!(servers.shared(0).resign(old).await, Err(CommitError::TermLost));
    assert_eq!(servers.write(0, old, 2).await, Err(CommitError::TermLost));
    // And the new leader did not notice.
    servers.shared(1).renew(new).await.unwrap();
    servers.write(1, new, 1).await.unwrap();
    assert_eq!(servers.follows(2).await.term, new);
}

async fn of_many_that_stand_at_once_one_leads(servers: Servers) {
    for round in 0..5 {
        let (a, (b, c)) = join(servers.stand(0), join(servers.stand(1), servers.stand(2))).await;
        let elected = |(server, election)| match election {
            Election::Leads(term) => Some((server, term)),
            Election::Follows(_) => None,
        };
        let elected: Vec<(usize, Term)> = [a, b, c].into_iter().enumerate().filter_map(elected).collect();
        assert_eq!(elected.len(), 1, "round {round}: {elected:?}");
        let (server, term) = elected[0];
        servers.shared(server).resign(term).await.unwrap();
    }
}

async fn whoever_waits_for_a_leader_to_be_gone_is_told(servers: Servers) {
    let term = servers.leads(0).await;
    let shared = servers.shared(1);
    let (resigned, ()) = join(servers.shared(0).resign(term), shared.vacated(term)).await;
    resigned.unwrap();
    servers.leads(1).await;
    // Of a term that is over there is nothing to wait for.
    servers.shared(2).vacated(term).await;
}

async fn servers_are_listed_until_they_withdraw(servers: Servers) {
    for server in [2, 0, 1] {
        servers.shared(server).announce(&record(server)).await.unwrap();
    }
    servers.shared(1).announce(&ServerRecord { version: "1.2.4".into(), ..record(1) }).await.unwrap();
    let seen = servers.shared(0).cluster().await.unwrap().servers;
    let seen: Vec<_> = seen.into_iter().map(|view| view.server).collect();
    assert_eq!(seen, [record(0), ServerRecord { version: "1.2.4".into(), ..record(1) }, record(2)]);
    servers.shared(0).withdraw("alice").await.unwrap();
    servers.shared(0).withdraw("nobody").await.unwrap();
    let left = servers.shared(2).cluster().await.unwrap().servers;
    assert_eq!(left.iter().map(|view| view.server.name.as_str()).collect::<Vec<_>>(), ["bob", "carol"]);
}

async fn a_server_that_fell_silent_is_forgotten(servers: Servers) {
    servers.shared(0).announce(&record(0)).await.unwrap();
    let view = servers.shared(1).cluster().await.unwrap().servers;
    assert!(view[0].seen_ago < SERVER_FORGOTTEN_AFTER);
    if !servers.quick {
        return;
    }
    (servers.pass)(SERVER_FORGOTTEN_AFTER + TTL).await;
    servers.shared(1).announce(&record(1)).await.unwrap();
    let left = servers.shared(1).cluster().await.unwrap().servers;
    assert_eq!(left.iter().map(|view| view.server.name.as_str()).collect::<Vec<_>>(), ["bob"]);
}

/// Both at once, on whatever drives them: this crate has no runtime of its own.
async fn join<A, B>(a: impl Future<Output = A>, b: impl Future<Output = B>) -> (A, B) {
    let (mut a, mut b) = (Box::pin(a), Box::pin(b));
    let (mut done_a, mut done_b) = (None, None);
    std::future::poll_fn(move |context| {
        if done_a.is_none()
            && let Poll::Ready(value) = a.as_mut().poll(context)
        {
            done_a = Some(value);
        }
        if done_b.is_none()
            && let Poll::Ready(value) = b.as_mut().poll(context)
        {
            done_b = Some(value);
        }
        match (done_a.take(), done_b.take()) {
            (Some(a), Some(b)) => Poll::Ready((a, b)),
            (a, b) => {
                (done_a, done_b) = (a, b);
                Poll::Pending
            }
        }
    })
    .await
}
