-- Attempts ended and their jobs stay live.
WITH changed AS (
    UPDATE ganger.job j
    SET due_at = a.due_at, retrying = a.retrying, attempt = a.attempt, burnt = a.burnt, lost = a.lost,
        last_fence = a.last_fence, lease_fence = NULL, lease_session = NULL, lease_attempt = NULL,
        cancel_wanted = j.cancel_wanted OR a.cancel_wanted
    FROM unnest($1::uuid[], $2::bigint[], $3::boolean[], $4::integer[], $5::integer[], $6::integer[], $7::bytea[],
                $8::boolean[])
      AS a (id, due_at, retrying, attempt, burnt, lost, last_fence, cancel_wanted)
    WHERE j.id = a.id
    RETURNING 1
)
SELECT ganger.expect(count(*), $9) FROM changed;
