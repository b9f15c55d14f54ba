-- Final jobs that are kept, counted over all days. Those that ended in transactions of users may not be counted yet.
SELECT queue, kind, state, sum(count)::bigint FROM (
    SELECT queue, kind, state, count FROM ganger.counter
    UNION ALL
    SELECT h.queue, h.kind, h.state, 1 FROM ganger.completed c JOIN ganger.job_history h ON h.id = c.job
) AS counted
GROUP BY queue, kind, state HAVING sum(count) > 0;
