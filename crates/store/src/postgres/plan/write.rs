//! The statements that write a segment.

use ganger_core::change::NewJob;
use ganger_core::job::State;
use ganger_core::{Fence, JobId, Wall};
use uuid::Uuid;

use super::session::Write;
use super::{Created, Ended, Segment};
use crate::postgres::copy;
use crate::postgres::error::Failure;
use crate::postgres::pipeline::{Param, Pipeline, param};
use crate::postgres::row::NewRow;
use crate::postgres::sql::Sql;
use crate::postgres::{codec, sql};
use crate::seen::Seen;

/// With more new jobs than this, COPY is cheaper than arrays.
pub(super) const COPIED: usize = 500;
/// Larger payloads sit in their own table, so that ending a job does not copy them.
const INLINE_PAYLOAD_BYTES: usize = 2 << 10;

impl<'b> Segment<'b> {
    /// Adds the statements. Each job is in at most one of the groups that insert, change or delete its row, but for
    /// patches, which come first; a unique key is released by the end of its job before it is given to another.
    pub(in crate::postgres) fn write(mut self, pipeline: &mut Pipeline<'b>) -> Result<(), Failure> {
        self.write_patches(pipeline)?;
        self.write_logs(pipeline)?;
        self.write_attempts(pipeline)?;
        self.write_agains(pipeline)?;
        let (kept, forgotten): (Vec<_>, Vec<_>) = self.ended.drain(..).partition(|ended| ended.end.keep);
        let (dead, history): (Vec<_>, Vec<_>) =
            kept.into_iter().partition(|ended| ended.end.state == State::Dead);
        write_ended(pipeline, sql::END_JOBS, history)?;
        write_ended(pipeline, sql::END_DEAD_JOBS, dead)?;
        write_forgotten(pipeline, &forgotten)?;
        self.write_created(pipeline)?;
        self.write_stillborn(pipeline)?;
        self.write_edges(pipeline)?;
        self.write_revived(pipeline)?;
        self.write_ledgers(pipeline)?;
        self.write_sessions(pipeline)?;
        self.write_assignments(pipeline)?;
        self.write_elsewhere(pipeline)?;
        self.write_failures(pipeline)?;
        self.write_documents(pipeline)?;
        self.write_closed_keys(pipeline)?;
        self.write_marks(pipeline)?;
        self.write_schedules(pipeline)?;
        if !self.queues.is_empty() {
            let (names, settings): (Vec<&str>, Vec<String>) = self.queues.into_iter().unzip();
            pipeline.add(sql::PUT_QUEUES, vec![param(names), param(settings)])?;
        }
        if !self.kinds.is_empty() {
            let (names, settings): (Vec<&str>, Vec<String>) = self.kinds.into_iter().unzip();
            pipeline.add(sql::PUT_KINDS, vec![param(names), param(settings)])?;
        }
        Ok(())
    }

    fn write_failures(&mut self, pipeline: &mut Pipeline<'b>) -> Result<(), Failure> {
        let Seen { groups, trends } = std::mem::take(&mut self.failures);
        if groups.is_empty() {
            return Ok(());
        }
        let groups: Vec<_> = groups.into_values().collect();
        let trends: Vec<_> = trends.into_iter().collect();
        pipeline.add(
            sql::ADD_FAILURES,
            vec![
                column(&groups, |group| group.fingerprint.0.cast_signed()),
                column(&groups, |group| group.kind.as_str().to_owned()),
                column(&groups, |group| group.count.cast_signed()),
                column(&groups, |group| group.first_at.0),
                column(&groups, |group| group.last_at.0),
                column(&groups, |group| group.job.uuid()),
                column(&groups, |group| group.error.clone().into_bytes()),
            ],
        )?;
        pipeline.add(
            sql::ADD_FAILURE_TRENDS,
            vec![
                column(&trends, |((group, _), _)| group.0.cast_signed()),
                column(&trends, |((_, bucket), _)| *bucket),
                column(&trends, |(_, count)| count.cast_signed()),
            ],
        )?;
        Ok(())
    }

