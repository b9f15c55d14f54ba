-- The settings of kinds.
INSERT INTO ganger.kind (name, settings) SELECT * FROM unnest($1::text[], $2::text[])
ON CONFLICT (name) DO UPDATE SET settings = excluded.settings;
