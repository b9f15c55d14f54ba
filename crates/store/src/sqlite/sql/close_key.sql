-- A key of a queue is closed until then.
INSERT OR REPLACE INTO closed_key (queue, key, until) VALUES (?1, ?2, ?3);
