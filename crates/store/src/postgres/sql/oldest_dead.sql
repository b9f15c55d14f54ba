-- The oldest jobs of each of these queues that ended at its moment or earlier, and of all those the oldest.
SELECT o.finished_at, o.id
FROM unnest($1::text[], $2::bigint[]) AS q (queue, cutoff)
CROSS JOIN LATERAL (
    SELECT f.finished_at, f.id FROM ganger.job_dead f
    WHERE f.queue = q.queue COLLATE "C" AND f.finished_at <= q.cutoff
    ORDER BY f.finished_at, f.id LIMIT $3
) o
ORDER BY o.finished_at, o.id LIMIT $3;
