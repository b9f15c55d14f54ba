-- Gives a unique key to a job.
INSERT OR REPLACE INTO unique_key (kind, key, job, until) VALUES (?1, ?2, ?3, ?4);
