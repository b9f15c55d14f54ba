-- What the ledger says of these occurrences.
SELECT o.state, o.job, o.why, o.since, o.count, o.schedule, o.due_at
FROM unnest($1::uuid[], $2::bigint[]) AS k (schedule, due_at)
JOIN ganger.occurrence o ON o.schedule = k.schedule AND o.due_at = k.due_at;
