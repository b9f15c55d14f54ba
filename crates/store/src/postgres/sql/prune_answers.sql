-- Forgets idempotency keys that ran out, oldest first.
DELETE FROM ganger.idempotency WHERE (scope, key) IN (
    SELECT scope, key FROM ganger.idempotency WHERE until <= $1 ORDER BY until, scope, key LIMIT $2);
