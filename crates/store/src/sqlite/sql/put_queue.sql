-- The settings of a queue.
INSERT OR REPLACE INTO queue (name, settings) VALUES (?1, ?2);
