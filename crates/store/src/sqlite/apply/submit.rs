//! New jobs of one request, and the ledger of idempotency keys.

use ganger_core::Wall;
use ganger_core::change::{Applied, Idempotency, Intake, NewJob, Submission, Submitted};
use ganger_core::dependency;
use rusqlite::OptionalExtension;

use super::Work;
use crate::refusal;
use crate::sqlite::error::Failure;
use crate::sqlite::{codec, options, sql};

/// Larger payloads sit in their own table, so that ending a job does not copy them.
const INLINE_PAYLOAD_BYTES: usize = 2 << 10;

impl Work<'_> {
    pub(super) fn submit(&mut self, submission: &Submission) -> Result<Applied, Failure> {
        let now = submission.jobs.first().map_or(Wall(0), |job| job.created_at);
        if let Some(key) = &submission.idempotency
            && let Some(answer) = self.answered(key, now)?
        {
            self.not_created.extend(submission.jobs.iter().map(|job| job.id));
            return Ok(Applied::Submitted(answer));
        }
        if let Some((parent, place)) = self.missing_parent(&submission.jobs)? {
            self.not_created.extend(submission.jobs.iter().map(|job| job.id));
            return Ok(Applied::Submitted(Submitted::NoParent(parent, place)));
        }
        let mut intake = Vec::with_capacity(submission.jobs.len());
        for job in &submission.jobs {
            intake.push(self.take_in(job)?);
        }
        if let Some(key) = &submission.idempotency {
            self.execute(
                sql::PUT_ANSWER,
                (&key.scope, &key.key, key.fingerprint, key.until.0, codec::encode_intake(&intake)),
            )?;
        }
        let ended = self.link(submission, &intake)?;
        Ok(dependency::answer(Submitted::Accepted(intake), ended))
    }

    fn answered(&self, key: &Idempotency, now: Wall) -> Result<Option<Submitted>, Failure> {
        let found: Option<([u8; 32], i64, Vec<u8>)> = self
            .conn
            .prepare_cached(sql::FIND_ANSWER)?
            .query_row((&key.scope, &key.key), |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            .optional()?;
        let Some((fingerprint, until, answer)) = found else { return Ok(None) };
        if Wall(until) <= now {
            return Ok(None);
        }
        if fingerprint != key.fingerprint {
            return Ok(Some(Submitted::KeyReused));
        }
        let intake = codec::decode_intake(&answer)
            .ok_or_else(|| Failure::unreadable("the answer to an idempotency key", "malformed"))?;
        Ok(Some(Submitted::Replayed(intake)))
    }

    pub(super) fn take_in(&mut self, new: &NewJob) -> Result<Intake, Failure> {
        let unique_key = new.spec.options.unique_key.as_deref();
        if let Some(key) = unique_key
            && let Some(holder) = self.unique_holder(&new.spec.kind, key, new.created_at)?
        {
            self.not_created.insert(new.id);
            return Ok(Intake::Duplicate(holder));
        }
        let id = codec::job_key(new.id);
        if self.prepared.job_is_final.query_row([id], |row| row.get(0))? {
            return Err(refusal::id_taken(new.id).into());
        }
        let inline = new.spec.payload.len() <= INLINE_PAYLOAD_BYTES;
        let inserted = self.prepared.insert_job.execute((
            id,
            new.seq.cast_signed(),
            new.spec.kind.as_str(),
            new.spec.queue.as_str(),
            new.spec.priority,
            new.created_at.0,
            new.spec.run_at.map(|at| at.0),
            new.due_at.0,
            unique_key,
            options::encode(&new.spec.options)?,
            inline.then_some(&new.spec.payload),
        ));
        match inserted {
            Ok(_) => {}
            Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::ConstraintViolation) => {
                return Err(refusal::id_taken(new.id).into());
            }
            Err(error) => return Err(error.into()),
        }
        if !inline {
            self.execute(sql::INSERT_PAYLOAD, (id, &new.spec.payload))?;
        }
        if let Some(key) = unique_key {
            self.hold_unique(new.spec.kind.as_str(), key, new.id, None)?;
        }
        self.last_seq = self.last_seq.max(new.seq);
        Ok(Intake::Created(new.id))
    }
}
