-- Begins a term. Its batches are numbered from 1 again, and this connection holds the lock of the term for as long as
-- it lives: whoever waits for that lock learns at once when it closes.
WITH begun AS (
    UPDATE ganger.leader
    SET term = greatest(term, $1) + 1, term_id = $2, ttl_micros = $3, since = clock_timestamp(),
        renewed_at = clock_timestamp(), resigned = false, server = $4, address = $5
    RETURNING term
), numbered AS (
    UPDATE ganger.batch SET number = 0, outcomes = NULL
)
SELECT term, pg_try_advisory_lock(5138130291725959168 + term) FROM begun;
