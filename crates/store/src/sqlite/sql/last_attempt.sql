-- The last attempt of a job that has a row of its own.
SELECT record FROM attempt WHERE job = ?1 ORDER BY number DESC LIMIT 1;
