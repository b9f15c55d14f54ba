-- Writes rows of the ledger. Whether each may replace another was decided before, in the same transaction.
INSERT INTO ganger.occurrence (schedule, due_at, decided_at, cause, state, job, why, since, count)
SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::uuid[], $7::text[],
                     $8::bigint[], $9::bigint[])
ON CONFLICT (schedule, due_at) DO UPDATE
SET decided_at = excluded.decided_at, cause = excluded.cause, state = excluded.state, job = excluded.job,
    why = excluded.why, since = excluded.since, count = excluded.count;
