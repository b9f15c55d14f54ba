//! The worker's side of the protocol, claim by claim: one session and a leader played by hand.

use super::*;
use crate::ids::JobId;
use uuid::Uuid;

const TTL: Duration = Duration::from_secs(3);
const FIRST: Term = Term { number: 1, id: 0xa };

/// A session, what it asked for, and the stream it is on.
struct Play {
    session: Session,
    acts: Vec<Act>,
    stream: u64,
}

fn ms(millis: u64) -> Mono {
    Mono(1_000_000_000 + millis * 1_000)
}

fn fence(seq: u64) -> Fence {
    Fence { term: FIRST, seq }
}

fn id(number: u128) -> SessionId {
    SessionId::from_uuid(Uuid::from_u128(number))
}

fn worker() -> WorkerInfo {
    WorkerInfo {
        name: "w".into(),
        queues: Vec::new(),
        kinds: Vec::new(),
        threads: 4,
        labels: Default::default(),
        version: "1".into(),
        local: false,
        claim: false,
        ttl: TTL,
    }
}

fn work(seq: u64) -> Work {
    Work {
        job: JobId::new(seq, [0; 10]),
        fence: fence(seq),
        attempt: 1,
        threads: 1,
        kind: "noop".parse().unwrap(),
        queue: "default".parse().unwrap(),
        timeout: None,
        max_attempts: 5,
    }
}

fn welcome(term: Term) -> ToWorker {
    ToWorker::Welcome { term, ttl: TTL }
}

fn report(seq: u64, report: Report) -> AttemptReport {
    AttemptReport { job: work(seq).job, fence: fence(seq), report, ran: Duration::ZERO }
}

fn results(reports: Vec<AttemptReport>) -> Act {
    Act::Send(ToLeader::Results(reports))
}

fn ping(number: u64) -> Act {
    Act::Send(ToLeader::Ping { number })
}

impl Play {
    /// Says hello at the moment 0 and is not yet answered.
    fn greeting(on_lapse: OnLapse) -> Play {
        let mut play = Play { session: Session::new(id(1), worker(), on_lapse), acts: Vec::new(), stream: 0 };
        play.connect(ms(0));
        play.acts.clear();
        play
    }

    /// Said hello at the moment 0 and was welcomed at once; its ping 1 is on its way.
    fn open() -> Play {
        Play::open_with(OnLapse::Cancel)
    }

    fn open_with(on_lapse: OnLapse) -> Play {
        let mut play = Play::greeting(on_lapse);
        assert_eq!(play.hear(ms(0), welcome(FIRST)), [ping(1)]);
        play
    }

    fn connect(&mut self, now: Mono) -> Vec<Act> {
        self.stream = self.session.connected(now, &mut self.acts);
        std::mem::take(&mut self.acts)
    }

    fn hear(&mut self, now: Mono, message: ToWorker) -> Vec<Act> {
        self.hear_on(now, self.stream, message)
    }

    fn hear_on(&mut self, now: Mono, stream: u64, message: ToWorker) -> Vec<Act> {
        self.session.receive(now, stream, message, &mut self.acts);
        std::mem::take(&mut self.acts)
    }

    fn tick(&mut self, now: Mono) -> Vec<Act> {
        self.session.tick(now, &mut self.acts);
        std::mem::take(&mut self.acts)
    }

    fn end(&mut self, seq: u64, how: Report) -> Vec<Act> {
        self.session.ended(fence(seq), how, Duration::ZERO, &mut self.acts);
        std::mem::take(&mut self.acts)
    }

    fn drain(&mut self) -> Vec<Act> {
        self.session.drain(&mut self.acts);
        std::mem::take(&mut self.acts)
    }

    /// A handler runs under this fence since that moment.
    fn run(&mut self, now: Mono, seq: u64) {
        assert_eq!(self.hear(now, ToWorker::Assign(vec![work(seq)])), [Act::Offer(work(seq))]);
        assert!(self.session.try_start(now, fence(seq)));
    }
}

/// The leader counts from receiving, so the worker, which counts from sending, always gives up first.
#[test]
fn the_ttl_counts_from_the_sending_of_what_was_answered() {
    let mut play = Play::greeting(OnLapse::Cancel);
    play.hear(ms(900), welcome(FIRST));
    play.hear(ms(950), ToWorker::Assign(vec![work(1), work(2)]));
    // The hello left at 0: at 2999 the session lives, at 3000 it does not, whenever the answer came.
    assert!(play.session.try_start(ms(2_999), fence(1)));
    assert!(!play.session.try_start(ms(3_000), fence(2)));

    let mut play = Play::open();
    assert_eq!(play.tick(ms(1_000)), [ping(2)]);
    play.hear(ms(2_900), ToWorker::Pong { number: 2 });
    assert!(!play.tick(ms(3_999)).contains(&Act::Reconnect), "its ping of 1000 was answered");
    assert!(play.tick(ms(4_000)).contains(&Act::Reconnect));
}

