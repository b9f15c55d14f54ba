-- What an attempt logged, trimmed by the caller.
INSERT OR REPLACE INTO log (job, attempt, text) VALUES (?1, ?2, ?3);
