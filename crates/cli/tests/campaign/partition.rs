//! Partitions between real processes: every server and the worker in a network namespace of its own, on one bridge. A
//! direction is cut by giving the sender a wrong hardware address for the receiver: its packets go nowhere,
//! and nobody is told.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use ganger_store::testing::{Postgres, Redis, peek};
use serde_json::Value;
use tokio::net::{TcpListener, TcpStream};

use super::cluster::{SERVERS, server_arguments, until};
use super::history::{Client, Verdict};
use super::processes::Worker;
use super::{STANDSTILL, TTL};

/// What is cut, while clients go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// What the leader sends to the database is lost.
    LeaderToDatabase,
    /// What the database answers the leader is lost; what the leader asks is done.
    DatabaseToLeader,
    /// The worker and the leader do not hear each other.
    WorkerAndLeader,
    /// What the worker sends to the leader is lost.
    WorkerToLeader,
    /// What the leader sends to the worker is lost.
    LeaderToWorker,
}

const RUN_MS: &[u64] = &[0, 20, 100];
const PORT: u16 = 8080;
/// How long a cut between a worker and the leader lasts: past the session's TTL.
const LASTS: Duration = Duration::from_secs(5);

/// The namespaces and what runs in them; gone when dropped.
pub(crate) struct Net {
    prefix: String,
    subnet: u8,
    servers: Vec<Child>,
    worker: Option<Worker>,
    store: String,
    _postgres: Postgres,
    _redis: Redis,
}

/// Places in the net, by the last byte of their address.
const DATABASE: u8 = 2;
const REDIS: u8 = 3;
const WORKER: u8 = 21;

fn server(n: usize) -> u8 {
    11 + u8::try_from(n).expect("a few servers")
}

impl Net {
    /// Makes the net and starts everything; `None` where namespaces cannot be made, said aloud.
    pub(crate) async fn start() -> Option<Net> {
        let prefix = format!("g{:x}", std::process::id());
        let subnet = u8::try_from(std::process::id() % 250).expect("below 250");
        let (postgres, redis) = (Postgres::start(), Redis::start());
        let database = postgres.database().await;
        let (_, name) = database.rsplit_once('/')?;
        let store = format!("postgres://ganger@10.231.{subnet}.{DATABASE}:{}/{name}", postgres.port());
        let mut net = Net {
            prefix,
            subnet,
            servers: Vec::new(),
            worker: None,
            store: database.clone(),
            _postgres: postgres,
            _redis: redis,
        };
        if let Err(why) = net.make() {
            println!("skipped: no partitions, for network namespaces cannot be made here: {why}");
            return None;
        }
        net.forward(DATABASE, net._postgres.port()).await;
        net.forward(REDIS, net._redis.port()).await;
        let redis = format!("redis://{}:{}/", net.address(REDIS), net._redis.port());
        for n in 0..SERVERS {
            let mut command = net.inside(server(n));
            server_arguments(&mut command, n, &store, &redis);
            command.args(["--listen", &format!("{}:{PORT}", net.address(server(n))), "--insecure-no-auth"]);
            net.servers.push(command.spawn().expect("the server starts"));
        }
        net.worker = Some(Worker::run(net.inside(WORKER), &net.urls().join(","), "netted", TTL));
        net.leader_but(None).await;
        Some(net)
    }

    /// Submits through every server while something is cut; tells what the checker found, and who led before and after.
    pub(crate) async fn campaign(&self, cuts: &[Cut], jobs: usize) -> Verdict {
        let client = Client::of(&self.urls());
        let submitting = tokio::spawn(client.clone().submit(jobs, RUN_MS));
        for (n, cut) in cuts.iter().enumerate() {
            client.wait_for_acks((n + 1) * jobs / (cuts.len() + 1)).await;
            let leader = self.leader_but(None).await;
            let place = server(leader);
            let pairs: &[(u8, u8)] = match cut {
                Cut::LeaderToDatabase => &[(place, DATABASE)],
                Cut::DatabaseToLeader => &[(DATABASE, place)],
                Cut::WorkerAndLeader => &[(WORKER, place), (place, WORKER)],
                Cut::WorkerToLeader => &[(WORKER, place)],
                Cut::LeaderToWorker => &[(place, WORKER)],
            };
            for (from, to) in pairs {
                self.cut(*from, *to);
            }
            match cut {
                Cut::LeaderToDatabase | Cut::DatabaseToLeader => {
                    let next = self.leader_but(Some(leader)).await;
                    assert_ne!(next, leader);
                }
                Cut::WorkerAndLeader | Cut::WorkerToLeader | Cut::LeaderToWorker => {
                    tokio::time::sleep(LASTS).await;
                }
            }
            for (from, to) in pairs {
                self.heal(*from, *to);
            }
        }
        submitting.await.expect("the submitting task ends");
        client.wait_until_over(STANDSTILL).await;
        client.verdict().await
    }

    /// The term by the store.
    pub(crate) fn term(&self) -> u64 {
        peek::leader(&self.store).expect("the database answers").0
    }

