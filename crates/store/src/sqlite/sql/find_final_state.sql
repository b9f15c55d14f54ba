-- How a job ended, if it is kept.
SELECT state FROM job_final WHERE id = ?1;
