-- Final jobs become live again, at the end of the order of intake, with their allowance renewed. The caller gives the
-- fence, which the last attempt may have carried, and writes that attempt as a row of its own.
WITH back AS (
    SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bytea[]) AS b (id, seq, due_at, last_fence)
), from_history AS (
    DELETE FROM ganger.job_history h USING back b WHERE h.id = b.id RETURNING h.*
), from_dead AS (
    DELETE FROM ganger.job_dead d USING back b WHERE d.id = b.id RETURNING d.*
), gone AS (
    SELECT * FROM from_history UNION ALL SELECT * FROM from_dead
), live AS (
    INSERT INTO ganger.job (id, seq, created_at, due_at, run_at, unique_for, attempt, burnt, lost, priority, retrying,
                            cancel_wanted, kind, queue, last_fence, unique_key, tags, options, payload)
    SELECT g.id, b.seq, g.created_at, b.due_at, g.run_at, g.unique_for, g.attempt, 0, 0, g.priority, false,
           false, g.kind, g.queue, b.last_fence, g.unique_key, g.tags, g.options, g.payload
    FROM gone g JOIN back b ON b.id = g.id
), counted AS (
    UPDATE ganger.counter c SET count = c.count - n.count
    FROM (SELECT finished_at / 86400000000 AS day, state, queue, kind, count(*) AS count
          FROM gone GROUP BY 1, 2, 3, 4) n
    WHERE c.day = n.day AND c.state = n.state AND c.queue = n.queue AND c.kind = n.kind
)
SELECT ganger.expect(count(*), $5) FROM gone;
