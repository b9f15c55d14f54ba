-- The oldest jobs of each of these queues that ended at its moment or earlier, and of all those the oldest. What the
-- leader does not know to be final it cannot take for removed.
SELECT o.finished_at, o.id
FROM unnest($1::text[], $2::bigint[]) AS q (queue, cutoff)
CROSS JOIN LATERAL (
    SELECT f.finished_at, f.id FROM ganger.job_history f
    WHERE f.queue = q.queue COLLATE "C" AND f.finished_at <= q.cutoff
      AND NOT EXISTS (SELECT 1 FROM ganger.completed c WHERE c.job = f.id)
    ORDER BY f.finished_at, f.id LIMIT $3
) o
ORDER BY o.finished_at, o.id LIMIT $3;
