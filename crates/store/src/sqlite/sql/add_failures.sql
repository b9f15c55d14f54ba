-- Counts failures of one group, whose sample is the last of them.
INSERT INTO failure (fingerprint, kind, count, first_at, last_at, job, error) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
ON CONFLICT (fingerprint) DO UPDATE
SET count = count + excluded.count,
    first_at = min(first_at, excluded.first_at),
    job = iif(excluded.last_at >= last_at, excluded.job, job),
    error = iif(excluded.last_at >= last_at, excluded.error, error),
    last_at = max(last_at, excluded.last_at);
