-- Forgets the ledgers of schedules, each up to an instant.
DELETE FROM ganger.occurrence o USING unnest($1::uuid[], $2::bigint[]) AS f (schedule, until)
WHERE o.schedule = f.schedule AND o.due_at <= f.until;
