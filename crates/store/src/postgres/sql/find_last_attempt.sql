-- The attempt that the row of a final job carries; nothing at all if there is no such job.
SELECT last_attempt FROM ganger.job_history WHERE id = $1
UNION ALL SELECT last_attempt FROM ganger.job_dead WHERE id = $1
UNION ALL SELECT NULL FROM ganger.job WHERE id = $1;
