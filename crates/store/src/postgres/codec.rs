//! Compact binary forms of small values: fences, leases, attempts, answers. Every byte of them is written to the
//! log of the database for every job, so numbers take as few as they need.

use ganger_core::change::{Assignment, AttemptRecord, Intake, Lease};
use ganger_core::job::State;
use ganger_core::outcome::Outcome;
use ganger_core::{Fence, JobId, SessionId, Term, Wall};
use uuid::Uuid;

/// First byte of an attempt, so that a later form can be told from this one.
const ATTEMPT_FORM: u8 = 1;
/// First byte of an attempt that its handler ended in a transaction of its own. There follow the moment of the end,
/// the length of the worker's name in four bytes and the name, and the attempt as it was when the lease was given.
const COMPLETED_FORM: u8 = 2;
const INTAKE_BYTES: usize = 17;

/// A fence whose bytes compare as fences do.
pub(super) fn fence_key(fence: Fence) -> Vec<u8> {
    let mut key = Vec::with_capacity(24);
    key.extend_from_slice(&fence.term.number.to_be_bytes());
    key.extend_from_slice(&fence.term.id.to_be_bytes());
    key.extend_from_slice(&fence.seq.to_be_bytes());
    key
}

/// The fence of these bytes.
pub(super) fn fence(bytes: &[u8]) -> Option<Fence> {
    let mut input = Input(bytes);
    let number = u64::from_be_bytes(input.take()?);
    let id = u64::from_be_bytes(input.take()?);
    let fence = Fence { term: Term { number, id }, seq: u64::from_be_bytes(input.take()?) };
    input.is_empty().then_some(fence)
}

/// The number that stands for a final state in the database; live states have none.
pub(super) fn state_code(state: State) -> Option<i16> {
    match state {
        State::Succeeded => Some(0),
        State::Dead => Some(1),
        State::Cancelled => Some(2),
        State::Scheduled | State::Blocked | State::Queued | State::Running | State::Retrying => None,
    }
}

/// The final state of this number.
pub(super) fn final_state(code: i16) -> Option<State> {
    [State::Succeeded, State::Dead, State::Cancelled].into_iter().find(|s| state_code(*s) == Some(code))
}

/// The leases of an assignment.
pub(super) fn encode_leases(leases: &[Lease]) -> Vec<u8> {
    let mut out = Vec::with_capacity(leases.len() * 18);
    for lease in leases {
        out.extend_from_slice(lease.job.uuid().as_bytes());
        put_number(&mut out, lease.attempt.into());
        put_number(&mut out, u64::from(lease.threads) << 1 | u64::from(lease.transactional));
    }
    out
}

/// The leases of these bytes.
pub(super) fn decode_leases(bytes: &[u8]) -> Option<Vec<Lease>> {
    let mut input = Input(bytes);
    let mut leases = Vec::with_capacity(bytes.len() / 18);
    while !input.is_empty() {
        let job = JobId::from_uuid(input.uuid()?);
        let attempt = input.number()?.try_into().ok()?;
        let number = input.number()?;
        let (threads, transactional) = ((number >> 1).try_into().ok()?, number & 1 == 1);
        leases.push(Lease { job, attempt, threads, transactional });
    }
    Some(leases)
}

/// The answer to a submission.
pub(super) fn encode_intake(intake: &[Intake]) -> Vec<u8> {
    let mut out = Vec::with_capacity(intake.len() * INTAKE_BYTES);
    for one in intake {
        out.push(match one {
            Intake::Created(_) => 0,
            Intake::Duplicate(_) => 1,
        });
        out.extend_from_slice(one.job().uuid().as_bytes());
    }
    out
}

/// The answer of these bytes.
pub(super) fn decode_intake(bytes: &[u8]) -> Option<Vec<Intake>> {
    let mut input = Input(bytes);
    let mut intake = Vec::with_capacity(bytes.len() / INTAKE_BYTES);
    while !input.is_empty() {
        let [tag] = input.take()?;
        let job = JobId::from_uuid(input.uuid()?);
        intake.push(match tag {
            0 => Intake::Created(job),
            1 => Intake::Duplicate(job),
            _ => return None,
        });
    }
    Some(intake)
}