    fn urls(&self) -> Vec<String> {
        (0..SERVERS).map(|n| format!("http://{}:{PORT}", self.address(server(n)))).collect()
    }

    /// Waits until a server but `except` leads by the store, and says so itself: one that was cut off may believe for a
    /// while that it still does.
    async fn leader_but(&self, except: Option<usize>) -> usize {
        let http = reqwest::Client::builder().timeout(Duration::from_secs(3)).build().expect("a client");
        until("a server leads", async || {
            let (_, _, name) = peek::leader(&self.store)?;
            let leads = |n: &usize| name.starts_with(&format!("s{n}-"));
            let n = (0..SERVERS).filter(|n| Some(*n) != except).find(leads)?;
            let answer = http.get(format!("{}/v1/cluster", self.urls()[n])).send().await.ok()?;
            let seen = answer.json::<Value>().await.ok()?;
            (seen["role"] == "leader").then_some(n)
        })
        .await
    }

    fn make(&self) -> Result<(), String> {
        let bridge = format!("{}b", self.prefix);
        ip(&["link", "add", &bridge, "type", "bridge"])?;
        ip(&["link", "set", &bridge, "up"])?;
        for last in [1, DATABASE, REDIS] {
            ip(&["addr", "add", &format!("{}/24", self.address(last)), "dev", &bridge])?;
        }
        for place in (0..SERVERS).map(server).chain([WORKER]) {
            let (space, outer) = (self.space(place), format!("{}o{place}", self.prefix));
            ip(&["netns", "add", &space])?;
            ip(&["link", "add", &outer, "type", "veth", "peer", "name", "in", "netns", &space])?;
            ip(&["link", "set", &outer, "master", &bridge, "up"])?;
            ip(&["-n", &space, "addr", "add", &format!("{}/24", self.address(place)), "dev", "in"])?;
            ip(&["-n", &space, "link", "set", "in", "up"])?;
            ip(&["-n", &space, "link", "set", "lo", "up"])?;
        }
        Ok(())
    }

    /// The database and Redis listen on this machine only; this passes connections on from the net.
    async fn forward(&self, place: u8, port: u16) {
        let listener = TcpListener::bind((self.address(place), port)).await.expect("the address is ours");
        tokio::spawn(async move {
            while let Ok((mut from, _)) = listener.accept().await {
                tokio::spawn(async move {
                    let Ok(mut to) = TcpStream::connect(("127.0.0.1", port)).await else { return };
                    let _ = from.set_nodelay(true);
                    let _ = to.set_nodelay(true);
                    let _ = tokio::io::copy_bidirectional(&mut from, &mut to).await;
                });
            }
        });
    }

    fn cut(&self, from: u8, to: u8) {
        if from == DATABASE {
            ip(&self.rule("add", to).each_ref().map(String::as_str)).expect("answers can be cut");
            return;
        }
        let nobody = "02:00:00:00:00:fe";
        let address = self.address(to);
        let space = self.space(from);
        ip(&["-n", &space, "neigh", "replace", &address, "lladdr", nobody, "dev", "in", "nud", "permanent"])
            .expect("a direction can be cut");
    }

    /// What drops, or lets pass again, what the database sends to a place. It shares its namespace with the clients, so
    /// that a wrong hardware address would cut those off as well.
    fn rule(&self, verb: &str, to: u8) -> [String; 7] {
        let (from, to) = (self.address(DATABASE), self.address(to));
        ["rule".into(), verb.into(), "from".into(), from, "to".into(), to, "blackhole".into()]
    }

    fn heal(&self, from: u8, to: u8) {
        if from == DATABASE {
            ip(&self.rule("del", to).each_ref().map(String::as_str)).expect("answers can be let through");
            return;
        }
        let cut = ["-n", &self.space(from), "neigh", "del", &self.address(to), "dev", "in"];
        ip(&cut).expect("a direction can be healed");
    }

    fn address(&self, place: u8) -> String {
        format!("10.231.{}.{place}", self.subnet)
    }

    fn space(&self, place: u8) -> String {
        format!("{}n{place}", self.prefix)
    }

    /// The binary in the namespace of a place.
    fn inside(&self, place: u8) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.space(place), env!("CARGO_BIN_EXE_ganger")]);
        command
    }
}

impl Drop for Net {
    fn drop(&mut self) {
        for child in &mut self.servers {
            let _ = child.kill();
            let _ = child.wait();
        }
        drop(self.worker.take());
        for place in (0..SERVERS).map(server).chain([WORKER]) {
            // A test that failed may have left it.
            let _ = ip(&self.rule("del", place).each_ref().map(String::as_str));
            let _ = ip(&["netns", "del", &self.space(place)]);
        }
        let _ = ip(&["link", "del", &format!("{}b", self.prefix)]);
    }
}

fn ip(args: &[&str]) -> Result<(), String> {
    let said = Command::new("ip").args(args).stdin(Stdio::null()).output();
    let said = said.map_err(|error| format!("ip: {error}"))?;
    if said.status.success() {
        return Ok(());
    }
    Err(format!("ip {}: {}", args.join(" "), String::from_utf8_lossy(&said.stderr).trim()))
}
