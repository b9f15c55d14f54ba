-- Keeps documents.
INSERT INTO ganger.document (collection, key, body) SELECT * FROM unnest($1::text[], $2::text[], $3::text[])
ON CONFLICT (collection, key) DO UPDATE SET body = excluded.body;
