-- The largest intake sequence ever given.
SELECT last_seq FROM leader;
