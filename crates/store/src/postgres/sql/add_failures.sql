-- Counts failures of groups, each with the last of its failures as a sample.
INSERT INTO ganger.failure AS f (fingerprint, kind, count, first_at, last_at, job, error)
SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::uuid[], $7::bytea[])
ON CONFLICT (fingerprint) DO UPDATE
SET count = f.count + excluded.count,
    first_at = least(f.first_at, excluded.first_at),
    last_at = greatest(f.last_at, excluded.last_at),
    job = CASE WHEN excluded.last_at >= f.last_at THEN excluded.job ELSE f.job END,
    error = CASE WHEN excluded.last_at >= f.last_at THEN excluded.error ELSE f.error END;
