-- Opens a session, or closes it if there is no record.
INSERT OR REPLACE INTO session (id, record) VALUES (?1, ?2);
