-- What attempts logged, trimmed by the caller.
INSERT INTO ganger.log (job, attempt, text) SELECT * FROM unnest($1::uuid[], $2::integer[], $3::bytea[])
ON CONFLICT (job, attempt) DO UPDATE SET text = excluded.text;