/// A recorded attempt.
pub(super) fn encode_attempt(record: &AttemptRecord) -> Vec<u8> {
    let error = record.error.as_deref();
    let mut out = Vec::with_capacity(64 + record.worker.len() + error.map_or(0, str::len));
    out.push(ATTEMPT_FORM);
    out.push(outcome_code(record.outcome));
    put_number(&mut out, record.number.into());
    put_number(&mut out, record.threads.into());
    out.extend_from_slice(&record.ended_at.0.to_be_bytes());
    // The other moments lie shortly before the end.
    put_number(&mut out, ago(record.ended_at, record.leased_at));
    put_number(&mut out, ago(record.ended_at, record.started_at));
    put_number(&mut out, record.fence.term.number);
    out.extend_from_slice(&record.fence.term.id.to_be_bytes());
    put_number(&mut out, record.fence.seq);
    out.extend_from_slice(record.session.uuid().as_bytes());
    put_text(&mut out, Some(&record.worker));
    put_text(&mut out, error);
    out
}

/// What is to be kept of an attempt that succeeds in its handler's transaction, but for what only that will know: its
/// end, and the worker's name, which the database looks up.
pub(super) fn encode_unended(assignment: &Assignment, fence: Fence, lease: Lease) -> Vec<u8> {
    encode_attempt(&AttemptRecord {
        number: lease.attempt,
        outcome: Outcome::Ok,
        error: None,
        worker: String::new(),
        session: assignment.session,
        threads: lease.threads,
        leased_at: assignment.at,
        started_at: assignment.at,
        ended_at: assignment.at,
        fence,
    })
}

/// The attempt of these bytes.
pub(super) fn decode_attempt(bytes: &[u8]) -> Option<AttemptRecord> {
    let mut input = Input(bytes);
    let [form] = input.take()?;
    match form {
        ATTEMPT_FORM => decode_plain(input),
        COMPLETED_FORM => {
            let ended_at = Wall(i64::from_be_bytes(input.take()?));
            let length = usize::try_from(u32::from_be_bytes(input.take()?)).ok()?;
            let (name, rest) = input.0.split_at_checked(length)?;
            let worker = String::from_utf8(name.to_vec()).ok()?;
            let plain = rest.strip_prefix(&[ATTEMPT_FORM])?;
            Some(AttemptRecord { worker, ended_at, ..decode_plain(Input(plain))? })
        }
        _ => None,
    }
}

fn decode_plain(mut input: Input<'_>) -> Option<AttemptRecord> {
    let [outcome] = input.take()?;
    let number = input.number()?.try_into().ok()?;
    let threads = input.number()?.try_into().ok()?;
    let ended_at = Wall(i64::from_be_bytes(input.take()?));
    let (leased_at, started_at) = (before(ended_at, input.number()?), before(ended_at, input.number()?));
    let term = Term { number: input.number()?, id: u64::from_be_bytes(input.take()?) };
    let fence = Fence { term, seq: input.number()? };
    let session = SessionId::from_uuid(input.uuid()?);
    let worker = input.text()??;
    let error = input.text()?;
    let outcome = Outcome::ALL.into_iter().find(|o| outcome_code(*o) == outcome)?;
    input.is_empty().then_some(AttemptRecord {
        number,
        outcome,
        error,
        worker,
        session,
        threads,
        leased_at,
        started_at,
        ended_at,
        fence,
    })
}

const fn outcome_code(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Ok => 0,
        Outcome::Error => 1,
        Outcome::Timeout => 2,
        Outcome::Lost => 3,
        Outcome::Released => 4,
        Outcome::Cancelled => 5,
    }
}

/// How long before `end` a moment lies, as a small number also where clocks went backwards.
fn ago(end: Wall, moment: Wall) -> u64 {
    let difference = end.0.wrapping_sub(moment.0);
    ((difference << 1) ^ (difference >> 63)).cast_unsigned()
}

fn before(end: Wall, ago: u64) -> Wall {
    let difference = (ago >> 1).cast_signed() ^ -(ago & 1).cast_signed();
    Wall(end.0.wrapping_sub(difference))
}

/// Seven bits per byte, the lowest first.
fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push((number as u8) | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// The length plus one, so that no text and an empty one can be told apart.
fn put_text(out: &mut Vec<u8>, text: Option<&str>) {
    put_number(out, text.map_or(0, |text| text.len() as u64 + 1));
    out.extend_from_slice(text.unwrap_or_default().as_bytes());
}

/// Bytes that are read from the front.
struct Input<'a>(&'a [u8]);

