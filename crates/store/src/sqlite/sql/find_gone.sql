-- How a job ended that is not live, nothing if it is not kept; no row if it is live.
SELECT (SELECT f.state FROM job_final f WHERE f.id = ?1) WHERE NOT EXISTS (SELECT 1 FROM job j WHERE j.id = ?1);
