-- The leader knows that these jobs ended in transactions of users: from now on they are counted like all others.
WITH known AS (
    DELETE FROM ganger.completed WHERE job = ANY ($1) RETURNING job
)
INSERT INTO ganger.counter (day, state, queue, kind, count)
SELECT h.finished_at / 86400000000, h.state, h.queue, h.kind, count(*)
FROM known k
CROSS JOIN LATERAL (SELECT * FROM ganger.job_history f WHERE f.id = k.job LIMIT 1) h
GROUP BY 1, 2, 3, 4
ON CONFLICT (day, state, queue, kind) DO UPDATE SET count = counter.count + excluded.count;
