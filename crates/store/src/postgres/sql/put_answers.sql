-- Remembers the answers to idempotency keys, over ones that ran out by a moment. One that holds longer stays, and is not
-- among those that were expected.
WITH put AS (
    INSERT INTO ganger.idempotency AS present (scope, key, fingerprint, until, answer)
    SELECT * FROM unnest($1::bytea[], $2::bytea[], $3::bytea[], $4::bigint[], $5::bytea[])
    ON CONFLICT (scope, key) DO UPDATE
    SET fingerprint = excluded.fingerprint, until = excluded.until, answer = excluded.answer
    WHERE present.until <= $6
    RETURNING 1
)
SELECT ganger.expect(count(*), $7) FROM put;
