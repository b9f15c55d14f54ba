-- Which session of the database answers. Its process alone would not do: two servers of one address may have the same number.
SELECT pg_backend_pid(), pg_postmaster_start_time();
