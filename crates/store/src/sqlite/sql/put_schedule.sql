-- Keeps a schedule, and how it stands.
INSERT INTO schedule (id, name, record, standing) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (id) DO UPDATE SET name = excluded.name, record = excluded.record, standing = excluded.standing;
