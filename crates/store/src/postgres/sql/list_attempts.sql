-- Attempts of a job that have rows of their own, first to last.
SELECT record FROM ganger.attempt WHERE job = $1 ORDER BY number;
