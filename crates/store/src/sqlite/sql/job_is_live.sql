-- Whether there is such a live job.
SELECT EXISTS (SELECT 1 FROM job WHERE id = ?1);
