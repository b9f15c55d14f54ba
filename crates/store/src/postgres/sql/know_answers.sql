-- What requests with these idempotency keys were answered.
SELECT i.scope, i.key, i.fingerprint, i.until, i.answer
FROM unnest($1::bytea[], $2::bytea[]) AS k (scope, key)
JOIN ganger.idempotency i ON i.scope = k.scope AND i.key = k.key;
