-- The oldest final jobs of a queue and state that ended at a moment or earlier. Walks one index.
SELECT finished_at, id FROM job_final
WHERE queue = ?1 AND state = ?2 AND finished_at <= ?3
ORDER BY finished_at, id LIMIT ?4;
