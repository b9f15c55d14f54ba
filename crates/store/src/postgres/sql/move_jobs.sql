-- For the benchmark alone: what ending jobs cannot do without. The store's own statement is `end_jobs`.
WITH gone AS (
    DELETE FROM ganger.job j
    USING unnest($1::uuid[], $2::bigint[], $3::bytea[], $4::bytea[]) AS e (id, finished_at, last_attempt, result)
    WHERE j.id = e.id
    RETURNING j.id, j.seq, j.created_at, j.due_at, e.finished_at, j.run_at, j.unique_for, j.attempt, j.burnt, j.lost,
              j.priority, 0::smallint, j.cancel_wanted, j.kind, j.queue, j.last_fence, j.unique_key, j.tags, j.options,
              j.payload, e.result, NULL::bytea, e.last_attempt
), kept AS (
    INSERT INTO ganger.job_history (id, seq, created_at, due_at, finished_at, run_at, unique_for, attempt, burnt, lost,
        priority, state, cancel_wanted, kind, queue, last_fence, unique_key, tags, options, payload, result, reason,
        last_attempt)
    SELECT * FROM gone
)
SELECT count(*) FROM gone;
