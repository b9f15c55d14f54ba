-- Gives unique keys to jobs.
INSERT INTO ganger.unique_key (kind, key, job, until)
SELECT * FROM unnest($1::text[], $2::text[], $3::uuid[], $4::bigint[])
ON CONFLICT (kind, key) DO UPDATE SET job = excluded.job, until = excluded.until;
