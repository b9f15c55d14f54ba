-- A job waits for another one.
INSERT INTO edge (child, parent, on_dead, ended) VALUES (?1, ?2, ?3, ?4);