    fn write_documents(&mut self, pipeline: &mut Pipeline<'b>) -> Result<(), Failure> {
        let (mut kept, mut gone) = ((Vec::new(), Vec::new(), Vec::new()), (Vec::new(), Vec::new()));
        for ((collection, key), body) in std::mem::take(&mut self.documents) {
            match body {
                Some(body) => {
                    kept.0.push(collection.as_str());
                    kept.1.push(key);
                    kept.2.push(body);
                }
                None => {
                    gone.0.push(collection.as_str());
                    gone.1.push(key);
                }
            }
        }
        if !kept.0.is_empty() {
            pipeline.add(sql::PUT_DOCUMENTS, vec![param(kept.0), param(kept.1), param(kept.2)])?;
        }
        if !gone.0.is_empty() {
            pipeline.add(sql::DELETE_DOCUMENTS, vec![param(gone.0), param(gone.1)])?;
        }
        Ok(())
    }

    fn write_closed_keys(&mut self, pipeline: &mut Pipeline<'b>) -> Result<(), Failure> {
        let (mut closed, mut open) = ((Vec::new(), Vec::new(), Vec::new()), (Vec::new(), Vec::new()));
        for ((queue, key), until) in std::mem::take(&mut self.closed_keys) {
            match until {
                Some(until) => {
                    closed.0.push(queue);
                    closed.1.push(key);
                    closed.2.push(until.0);
                }
                None => {
                    open.0.push(queue);
                    open.1.push(key);
                }
            }
        }
        if !closed.0.is_empty() {
            pipeline.add(sql::CLOSE_KEYS, vec![param(closed.0), param(closed.1), param(closed.2)])?;
        }
        if !open.0.is_empty() {
            pipeline.add(sql::OPEN_KEYS, vec![param(open.0), param(open.1)])?;
        }
        Ok(())
    }

    fn write_patches(&mut self, pipeline: &mut Pipeline<'b>) -> Result<(), Failure> {
        if self.patches.is_empty() {
            return Ok(());
        }
        let patches = &self.patches;
        pipeline.add(
            sql::PATCH_JOBS,
            vec![
                column(patches, |patch| patch.job.uuid()),
                column(patches, |patch| patch.due_at.map(|at| at.0)),
                column(patches, |patch| patch.cancel_wanted),
            ],
        )?;
        Ok(())
    }

    fn write_logs(&mut self, pipeline: &mut Pipeline<'b>) -> Result<(), Failure> {
        if self.logs.is_empty() {
            return Ok(());
        }
        let logs: Vec<_> = self.logs.drain().collect();
        let texts: Vec<Vec<u8>> = logs
            .iter()
            .map(|place| self.facts.logs.get(place).cloned().unwrap_or_default().into_bytes())
            .collect();
        pipeline.add(
            sql::PUT_LOGS,
            vec![
                column(&logs, |(job, _)| job.uuid()),
                column(&logs, |(_, attempt)| attempt.cast_signed()),
                param(texts),
            ],
        )?;
        Ok(())
    }

    fn write_attempts(&mut self, pipeline: &mut Pipeline<'b>) -> Result<(), Failure> {
        if self.attempts.is_empty() {
            return Ok(());
        }
        let jobs = column(&self.attempts, |(job, ..)| job.uuid());
        let numbers = column(&self.attempts, |(_, number, _)| number.cast_signed());
        let records: Vec<Vec<u8>> = self.attempts.drain(..).map(|(.., bytes)| bytes).collect();
        pipeline.add(sql::PUT_ATTEMPTS, vec![jobs, numbers, param(records)])?;
        Ok(())
    }

    fn write_agains(&mut self, pipeline: &mut Pipeline<'b>) -> Result<(), Failure> {
        if self.agains.is_empty() {
            return Ok(());
        }
        let agains = &self.agains;
        pipeline.add(
            sql::JOBS_AGAIN,
            vec![
                column(agains, |again| again.job.uuid()),
                column(agains, |again| again.due_at.0),
                column(agains, |again| again.retrying),
                column(agains, |again| again.standing.attempt.cast_signed()),
                column(agains, |again| again.standing.burnt.cast_signed()),
                column(agains, |again| again.standing.lost.cast_signed()),
                column(agains, |again| codec::fence_key(again.fence)),
                column(agains, |again| again.cancel_wanted),
                count(agains.len()),
            ],
        )?;
        Ok(())
    }

