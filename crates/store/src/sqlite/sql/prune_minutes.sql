-- Forgets the oldest buckets, of minutes before this one.
DELETE FROM minute WHERE (minute, queue, kind) IN (
    SELECT minute, queue, kind FROM minute WHERE minute < ?1 ORDER BY minute, queue, kind LIMIT ?2);
