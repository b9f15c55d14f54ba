-- What was counted in a minute by now, once per batch, queue and kind.
INSERT INTO minute (minute, queue, kind, counts, total) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT (minute, queue, kind) DO UPDATE SET counts = excluded.counts, total = excluded.total;
