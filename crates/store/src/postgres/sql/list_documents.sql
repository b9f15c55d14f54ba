-- The documents of a collection, by name.
SELECT key, body FROM ganger.document WHERE collection = $1 ORDER BY key;
