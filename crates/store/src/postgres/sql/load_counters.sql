-- Final jobs that are kept, counted over all days.
SELECT queue, kind, state, sum(count)::bigint FROM ganger.counter GROUP BY queue, kind, state HAVING sum(count) > 0;
