-- Forgets what the attempts of a job logged.
DELETE FROM log WHERE job = ?1;
