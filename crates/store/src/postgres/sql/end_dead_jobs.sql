-- Jobs that died leave the live ones for the dead, with their counters; their unique keys are free, or held as after
-- success if nobody knows what the last attempt did (End::holds_key in the core). A job that ends without a lease keeps
-- the standing and the fence it had. Written as end_jobs is, and for the same reasons: $6 to $11 may be empty here, too.
WITH gone AS (
    DELETE FROM ganger.job WHERE id = ANY ($1::uuid[])
    RETURNING id, seq, created_at, due_at, run_at, unique_for, attempt, burnt, lost, priority, cancel_wanted, kind, queue,
              last_fence, unique_key, tags, options, payload
), kept AS (
    INSERT INTO ganger.job_dead (id, seq, created_at, due_at, finished_at, run_at, unique_for, attempt, burnt, lost,
        priority, state, cancel_wanted, kind, queue, last_fence, unique_key, tags, options, payload, result, reason,
        last_attempt)
    SELECT g.id, g.seq, g.created_at, g.due_at, e.finished_at, g.run_at, g.unique_for,
           CASE WHEN e.unleased THEN g.attempt ELSE coalesce(e.attempt, 1) END,
           CASE WHEN e.unleased THEN g.burnt ELSE coalesce(e.burnt, 1) END,
           CASE WHEN e.unleased THEN g.lost ELSE coalesce(e.lost, 0) END,
           g.priority, e.state, g.cancel_wanted, g.kind, g.queue,
           CASE WHEN e.unleased THEN g.last_fence ELSE e.last_fence END,
           g.unique_key, g.tags, g.options, g.payload, e.result, e.reason, e.last_attempt
    FROM gone g
    FULL JOIN unnest($1::uuid[], $2::bigint[], $3::bytea[], $4::bytea[], $5::smallint[], $6::integer[], $7::integer[],
                $8::integer[], $9::bytea[], $10::bytea[], $11::boolean[])
      AS e (id, finished_at, last_attempt, result, state, attempt, burnt, lost, last_fence, reason, unleased)
      ON e.id = g.id
    WHERE coalesce(e.id = g.id, false)
    RETURNING finished_at, state, queue, kind, unique_key, unique_for, reason
), sums AS MATERIALIZED (
    SELECT finished_at / 86400000000 AS day, state, queue, kind, count(*) AS count, count(unique_key) AS keys
    FROM kept GROUP BY 1, 2, 3, 4
), counted AS (
    INSERT INTO ganger.counter (day, state, queue, kind, count)
    SELECT day, state, queue, kind, count FROM sums
    ON CONFLICT (day, state, queue, kind) DO UPDATE SET count = counter.count + excluded.count
), held AS (
    UPDATE ganger.unique_key u SET until = k.finished_at + k.unique_for
    FROM kept k
    WHERE EXISTS (SELECT FROM sums WHERE keys > 0)
      AND k.unique_key IS NOT NULL AND k.unique_for IS NOT NULL AND k.reason = 'delivery unknown'::bytea
      AND u.kind = k.kind AND u.key = k.unique_key
), freed AS (
    DELETE FROM ganger.unique_key u USING kept k
    WHERE EXISTS (SELECT FROM sums WHERE keys > 0)
      AND k.unique_key IS NOT NULL AND NOT (k.unique_for IS NOT NULL AND coalesce(k.reason = 'delivery unknown'::bytea, false))
      AND u.kind = k.kind AND u.key = k.unique_key
)
SELECT ganger.expect(count(*), $12) FROM gone;
