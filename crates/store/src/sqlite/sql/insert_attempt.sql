-- A recorded attempt of a job that stays live, or becomes live again.
INSERT OR REPLACE INTO attempt (job, number, record) VALUES (?1, ?2, ?3);
