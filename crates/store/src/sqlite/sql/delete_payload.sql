-- Forgets the large payload of a job.
DELETE FROM payload WHERE job = ?1;