#[test]
fn a_pong_for_an_older_ping_never_moves_the_end_earlier() {
    let mut play = Play::open();
    assert_eq!(play.tick(ms(1_000)), [ping(2)]);
    assert_eq!(play.tick(ms(2_000)), [ping(3)]);
    play.hear(ms(2_100), ToWorker::Pong { number: 3 });
    play.hear(ms(2_200), ToWorker::Pong { number: 1 });
    play.hear(ms(2_300), ToWorker::Pong { number: 99 });
    assert!(!play.tick(ms(4_999)).contains(&Act::Reconnect));
    assert!(play.tick(ms(5_000)).contains(&Act::Reconnect));
}

#[test]
fn a_lapse_hands_back_what_waits_stops_what_runs_and_connects_again() {
    let mut play = Play::open();
    play.run(ms(100), 1);
    assert_eq!(play.hear(ms(2_500), ToWorker::Assign(vec![work(2)])), [Act::Offer(work(2))]);
    assert_eq!(
        play.tick(ms(3_000)),
        [Act::Reconnect, Act::Withdraw(fence(2)), Act::Cancel(fence(1), CancelWhy::Lapsed)]
    );
    assert!(!play.session.is_open());
    // Stopped because it was told to: that is no failure of the job.
    assert_eq!(play.end(1, Report::Cancelled), []);
    play.connect(ms(3_100));
    let started = report(1, Report::Released { started: true });
    let waited = report(2, Report::Released { started: false });
    assert_eq!(play.hear(ms(3_200), welcome(FIRST)), [ping(2), results(vec![started, waited])]);
}

#[test]
fn with_continue_a_lapse_lets_handlers_finish_and_their_results_are_offered() {
    let mut play = Play::open_with(OnLapse::Continue);
    play.run(ms(100), 1);
    assert_eq!(play.tick(ms(3_000)), [Act::Reconnect]);
    assert_eq!(play.end(1, Report::Ok("1".into())), []);
    play.connect(ms(9_000));
    assert_eq!(
        play.hear(ms(9_001), welcome(FIRST)),
        [ping(2), results(vec![report(1, Report::Ok("1".into()))])]
    );
}

#[test]
fn nothing_that_arrives_on_an_older_stream_counts() {
    let mut play = Play::open();
    let old = play.stream;
    play.session.disconnected();
    play.connect(ms(500));
    for message in [welcome(FIRST), ToWorker::Assign(vec![work(1)]), ToWorker::Gone, ToWorker::Drain] {
        assert_eq!(play.hear_on(ms(600), old, message), []);
    }
    assert!(!play.session.is_open());
    play.hear(ms(600), welcome(FIRST));
    assert_eq!(play.hear_on(ms(600), old, ToWorker::Assign(vec![work(1)])), []);
    assert_eq!(play.session.leases().count(), 0);
}

#[test]
fn before_its_welcome_a_stream_carries_nothing_but_gone() {
    let mut play = Play::greeting(OnLapse::Cancel);
    assert_eq!(play.hear(ms(1), ToWorker::Assign(vec![work(1)])), []);
    assert_eq!(play.hear(ms(1), ToWorker::Pong { number: 1 }), []);
    assert_eq!(play.hear(ms(1), ToWorker::Gone), [Act::Gone]);
    assert_eq!(play.hear(ms(1), welcome(FIRST)), [], "gone is for ever");
}

/// Story 8: a welcome older than the TTL would leave a worker lapsed while its pings keep the lease alive.
#[test]
fn a_stale_welcome_is_no_welcome() {
    let mut play = Play::greeting(OnLapse::Cancel);
    assert_eq!(play.hear(ms(3_000), welcome(FIRST)), [Act::Reconnect]);
    assert!(!play.session.is_open());
    let mut play = Play::greeting(OnLapse::Cancel);
    assert_eq!(play.hear(ms(2_999), welcome(FIRST)), [ping(1)]);
}

#[test]
fn a_hello_that_is_not_answered_for_a_ttl_is_abandoned() {
    let mut play = Play::greeting(OnLapse::Cancel);
    assert_eq!(play.tick(ms(2_999)), []);
    assert_eq!(play.session.next_tick(), Some(ms(3_000)));
    assert_eq!(play.tick(ms(3_000)), [Act::Reconnect]);
}

