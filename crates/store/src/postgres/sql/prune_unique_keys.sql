-- Frees unique keys that were held long enough after success, oldest first.
DELETE FROM ganger.unique_key WHERE (kind, key) IN (
    SELECT kind, key FROM ganger.unique_key WHERE until IS NOT NULL AND until <= $1
    ORDER BY until, kind, key LIMIT $2);
