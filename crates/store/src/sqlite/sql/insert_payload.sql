-- A payload too large to travel with its row each time that row moves.
INSERT INTO payload (job, body) VALUES (?1, ?2);
