-- One group of failures, by its key.
SELECT fingerprint, kind, count, first_at, last_at, job, error FROM failure WHERE fingerprint = ?1;
