-- What a database is and how much it allows. Open connections are counted by database, which everybody may see; those of
-- pg_stat_activity only superusers see in full.
SELECT
  current_setting('server_version'),
  pg_is_in_recovery(),
  (SELECT coalesce(sum(numbackends), 0)::integer FROM pg_stat_database),
  current_setting('max_connections')::integer,
  current_setting('superuser_reserved_connections')::integer,
  coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false),
  current_setting('autovacuum'),
  pg_database_size(current_database());
