-- What the ledger says of an occurrence.
SELECT state, job, why, since, count FROM occurrence WHERE schedule = ?1 AND due_at = ?2;