impl Input<'_> {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*head)
    }

    fn uuid(&mut self) -> Option<Uuid> {
        self.take().map(Uuid::from_bytes)
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let [byte] = self.take()?;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                return None;
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    /// The outer `None` is a malformed text, the inner one a text that is not there.
    fn text(&mut self) -> Option<Option<String>> {
        let Some(length) = self.number()?.checked_sub(1) else { return Some(None) };
        let (text, rest) = self.0.split_at_checked(usize::try_from(length).ok()?)?;
        self.0 = rest;
        Some(Some(String::from_utf8(text.to_vec()).ok()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fences() -> impl Strategy<Value = Fence> {
        (any::<u64>(), any::<u64>(), any::<u64>())
            .prop_map(|(number, id, seq)| Fence { term: Term { number, id }, seq })
    }

    proptest! {
        #[test]
        fn a_fence_reads_back_and_its_bytes_sort_as_it_does(a in fences(), b in fences()) {
            prop_assert_eq!(fence(&fence_key(a)), Some(a));
            prop_assert_eq!(fence_key(a).cmp(&fence_key(b)), a.cmp(&b));
        }

        #[test]
        fn an_attempt_reads_back(
            outcome in 0usize..6, number: u32, threads: u16, at: [i64; 3], session: u128,
            fence in fences(), worker in ".{0,20}", error in proptest::option::of(".{0,40}"),
        ) {
            let record = AttemptRecord {
                number, outcome: Outcome::ALL[outcome], error, worker,
                session: SessionId::from_uuid(Uuid::from_u128(session)), threads,
                leased_at: Wall(at[0]), started_at: Wall(at[1]), ended_at: Wall(at[2]), fence,
            };
            let bytes = encode_attempt(&record);
            prop_assert_eq!(decode_attempt(&bytes), Some(record));
            prop_assert_eq!(decode_attempt(&bytes[..bytes.len() - 1]), None);
        }

        #[test]
        fn leases_and_answers_read_back(jobs: Vec<(u128, u32, u16)>) {
            let leases: Vec<Lease> = jobs.iter().map(|(id, attempt, threads)| Lease {
                job: JobId::from_uuid(Uuid::from_u128(*id)), attempt: *attempt, threads: *threads,
                transactional: *id % 2 == 1,
            }).collect();
            prop_assert_eq!(decode_leases(&encode_leases(&leases)), Some(leases.clone()));
            let intake: Vec<Intake> = leases.iter().map(|lease| match lease.threads % 2 {
                0 => Intake::Created(lease.job),
                _ => Intake::Duplicate(lease.job),
            }).collect();
            prop_assert_eq!(decode_intake(&encode_intake(&intake)), Some(intake));
        }

        #[test]
        fn rubbish_is_refused_and_never_panics(bytes: Vec<u8>) {
            let _ = (decode_attempt(&bytes), decode_leases(&bytes), decode_intake(&bytes), fence(&bytes));
        }
    }

    #[test]
    fn an_attempt_that_its_handler_ended_reads_back() {
        let fence = Fence { term: Term { number: 7, id: 3 }, seq: 9 };
        let session = SessionId::from_uuid(Uuid::from_u128(1));
        let lease =
            Lease { job: JobId::from_uuid(Uuid::from_u128(2)), attempt: 4, threads: 2, transactional: true };
        let assignment = Assignment { session, first: fence, at: Wall(1_000), leases: vec![lease] };
        let mut bytes = vec![COMPLETED_FORM];
        bytes.extend_from_slice(&5_000i64.to_be_bytes());
        bytes.extend_from_slice(&5u32.to_be_bytes());
        bytes.extend_from_slice(b"alice");
        bytes.extend(encode_unended(&assignment, fence, lease));
        let record = decode_attempt(&bytes).unwrap();
        assert_eq!((record.worker.as_str(), record.number, record.threads), ("alice", 4, 2));
        assert_eq!((record.leased_at, record.ended_at, record.fence), (Wall(1_000), Wall(5_000), fence));
        assert_eq!((record.outcome, record.session), (Outcome::Ok, session));
        assert_eq!(decode_attempt(&bytes[..bytes.len() - 1]), None);
    }

    #[test]
    fn an_ordinary_attempt_takes_little_room() {
        let ended_at = Wall(1_750_000_000_000_000);
        let record = AttemptRecord {
            number: 1,
            outcome: Outcome::Ok,
            error: None,
            worker: "worker-1".into(),
            session: SessionId::from_uuid(Uuid::from_u128(1)),
            threads: 1,
            leased_at: Wall(ended_at.0 - 2_000),
            started_at: Wall(ended_at.0 - 1_000),
            ended_at,
            fence: Fence { term: Term { number: 7, id: u64::MAX }, seq: 1_000_000 },
        };
        assert!(encode_attempt(&record).len() <= 64);
    }
}
