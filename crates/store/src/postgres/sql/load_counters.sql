-- Final jobs that are kept, counted over all days. Those that ended in transactions of users may not be counted yet.
SELECT queue, kind, state, sum(count)::bigint FROM (
    SELECT queue, kind, state, count FROM ganger.counter
    UNION ALL
    SELECT h.queue, h.kind, h.state, 1 FROM ganger.completed c
    CROSS JOIN LATERAL (SELECT * FROM ganger.job_history f WHERE f.id = c.job LIMIT 1) h
) AS counted
GROUP BY queue, kind, state HAVING sum(count) > 0;
