-- Removes final jobs with everything that was kept beside them, takes them out of the counters, and tells how many of
-- each sort there were.
WITH from_history AS (
    DELETE FROM ganger.job_history WHERE id = ANY ($1)
    RETURNING id, finished_at / 86400000000 AS day, state, queue, kind
), from_dead AS (
    DELETE FROM ganger.job_dead WHERE id = ANY ($1)
    RETURNING id, finished_at / 86400000000 AS day, state, queue, kind
), gone AS (
    SELECT * FROM from_history UNION ALL SELECT * FROM from_dead
), attempts AS (
    DELETE FROM ganger.attempt a USING gone g WHERE a.job = g.id
), logs AS (
    DELETE FROM ganger.log l USING gone g WHERE l.job = g.id
), payloads AS (
    DELETE FROM ganger.payload p USING gone g WHERE p.job = g.id
), edges AS (
    DELETE FROM ganger.edge e USING gone g WHERE e.child = g.id
), sorts AS (
    SELECT day, state, queue, kind, count(*) AS count FROM gone GROUP BY 1, 2, 3, 4
), counted AS (
    UPDATE ganger.counter c SET count = c.count - s.count
    FROM sorts s WHERE c.day = s.day AND c.state = s.state AND c.queue = s.queue AND c.kind = s.kind
)
SELECT queue, kind, state, sum(count)::bigint FROM sorts GROUP BY queue, kind, state;
