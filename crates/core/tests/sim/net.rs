//! Streams between workers and servers: ordered, slow at times, and broken at any moment.
//!
//! After a break nothing new is sent, but what is under way may still arrive, seconds late. A partition
//! holds messages back rather than losing them, as a transport that sends again does.

use std::collections::VecDeque;

use ganger_core::SessionId;
use ganger_core::message::{ToLeader, ToWorker};

use crate::setup::{MS, S, Time};
use crate::world::{Event, World};

/// One stream.
#[derive(Debug)]
pub(crate) struct Conn {
    pub(crate) worker: usize,
    pub(crate) worker_life: u32,
    pub(crate) server: usize,
    pub(crate) server_life: u32,
    pub(crate) session: SessionId,
    pub(crate) stream: u64,
    /// New messages may be sent.
    pub(crate) open: bool,
    /// A server that does not lead reads it later instead of closing it.
    pub(crate) silent: bool,
    /// Nothing arrives at the server before then.
    pub(crate) late_up: Time,
    /// Nothing arrives at the worker before then.
    pub(crate) late_down: Time,
    /// Scripts: what is under way arrives although the stream breaks.
    pub(crate) keeps: bool,
    up: VecDeque<ToLeader>,
    down: VecDeque<ToWorker>,
    up_last: Time,
    down_last: Time,
}

impl World {
    /// A new stream from a worker's present session to a server.
    pub(crate) fn open_stream(&mut self, worker: usize, server: usize, stream: u64) -> usize {
        let silent = !self.healed && self.setup.faults.silence && self.rng.one_in(3);
        self.conns.push(Conn {
            worker,
            worker_life: self.workers[worker].life,
            server,
            server_life: self.servers[server].life,
            session: self.workers[worker].session.id(),
            stream,
            open: true,
            silent,
            late_up: 0,
            late_down: 0,
            keeps: false,
            up: VecDeque::new(),
            down: VecDeque::new(),
            up_last: 0,
            down_last: 0,
        });
        self.conns.len() - 1
    }

    /// Whether the two cannot reach each other now; until when.
    pub(crate) fn parted_until(&self, worker: usize, server: usize) -> Time {
        self.workers[worker].cut_until.get(server).copied().unwrap_or(0)
    }

    fn net_delay(&mut self, conn: usize) -> Time {
        let delay = if !self.healed && self.setup.faults.slow_net {
            match self.rng.below(10) {
                0 => self.rng.range(200 * MS, S),
                1..=3 => self.rng.range(20 * MS, 200 * MS),
                4.. => self.rng.range(MS, 20 * MS),
            }
        } else {
            self.rng.range(MS, 6 * MS)
        };
        let parted = self.parted_until(self.conns[conn].worker, self.conns[conn].server);
        delay + parted.saturating_sub(self.now)
    }

    pub(crate) fn send_up(&mut self, conn: usize, message: ToLeader) {
        if !self.conns[conn].open {
            return;
        }
        let repeatable = matches!(message, ToLeader::Hello(_) | ToLeader::Results(_));
        if repeatable && !self.healed && self.setup.faults.repeats && self.rng.one_in(8) {
            self.send_up_once(conn, message.clone());
        }
        self.send_up_once(conn, message);
    }

    fn send_up_once(&mut self, conn: usize, message: ToLeader) {
        let at = (self.now + self.net_delay(conn)).max(self.conns[conn].up_last);
        self.conns[conn].up_last = at;
        self.conns[conn].up.push_back(message);
        self.after(at - self.now, Event::Deliver { conn, up: true });
    }

    pub(crate) fn send_down(&mut self, conn: usize, message: ToWorker) {
        if !self.conns[conn].open {
            return;
        }
        let at = (self.now + self.net_delay(conn)).max(self.conns[conn].down_last);
        self.conns[conn].down_last = at;
        self.conns[conn].down.push_back(message);
        self.after(at - self.now, Event::Deliver { conn, up: false });
    }

    pub(crate) fn deliver_up(&mut self, conn: usize) {
        let Some(message) = self.conns[conn].up.pop_front() else { return };
        let server = self.conns[conn].server;
        if self.servers[server].life == self.conns[conn].server_life {
            self.note(|| {
                format!("server {server} reads on stream {conn}: {}", tell(&format!("{message:?}")))
            });
            self.read(conn, message);
        }
    }

    pub(crate) fn deliver_down(&mut self, conn: usize) {
        let Some(message) = self.conns[conn].down.pop_front() else { return };
        let worker = self.conns[conn].worker;
        if self.workers[worker].life == self.conns[conn].worker_life {
            self.note(|| {
                format!("worker {worker} reads on stream {conn}: {}", tell(&format!("{message:?}")))
            });
            self.worker_reads(worker, conn, message);
        }
    }

    /// The stream is over. Some of what is under way is lost, and the rest may be late.
    pub(crate) fn break_stream(&mut self, conn: usize, noticed: bool) {
        if !self.conns[conn].open {
            return;
        }
        self.note(|| format!("stream {conn} breaks"));
        let arrives = !self.healed && self.setup.faults.breaks && self.rng.one_in(2);
        let late = if self.rng.one_in(2) { self.rng.range(0, 6 * S) } else { 0 };
        let link = &mut self.conns[conn];
        link.open = false;
        if arrives {
            link.late_up = link.late_up.max(self.now + late);
            link.late_down = link.late_down.max(self.now + late);
        } else if !link.keeps {
            link.up.clear();
            link.down.clear();
        }
        if noticed {
            let delay = self.rng.range(MS, 100 * MS);
            self.after(delay, Event::Broken { conn });
        }
    }
}

/// The beginning of a long line.
fn tell(text: &str) -> String {
    text.chars().take(150).collect()
}