#[test]
fn a_term_that_is_lower_or_another_of_the_same_number_is_refused() {
    let highest = Term { number: 7, id: 0xb };
    let mut play = Play::greeting(OnLapse::Cancel);
    play.hear(ms(1), welcome(highest));
    play.session.disconnected();
    let acts = play.connect(ms(100));
    let Some(Act::Send(ToLeader::Hello(hello))) = acts.first() else { panic!("{acts:?}") };
    assert_eq!((hello.highest, hello.stream), (highest, 2));
    for other in [Term { number: 6, id: 0xb }, Term { number: 7, id: 0xc }] {
        assert_eq!(play.hear(ms(101), welcome(other)), []);
        assert!(!play.session.is_open());
    }
    assert_eq!(play.hear(ms(102), welcome(Term { number: 8, id: 0xc })), [ping(2)]);
}

#[test]
fn a_result_is_sent_again_on_every_stream_until_it_is_acknowledged() {
    let mut play = Play::open();
    play.run(ms(100), 1);
    let sent = results(vec![report(1, Report::Ok("1".into()))]);
    assert_eq!(play.end(1, Report::Ok("1".into())), std::slice::from_ref(&sent));
    for stream in 1..4u64 {
        play.session.disconnected();
        play.connect(ms(100 + stream * 10));
        let acts = play.hear(ms(101 + stream * 10), welcome(FIRST));
        assert_eq!(acts, [ping(stream + 1), sent.clone()]);
    }
    play.hear(ms(200), ToWorker::Ack(vec![fence(1)]));
    play.session.disconnected();
    play.connect(ms(300));
    assert_eq!(play.hear(ms(301), welcome(FIRST)), [ping(5)]);
}

#[test]
fn an_ack_of_what_has_not_ended_forgets_nothing() {
    let mut play = Play::open();
    play.run(ms(100), 1);
    play.hear(ms(101), ToWorker::Ack(vec![fence(1)]));
    assert!(play.session.is_running(fence(1)));
}

#[test]
fn a_lease_that_is_known_is_not_offered_again() {
    let mut play = Play::open();
    play.run(ms(100), 1);
    play.run(ms(100), 2);
    play.hear(ms(100), ToWorker::Assign(vec![work(3)]));
    play.end(1, Report::Ok("1".into()));
    play.session.disconnected();
    play.connect(ms(200));
    play.hear(ms(201), welcome(FIRST));
    // Ended, running and held; only the fourth is news.
    let again = ToWorker::Assign(vec![work(1), work(2), work(3), work(4)]);
    assert_eq!(play.hear(ms(202), again), [Act::Offer(work(4))]);
    // Acknowledged and forgotten, and still no news on the same stream: fences only grow.
    play.hear(ms(203), ToWorker::Ack(vec![fence(1)]));
    assert_eq!(play.hear(ms(204), ToWorker::Assign(vec![work(1)])), []);
}

#[test]
fn work_that_found_no_threads_is_handed_back_after_a_second() {
    let mut play = Play::open();
    play.hear(ms(0), ToWorker::Assign(vec![work(1)]));
    assert_eq!(play.tick(ms(999)), []);
    assert_eq!(play.session.next_tick(), Some(ms(1_000)));
    let back = results(vec![report(1, Report::Released { started: false })]);
    assert_eq!(play.tick(ms(1_000)), [Act::Withdraw(fence(1)), back, ping(2)]);
    assert!(!play.session.try_start(ms(1_001), fence(1)), "it is not its to start any more");
}

#[test]
fn the_first_reason_to_stop_stands() {
    let mut play = Play::open();
    play.run(ms(100), 1);
    let cancel = |why| ToWorker::Cancel { job: work(1).job, fence: fence(1), why };
    assert_eq!(
        play.hear(ms(200), cancel(CancelWhy::Cancelled)),
        [Act::Cancel(fence(1), CancelWhy::Cancelled)]
    );
    assert_eq!(play.hear(ms(300), cancel(CancelWhy::Timeout)), []);
    assert_eq!(play.tick(ms(3_000)), [Act::Reconnect], "nor does a lapse tell it twice");
    play.end(1, Report::Cancelled);
    play.connect(ms(3_001));
    assert_eq!(play.hear(ms(3_002), welcome(FIRST)), [ping(2), results(vec![report(1, Report::Cancelled)])]);
}

