-- Writes a row of the ledger. Whether it may replace another was decided before, in the same transaction.
INSERT OR REPLACE INTO occurrence (schedule, due_at, decided_at, cause, state, job, why, since, count)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9);
