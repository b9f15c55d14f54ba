-- Days whose final jobs have a table.
SELECT to_date(right(c.relname, 8), 'YYYYMMDD') - date '1970-01-01'
FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
WHERE i.inhparent = 'ganger.job_history'::regclass AND c.relname ~ '^job_history_[0-9]{8}$';
