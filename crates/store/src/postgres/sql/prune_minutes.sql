-- Forgets the oldest buckets, of minutes before this one.
DELETE FROM ganger.minute AS m USING (
    SELECT minute, queue, kind FROM ganger.minute WHERE minute < $1 ORDER BY minute, queue, kind LIMIT $2
) AS old
WHERE m.minute = old.minute AND m.queue = old.queue AND m.kind = old.kind;
