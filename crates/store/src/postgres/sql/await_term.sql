-- Waits until nobody holds the lock of a term.
SELECT pg_advisory_lock_shared(5138130291725959168 + $1::bigint);