    fn write_created(&mut self, pipeline: &mut Pipeline<'b>) -> Result<(), Failure> {
        if !self.suspects.is_empty() {
            let ids = column(&self.suspects, |id| id.uuid());
            pipeline.add(sql::EXPECT_NO_FINALS, vec![ids])?;
        }
        let large: Vec<&NewJob> =
            self.created.iter().map(|created| created.new).filter(|new| !is_inline(new)).collect();
        let rows = self.rows()?;
        if rows.len() > COPIED {
            copy::jobs(pipeline, rows)?;
        } else if !rows.is_empty() {
            pipeline.add(sql::INSERT_JOBS, NewRow::columns(&rows))?;
        }
        if !large.is_empty() {
            let ids = column(&large, |new| new.id.uuid());
            let bodies: Vec<&'b [u8]> = large.iter().map(|new| new.spec.payload.as_bytes()).collect();
            pipeline.add(sql::INSERT_PAYLOADS, vec![ids, param(bodies)])?;
        }
        Ok(())
    }

    /// New jobs as rows.
    pub(super) fn rows(&mut self) -> Result<Vec<NewRow<'b>>, Failure> {
        let row = |created: Created<'b>| {
            let payload = is_inline(created.new).then_some(created.new.spec.payload.as_bytes());
            let mut row = NewRow::of(created.new, payload)?;
            (row.due_at, row.cancel_wanted) = (created.due_at, created.cancel_wanted);
            Ok(row)
        };
        self.created.drain(..).map(row).collect()
    }

    fn write_revived(&mut self, pipeline: &mut Pipeline<'b>) -> Result<(), Failure> {
        if self.revived.is_empty() {
            return Ok(());
        }
        let revived = &self.revived;
        pipeline.add(
            sql::REVIVE_JOBS,
            vec![
                column(revived, |revived| revived.replay.job.uuid()),
                column(revived, |revived| revived.replay.seq.cast_signed()),
                column(revived, |revived| revived.replay.at.0),
                column(revived, |revived| revived.last_fence.map(codec::fence_key)),
                count(revived.len()),
            ],
        )?;
        Ok(())
    }

    /// The answers to idempotency keys, which earlier ones they replace, and how many they are.
    pub(super) fn answer_columns(&mut self) -> Vec<Param<'b>> {
        // What was read has run out, whatever its moment. Unread, an answer that runs out between the submissions of a batch
        // is taken for one that holds.
        let asked_at = self.answers.values().min().filter(|_| !self.facts.read).copied();
        let answers: Vec<_> = std::mem::take(&mut self.answers)
            .into_keys()
            .filter_map(|place| Some((self.facts.answers.get(&place)?.clone(), place)))
            .collect();
        vec![
            column(&answers, |(_, (scope, _))| scope.clone().into_bytes()),
            column(&answers, |(_, (_, key))| key.clone().into_bytes()),
            column(&answers, |(answer, _)| answer.fingerprint.clone()),
            column(&answers, |(answer, _)| answer.until.0),
            column(&answers, |(answer, _)| codec::encode_intake(&answer.intake)),
            param(asked_at.map_or(i64::MAX, |at| at.0)),
            count(answers.len()),
        ]
    }

    fn write_ledgers(&mut self, pipeline: &mut Pipeline<'b>) -> Result<(), Failure> {
        if !self.answers.is_empty() {
            pipeline.add(sql::PUT_ANSWERS, self.answer_columns())?;
        }
        let holders: Vec<_> = self
            .holders
            .drain()
            .filter_map(|place| Some((*self.facts.holders.get(&place)?, place)))
            .collect();
        if !holders.is_empty() {
            pipeline.add(
                sql::PUT_HOLDERS,
                vec![
                    column(&holders, |(_, (kind, _))| kind.clone()),
                    column(&holders, |(_, (_, key))| key.clone()),
                    column(&holders, |(holder, _)| holder.job.uuid()),
                    column(&holders, |(holder, _)| holder.until.map(|until: Wall| until.0)),
                ],
            )?;
        }
        Ok(())
    }

    fn write_sessions(&mut self, pipeline: &mut Pipeline<'b>) -> Result<(), Failure> {
        let (mut opened, mut records) = (Vec::<Uuid>::new(), Vec::<String>::new());
        let (mut closed, mut forgotten) = (Vec::<Uuid>::new(), Vec::<Uuid>::new());
        for (id, write) in self.sessions.drain() {
            match write {
                Write::Open(record) => {
                    opened.push(id.uuid());
                    records.push(record);
                }
                Write::Close => closed.push(id.uuid()),
                Write::Forget => forgotten.push(id.uuid()),
            }
        }
        if !opened.is_empty() {
            let expected = count(opened.len());
            pipeline.add(sql::OPEN_SESSIONS, vec![param(opened), param(records), expected])?;
        }
        if !closed.is_empty() {
            pipeline.add(sql::CLOSE_SESSIONS, vec![param(closed)])?;
        }
        if !forgotten.is_empty() {
            pipeline.add(sql::FORGET_SESSIONS, vec![param(forgotten)])?;
        }
        Ok(())
    }

    pub(super) fn assignment_columns(&self) -> Vec<Param<'b>> {
        let given = &self.assignments;
        vec![
            column(given, |assignment| codec::fence_key(assignment.first)),
            column(given, |assignment| assignment.session.uuid()),
            column(given, |assignment| assignment.at.0),
            column(given, |assignment| codec::encode_leases(&assignment.leases)),
        ]
    }

    fn write_assignments(&mut self, pipeline: &mut Pipeline<'b>) -> Result<(), Failure> {
        let wanted = std::mem::take(&mut self.wanted);
        let leasable = std::mem::take(&mut self.leasable).into_iter();
        let (bring, expect): (Vec<_>, Vec<_>) = leasable.partition(|(job, _)| wanted.contains(job));
        if !expect.is_empty() {
            pipeline.add(sql::EXPECT_LEASABLE, leases(&expect))?;
        }
        if !bring.is_empty() {
            pipeline.bring(sql::BRING_LEASABLE, leases(&bring))?;
        }
        if !self.over.is_empty() {
            pipeline
                .add(sql::DELETE_ASSIGNMENTS, vec![column(&self.over, |first| codec::fence_key(*first))])?;
        }
        if !self.assignments.is_empty() {
            pipeline.add(sql::INSERT_ASSIGNMENTS, self.assignment_columns())?;
        }
        Ok(())
    }
}

