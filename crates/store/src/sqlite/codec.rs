//! Fixed binary forms of small values: fences, leases, attempts, answers. Integers are big-endian.

use ganger_core::change::{AttemptRecord, Intake, Lease};
use ganger_core::job::State;
use ganger_core::outcome::Outcome;
use ganger_core::{Fence, JobId, SessionId, Term, Wall};
use uuid::Uuid;

/// First byte of an attempt, so that a later form can be told from this one.
const ATTEMPT_FORM: u8 = 1;
const LEASE_BYTES: usize = 22;
/// Bit of a lease's threads, which are far fewer ([`ganger_core::limits::THREADS`]), that marks it as transactional.
const TRANSACTIONAL: u16 = 0x8000;
const INTAKE_BYTES: usize = 17;
/// Length that stands for a text that is not there.
const NO_TEXT: u32 = u32::MAX;

/// The bytes of a job's id.
pub(super) fn job_key(id: JobId) -> [u8; 16] {
    id.uuid().into_bytes()
}

/// The bytes of a session's id.
pub(super) fn session_key(id: SessionId) -> [u8; 16] {
    id.uuid().into_bytes()
}

/// The job of these bytes.
pub(super) fn job_id(bytes: [u8; 16]) -> JobId {
    JobId::from_uuid(Uuid::from_bytes(bytes))
}

/// The session of these bytes.
pub(super) fn session_id(bytes: [u8; 16]) -> SessionId {
    SessionId::from_uuid(Uuid::from_bytes(bytes))
}

/// A fence whose bytes compare as fences do.
pub(super) fn fence_key(fence: Fence) -> [u8; 24] {
    let mut key = [0; 24];
    key[..8].copy_from_slice(&fence.term.number.to_be_bytes());
    key[8..16].copy_from_slice(&fence.term.id.to_be_bytes());
    key[16..].copy_from_slice(&fence.seq.to_be_bytes());
    key
}

/// The fence of these bytes.
pub(super) fn fence(bytes: &[u8]) -> Option<Fence> {
    let mut input = Input(bytes);
    let fence = input.fence()?;
    input.is_empty().then_some(fence)
}

/// The number that stands for a final state in the database; live states have none.
pub(super) fn state_code(state: State) -> Option<i64> {
    match state {
        State::Succeeded => Some(0),
        State::Dead => Some(1),
        State::Cancelled => Some(2),
        State::Scheduled | State::Blocked | State::Queued | State::Running | State::Retrying => None,
    }
}

/// The final state of this number.
pub(super) fn final_state(code: i64) -> Option<State> {
    [State::Succeeded, State::Dead, State::Cancelled].into_iter().find(|s| state_code(*s) == Some(code))
}

/// The leases of an assignment.
pub(super) fn encode_leases(leases: &[Lease]) -> Vec<u8> {
    let mut out = Vec::with_capacity(leases.len() * LEASE_BYTES);
    for lease in leases {
        out.extend_from_slice(lease.job.uuid().as_bytes());
        out.extend_from_slice(&lease.attempt.to_be_bytes());
        let flag = if lease.transactional { TRANSACTIONAL } else { 0 };
        out.extend_from_slice(&(lease.threads | flag).to_be_bytes());
    }
    out
}

/// The leases of these bytes.
pub(super) fn decode_leases(bytes: &[u8]) -> Option<Vec<Lease>> {
    let mut input = Input(bytes);
    let mut leases = Vec::with_capacity(bytes.len() / LEASE_BYTES);
    while !input.is_empty() {
        let job = job_id(input.take()?);
        let attempt = u32::from_be_bytes(input.take()?);
        let threads = u16::from_be_bytes(input.take()?);
        let (threads, transactional) = (threads & !TRANSACTIONAL, threads & TRANSACTIONAL != 0);
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
        let job = job_id(input.take()?);
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
    let mut out = Vec::with_capacity(96 + record.worker.len() + error.map_or(0, str::len));
    out.push(ATTEMPT_FORM);
    out.push(outcome_code(record.outcome));
    out.extend_from_slice(&record.number.to_be_bytes());
    out.extend_from_slice(&record.threads.to_be_bytes());
    for at in [record.leased_at, record.started_at, record.ended_at] {
        out.extend_from_slice(&at.0.to_be_bytes());
    }
    out.extend_from_slice(&fence_key(record.fence));
    out.extend_from_slice(record.session.uuid().as_bytes());
    put_text(&mut out, Some(&record.worker));
    put_text(&mut out, error);
    out
}

/// The attempt of these bytes.
pub(super) fn decode_attempt(bytes: &[u8]) -> Option<AttemptRecord> {
    let mut input = Input(bytes);
    let [form, outcome] = input.take()?;
    if form != ATTEMPT_FORM {
        return None;
    }
    let number = u32::from_be_bytes(input.take()?);
    let threads = u16::from_be_bytes(input.take()?);
    let (leased_at, started_at, ended_at) = (input.wall()?, input.wall()?, input.wall()?);
    let fence = input.fence()?;
    let session = session_id(input.take()?);
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

fn put_text(out: &mut Vec<u8>, text: Option<&str>) {
    // Texts are bounded far below this length (`limits::ERROR_BYTES`).
    let length = text.map_or(NO_TEXT, |text| u32::try_from(text.len()).unwrap_or(NO_TEXT - 1));
    out.extend_from_slice(&length.to_be_bytes());
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

    fn wall(&mut self) -> Option<Wall> {
        self.take().map(i64::from_be_bytes).map(Wall)
    }

    fn fence(&mut self) -> Option<Fence> {
        let number = u64::from_be_bytes(self.take()?);
        let id = u64::from_be_bytes(self.take()?);
        Some(Fence { term: Term { number, id }, seq: u64::from_be_bytes(self.take()?) })
    }

    /// The outer `None` is a malformed text, the inner one a text that is not there.
    fn text(&mut self) -> Option<Option<String>> {
        let length = u32::from_be_bytes(self.take()?);
        if length == NO_TEXT {
            return Some(None);
        }
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
                job: JobId::from_uuid(Uuid::from_u128(*id)), attempt: *attempt, threads: *threads / 2,
                transactional: *threads % 2 == 1,
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
}