#[test]
fn how_a_stopped_handler_counts_depends_on_why_it_was_stopped() {
    for (why, how) in [
        (CancelWhy::Cancelled, Report::Cancelled),
        (CancelWhy::Timeout, Report::Timeout),
        (CancelWhy::Draining, Report::Released { started: true }),
        (CancelWhy::LeaseLost, Report::Released { started: true }),
    ] {
        let mut play = Play::open();
        play.run(ms(100), 1);
        play.session.stop_handler(fence(1), why, &mut play.acts);
        assert_eq!(std::mem::take(&mut play.acts), [Act::Cancel(fence(1), why)]);
        assert_eq!(play.end(1, Report::Cancelled), [results(vec![report(1, how)])]);
        // A success that came first is a success, whatever was asked.
        play.hear(ms(200), ToWorker::Ack(vec![fence(1)]));
        play.run(ms(300), 2);
        play.session.stop_handler(fence(2), why, &mut play.acts);
        play.acts.clear();
        assert_eq!(play.end(2, Report::Ok("1".into())), [results(vec![report(2, Report::Ok("1".into()))])]);
    }
}

#[test]
fn a_drain_hands_back_finishes_and_says_goodbye_after_the_last_ack() {
    let mut play = Play::open();
    play.run(ms(100), 1);
    play.hear(ms(100), ToWorker::Assign(vec![work(2)]));
    let back = |seq| results(vec![report(seq, Report::Released { started: false })]);
    assert_eq!(play.drain(), [Act::Send(ToLeader::Drain), Act::Withdraw(fence(2)), back(2)]);
    // What crossed the drain on the wire goes back at once.
    assert_eq!(play.hear(ms(101), ToWorker::Assign(vec![work(3)])), [Act::Withdraw(fence(3)), back(3)]);
    play.end(1, Report::Ok("1".into()));
    assert_eq!(play.hear(ms(102), ToWorker::Ack(vec![fence(1), fence(2)])), []);
    assert_eq!(
        play.hear(ms(103), ToWorker::Ack(vec![fence(3)])),
        [Act::Send(ToLeader::Goodbye), Act::Finished]
    );
    assert_eq!(play.drain(), [Act::Send(ToLeader::Drain)], "it finishes once");
}

#[test]
fn a_drain_without_a_server_finishes_at_the_next_welcome() {
    let mut play = Play::open();
    play.session.disconnected();
    assert_eq!(play.drain(), []);
    let acts = play.connect(ms(100));
    assert!(matches!(&acts[..], [Act::Send(ToLeader::Hello(hello))] if hello.draining));
    assert_eq!(
        play.hear(ms(101), welcome(FIRST)),
        [Act::Send(ToLeader::Drain), ping(2), Act::Send(ToLeader::Goodbye), Act::Finished]
    );
}

/// Gone, the process goes on as another session; what it still owes is offered under the old fences.
#[test]
fn a_session_that_is_gone_goes_on_as_another_and_still_offers_its_results() {
    let mut play = Play::open();
    play.run(ms(100), 1);
    play.run(ms(100), 2);
    play.hear(ms(100), ToWorker::Assign(vec![work(3)]));
    play.end(1, Report::Ok("1".into()));
    assert_eq!(
        play.hear(ms(200), ToWorker::Gone),
        [Act::Withdraw(fence(3)), Act::Cancel(fence(2), CancelWhy::LeaseLost), Act::Gone]
    );
    assert_eq!(play.session.next_tick(), Some(ms(3_000)), "nothing but the lapse is left to wait for");
    play.session = play.session.reborn(id(2));
    assert_eq!(play.session.id(), id(2));
    let acts = play.connect(ms(300));
    assert!(
        matches!(&acts[..], [Act::Send(ToLeader::Hello(hello))] if hello.session == id(2) && hello.highest == FIRST)
    );
    let owed = results(vec![report(1, Report::Ok("1".into()))]);
    assert_eq!(play.hear(ms(301), welcome(FIRST)), [ping(1), owed]);
    assert!(play.session.is_running(fence(2)), "its handler still has to stop");
    let stopped = results(vec![report(2, Report::Released { started: true })]);
    assert_eq!(play.end(2, Report::Cancelled), [stopped]);
}

#[test]
fn unanswered_pings_are_remembered_up_to_a_bound() {
    let mut play = Play::open();
    let every = TTL.as_millis() as u64 / 3;
    for n in 0..2 * PINGS_REMEMBERED as u64 {
        // Each answer is for the ping before, so that one is always open and the session lives.
        play.tick(ms((n + 1) * every));
        play.hear(ms((n + 1) * every), ToWorker::Pong { number: n + 1 });
        assert!(play.session.pings.len() <= 1);
    }
    let mut play = Play::open_with(OnLapse::Continue);
    for n in 0..2 * PINGS_REMEMBERED as u64 {
        play.session.ping(ms(n), &mut play.acts);
    }
    assert_eq!(play.session.pings.len(), PINGS_REMEMBERED);
}
