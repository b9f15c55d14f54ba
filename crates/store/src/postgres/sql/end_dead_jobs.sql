-- Jobs that died leave the live ones for the dead, with their counters; their unique keys are free, or held as after
-- success if nobody knows what the last attempt did (End::holds_key in the core). A job that ends without a lease keeps
-- the standing and the fence it had.
WITH gone AS (
    DELETE FROM ganger.job j
    USING unnest($1::uuid[], $2::smallint[], $3::bigint[], $4::integer[], $5::integer[], $6::integer[], $7::bytea[],
                 $8::bytea[], $9::bytea[], $10::bytea[], $11::boolean[])
      AS e (id, state, finished_at, attempt, burnt, lost, last_fence, last_attempt, result, reason, had_lease)
    WHERE j.id = e.id
    RETURNING j.id, j.seq, j.created_at, j.due_at, e.finished_at, j.run_at, j.unique_for,
              coalesce(e.attempt, j.attempt) AS attempt, coalesce(e.burnt, j.burnt) AS burnt,
              coalesce(e.lost, j.lost) AS lost, j.priority, e.state, j.cancel_wanted, j.kind, j.queue,
              CASE WHEN e.had_lease THEN e.last_fence ELSE j.last_fence END AS last_fence,
              j.unique_key, j.tags, j.options, j.payload, e.result, e.reason, e.last_attempt
), kept AS (
    INSERT INTO ganger.job_dead (id, seq, created_at, due_at, finished_at, run_at, unique_for, attempt, burnt, lost,
        priority, state, cancel_wanted, kind, queue, last_fence, unique_key, tags, options, payload, result, reason,
        last_attempt)
    SELECT * FROM gone
), counted AS (
    INSERT INTO ganger.counter (day, state, queue, kind, count)
    SELECT finished_at / 86400000000, state, queue, kind, count(*) FROM gone GROUP BY 1, 2, 3, 4
    ON CONFLICT (day, state, queue, kind) DO UPDATE SET count = counter.count + excluded.count
), held AS (
    UPDATE ganger.unique_key u SET until = g.finished_at + g.unique_for
    FROM gone g
    WHERE g.unique_key IS NOT NULL AND g.unique_for IS NOT NULL AND g.reason = 'delivery unknown'::bytea
      AND u.kind = g.kind AND u.key = g.unique_key
), freed AS (
    DELETE FROM ganger.unique_key u USING gone g
    WHERE g.unique_key IS NOT NULL AND NOT (g.unique_for IS NOT NULL AND coalesce(g.reason = 'delivery unknown'::bytea, false))
      AND u.kind = g.kind AND u.key = g.unique_key
)
SELECT ganger.expect(count(*), $12) FROM gone;
