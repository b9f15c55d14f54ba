//! Random commands. Numbers in them are taken modulo what there is to choose from.

use ganger_core::job::State;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use crate::schedules::ScheduleOp;

/// One thing that is done to both stores.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// A batch of the present leader.
    Commit(Vec<Op>),
    /// The last batch again, as after a lost answer.
    Resend,
    /// A batch with a number that is off by this much.
    Misnumber(i8, Vec<Op>),
    /// A batch of the leader before.
    Stale(Vec<Op>),
    /// A new leader.
    TakeOver(u8),
    /// SQLite is closed and opened.
    Reopen,
    /// Time passes: seconds, or days.
    Pass(u8, bool),
    /// A list is read.
    List(Filter),
}

/// One change, in the abstract.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    Submit(Vec<JobOp>, Option<(u8, u8, u8)>),
    Assign {
        session: u8,
        jobs: Vec<u8>,
        careful: bool,
    },
    /// A submission, and leases of its jobs behind it, whatever becomes of it. Some name another job too.
    SubmitLeased {
        jobs: Vec<JobOp>,
        key: Option<(u8, u8, u8)>,
        session: u8,
        other: Option<u8>,
    },
    End {
        lease: u8,
        end: EndOp,
        spoil: u8,
    },
    Finish {
        job: u8,
        end: EndOp,
    },
    CancelWanted(u8),
    RunNow(u8, u8),
    Settle(u8, u8),
    Replay(u8),
    OpenSession(u8, bool),
    CloseSession {
        session: u8,
        leave: bool,
    },
    PutQueue(u8, u8),
    PutKind(u8),
    CloseKey(u8, u8, Option<u8>),
    /// An attempt must not be repeated, or may be after all.
    Mark(u8, u8, bool),
    Log(u8, u8, u16),
    Failed(u8, u8),
    Document(u8, u8, Option<u8>),
    Schedule(ScheduleOp),
    Delete(Vec<u8>),
    PurgeDead(u8, u8),
    Prune(u8),
}

/// A job to submit.
#[derive(Clone, Debug)]
pub(crate) struct JobOp {
    pub(crate) kind: u8,
    pub(crate) queue: u8,
    pub(crate) key: Option<u8>,
    pub(crate) held: bool,
    pub(crate) delay: u8,
    pub(crate) payload: u16,
    pub(crate) tagged: bool,
    /// Waits for these, with these policies.
    pub(crate) parents: Vec<(u8, u8)>,
    /// Takes the id of a job that exists.
    pub(crate) known_id: bool,
}

/// How an attempt or a job ends.
#[derive(Clone, Debug)]
pub(crate) struct EndOp {
    /// Succeeded, dead, cancelled; otherwise it stays live.
    pub(crate) state: u8,
    pub(crate) keep: bool,
    pub(crate) record: bool,
    pub(crate) delay: u8,
}

/// What to list.
#[derive(Clone, Debug)]
pub(crate) struct Filter {
    pub(crate) states: Vec<State>,
    pub(crate) kind: Option<u8>,
    pub(crate) queue: Option<u8>,
    pub(crate) key: Option<u8>,
    pub(crate) tag: bool,
    pub(crate) from: Option<u8>,
    pub(crate) before: Option<u8>,
    pub(crate) limit: u8,
    pub(crate) text: Option<u8>,
}

/// Up to eighty steps; commits are most of them.
pub(crate) fn steps() -> impl Strategy<Value = Vec<Step>> {
    vec(step(), 1..80)
}

fn step() -> impl Strategy<Value = Step> {
    let batch = || vec(op(), 1..5);
    prop_oneof![
        24 => batch().prop_map(Step::Commit),
        3 => Just(Step::Resend),
        1 => (-2i8..3, batch()).prop_map(|(by, ops)| Step::Misnumber(by, ops)),
        1 => batch().prop_map(Step::Stale),
        1 => any::<u8>().prop_map(Step::TakeOver),
        1 => Just(Step::Reopen),
        3 => (any::<u8>(), prop::bool::weighted(0.3)).prop_map(|(n, days)| Step::Pass(n, days)),
        5 => filter().prop_map(Step::List),
    ]
}

