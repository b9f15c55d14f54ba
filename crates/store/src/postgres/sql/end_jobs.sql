-- Jobs that succeeded or were cancelled leave the live ones for the history, with their counters and unique keys: a key
-- is held a while longer after success, and is free otherwise. A job that ends without a lease keeps the standing and
-- the fence it had.
--
-- Most jobs succeed at their first attempt, and arrays have to be unpacked: these seven cost a tenth of the statement. So of
-- $5 to $11 each is empty where it would say that of every job. The live rows are found all at once, in the order of their
-- pages, and then joined by hashing: looking for them one by one costs more, and comparing each with each, which looks cheap where few
-- are expected, cannot make a full join. What is kept is gone through once for its
-- counters, and again only if there is a unique key among it. An id that is named twice, or is not live, leaves `gone` short.
WITH gone AS (
    DELETE FROM ganger.job WHERE id = ANY ($1::uuid[])
    RETURNING id, seq, created_at, due_at, run_at, unique_for, attempt, burnt, lost, priority, cancel_wanted, kind, queue,
              last_fence, unique_key, tags, options, payload
), kept AS (
    INSERT INTO ganger.job_history (id, seq, created_at, due_at, finished_at, run_at, unique_for, attempt, burnt, lost,
        priority, state, cancel_wanted, kind, queue, last_fence, unique_key, tags, options, payload, result, reason,
        last_attempt)
    SELECT g.id, g.seq, g.created_at, g.due_at, e.finished_at, g.run_at, g.unique_for,
           CASE WHEN e.unleased THEN g.attempt ELSE coalesce(e.attempt, 1) END,
           CASE WHEN e.unleased THEN g.burnt ELSE coalesce(e.burnt, 1) END,
           CASE WHEN e.unleased THEN g.lost ELSE coalesce(e.lost, 0) END,
           g.priority, CASE WHEN cardinality($5::smallint[]) = 0 THEN 0 ELSE e.state END, g.cancel_wanted, g.kind, g.queue,
           CASE WHEN e.unleased THEN g.last_fence ELSE e.last_fence END,
           g.unique_key, g.tags, g.options, g.payload, e.result, e.reason, e.last_attempt
    FROM gone g
    FULL JOIN unnest($1::uuid[], $2::bigint[], $3::bytea[], $4::bytea[], $5::smallint[], $6::integer[], $7::integer[],
                $8::integer[], $9::bytea[], $10::bytea[], $11::boolean[])
      AS e (id, finished_at, last_attempt, result, state, attempt, burnt, lost, last_fence, reason, unleased)
      ON e.id = g.id
    WHERE coalesce(e.id = g.id, false)
    RETURNING finished_at, state, queue, kind, unique_key, unique_for
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
      AND k.unique_key IS NOT NULL AND k.state = 0 AND k.unique_for IS NOT NULL
      AND u.kind = k.kind AND u.key = k.unique_key
), freed AS (
    DELETE FROM ganger.unique_key u USING kept k
    WHERE EXISTS (SELECT FROM sums WHERE keys > 0)
      AND k.unique_key IS NOT NULL AND NOT (k.state = 0 AND k.unique_for IS NOT NULL)
      AND u.kind = k.kind AND u.key = k.unique_key
)
SELECT ganger.expect(count(*), $12) FROM gone;
