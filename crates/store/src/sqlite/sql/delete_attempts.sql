-- Forgets the earlier attempts of a job.
DELETE FROM attempt WHERE job = ?1;