fn op() -> impl Strategy<Value = Op> {
    let byte = any::<u8>;
    prop_oneof![
        6 => (vec(job(), 0..4), option::weighted(0.4, (byte(), byte(), byte())))
            .prop_map(|(jobs, key)| Op::Submit(jobs, key)),
        6 => (vec(job(), 1..4), option::weighted(0.6, (byte(), byte(), byte())), byte(), option::weighted(0.1, byte()))
            .prop_map(|(jobs, key, session, other)| Op::SubmitLeased { jobs, key, session, other }),
        6 => (byte(), vec(byte(), 1..4), prop::bool::weighted(0.95))
            .prop_map(|(session, jobs, careful)| Op::Assign { session, jobs, careful }),
        8 => (byte(), end(), byte()).prop_map(|(lease, end, spoil)| Op::End { lease, end, spoil }),
        2 => (byte(), end()).prop_map(|(job, end)| Op::Finish { job, end }),
        1 => byte().prop_map(Op::CancelWanted),
        1 => (byte(), byte()).prop_map(|(job, at)| Op::RunNow(job, at)),
        2 => (byte(), byte()).prop_map(|(job, state)| Op::Settle(job, state)),
        3 => byte().prop_map(Op::Replay),
        3 => (byte(), any::<bool>()).prop_map(|(session, claim)| Op::OpenSession(session, claim)),
        1 => (byte(), prop::bool::weighted(0.1))
            .prop_map(|(session, leave)| Op::CloseSession { session, leave }),
        1 => (byte(), byte()).prop_map(|(queue, retention)| Op::PutQueue(queue, retention)),
        1 => byte().prop_map(Op::PutKind),
        1 => (byte(), byte(), option::of(byte())).prop_map(|(queue, key, until)| Op::CloseKey(queue, key, until)),
        1 => (byte(), byte(), any::<bool>()).prop_map(|(job, lease, stands)| Op::Mark(job, lease, stands)),
        2 => (byte(), byte(), any::<u16>()).prop_map(|(job, attempt, size)| Op::Log(job, attempt, size)),
        2 => (byte(), byte()).prop_map(|(job, error)| Op::Failed(job, error)),
        1 => (byte(), byte(), option::of(byte())).prop_map(|(of, key, body)| Op::Document(of, key, body)),
        4 => (byte(), byte(), byte(), vec(byte(), 0..4), option::weighted(0.3, byte())).prop_map(
            |(which, what, at, fates, key)| Op::Schedule(ScheduleOp { which, what, at, fates, key })),
        1 => vec(byte(), 0..4).prop_map(Op::Delete),
        1 => (byte(), 0u8..4).prop_map(|(queue, limit)| Op::PurgeDead(queue, limit)),
        1 => (0u8..4).prop_map(Op::Prune),
    ]
}

fn job() -> impl Strategy<Value = JobOp> {
    let key = option::weighted(0.5, any::<u8>());
    let odd = prop::bool::weighted(0.02);
    let size = prop_oneof![8 => 0u16..50, 1 => 2040u16..2060, 1 => any::<u16>()];
    let parents = prop_oneof![3 => Just(Vec::new()), 1 => vec(any::<(u8, u8)>(), 1..4)];
    (any::<u8>(), any::<u8>(), key, any::<bool>(), 0u8..4, size, any::<bool>(), parents, odd).prop_map(
        |(kind, queue, key, held, delay, payload, tagged, parents, known_id)| JobOp {
            kind,
            queue,
            key,
            held,
            delay,
            payload,
            tagged,
            parents,
            known_id,
        },
    )
}

fn end() -> impl Strategy<Value = EndOp> {
    (0u8..6, prop::bool::weighted(0.8), prop::bool::weighted(0.8), 0u8..4)
        .prop_map(|(state, keep, record, delay)| EndOp { state, keep, record, delay })
}

fn filter() -> impl Strategy<Value = Filter> {
    let states = prop::sample::subsequence(State::ALL.to_vec(), 0..=3);
    let some = || option::weighted(0.2, any::<u8>());
    let text = option::weighted(0.4, any::<u8>());
    (states, some(), some(), some(), prop::bool::weighted(0.2), some(), option::of(any::<u8>()), 1u8..5, text)
        .prop_map(|(states, kind, queue, key, tag, from, before, limit, text)| Filter {
            states,
            kind,
            queue,
            key,
            tag,
            from,
            before,
            limit,
            text,
        })
}