/// The parameters of a look at the jobs of these leases.
fn leases<'b>(leases: &[(JobId, Fence)]) -> Vec<Param<'b>> {
    let earliest = leases.iter().map(|(_, fence)| codec::fence_key(*fence)).min();
    vec![column(leases, |(job, _)| job.uuid()), param(earliest), count(leases.len())]
}

/// What users' transactions do, or may do.
impl<'b> Segment<'b> {
    /// New jobs that are dead from the start: their rows go on at once.
    fn write_stillborn(&mut self, pipeline: &mut Pipeline<'b>) -> Result<(), Failure> {
        if self.stillborn.is_empty() {
            return Ok(());
        }
        let dead = &self.stillborn;
        pipeline.add(
            sql::END_DEAD_JOBS,
            vec![
                column(dead, |(job, ..)| job.uuid()),
                column(dead, |(_, at, _)| at.0),
                param(Vec::<Vec<u8>>::new()),
                param(Vec::<Vec<u8>>::new()),
                column(dead, |_| codec::state_code(State::Dead)),
                param(Vec::<i32>::new()),
                param(Vec::<i32>::new()),
                param(Vec::<i32>::new()),
                param(Vec::<Vec<u8>>::new()),
                column(dead, |(.., reason)| reason.as_bytes()),
                column(dead, |_| true),
                count(dead.len()),
            ],
        )?;
        Ok(())
    }

