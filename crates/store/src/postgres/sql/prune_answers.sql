-- Forgets idempotency keys that ran out, oldest first. By their places in the table: joined by their keys, a plan for
-- any limit would read the whole of it.
DELETE FROM ganger.idempotency WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM ganger.idempotency WHERE until <= $1 ORDER BY until, scope, key LIMIT $2));
