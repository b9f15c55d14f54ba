-- Recorded attempts of jobs that stay live, or become live again.
INSERT INTO ganger.attempt (job, number, record)
SELECT * FROM unnest($1::uuid[], $2::integer[], $3::bytea[])
ON CONFLICT (job, number) DO UPDATE SET record = excluded.record;
