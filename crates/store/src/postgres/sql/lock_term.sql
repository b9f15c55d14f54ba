-- Takes the lock of a term again, on a new connection.
SELECT pg_try_advisory_lock(5138130291725959168 + $1::bigint);
