-- The settings of a kind.
INSERT OR REPLACE INTO kind (name, settings) VALUES (?1, ?2);
