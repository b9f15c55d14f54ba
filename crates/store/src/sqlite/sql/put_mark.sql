-- The attempt of a job under this lease must not be repeated. A later lease takes the place of an earlier one.
INSERT OR REPLACE INTO effect_mark (job, fence) VALUES (?1, ?2);
