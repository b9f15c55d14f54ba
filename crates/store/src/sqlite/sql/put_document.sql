-- Keeps a document.
INSERT OR REPLACE INTO document (collection, key, body) VALUES (?1, ?2, ?3);
