-- Forgets documents.
DELETE FROM ganger.document d USING unnest($1::text[], $2::text[]) AS gone (collection, key)
WHERE d.collection = gone.collection AND d.key = gone.key;
