-- What was counted of groups in the buckets of a window, by steps of so many of them.
SELECT fingerprint, (bucket - $2) / $4 AS step, sum(count)::bigint FROM ganger.failure_trend
WHERE fingerprint = ANY ($1::bigint[]) AND bucket >= $2 AND bucket < $3
GROUP BY fingerprint, step ORDER BY fingerprint, step;
