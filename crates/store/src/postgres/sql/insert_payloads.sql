-- Payloads too large to travel with their rows each time those move.
INSERT INTO ganger.payload (job, body) SELECT * FROM unnest($1::uuid[], $2::bytea[]);
