-- The attempt that the row of a final job carries.
SELECT last_attempt FROM job_final WHERE id = ?1;
