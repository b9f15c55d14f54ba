-- The largest intake sequence ever given.
SELECT last_seq FROM ganger.batch;
