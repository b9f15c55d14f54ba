-- The clock of the database, in microseconds, at this moment and not at the beginning of a transaction.
SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
