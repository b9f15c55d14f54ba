-- Remembers the answers to idempotency keys, over ones that ran out.
INSERT INTO ganger.idempotency (scope, key, fingerprint, until, answer)
SELECT * FROM unnest($1::bytea[], $2::bytea[], $3::bytea[], $4::bigint[], $5::bytea[])
ON CONFLICT (scope, key) DO UPDATE
SET fingerprint = excluded.fingerprint, until = excluded.until, answer = excluded.answer;
