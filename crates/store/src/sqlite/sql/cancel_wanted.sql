-- A person asked for a job to stop.
UPDATE job SET cancel_wanted = 1 WHERE id = ?1;
