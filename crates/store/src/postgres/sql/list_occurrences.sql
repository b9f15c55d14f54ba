-- The ledger of a schedule, newest first, from before an instant on.
SELECT state, job, why, since, count, due_at, decided_at, cause FROM ganger.occurrence
WHERE schedule = $1 AND due_at < $2 ORDER BY due_at DESC LIMIT $3;
