-- What was counted of one group in the buckets of a window, by steps of so many of them.
SELECT (bucket - ?2) / ?4 AS step, sum(count) FROM failure_trend
WHERE fingerprint = ?1 AND bucket >= ?2 AND bucket < ?3
GROUP BY step ORDER BY step;
