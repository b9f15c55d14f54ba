-- Sessions end for ever, whether or not they were known.
INSERT INTO ganger.session (id, record) SELECT id, NULL FROM unnest($1::uuid[]) AS closed (id)
ON CONFLICT (id) DO UPDATE SET record = NULL;
