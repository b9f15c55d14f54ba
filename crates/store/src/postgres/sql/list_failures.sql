-- Groups of failures that were seen since, of a kind unless it is null, the last seen first.
SELECT fingerprint, kind, count, first_at, last_at, job, error FROM ganger.failure
WHERE last_at >= $1 AND ($2::text IS NULL OR kind = $2)
ORDER BY last_at DESC, fingerprint DESC LIMIT $3;
