-- The fence a live job last ended under.
SELECT last_fence FROM job WHERE id = ?1;
