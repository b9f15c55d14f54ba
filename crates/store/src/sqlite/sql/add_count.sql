-- Final jobs that came, once per batch and sort.
INSERT INTO counter (queue, kind, state, count) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (queue, kind, state) DO UPDATE SET count = count + excluded.count;
