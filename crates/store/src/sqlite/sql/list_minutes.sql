-- The buckets of a span of minutes, the newest first.
SELECT minute, queue, kind, counts, total FROM minute
WHERE minute >= ?1 AND minute < ?2 AND (?3 IS NULL OR queue = ?3) AND (?4 IS NULL OR kind = ?4)
ORDER BY minute DESC, queue DESC, kind DESC LIMIT ?5;
