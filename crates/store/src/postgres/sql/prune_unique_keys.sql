-- Frees unique keys that were held long enough after success, oldest first, by their places in the table.
DELETE FROM ganger.unique_key WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM ganger.unique_key WHERE until IS NOT NULL AND until <= $1
    ORDER BY until, kind, key LIMIT $2));
