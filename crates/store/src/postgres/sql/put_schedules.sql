-- Keeps schedules, and how they stand.
INSERT INTO ganger.schedule (id, name, record, standing)
SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[])
ON CONFLICT (id) DO UPDATE SET name = excluded.name, record = excluded.record, standing = excluded.standing;
