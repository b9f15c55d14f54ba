-- Waits for every transaction of the present term to end, and lets none begin.
SELECT pg_advisory_xact_lock(1196314183, 0);
