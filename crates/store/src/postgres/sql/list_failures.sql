-- Groups of failures that were seen since, the last seen first.
SELECT fingerprint, kind, count, first_at, last_at, job, error FROM ganger.failure
WHERE last_at >= $1 ORDER BY last_at DESC, fingerprint DESC LIMIT $2;
