-- Ends the connections whose transactions hold the guard of the term: a leader that was stopped in the middle of one
-- would otherwise keep everyone from taking over.
SELECT pg_terminate_backend(pid) FROM pg_locks
WHERE locktype = 'advisory' AND classid = 1196314183 AND objid = 0 AND objsubid = 2 AND granted
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND pid <> pg_backend_pid();
