-- Whether there is such a final job.
SELECT EXISTS (SELECT 1 FROM job_final WHERE id = ?1);