    fn write_elsewhere(&mut self, pipeline: &mut Pipeline<'b>) -> Result<(), Failure> {
        if !self.transactional.is_empty() {
            let leases = &self.transactional;
            pipeline.add(
                sql::LEASE_JOBS,
                vec![
                    column(leases, |(_, lease, _)| lease.job.uuid()),
                    column(leases, |(fence, ..)| codec::fence_key(*fence)),
                    column(leases, |(.., assignment)| assignment.session.uuid()),
                    column(leases, |(fence, lease, of)| codec::encode_unended(of, *fence, *lease)),
                ],
            )?;
        }
        if !self.elsewhere.is_empty() {
            pipeline.add(sql::SETTLE_COMPLETED, vec![column(&self.elsewhere, |job| job.uuid())])?;
        }
        Ok(())
    }
}

fn write_ended<'b>(pipeline: &mut Pipeline<'b>, sql: Sql, mut ended: Vec<Ended<'b>>) -> Result<(), Failure> {
    if ended.is_empty() {
        return Ok(());
    }
    let records: Vec<Option<Vec<u8>>> =
        ended.iter_mut().map(|ended| ended.last.as_mut().and_then(|last| last.record.take())).collect();
    let standing = |ended: &Ended<'b>| ended.last.as_ref().map(|last| last.standing);
    pipeline.add(
        sql,
        vec![
            column(&ended, |ended| ended.job.uuid()),
            column(&ended, |ended| ended.end.at.0),
            param(records),
            column(&ended, |ended| ended.end.result.as_deref().map(str::as_bytes)),
            unusual(&ended, codec::state_code(State::Succeeded), |ended| codec::state_code(ended.end.state)),
            unusual(&ended, Some(1), |ended| standing(ended).map(|standing| standing.attempt.cast_signed())),
            unusual(&ended, Some(1), |ended| standing(ended).map(|standing| standing.burnt.cast_signed())),
            unusual(&ended, Some(0), |ended| standing(ended).map(|standing| standing.lost.cast_signed())),
            unusual(&ended, None, |ended| {
                ended.last.as_ref().and_then(|last| last.fence).map(codec::fence_key)
            }),
            unusual(&ended, None, |ended| ended.end.reason.as_deref().map(str::as_bytes)),
            unusual(&ended, false, |ended| ended.last.is_none()),
            count(ended.len()),
        ],
    )?;
    Ok(())
}

fn write_forgotten<'b>(pipeline: &mut Pipeline<'b>, ended: &[Ended<'b>]) -> Result<(), Failure> {
    if ended.is_empty() {
        return Ok(());
    }
    pipeline.add(
        sql::FORGET_JOBS,
        vec![
            column(ended, |ended| ended.job.uuid()),
            column(ended, |ended| ended.end.holds_key()),
            column(ended, |ended| ended.end.at.0),
            count(ended.len()),
        ],
    )?;
    Ok(())
}

/// One array: a value of each.
pub(super) fn column<'p, T, V>(rows: &[T], value: impl Fn(&T) -> V) -> Param<'p>
where
    V: tokio_postgres::types::ToSql + Sync + Send + 'p,
{
    param(rows.iter().map(value).collect::<Vec<V>>())
}

/// The same, but empty if each has the usual value: the statement takes that for granted.
fn unusual<'p, T, V>(rows: &[T], usual: V, value: impl Fn(&T) -> V) -> Param<'p>
where
    V: tokio_postgres::types::ToSql + PartialEq + Sync + Send + 'p,
{
    let values: Vec<V> = rows.iter().map(value).collect();
    param(if values.iter().all(|value| *value == usual) { Vec::new() } else { values })
}

/// Whether the payload sits in the row of its job.
pub(super) fn is_inline(new: &NewJob) -> bool {
    new.spec.payload.len() <= INLINE_PAYLOAD_BYTES
}

fn count<'p>(rows: usize) -> Param<'p> {
    param(i64::try_from(rows).unwrap_or(i64::MAX))
}
