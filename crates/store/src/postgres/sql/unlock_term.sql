-- Lets go of the lock of a term.
SELECT pg_advisory_unlock(5138130291725959168 + $1::bigint);
