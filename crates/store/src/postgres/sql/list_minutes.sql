-- The buckets of a span of minutes, the newest first.
SELECT minute, queue, kind, numbers, wait, run, total FROM ganger.minute
WHERE minute >= $1 AND minute < $2 AND ($3::text IS NULL OR queue = $3) AND ($4::text IS NULL OR kind = $4)
ORDER BY minute DESC, queue DESC, kind DESC LIMIT $5;
