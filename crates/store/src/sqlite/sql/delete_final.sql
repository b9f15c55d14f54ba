-- Removes a final job and tells what its counter and its traces need.
DELETE FROM job_final WHERE id = ?1 RETURNING queue, kind, state, last_attempt, attempt, payload IS NULL;
